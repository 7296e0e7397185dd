//! Promise R28: exports are valid for the providers, and calls map back to the tool's own
//! arguments.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use trommel_tool::Metadata;
use trommel_tool::dialect::{Dialect, Export, Fate};

use crate::golden::assert_golden;
use crate::rules::{faults, schema as arguments_of};

const SUITE: &str = include_str!("../golden/suite.json");

/// The tools of stored outputs, as they are specified.
fn suite() -> Vec<Metadata> {
    serde_json::from_str(SUITE).unwrap()
}

pub(crate) fn export(dialect: Dialect, tools: &[Metadata]) -> Export {
    dialect.export(&tools.iter().collect::<Vec<_>>())
}

/// A tool of one argument.
fn with_argument(name: &str, schema: &Value) -> Metadata {
    Metadata::new(name, "", json!({"type": "object", "properties": {"x": schema}, "required": ["x"]}))
}

/// The tool that the wireframes show, its keys in another order.
fn read() -> Metadata {
    let schema = json!({
        "required": ["file_path"],
        "properties": {
            "file_path": {"description": "Absolute path to the file to read", "type": "string"},
            "offset": {"minimum": 0, "type": "integer", "description": "Line number to start reading from"},
            "limit": {
                "maximum": 10000,
                "minimum": 1,
                "description": "Maximum number of lines to read",
                "type": "integer"
            }
        },
        "type": "object"
    });
    Metadata::new("Read", "Read contents of a file from the filesystem", schema)
}

#[test]
fn openai_tools_are_as_in_the_wireframes() {
    let wireframe = r#"{"type":"function","function":{"name":"Read","description":"Read contents of a file from the filesystem","parameters":{"type":"object","properties":{"file_path":{"type":"string","description":"Absolute path to the file to read"},"offset":{"type":"integer","description":"Line number to start reading from","minimum":0},"limit":{"type":"integer","description":"Maximum number of lines to read","minimum":1,"maximum":10000}},"required":["file_path"]}}}"#;
    let made = export(Dialect::OpenAi, &[read()]);
    assert_eq!(made.tool("Read").unwrap().to_string(), wireframe);
    assert_eq!(made.dropped, []);

    let bash = json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "The command to execute"},
            "timeout": {"type": "integer", "minimum": 1000, "maximum": 600_000, "default": 120_000, "description": "Timeout in milliseconds"},
            "run_in_background": {"type": "boolean", "default": false, "description": "Run command in background"}
        },
        "required": ["command"]
    });
    let wireframe = r#"{"type":"function","function":{"name":"Bash","description":"Execute a bash command","parameters":{"type":"object","properties":{"command":{"type":"string","description":"The command to execute"},"timeout":{"type":"integer","description":"Timeout in milliseconds","default":120000,"minimum":1000,"maximum":600000},"run_in_background":{"type":"boolean","description":"Run command in background","default":false}},"required":["command"]}}}"#;
    let made = export(Dialect::OpenAi, &[Metadata::new("Bash", "Execute a bash command", bash)]);
    assert_eq!(made.document(), json!([serde_json::from_str::<Value>(wireframe).unwrap()]));
    assert_eq!(made.tools[0].to_string(), wireframe);
}

#[test]
fn anthropic_tools_are_as_in_the_wireframe() {
    let wireframe = r#"{"name":"Read","description":"Read contents of a file from the filesystem","input_schema":{"type":"object","properties":{"file_path":{"type":"string","description":"Absolute path to the file to read"},"offset":{"type":"integer","description":"Line number to start reading from","minimum":0},"limit":{"type":"integer","description":"Maximum number of lines to read","minimum":1,"maximum":10000}},"required":["file_path"]}}"#;
    let made = export(Dialect::Anthropic, &[read()]);
    assert_eq!(made.tools[0].to_string(), wireframe);
}

#[test]
fn r28_the_specified_tools_are_exported_in_every_dialect() {
    for dialect in Dialect::ALL {
        let made = export(dialect, &suite());
        assert_eq!(faults(&made), Vec::<String>::new(), "{dialect}");
        assert_eq!(made.tools.len(), 5, "{dialect}");
        let shown = serde_json::to_string_pretty(&made.document()).unwrap() + "\n";
        assert_golden(&format!("export_{dialect}.json"), &shown);
    }
}

