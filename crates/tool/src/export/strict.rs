//! Schemas that a provider's decoder can enforce.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::changes::{Fate, Notes, Obstacle};
use super::keywords::{Holds, child, has_type, holds, is_required, properties, schemas};
use super::provider::Dialect;
use super::words;

/// The conversion of a schema to its strict form.
#[derive(Clone, Copy)]
pub(super) struct Form {
    rules: &'static Rules,
    /// True if an optional member becomes one that may be null.
    nullable: bool,
}

/// The keywords that a provider can enforce.
struct Rules {
    /// Keywords that are enforced with any value.
    keeps: &'static [&'static str],
    formats: &'static [&'static str],
    /// True if every pattern is enforced; else only those without assertions and backreferences.
    any_pattern: bool,
    /// True if schemas may refer to themselves.
    recursion: bool,
}

const OPENAI: Rules = Rules {
    keeps: &[
        "multipleOf",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "minItems",
        "maxItems",
    ],
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"],
    any_pattern: true,
    recursion: true,
};

const ANTHROPIC: Rules = Rules {
    keeps: &[],
    formats: &["date-time", "time", "date", "duration", "email", "hostname", "uri", "uuid", "ipv4", "ipv6"],
    any_pattern: false,
    recursion: false,
};

/// The forms to try, the best first.
pub(super) const fn forms(dialect: Dialect) -> &'static [Form] {
    match dialect {
        Dialect::OpenAiStrict => &[Form { rules: &OPENAI, nullable: true }],
        Dialect::AnthropicStrict => {
            &[Form { rules: &ANTHROPIC, nullable: false }, Form { rules: &ANTHROPIC, nullable: true }]
        }
        _ => &[],
    }
}

impl Rules {
    /// True if a keyword with this value can be enforced.
    fn keeps(&self, keyword: &str, value: &Value) -> bool {
        match (keyword, value) {
            ("format", Value::String(format)) => self.formats.contains(&format.as_str()),
            ("pattern", Value::String(pattern)) => self.any_pattern || is_plain_pattern(pattern),
            ("minItems", value) if value.as_u64().is_some_and(|least| least <= 1) => true,
            _ => self.keeps.contains(&keyword),
        }
    }
}

/// True if a pattern has neither assertions nor backreferences.
fn is_plain_pattern(pattern: &str) -> bool {
    let mut escaped = false;
    let has_escape = pattern.chars().any(|c| {
        let found = escaped && matches!(c, 'b' | 'B' | 'k' | '1'..='9');
        escaped = c == '\\' && !escaped;
        found
    });
    !has_escape && !["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| pattern.contains(group))
}

/// Puts a schema whose root is an object into a strict form.
pub(super) fn schema(form: Form, schema: &Value, notes: &mut Notes) -> Result<Value, Obstacle> {
    if !form.rules.recursion {
        check_recursion(schema)?;
    }
    Maker { form, notes }.node(schema, "").map(Value::Object)
}

/// Refuses recursive definitions: those that remain when all without references are removed
/// repeatedly.
fn check_recursion(root: &Value) -> Result<(), Obstacle> {
    let definitions = root.get("$defs").and_then(Value::as_object).into_iter().flatten();
    let mut leads: BTreeMap<String, Vec<String>> =
        definitions.map(|(name, schema)| (format!("#{}", child("/$defs", name)), targets(schema))).collect();
    if targets(root).iter().any(|target| target == "#") {
        return Err(Obstacle::new("", "$ref", "a schema that refers to itself cannot be enforced"));
    }
    loop {
        let ends: Vec<String> = leads
            .iter()
            .filter(|(_, targets)| targets.iter().all(|target| !leads.contains_key(target)))
            .map(|(name, _)| name.clone())
            .collect();
        if ends.is_empty() {
            break;
        }
        leads.retain(|name, _| !ends.contains(name));
    }
    match leads.keys().next() {
        None => Ok(()),
        Some(name) => {
            let place = name.trim_start_matches('#');
            Err(Obstacle::new(place, "$ref", "a schema that refers to itself cannot be enforced"))
        }
    }
}

fn targets(schema: &Value) -> Vec<String> {
    schemas(schema)
        .filter_map(|visited| visited.schema.get("$ref").and_then(Value::as_str).map(str::to_owned))
        .collect()
}

struct Maker<'a> {
    form: Form,
    notes: &'a mut Notes,
}

