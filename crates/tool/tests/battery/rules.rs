//! What providers take, written down apart from the crate: their rules as JSON Schemas under
//! `tests/golden`, and in code those that a schema cannot say.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Map, Value};
use trommel_tool::dialect::{Dialect, Export};

/// Returns the violations of the rules in an export.
pub(crate) fn faults(export: &Export) -> Vec<String> {
    let document = export.document();
    let errors = rules(export.dialect).iter_errors(&document);
    let mut faults: Vec<String> = errors.map(|error| format!("{}: {error}", error.instance_path())).collect();
    let mut names = BTreeSet::new();
    for tool in &export.tools {
        let body = body(tool);
        let name = body["name"].as_str().unwrap_or_default();
        if !is_taken_by_all(name) {
            faults.push(format!("{name} is not legal everywhere"));
        }
        if !names.insert(name.to_ascii_lowercase()) {
            faults.push(format!("{name} occurs twice"));
        }
        of_schema(name, schema(tool), &mut faults);
        if body.get("strict").is_some() && export.dialect == Dialect::OpenAiStrict {
            of_openai(name, schema(tool), &mut faults);
        }
    }
    if export.dialect == Dialect::AnthropicStrict {
        of_anthropic(&export.tools, &mut faults);
    }
    faults
}

/// The object that holds a tool's name.
pub(crate) fn body(tool: &Value) -> &Value {
    tool.get("function").unwrap_or(tool)
}

/// Returns the schema of a tool's arguments, under any of its names.
pub(crate) fn schema(tool: &Value) -> &Value {
    let keys = ["parameters", "input_schema", "args_schema", "inputSchema"];
    keys.iter().find_map(|key| body(tool).get(key)).unwrap_or(&Value::Null)
}

fn rules(dialect: Dialect) -> &'static Validator {
    type Rules = LazyLock<Validator>;
    static OPENAI: Rules = LazyLock::new(|| compiled(include_str!("../golden/openai.schema.json")));
    static ANTHROPIC: Rules = LazyLock::new(|| compiled(include_str!("../golden/anthropic.schema.json")));
    static LANGCHAIN: Rules = LazyLock::new(|| compiled(include_str!("../golden/langchain.schema.json")));
    static MCP: Rules = LazyLock::new(|| compiled(include_str!("../golden/mcp.schema.json")));
    match dialect {
        Dialect::OpenAi | Dialect::OpenAiStrict => &OPENAI,
        Dialect::Anthropic | Dialect::AnthropicStrict => &ANTHROPIC,
        Dialect::LangChain => &LANGCHAIN,
        _ => &MCP,
    }
}

