//! The known names of an object's members.

use serde_json::Value;

/// Keywords with one schema of the same object.
const ONE: [&str; 3] = ["if", "then", "else"];

/// Keywords with several schemas of the same object.
const SEVERAL: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// The names in a schema, including those in its alternatives and conditions, each once, in their
/// order. References are resolved in `root`.
pub(super) fn names<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a str> {
    let (mut names, mut seen, mut open) = (Vec::new(), Vec::new(), vec![schema]);
    while let Some(schema) = open.pop() {
        // References may form a cycle.
        if seen.iter().any(|other| std::ptr::eq(*other, schema)) {
            continue;
        }
        seen.push(schema);
        let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, _) in members {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        open.extend(within(root, schema).into_iter().rev());
    }
    names
}

/// The schemas in a schema that describe the same object.
fn within<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let several = SEVERAL.iter().filter_map(|keyword| schema.get(*keyword)?.as_array()).flatten();
    let one = ONE.iter().filter_map(|keyword| schema.get(*keyword));
    let dependent = schema.get("dependentSchemas").and_then(Value::as_object);
    let target = schema.get("$ref").and_then(|target| target.as_str()?.strip_prefix('#'));
    let target = target.and_then(|pointer| root.pointer(pointer));
    several.chain(one).chain(dependent.into_iter().flat_map(|all| all.values())).chain(target).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn includes_names_of_alternatives() {
        let schema = json!({
            "properties": {"a": true, "b": true},
            "anyOf": [{"properties": {"c": true, "a": true}}, {"$ref": "#/$defs/d"}],
            "if": {"properties": {"e": true}},
            "dependentSchemas": {"a": {"properties": {"f": true}}},
            "not": {"properties": {"no": true}},
            "$defs": {"d": {"properties": {"d": {"properties": {"inner": true}}}, "$ref": "#/$defs/d"}}
        });
        assert_eq!(names(&schema, &schema), ["a", "b", "c", "d", "e", "f"]);
        assert!(names(&schema, &json!(true)).is_empty());
    }
}