#[test]
fn r28_an_export_depends_on_the_tools_alone() {
    for dialect in Dialect::ALL {
        let mut tools = suite();
        let made = export(dialect, &tools);
        tools.reverse();
        tools.push(tools[0].clone());
        let again = export(dialect, &tools);
        assert_eq!(made.document().to_string(), again.document().to_string());
        assert_eq!(made.dropped, again.dropped);
    }
}

#[test]
fn r28_untyped_arguments_are_exported_without_strict() {
    for dialect in [Dialect::OpenAiStrict, Dialect::AnthropicStrict] {
        let made = export(dialect, &suite());
        let extract = made.tool("tool_outputs.extract").unwrap();
        let body = extract.get("function").unwrap_or(extract);
        assert_eq!(body.get("strict"), None);
        let found: Vec<_> =
            made.dropped.iter().filter(|dropped| dropped.tool == "tool_outputs.extract").collect();
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].place.as_str(), found[0].fate), ("/properties/default_value", Fate::NotStrict));
        assert_eq!(
            found[0].to_string(),
            "tool_outputs.extract: `strict` at /properties/default_value does not apply: it has no type, and every value needs one"
        );
    }
}

#[test]
fn r28_anthropics_budgets_decide_which_tools_are_strict() {
    let schema = |members: usize| {
        let members: Map<String, Value> =
            (0..members).map(|at| (format!("m{at}"), json!({"type": "string"}))).collect();
        json!({"type": "object", "properties": members, "additionalProperties": false})
    };
    let tools: Vec<Metadata> = [("a", 20), ("b", 10), ("c", 4), ("d", 7), ("e", 6), ("f", 0)]
        .iter()
        .map(|(name, members)| Metadata::new(*name, "", schema(*members)))
        .collect();
    let made = export(Dialect::AnthropicStrict, &tools);
    // Twenty optional members; ten unions; four more optional ones; seven unions are one too many;
    // six fit; none needed.
    let strict: Vec<&str> =
        made.tools.iter().filter_map(|tool| tool.get("strict").and(tool["name"].as_str())).collect();
    assert_eq!(strict, ["a", "b", "c", "e", "f"]);
    let required = |name: &str| made.tool(name).unwrap()["input_schema"]["required"].as_array().map(Vec::len);
    assert_eq!(
        (required("a"), required("b"), required("c"), required("e")),
        (Some(0), Some(10), Some(0), Some(6))
    );
    let [dropped] = made.dropped.as_slice() else { panic!("{:?}", made.dropped) };
    assert_eq!((dropped.tool.as_str(), dropped.fate), ("d", Fate::NotStrict));
    assert!(dropped.reason.starts_with("31 optional parameters"), "{}", dropped.reason);
    assert_eq!(made.excesses(), []);

    let many: Vec<Metadata> = (0..21).map(|at| Metadata::new(format!("t{at:02}"), "", schema(0))).collect();
    let made = export(Dialect::AnthropicStrict, &many);
    assert_eq!(made.tools.iter().filter(|tool| tool.get("strict").is_some()).count(), 20);
    assert_eq!(made.excesses(), []);
}

#[test]
fn a_call_comes_back_as_the_tool_knows_it() {
    let made = export(Dialect::OpenAiStrict, &suite());
    let call = json!({
        "id": "x",
        "counts": [{"name": "a", "path": "$", "filter": null, "count_type": null}]
    });
    let (name, arguments) = made.restore("tool_outputs_count", call).unwrap();
    assert_eq!(name, "tool_outputs.count");
    assert_eq!(arguments, json!({"id": "x", "counts": [{"name": "a", "path": "$"}]}));
    assert_eq!(made.restore("tool_outputs.list", json!({})).unwrap().0, "tool_outputs.list");
    assert_eq!(made.restore("tool_outputs_nothing", json!({})), None);
    // A tool that is not strict may mean its nulls.
    let call = json!({"id": "x", "paths": [], "default_value": null});
    assert_eq!(made.restore("tool_outputs_extract", call.clone()).unwrap().1, call);

    let schema =
        json!({"type": "object", "properties": {"config": {"type": "string"}}, "required": ["config"]});
    let made = export(Dialect::LangChain, &[Metadata::new("t", "", schema)]);
    assert_eq!(made.tools[0]["args_schema"]["required"], json!(["config_"]));
    assert_eq!((made.dropped[0].fate, made.dropped[0].keyword.as_str()), (Fate::Renamed, "config"));
    assert_eq!(made.restore("t", json!({"config_": "y"})).unwrap().1, json!({"config": "y"}));
}