fn compiled(text: &str) -> Validator {
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

/// True if every provider and client accepts the name: at most 63 letters, digits and `_`, no digit
/// first.
fn is_taken_by_all(name: &str) -> bool {
    let first = name.as_bytes().first();
    first.is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_')
        && name.len() < 64
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Checks that a schema is valid, and that its references resolve.
fn of_schema(name: &str, schema: &Value, faults: &mut Vec<String>) {
    if !jsonschema::meta::is_valid(schema) {
        faults.push(format!("the schema of {name} is invalid"));
    }
    for (_, part) in parts(schema) {
        let target = part.get("$ref").and_then(Value::as_str);
        if target.is_some_and(|target| {
            target.strip_prefix('#').is_none_or(|pointer| schema.pointer(pointer).is_none())
        }) {
            faults.push(format!("{name} refers to {target:?}"));
        }
    }
}

/// Limits of `OpenAI`'s strict schemas, and that each names its members as required.
fn of_openai(name: &str, schema: &Value, faults: &mut Vec<String>) {
    let (mut properties, mut characters, mut values, mut deepest) = (0, 0, 0, 0);
    for (level, part) in parts(schema) {
        let members = part.get("properties").and_then(Value::as_object);
        let names: BTreeSet<&str> = members.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
        let required = part.get("required").and_then(Value::as_array).into_iter().flatten();
        if required.filter_map(Value::as_str).collect::<BTreeSet<_>>() != names {
            faults.push(format!("{name}: the members {names:?} are not those that are required"));
        }
        properties += names.len();
        characters += names.iter().map(|name| name.chars().count()).sum::<usize>();
        let listed = part.get("enum").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        values += listed.len();
        let texts = listed.iter().chain(part.get("const")).filter_map(Value::as_str);
        let long = texts.map(|text| text.chars().count()).sum::<usize>();
        characters += long;
        if listed.len() > 250 && long > 15_000 {
            faults.push(format!("{name}: an enum of {long} characters"));
        }
        deepest = deepest.max(level);
    }
    if properties > 5_000 || characters > 120_000 || values > 1_000 || deepest > 10 {
        faults.push(format!("{name}: {properties} {characters} {values} {deepest}"));
    }
}

/// Checks the limits of Anthropic for one request, and that no schema is recursive.
fn of_anthropic(tools: &[Value], faults: &mut Vec<String>) {
    let strict: Vec<&Value> = tools.iter().filter(|tool| tool.get("strict").is_some()).collect();
    let (mut optional, mut unions) = (0, 0);
    for tool in &strict {
        if !is_expandable(schema(tool)) {
            faults.push(format!("{} leads back to itself", tool["name"]));
        }
        for (_, part) in parts(schema(tool)) {
            let members = part.get("properties").and_then(Value::as_object).map_or(0, Map::len);
            let required = part.get("required").and_then(Value::as_array).map_or(0, Vec::len);
            optional += members - required;
            let is_union = part.contains_key("anyOf") || part.get("type").is_some_and(Value::is_array);
            unions += usize::from(is_union);
        }
    }
    if strict.len() > 20 || optional > 24 || unions > 16 {
        faults.push(format!("{} strict tools, {optional} optional, {unions} unions", strict.len()));
    }
}

/// True if inlining the references of a schema terminates.
fn is_expandable(schema: &Value) -> bool {
    fn ends(root: &Value, schema: &Value, steps: usize) -> bool {
        steps > 0
            && parts(schema).iter().filter_map(|(_, part)| part.get("$ref")?.as_str()).all(|target| {
                let target = root.pointer(target.trim_start_matches('#')).unwrap_or(&Value::Null);
                !std::ptr::eq(target, root) && ends(root, target, steps - 1)
            })
    }
    let mut root = schema.clone();
    let definitions = root.get("$defs").and_then(Value::as_object).map_or(0, Map::len);
    let apart = root.as_object_mut().and_then(|root| root.remove("$defs"));
    let apart = apart.as_ref().and_then(Value::as_object).into_iter().flatten();
    apart.map(|(_, one)| one).chain([&root]).all(|part| ends(schema, part, definitions + 1))
}

/// Returns all schemas of a strict or plain export, each with its nesting depth in objects and
/// arrays.
fn parts(schema: &Value) -> Vec<(usize, &Map<String, Value>)> {
    let mut found = Vec::new();
    let mut open = vec![(0, schema)];
    while let Some((outside, value)) = open.pop() {
        let Value::Object(part) = value else { continue };
        let is_container = part.contains_key("properties") || part.contains_key("items");
        let level = outside + usize::from(is_container);
        found.push((level, part));
        for key in ["properties", "$defs"] {
            let named = part.get(key).and_then(Value::as_object).into_iter().flatten();
            open.extend(named.map(|(_, inner)| (if key == "$defs" { outside } else { level }, inner)));
        }
        open.extend(part.get("items").map(|inner| (level, inner)));
        for key in ["anyOf", "oneOf", "allOf"] {
            let branches = part.get(key).and_then(Value::as_array).into_iter().flatten();
            open.extend(branches.map(|inner| (outside, inner)));
        }
    }
    found
}

#[test]
fn the_rules_detect_violations() {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let looped = read(r##"{"$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {"$ref": "#/$defs/a"}}}"##);
    assert!(!is_expandable(&looped));
    assert!(is_expandable(&read(r##"{"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "null"}}}"##)));
    assert!(!is_expandable(&read(r##"{"items": {"$ref": "#"}}"##)));
    assert!(!is_taken_by_all("a.b") && !is_taken_by_all("1a") && !is_taken_by_all(&"x".repeat(64)));
    let mut faults = Vec::new();
    of_openai("t", &read(r#"{"properties": {"a": {"type": "null"}}, "required": []}"#), &mut faults);
    of_schema("t", &read(r##"{"$ref": "#/$defs/none"}"##), &mut faults);
    let optional: Map<String, Value> = (0..25).map(|n| (n.to_string(), Value::Bool(true))).collect();
    of_anthropic(
        &[serde_json::json!({"strict": true, "input_schema": {"properties": optional}})],
        &mut faults,
    );
    assert_eq!(faults.len(), 3, "{faults:?}");
}
