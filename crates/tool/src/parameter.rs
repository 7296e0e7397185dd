//! A view of one argument, derived from the schema of all.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// One argument of a tool, as lists and displays show it.
///
/// It is a view: what counts is the schema, which can say more (items, patterns, nested objects).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolParameter {
    /// Its name.
    pub name: String,
    /// Its type, several joined by `|`; `any` when the schema says nothing.
    #[serde(rename = "type")]
    pub type_: String,
    /// What it means.
    pub description: String,
    /// Whether it must be given.
    pub required: bool,
    /// What stands for it when it is not given.
    pub default: Option<Value>,
    /// The values it may have.
    #[serde(rename = "enum")]
    pub enum_: Option<Vec<Value>>,
    /// Least length of a string, in characters.
    pub min_length: Option<u64>,
    /// Greatest length of a string, in characters.
    pub max_length: Option<u64>,
    /// Least value of a number.
    pub minimum: Option<Number>,
    /// Greatest value of a number.
    pub maximum: Option<Number>,
}

impl ToolParameter {
    /// What bounds it: `minimum=1, maximum=10000`.
    pub fn constraints(&self) -> Option<String> {
        let number = |value: &Option<Number>| value.as_ref().map(Number::to_string);
        let length = |value: Option<u64>| value.map(|length| length.to_string());
        let bounds = [
            ("min_length", length(self.min_length)),
            ("max_length", length(self.max_length)),
            ("minimum", number(&self.minimum)),
            ("maximum", number(&self.maximum)),
        ];
        let texts = bounds.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
        let texts = texts.collect::<Vec<_>>();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    /// Reads one argument's schema.
    pub(crate) fn read(name: &str, schema: &Value, required: bool) -> Self {
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let length = |key: &str| schema.get(key).and_then(Value::as_u64);
        let number = |key: &str| schema.get(key).and_then(Value::as_number).cloned();
        Self {
            name: name.to_owned(),
            type_: type_of(schema),
            description: text("description"),
            required,
            default: schema.get("default").cloned(),
            enum_: schema.get("enum").and_then(Value::as_array).cloned(),
            min_length: length("minLength"),
            max_length: length("maxLength"),
            minimum: number("minimum"),
            maximum: number("maximum"),
        }
    }
}

/// The arguments of an object's schema, in its order.
pub(crate) fn of_schema(schema: &Value) -> Vec<ToolParameter> {
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    properties.map(|(name, schema)| ToolParameter::read(name, schema, is_required(name))).collect()
}

/// The types a schema names, itself or in its alternatives.
fn type_of(schema: &Value) -> String {
    let mut types = Vec::new();
    collect_types(schema, &mut types);
    if types.is_empty() { "any".to_owned() } else { types.join("|") }
}

fn collect_types<'a>(schema: &'a Value, types: &mut Vec<&'a str>) {
    let mut add = |name: &'a str| {
        if !types.contains(&name) {
            types.push(name);
        }
    };
    match schema.get("type") {
        Some(Value::String(name)) => add(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).for_each(add),
        _ => {
            let alternatives = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
            alternatives.flatten().for_each(|one| collect_types(one, types));
        }
    }
}