#[test]
fn unsupported_keywords_are_refused_with_the_reason() {
    let deep = (0..70).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    let cases = [
        (Metadata::new("t", "", json!({"type": "string"})), "type"),
        (Metadata::new("t", "", json!(true)), "type"),
        (Metadata::new("t", "", json!({"$ref": "#/$defs/a", "$defs": {"a": {}}})), "$ref"),
        (with_argument("t", &json!({"$ref": "https://example.com/schema"})), "$ref"),
        (with_argument("t", &json!({"$ref": "#/$defs/nowhere"})), "$ref"),
        (with_argument("t", &json!({"$dynamicRef": "#node"})), "$dynamicRef"),
        (with_argument("t", &deep), ""),
    ];
    for (tool, keyword) in cases {
        for dialect in Dialect::ALL {
            let made = export(dialect, std::slice::from_ref(&tool));
            assert_eq!(made.tools, Vec::<Value>::new());
            assert_eq!((made.dropped[0].fate, made.dropped[0].keyword.as_str()), (Fate::Refused, keyword));
            assert!(!made.dropped[0].reason.is_empty());
        }
    }
    // Nested names are not mapped back, so they cannot be renamed.
    let nested = with_argument("t", &json!({"type": "object", "properties": {"naïve": {"type": "string"}}}));
    assert_eq!(export(Dialect::Anthropic, std::slice::from_ref(&nested)).dropped[0].fate, Fate::Refused);
    assert_eq!(export(Dialect::OpenAi, &[nested]).dropped, []);
}

#[test]
fn keywords_refused_at_the_root_are_omitted() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}]
    });
    for dialect in Dialect::ALL {
        let made = export(dialect, &[Metadata::new("t", "", schema.clone())]);
        assert_eq!(faults(&made), Vec::<String>::new(), "{dialect}");
        assert_eq!((made.dropped[0].fate, made.dropped[0].keyword.as_str()), (Fate::Removed, "oneOf"));
    }
}

#[test]
fn tools_without_arguments_take_none() {
    let none = Metadata::new("ping", "Answers", json!({"type": "object"}));
    let mcp = export(Dialect::Mcp, std::slice::from_ref(&none));
    let expected = r#"{"tools":[{"name":"ping","description":"Answers","inputSchema":{"type":"object","additionalProperties":false}}]}"#;
    assert_eq!(mcp.document().to_string(), expected);
    // One that takes others by another keyword does not forbid them.
    for (keyword, value) in [
        ("additionalProperties", json!({"type": "string"})),
        ("patternProperties", json!({"^x-": true})),
        ("allOf", json!([{"properties": {"a": true}}])),
    ] {
        let open = Metadata::new("ping", "Answers", json!({"type": "object", keyword: value}));
        let mcp = export(Dialect::Mcp, &[open]);
        assert_ne!(mcp.tools[0]["inputSchema"]["additionalProperties"], json!(false), "{keyword}");
    }
    let strict = export(Dialect::OpenAiStrict, &[none]);
    let expected = json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    assert_eq!(strict.tools[0]["function"]["parameters"], expected);
    assert_eq!(strict.tools[0]["function"]["strict"], json!(true));
}

#[test]
fn mcp_promises_the_results_of_bounded_tools_alone() {
    let result = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let tool = Metadata::new("t", "", json!({"type": "object"})).result_schema(result.clone());
    let made = export(Dialect::Mcp, std::slice::from_ref(&tool));
    assert_eq!((made.tools[0].get("outputSchema"), made.dropped[0].keyword.as_str()), (None, "outputSchema"));
    let made = export(Dialect::Mcp, &[tool.clone().bounded()]);
    assert_eq!((made.tools[0].get("outputSchema"), made.dropped.len()), (Some(&result), 0));
    let made = export(Dialect::Mcp, &[tool.bounded().result_schema(json!({"type": "array"}))]);
    assert_eq!((made.tools[0].get("outputSchema"), made.dropped.len()), (None, 1));
}

#[test]
fn dialects_have_names() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.name().parse(), Ok(dialect));
    }
    let error = "openia\u{1b}".parse::<Dialect>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no dialect `openia\\u{1b}`; use one of openai, openai-strict, anthropic, anthropic-strict, langchain, mcp"
    );
}

