//! The keywords of JSON Schema: those that hold schemas, and a walk over all subschemas.

use serde_json::{Map, Value};

/// The schemas in a keyword's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// No schema.
    Plain,
    /// A schema.
    Schema,
    /// Schemas in an array.
    List,
    /// Schemas by name.
    Named,
}

/// The schemas in the value of a keyword.
pub(super) fn holds(keyword: &str, value: &Value) -> Holds {
    match (keyword, value) {
        (
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
            Value::Object(_),
        ) => Holds::Named,
        ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(_)) => Holds::List,
        (
            "items"
            | "additionalItems"
            | "additionalProperties"
            | "contains"
            | "propertyNames"
            | "not"
            | "if"
            | "then"
            | "else"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contentSchema",
            Value::Object(_) | Value::Bool(_),
        ) => Holds::Schema,
        _ => Holds::Plain,
    }
}

/// A schema within a schema.
pub(super) struct Visited<'a> {
    /// The schema's members.
    pub(super) schema: &'a Map<String, Value>,
    /// Its place: a JSON Pointer.
    pub(super) place: String,
    /// The number of schemas around it, including itself.
    pub(super) depth: usize,
    /// The number of objects and arrays around its values, including themselves.
    pub(super) level: usize,
}

/// All subschemas of a schema, itself first. It works at any depth.
pub(super) fn schemas(root: &Value) -> impl Iterator<Item = Visited<'_>> {
    let mut open = vec![(root, String::new(), 1, 1)];
    std::iter::from_fn(move || {
        loop {
            let (value, place, depth, level) = open.pop()?;
            let Value::Object(schema) = value else { continue };
            let first = open.len();
            for (keyword, value) in schema {
                let inner = if is_inner(keyword) { level + 1 } else { level };
                let mut add = |place, value| open.push((value, place, depth + 1, inner));
                match (holds(keyword, value), value) {
                    (Holds::Schema, value) => add(child(&place, keyword), value),
                    (Holds::List, Value::Array(list)) => {
                        let list = list.iter().enumerate();
                        list.for_each(|(at, value)| add(format!("{place}/{keyword}/{at}"), value));
                    }
                    (Holds::Named, Value::Object(named)) => {
                        let place = child(&place, keyword);
                        named.iter().for_each(|(name, value)| add(child(&place, name), value));
                    }
                    _ => {}
                }
            }
            open[first..].reverse();
            return Some(Visited { schema, place, depth, level });
        }
    })
}

/// True for a keyword whose schemas apply to members or elements.
fn is_inner(keyword: &str) -> bool {
    matches!(
        keyword,
        "properties" | "patternProperties" | "additionalProperties" | "items" | "prefixItems" | "contains"
    )
}

/// The place of a member of the value at a place.
pub(super) fn child(place: &str, name: &str) -> String {
    if name.contains(['~', '/']) {
        format!("{place}/{}", name.replace('~', "~0").replace('/', "~1"))
    } else {
        format!("{place}/{name}")
    }
}

/// The members of an object schema, by name.
pub(super) fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// True if a member is required.
pub(super) fn is_required(schema: &Map<String, Value>, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| required.iter().any(|other| other == name))
}

/// True if a schema names a type, alone or among others.
pub(super) fn has_type(schema: &Map<String, Value>, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(found)) => found == name,
        Some(Value::Array(types)) => types.iter().any(|found| found == name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_schema_is_visited_in_order() {
        let schema = json!({
            "type": "object",
            "properties": {
                "a/b": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/x"}]}},
                "properties": {"enum": [{"type": "no schema"}], "default": {"properties": {}}}
            },
            "additionalProperties": false,
            "$defs": {"x": {"not": {}}}
        });
        let found: Vec<_> = schemas(&schema).map(|v| (v.place, v.depth, v.level)).collect();
        let found: Vec<_> =
            found.iter().map(|(place, depth, level)| (place.as_str(), *depth, *level)).collect();
        let expected = [
            ("", 1, 1),
            ("/properties/a~1b", 2, 2),
            ("/properties/a~1b/items", 3, 3),
            ("/properties/a~1b/items/anyOf/0", 4, 3),
            ("/properties/a~1b/items/anyOf/1", 4, 3),
            ("/properties/properties", 2, 2),
            ("/$defs/x", 2, 1),
            ("/$defs/x/not", 3, 1),
        ];
        assert_eq!(found, expected);
    }
}
