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
    /// Reads one argument's schema.
    fn read(name: &str, schema: &Value, required: bool) -> Self {
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

/// Keywords that bound a value, under the names that people are shown.
const BOUNDS: [(&str, &str); 13] = [
    ("min_length", "minLength"),
    ("max_length", "maxLength"),
    ("minimum", "minimum"),
    ("maximum", "maximum"),
    ("exclusive_minimum", "exclusiveMinimum"),
    ("exclusive_maximum", "exclusiveMaximum"),
    ("multiple_of", "multipleOf"),
    ("min_items", "minItems"),
    ("max_items", "maxItems"),
    ("min_properties", "minProperties"),
    ("max_properties", "maxProperties"),
    ("pattern", "pattern"),
    ("format", "format"),
];

/// What bounds a value of this schema: `minimum=1, maximum=10000`.
pub(crate) fn constraints(schema: &Value) -> Option<String> {
    let texts = BOUNDS.iter().filter_map(|(name, keyword)| match schema.get(keyword)? {
        Value::Number(bound) => Some(format!("{name}={bound}")),
        Value::String(form) => Some(format!("{name}={form}")),
        _ => None,
    });
    let texts = texts.collect::<Vec<_>>();
    (!texts.is_empty()).then(|| texts.join(", "))
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