/// Schemas as tools have them, and such as no strict dialect takes.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => prop_oneof![Just("string"), Just("integer"), Just("number"), Just("boolean"), Just("null")]
            .prop_map(|name| json!({"type": name})),
        1 => Just(json!({})),
        1 => Just(json!({"type": ["string", "null"], "minLength": 1, "maxLength": 9, "default": "x"})),
        1 => Just(json!({"type": "integer", "minimum": 1, "maximum": 1000, "multipleOf": 2})),
        1 => Just(json!({"enum": ["a", "b", 1]})),
        1 => Just(json!({"const": "only"})),
        1 => Just(json!({"$ref": "#/$defs/shared", "description": "shared"})),
        1 => Just(json!({"type": "string", "format": "email", "pattern": "^(?!x)"})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let member = ("[a-zA-Z_ .é-]{0,6}", inner.clone());
        prop_oneof![
            (inner.clone(), option::of(0_u64..4)).prop_map(|(items, least)| {
                let mut array = json!({"type": "array", "items": items, "uniqueItems": true});
                if let Some(least) = least {
                    array["minItems"] = json!(least);
                }
                array
            }),
            (vec(member, 0..4), any::<bool>(), option::of(any::<bool>())).prop_map(
                |(members, needed, open)| {
                    let members: Map<String, Value> = members.into_iter().collect();
                    let required: Vec<&String> = members.keys().filter(|_| needed).collect();
                    let mut object = json!({"type": "object", "required": required, "properties": members});
                    if let Some(open) = open {
                        object["additionalProperties"] = json!(open);
                    }
                    object
                }
            ),
            vec(inner.clone(), 1..3).prop_map(|branches| json!({"anyOf": branches, "description": "one of"})),
            vec(inner.clone(), 1..3).prop_map(|branches| json!({"oneOf": branches})),
            vec(inner, 1..3).prop_map(|branches| json!({"allOf": branches})),
        ]
    })
}

/// Some tools, also such as no provider takes.
pub(crate) fn tools() -> impl Strategy<Value = Vec<Metadata>> {
    let argument = ("(config|callbacks|[a-z_]{1,3}|é)", schema());
    let tool = ("[a-zA-Z._ ]{0,4}", vec(argument, 0..4), any::<bool>(), any::<bool>());
    let tool = tool.prop_map(|(name, arguments, needed, closed)| {
        let arguments: Map<String, Value> = arguments.into_iter().collect();
        let required: Vec<&String> = arguments.keys().filter(|_| needed).collect();
        let mut schema = json!({
            "type": "object",
            "required": required,
            "properties": arguments,
            "$defs": {"shared": {"type": "string"}}
        });
        if closed {
            schema["additionalProperties"] = json!(false);
        }
        Metadata::new(name, "A tool", schema)
    });
    vec(tool, 0..12)
}

proptest! {
    #[test]
    fn r28_every_export_is_valid_for_the_provider(tools in tools()) {
        for dialect in Dialect::ALL {
            let made = export(dialect, &tools);
            prop_assert_eq!(faults(&made), Vec::<String>::new(), "{}", dialect);
            for tool in &tools {
                let refused = made.dropped.iter().any(|d| d.tool == tool.name && d.fate == Fate::Refused);
                prop_assert!(refused != made.tool(&tool.name).is_some());
                let spelling = made.names.exported(&tool.name).unwrap();
                let (name, _) = made.restore(spelling, json!({})).unwrap();
                prop_assert_eq!(&name, &tool.name);
            }
        }
    }

    #[test]
    fn r28_renamed_arguments_lead_back(mut tools in tools()) {
        // Of two with the same name the first counts.
        tools.sort_by(|a, b| a.name.cmp(&b.name));
        tools.dedup_by(|a, b| a.name == b.name);
        for dialect in Dialect::ALL {
            let made = export(dialect, &tools);
            for tool in &tools {
                let Some(described) = made.tool(&tool.name) else { continue };
                let exported = arguments_of(described).get("properties").and_then(Value::as_object);
                let exported: Map<String, Value> =
                    exported.into_iter().flatten().map(|(name, _)| (name.clone(), json!("given"))).collect();
                let (_, restored) = made.restore(&tool.name, Value::Object(exported)).unwrap();
                let own: Vec<String> = tool.args_schema["properties"].as_object().unwrap().keys().cloned().collect();
                let restored: Vec<String> = restored.as_object().unwrap().keys().cloned().collect();
                prop_assert_eq!(restored, own, "{}", dialect);
            }
        }
    }
}