impl Maker<'_> {
    /// Makes one schema strict. The caller limits the depth.
    fn node(&mut self, value: &Value, place: &str) -> Result<Map<String, Value>, Obstacle> {
        let Value::Object(schema) = value else {
            return Err(Obstacle::new(place, "strict", "it has no type, and every value needs one"));
        };
        let schema = &without_single_all_of(schema);
        if schema.contains_key("$ref") {
            return self.reference(schema, place);
        }
        let mut made = Map::new();
        let mut sentences = Vec::new();
        for (keyword, value) in schema {
            match keyword.as_str() {
                "description" | "properties" | "required" | "additionalProperties" => {}
                "type" => type_(value, place, &mut made)?,
                "enum" | "const" => Self::values(keyword, value, place, &mut made)?,
                "items" if value.is_object() => {
                    let items = self.node(value, &child(place, "items"))?;
                    made.insert("items".to_owned(), items.into());
                }
                "anyOf" | "oneOf" => self.branches(keyword, value, place, &mut made)?,
                "$defs" => self.definitions(value, place, &mut made)?,
                _ if self.form.rules.keeps(keyword, value) => {
                    made.insert(keyword.clone(), value.clone());
                }
                _ => sentences.extend(self.words(keyword, schema, place)?),
            }
        }
        infer_type(schema, &mut made);
        self.complete(schema, &mut made, place)?;
        describe(schema, &sentences, &mut made);
        Ok(made)
    }

    /// Makes a reference strict. It must be alone, so that its siblings are put around it.
    fn reference(
        &mut self,
        schema: &Map<String, Value>,
        place: &str,
    ) -> Result<Map<String, Value>, Obstacle> {
        let is_definition =
            |target: &str| target.strip_prefix("#/$defs/").is_some_and(|name| !name.contains('/'));
        let target = match schema.get("$ref") {
            Some(Value::String(target)) if target == "#" || is_definition(target) => target.as_str(),
            _ => return Err(Obstacle::new(place, "$ref", "it may point into `$defs` alone")),
        };
        let mut sentences = Vec::new();
        for keyword in schema.keys().filter(|keyword| !matches!(keyword.as_str(), "$ref" | "description")) {
            sentences.extend(self.words(keyword, schema, place)?);
        }
        let mut bare = Map::new();
        bare.insert("$ref".to_owned(), target.into());
        let mut made = Map::new();
        describe(schema, &sentences, &mut made);
        if made.is_empty() {
            return Ok(bare);
        }
        made.insert("anyOf".to_owned(), json!([bare]));
        Ok(made)
    }

    /// Adds listed values: only strings, numbers, booleans, and null.
    fn values(
        keyword: &str,
        value: &Value,
        place: &str,
        made: &mut Map<String, Value>,
    ) -> Result<(), Obstacle> {
        let listed = match value {
            Value::Array(values) if keyword == "enum" => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        if listed.iter().any(|value| value.is_object() || value.is_array()) {
            return Err(Obstacle::new(place, keyword, "objects and arrays cannot be listed as values"));
        }
        made.insert(keyword.to_owned(), value.clone());
        Ok(())
    }

    fn branches(
        &mut self,
        keyword: &str,
        value: &Value,
        place: &str,
        made: &mut Map<String, Value>,
    ) -> Result<(), Obstacle> {
        if made.contains_key("anyOf") {
            return Err(Obstacle::new(place, keyword, "`anyOf` and `oneOf` cannot stand together"));
        }
        let here = child(place, keyword);
        let branches = value.as_array().into_iter().flatten().enumerate();
        let branches = branches
            .map(|(at, branch)| Ok(Value::Object(self.node(branch, &format!("{here}/{at}"))?)))
            .collect::<Result<Vec<_>, _>>()?;
        if keyword == "oneOf" {
            self.notes.add(
                place,
                keyword,
                Fate::Changed,
                "it is `anyOf`; that only one matches is checked later",
            );
        }
        made.insert("anyOf".to_owned(), branches.into());
        Ok(())
    }

    fn definitions(
        &mut self,
        value: &Value,
        place: &str,
        made: &mut Map<String, Value>,
    ) -> Result<(), Obstacle> {
        if !place.is_empty() {
            return Err(Obstacle::new(place, "$defs", "definitions are supported only at the root"));
        }
        let definitions = value.as_object().into_iter().flatten();
        let definitions = definitions
            .map(|(name, schema)| Ok((name.clone(), self.node(schema, &child("/$defs", name))?.into())))
            .collect::<Result<Map<String, Value>, _>>()?;
        made.insert("$defs".to_owned(), definitions.into());
        Ok(())
    }

    /// A sentence for a keyword that cannot be enforced, if there is one.
    fn words(
        &mut self,
        keyword: &str,
        schema: &Map<String, Value>,
        place: &str,
    ) -> Result<Option<String>, Obstacle> {
        let value = schema.get(keyword).unwrap_or(&Value::Null);
        let shapes = ["allOf", "patternProperties", "items", "prefixItems", "additionalItems", "definitions"];
        if shapes.contains(&keyword)
            || keyword.starts_with("unevaluated") && holds(keyword, value) == Holds::Schema
        {
            let reason = "it says what a value consists of, and cannot be enforced";
            return Err(Obstacle::new(place, keyword, reason));
        }
        let is_said =
            |other: &str| schema.get(other).is_some_and(|value| !self.form.rules.keeps(other, value));
        let sentence = words::sentence(keyword, schema, is_said);
        if sentence.is_some() {
            self.notes.add(place, keyword, Fate::Described, "it cannot be enforced; the description says it");
        } else if !is_mute(keyword, value) {
            self.notes.add(place, keyword, Fate::Removed, "it cannot be enforced");
        }
        Ok(sentence)
    }

    /// Adds the members that the types of a schema need.
    fn complete(
        &mut self,
        schema: &Map<String, Value>,
        made: &mut Map<String, Value>,
        place: &str,
    ) -> Result<(), Obstacle> {
        if !["type", "enum", "const", "anyOf"].iter().any(|keyword| made.contains_key(*keyword)) {
            return Err(Obstacle::new(place, "strict", "it has no type, and every value needs one"));
        }
        if has_type(made, "array") && !made.contains_key("items") {
            return Err(Obstacle::new(place, "items", "the items have no type, and every value needs one"));
        }
        if has_type(made, "object") { self.object(schema, made, place) } else { Ok(()) }
    }

    /// Closes an object.
    fn object(
        &mut self,
        schema: &Map<String, Value>,
        made: &mut Map<String, Value>,
        place: &str,
    ) -> Result<(), Obstacle> {
        let is_listed = properties(schema).next().is_some();
        let is_open = match schema.get("additionalProperties") {
            None => !is_listed && !place.is_empty(),
            Some(others) => *others != Value::Bool(false),
        };
        if is_open {
            let reason = "it takes members of any name, and a strict object is closed";
            return Err(Obstacle::new(place, "additionalProperties", reason));
        }
        let mut members = Map::new();
        let mut required = Vec::new();
        for (name, value) in properties(schema) {
            let mut member = self.node(value, &child(&child(place, "properties"), name))?;
            let optional = !is_required(schema, name);
            if optional && self.form.nullable {
                nullable(&mut member);
            }
            if !optional || self.form.nullable {
                required.push(Value::from(name.as_str()));
            }
            members.insert(name.clone(), member.into());
        }
        made.insert("properties".to_owned(), members.into());
        made.insert("required".to_owned(), required.into());
        made.insert("additionalProperties".to_owned(), false.into());
        Ok(())
    }
}

