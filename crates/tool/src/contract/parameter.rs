//! A view of one parameter, derived from the schema of all.

use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// One parameter of a tool, as lists and displays show it.
///
/// It is a view: the schema decides, and can say more (items, patterns, nested objects).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct ToolParameter {
    /// Its name.
    pub name: String,
    /// Its types, joined by `|`; `any` if the schema names none.
    #[serde(rename = "type")]
    pub type_: String,
    /// Its description.
    pub description: String,
    /// True if it is required.
    pub required: bool,
    /// Its default.
    pub default: Option<Value>,
    /// The allowed values.
    #[serde(rename = "enum")]
    pub enum_: Option<Vec<Value>>,
    /// Minimum length of a string in characters.
    pub min_length: Option<u64>,
    /// Maximum length of a string in characters.
    pub max_length: Option<u64>,
    /// Minimum of a number.
    pub minimum: Option<Number>,
    /// Maximum of a number.
    pub maximum: Option<Number>,
}

impl ToolParameter {
    /// The parameters of an object's schema, in its order.
    pub fn of_object(schema: &Value) -> Vec<Self> {
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        properties.map(|(name, schema)| Self::read(name, schema, is_required(name))).collect()
    }

    /// The constraints of a value by its schema: `minimum=1, maximum=10000`.
    pub fn constraints(schema: &Value) -> Option<String> {
        let texts = BOUNDS.iter().filter_map(|(name, keyword)| match schema.get(keyword)? {
            Value::Number(bound) => Some(format!("{name}={bound}")),
            Value::String(form) => Some(format!("{name}={form}")),
            _ => None,
        });
        let texts = texts.collect::<Vec<_>>();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    /// Reads the schema of one parameter.
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

/// Keywords that constrain a value, with their displayed names.
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

/// The types that a schema names, itself or in its alternatives.
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
