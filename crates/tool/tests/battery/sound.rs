//! Promise R28: an export accepts all arguments that the tool accepts, and maps them back
//! unchanged.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use trommel_tool::dialect::Dialect;

use crate::dialects::{export, tools};
use crate::rules::schema as arguments_of;

/// A small generator, so that a value follows from a schema and a seed.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }

    /// A value that the schema may well take.
    fn value(&mut self, schema: &Value, root: &Value) -> Value {
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return self.value(root.pointer(target.trim_start_matches('#')).unwrap(), root);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return self.one_of(values).clone();
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(branches) =
            ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(*key)?.as_array())
        {
            let branch = self.one_of(branches);
            return self.value(branch, root);
        }
        let types = match schema.get("type") {
            Some(Value::Array(types)) => types.clone(),
            Some(one) => vec![one.clone()],
            None => vec![json!("string"), json!("boolean")],
        };
        let name = self.one_of(&types).as_str().unwrap();
        self.of_type(name, schema, root)
    }

    fn of_type(&mut self, name: &str, schema: &Value, root: &Value) -> Value {
        match name {
            "string" => (*self.one_of(&["", "x", "me@example.org", "some text"])).into(),
            "integer" => (*self.one_of(&[0, 1, 2, 4, 1_000, -3])).into(),
            "number" => (*self.one_of(&[0.5, 2.0, -1e9])).into(),
            "boolean" => (*self.one_of(&[true, false])).into(),
            "array" => {
                let items = schema.get("items").unwrap_or(&Value::Null);
                (0..self.below(4)).map(|_| self.value(items, root)).collect()
            }
            "object" => {
                let members = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
                let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
                let mut object = Map::new();
                for (name, inner) in members {
                    if self.below(2) == 0 || required.iter().any(|other| other == name) {
                        object.insert(name.clone(), self.value(inner, root));
                    }
                }
                object.into()
            }
            _ => Value::Null,
        }
    }
}

/// Returns the arguments as a model would have to pass them: null for omitted arguments that the
/// export requires.
fn with_nulls(schema: &Value, value: Value) -> Value {
    match value {
        Value::Object(mut members) => {
            let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
            let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            for (name, inner) in properties {
                if let Some(value) = members.get_mut(name) {
                    *value = with_nulls(inner, value.take());
                } else if required.iter().any(|other| other == name) {
                    members.insert(name.clone(), Value::Null);
                }
            }
            Value::Object(members)
        }
        Value::Array(items) => {
            let inner = schema.get("items").unwrap_or(&Value::Null);
            items.into_iter().map(|item| with_nulls(inner, item)).collect()
        }
        scalar => scalar,
    }
}

/// Removes null members. A nullable member that is null is equivalent to one that is absent.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let given = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(given.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(without_nulls).collect(),
        scalar => scalar,
    }
}

/// True if a schema has no keywords that refer to other schemas, so that omitted members can be
/// determined.
fn is_plain(schema: &Value) -> bool {
    let hidden = ["anyOf", "oneOf", "allOf", "$ref"];
    let Value::Object(members) = schema else { return true };
    !hidden.iter().any(|key| members.contains_key(*key))
        && members.get("items").is_none_or(is_plain)
        && members.get("properties").and_then(Value::as_object).is_none_or(|all| all.values().all(is_plain))
}

/// The arguments under the names that an export has for them, which keeps their order.
fn renamed(own: &Value, exported: &Value, arguments: &Value) -> Value {
    let names = |schema: &Value| -> Vec<String> {
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let (own, exported) = (names(own), names(exported));
    let members = arguments.as_object().unwrap().iter().map(|(name, value)| {
        let at = own.iter().position(|other| other == name).unwrap();
        (exported[at].clone(), value.clone())
    });
    Value::Object(members.collect())
}

proptest! {
    #[test]
    fn r28_exports_accept_all_valid_arguments(tools in tools(), seed in any::<u64>()) {
        let mut draw = Draw(seed);
        for dialect in Dialect::ALL {
            let made = export(dialect, &tools);
            for described in &made.tools {
                let name = crate::rules::body(described)["name"].as_str().unwrap();
                let own = made.names.original(name).unwrap();
                let tool = tools.iter().find(|tool| tool.name == own).unwrap();
                let arguments = draw.value(&tool.args_schema, &tool.args_schema);
                if !jsonschema::is_valid(&tool.args_schema, &arguments) {
                    continue;
                }
                let exported = arguments_of(described);
                let is_strict = crate::rules::body(described).get("strict").is_some();
                if is_strict && !tool.args_schema["properties"].as_object().unwrap().values().all(is_plain) {
                    continue;
                }
                let mut call = renamed(&tool.args_schema, exported, &arguments);
                if is_strict {
                    call = with_nulls(exported, call);
                }
                prop_assert!(jsonschema::is_valid(exported, &call), "{dialect}: {exported} refuses {call}");
                let (_, back) = made.restore(name, call).unwrap();
                prop_assert_eq!(without_nulls(back), without_nulls(arguments), "{} {}", dialect, tool.args_schema);
            }
        }
    }
}