/// Adds the types, which must be known ones.
fn type_(value: &Value, place: &str, made: &mut Map<String, Value>) -> Result<(), Obstacle> {
    let known = |name: &Value| {
        matches!(
            name.as_str(),
            Some("string" | "number" | "boolean" | "integer" | "object" | "array" | "null")
        )
    };
    let types = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
    if types.is_empty() || !types.iter().all(known) {
        return Err(Obstacle::new(place, "type", "the type does not exist"));
    }
    made.insert("type".to_owned(), value.clone());
    Ok(())
}

/// True for a keyword that neither a model nor a decoder would miss.
fn is_mute(keyword: &str, value: &Value) -> bool {
    matches!((keyword, value), ("uniqueItems" | "deprecated", Value::Bool(false)))
        || matches!(keyword, "$schema" | "$id" | "$comment" | "$anchor")
}

/// Adds the description, and the sentences of keywords that cannot be enforced.
fn describe(schema: &Map<String, Value>, sentences: &[String], made: &mut Map<String, Value>) {
    let own = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let text = words::described(own, sentences);
    if !text.is_empty() {
        made.insert("description".to_owned(), text.into());
    }
}

/// Merges an `allOf` of a single schema into its parent.
fn without_single_all_of(schema: &Map<String, Value>) -> Map<String, Value> {
    let schemas = schema.get("allOf").and_then(Value::as_array).map(Vec::as_slice);
    let Some([Value::Object(single)]) = schemas else { return schema.clone() };
    if single.keys().any(|keyword| keyword != "description" && schema.contains_key(keyword)) {
        return schema.clone();
    }
    let mut merged = single.clone();
    let others = schema.iter().filter(|(keyword, _)| *keyword != "allOf");
    merged.extend(others.map(|(keyword, value)| (keyword.clone(), value.clone())));
    merged
}

