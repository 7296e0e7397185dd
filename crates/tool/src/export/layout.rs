//! One order of keys, so that a schema's bytes do not depend on its author's order.

use serde_json::{Map, Value, json};

use super::keywords::{Holds, holds};
use crate::contract::metadata::{Effects, Metadata};

/// The order of keywords; others follow in their own order. Names of members keep theirs.
const ORDER: [&str; 31] = [
    "$schema",
    "$id",
    "$ref",
    "title",
    "type",
    "description",
    "default",
    "enum",
    "const",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "$defs",
];

/// The same schema with its keywords in order. It recurses with the schema's depth, which the
/// caller limits.
pub(super) fn ordered(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return schema.clone() };
    let known = ORDER.iter().filter_map(|keyword| members.get_key_value(*keyword));
    let others = members.iter().filter(|(keyword, _)| !ORDER.contains(&keyword.as_str()));
    let ordered = known.chain(others).map(|(keyword, value)| (keyword.clone(), within(keyword, value)));
    Value::Object(ordered.collect())
}

/// Adds the effects of a tool to its description.
pub(super) fn annotate(tool: &Metadata, described: &mut Value) {
    if let (Some(Effects { read_only, destructive, idempotent, open_world }), Some(members)) =
        (tool.effects, described.as_object_mut())
    {
        let annotations = json!({
            "readOnlyHint": read_only,
            "destructiveHint": destructive,
            "idempotentHint": idempotent,
            "openWorldHint": open_world
        });
        members.insert("annotations".to_owned(), annotations);
    }
}

fn within(keyword: &str, value: &Value) -> Value {
    match (holds(keyword, value), value) {
        (Holds::Schema, value) => ordered(value),
        (Holds::List, Value::Array(list)) => Value::Array(list.iter().map(ordered).collect()),
        (Holds::Named, Value::Object(named)) => {
            let named: Map<_, _> = named.iter().map(|(name, value)| (name.clone(), ordered(value))).collect();
            Value::Object(named)
        }
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keywords_are_ordered_and_members_are_not() {
        let schema = json!({
            "required": ["b"],
            "x-other": {"type": 1, "description": 2},
            "properties": {
                "b": {"maximum": 2, "description": "B", "type": "integer", "minimum": 1},
                "a": {"items": {"description": "A", "type": "string"}, "type": "array"}
            },
            "type": "object"
        });
        let expected = concat!(
            r#"{"type":"object","properties":{"b":{"type":"integer","description":"B","minimum":1,"maximum":2},"#,
            r#""a":{"type":"array","items":{"type":"string","description":"A"}}},"required":["b"],"#,
            r#""x-other":{"type":1,"description":2}}"#
        );
        assert_eq!(ordered(&schema).to_string(), expected);
    }
}