/// Adds the missing type of a schema, if it is obvious.
fn infer_type(schema: &Map<String, Value>, made: &mut Map<String, Value>) {
    if made.contains_key("type") || made.contains_key("anyOf") {
        return;
    }
    let of = |value: &Value| match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let listed = made.get("enum").and_then(Value::as_array).map(Vec::as_slice);
    let listed = listed.or_else(|| made.get("const").map(std::slice::from_ref)).unwrap_or_default();
    let mut types: Vec<&str> = listed.iter().map(of).collect();
    types.sort_unstable();
    types.dedup();
    let only = match types.as_slice() {
        [one] => Value::from(*one),
        [] if schema.contains_key("properties") => "object".into(),
        [] if schema.contains_key("items") => "array".into(),
        [] => return,
        several => several.into(),
    };
    made.insert("type".to_owned(), only);
}

/// Lets a member be null, which means that it is omitted.
fn nullable(member: &mut Map<String, Value>) {
    if let Some(reference) = member.shift_remove("$ref") {
        member.insert("anyOf".to_owned(), json!([{"$ref": reference}, {"type": "null"}]));
        return;
    }
    if let Some(value) = member.shift_remove("const") {
        member.insert("enum".to_owned(), json!([value]));
    }
    if let Some(Value::Array(values)) = member.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    match member.get_mut("type") {
        Some(Value::Array(types)) if types.iter().any(|name| name == "null") => {}
        Some(Value::Array(types)) => types.push("null".into()),
        Some(Value::String(name)) if name == "null" => {}
        Some(type_) => *type_ = json!([type_.take(), "null"]),
        None => {}
    }
    if let Some(Value::Array(branches)) = member.get_mut("anyOf")
        && !branches.iter().any(|branch| branch.get("type").is_some_and(|name| name == "null"))
    {
        branches.push(json!({"type": "null"}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(dialect: Dialect, form: usize, value: &Value) -> Result<Value, Obstacle> {
        schema(forms(dialect)[form], value, &mut Notes::default())
    }

    fn member(schema: &Value) -> Value {
        json!({"type": "object", "properties": {"x": schema}})
    }

    #[test]
    fn optional_members_may_be_null() {
        let cases = [
            (json!({"type": "string"}), json!({"type": ["string", "null"]})),
            (json!({"enum": ["a", "b"]}), json!({"enum": ["a", "b", null], "type": ["string", "null"]})),
            (json!({"const": 1}), json!({"type": ["integer", "null"], "enum": [1, null]})),
            (json!({"enum": [true]}), json!({"enum": [true, null], "type": ["boolean", "null"]})),
            (json!({"type": ["string", "null"]}), json!({"type": ["string", "null"]})),
            (
                json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
            ),
            (
                json!({"items": {"type": "string"}}),
                json!({"items": {"type": "string"}, "type": ["array", "null"]}),
            ),
            (
                json!({"type": "integer", "minimum": 1, "description": "Step", "default": 3}),
                json!({"type": ["integer", "null"], "minimum": 1, "description": "Step. Default: 3."}),
            ),
        ];
        for (schema, expected) in cases {
            let made = made(Dialect::OpenAiStrict, 0, &member(&schema)).unwrap();
            assert_eq!(made["properties"]["x"], expected);
            assert_eq!(made["required"], json!(["x"]));
            assert_eq!(made["additionalProperties"], json!(false));
        }
    }

    #[test]
    fn obstacles_to_strictness_have_a_location() {
        let cases = [
            (json!({}), "/properties/x", "strict"),
            (json!(true), "/properties/x", "strict"),
            (json!({"description": "anything"}), "/properties/x", "strict"),
            (json!({"type": "array"}), "/properties/x", "items"),
            (json!({"type": "array", "items": {}}), "/properties/x/items", "strict"),
            (json!({"type": "object"}), "/properties/x", "additionalProperties"),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                "/properties/x",
                "additionalProperties",
            ),
            (json!({"enum": [{"a": 1}]}), "/properties/x", "enum"),
            (json!({"allOf": [{"type": "string"}, {"minLength": 1}]}), "/properties/x", "allOf"),
            (json!({"type": "array", "prefixItems": [{}]}), "/properties/x", "prefixItems"),
            (json!({"type": "text"}), "/properties/x", "type"),
            (json!({"$ref": "#/properties/y"}), "/properties/x", "$ref"),
        ];
        for (schema, place, keyword) in cases {
            let obstacle = made(Dialect::OpenAiStrict, 0, &member(&schema)).unwrap_err();
            assert_eq!((obstacle.place.as_str(), obstacle.keyword.as_str()), (place, keyword), "{schema}");
            made(Dialect::AnthropicStrict, 0, &member(&schema)).unwrap_err();
        }
    }

    #[test]
    fn recursion_is_for_one_provider_alone() {
        let schema = json!({
            "type": "object",
            "properties": {"tree": {"$ref": "#/$defs/tree"}},
            "required": ["tree"],
            "$defs": {
                "leaf": {"type": "string"},
                "tree": {
                    "type": "object",
                    "properties": {"leaf": {"$ref": "#/$defs/leaf"}, "inner": {"$ref": "#/$defs/tree"}},
                    "required": ["leaf", "inner"]
                }
            }
        });
        made(Dialect::OpenAiStrict, 0, &schema).unwrap();
        let obstacle = made(Dialect::AnthropicStrict, 0, &schema).unwrap_err();
        assert_eq!(obstacle.place, "/$defs/tree");
        let itself = json!({"type": "object", "properties": {"again": {"$ref": "#"}}});
        made(Dialect::AnthropicStrict, 0, &itself).unwrap_err();
    }

    #[test]
    fn references_stand_alone() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a": {"$ref": "#/$defs/x", "description": "A"},
                "b": {"allOf": [{"$ref": "#/$defs/x"}]},
                "c": {"$ref": "#/$defs/x"}
            },
            "required": ["a", "b"],
            "$defs": {"x": {"type": "string"}}
        });
        let made = made(Dialect::OpenAiStrict, 0, &schema).unwrap();
        let expected = json!({
            "a": {"description": "A", "anyOf": [{"$ref": "#/$defs/x"}]},
            "b": {"$ref": "#/$defs/x"},
            "c": {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}]}
        });
        assert_eq!(made["properties"], expected);
    }

    #[test]
    fn bounds_are_kept_or_said() {
        let schema = json!({
            "type": "object",
            "properties": {
                "size": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "Number of items"},
                "paths": {"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1, "maxItems": 9},
                "when": {"type": "string", "format": "uri", "pattern": "^(?=x)"}
            },
            "required": ["size", "paths", "when"]
        });
        let openai = made(Dialect::OpenAiStrict, 0, &schema).unwrap();
        let anthropic = made(Dialect::AnthropicStrict, 0, &schema).unwrap();
        assert_eq!(
            anthropic["properties"]["size"],
            json!({"type": "integer", "description": "Number of items. At least 1, at most 1000."})
        );
        assert_eq!(openai["properties"]["size"], schema["properties"]["size"]);
        assert_eq!(anthropic["properties"]["paths"]["minItems"], json!(1));
        assert_eq!(anthropic["properties"]["paths"]["description"], json!("At most 9 items."));
        assert_eq!(openai["properties"]["paths"]["maxItems"], json!(9));
        assert_eq!(openai["properties"]["paths"]["items"]["description"], json!("At least 1 character."));
        assert_eq!(anthropic["properties"]["when"]["format"], json!("uri"));
        assert_eq!(openai["properties"]["when"]["description"], json!("Format: uri."));
        assert_eq!(
            anthropic["properties"]["when"]["description"],
            json!("Matches the regular expression `^(?=x)`.")
        );
    }

    #[test]
    fn patterns_with_assertions_are_reported() {
        for (pattern, plain) in [
            ("^a+$", true),
            (r"\\b", true),
            (r"\bword", false),
            (r"(a)\1", false),
            ("(?<!x)", false),
            (r"\d", true),
        ] {
            assert_eq!(is_plain_pattern(pattern), plain, "{pattern}");
        }
    }
}
