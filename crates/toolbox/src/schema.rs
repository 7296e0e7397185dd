//! Schemas of tools' arguments, derived from the structs that the arguments are parsed into.
//!
//! An argument is declared once, as a field. The schema takes its name and type from the field, its
//! description from the doc comment or `#[schemars(description)]`, and its bounds and default from
//! attributes. `Published` reduces the output of `schemars` to the keywords that models are shown.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The keywords of a published schema, in order.
const KEYWORDS: [&str; 11] = [
    "type",
    "properties",
    "items",
    "enum",
    "minItems",
    "minimum",
    "maximum",
    "default",
    "description",
    "required",
    "additionalProperties",
];

/// Returns the schema of the arguments that are parsed into `T`, with all subschemas inlined.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12().with_transform(Published);
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    // The doc comment of the struct is for developers, not for models.
    let mut schema = schema.to_value();
    members(&mut schema).shift_remove("description");
    schema
}

/// Returns the schema of a string with a fixed set of values, named as they serialize.
///
/// It is for enums of other crates, which cannot derive `JsonSchema` here.
pub(crate) fn one_of<T: Serialize>(values: &[T]) -> Schema {
    Schema::from(Map::from_iter([("type".to_owned(), json!("string")), ("enum".to_owned(), json!(values))]))
}

/// Returns the properties in the schema of an object.
pub(crate) fn properties(schema: &mut Value) -> &mut Map<String, Value> {
    members(&mut schema["properties"])
}

/// Returns the schema of one property of an object.
pub(crate) fn property<'s>(schema: &'s mut Value, name: &str) -> &'s mut Map<String, Value> {
    members(&mut schema["properties"][name])
}

/// Removes a value from the enum of a property.
pub(crate) fn forbid(schema: &mut Value, name: &str, value: &impl Serialize) {
    let value = json!(value);
    if let Some(values) = schema["properties"][name]["enum"].as_array_mut() {
        values.retain(|one| *one != value);
    }
}

/// Returns the names of the arguments that a call has, in the order of the schema.
pub(crate) fn given<'s>(
    schema: &'s Value,
    arguments: &'s Map<String, Value>,
) -> impl Iterator<Item = &'s str> {
    let names = schema["properties"].as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    names.filter(|name| arguments.get(*name).is_some_and(|value| !value.is_null()))
}

#[expect(clippy::expect_used, reason = "the schemas of this crate's own types are objects, as tests show")]
fn members(value: &mut Value) -> &mut Map<String, Value> {
    value.as_object_mut().expect("a schema is an object")
}

/// Reduces a derived schema to the keywords of a published one.
#[derive(Clone)]
struct Published;

impl Transform for Published {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(derived) = schema.as_object_mut() else { return };
        let mut derived = std::mem::take(derived);
        unwrap_option(&mut derived);
        if derived.contains_key("properties") {
            derived.insert("additionalProperties".to_owned(), json!(false));
        }
        // Null and an empty list mean the absence of a filter, so they are not shown as defaults.
        if derived.get("default").is_some_and(|default| *default == Value::Null || *default == json!([])) {
            derived.shift_remove("default");
        }
        if let Some(text) = derived.get("description").and_then(Value::as_str) {
            // A doc comment wraps its lines, but is one paragraph.
            derived.insert("description".to_owned(), text.replace('\n', " ").into());
        }
        let published = KEYWORDS.iter().filter_map(|&keyword| derived.remove_entry(keyword));
        let published: Map<String, Value> = published.collect();
        *schema = published.into();
    }
}

/// Reduces "a value or null", the schema of an `Option`, to the value. Callers omit an argument
/// instead of passing null.
fn unwrap_option(schema: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_mut_slice() {
            let only = only.take();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(mut any)) = schema.remove("anyOf") {
        any.retain(|one| *one != json!({"type": "null"}));
        if let [Value::Object(only)] = any.as_mut_slice() {
            for (keyword, value) in std::mem::take(only) {
                schema.entry(keyword).or_insert(value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(dead_code, reason = "only the schema of the type is wanted")]

    use super::*;
    use serde::Deserialize;

    /// Arguments of a tool.
    #[derive(Deserialize, JsonSchema)]
    struct Arguments {
        /// Words of
        /// two lines
        words: Vec<String>,
        #[serde(default = "two")]
        #[schemars(range(min = 1, max = 3))]
        number: u32,
        /// The kind
        kind: Option<Kind>,
        inner: Option<Inner>,
        #[serde(default)]
        all: Vec<String>,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        One,
        Two,
    }

    #[derive(Deserialize, JsonSchema)]
    struct Inner {
        name: String,
    }

    fn two() -> u32 {
        2
    }

    #[test]
    fn schemas_have_published_keywords_only() {
        let expected = r#"{"type":"object","properties":{"words":{"type":"array","items":{"type":"string"},"description":"Words of two lines"},"number":{"type":"integer","minimum":1,"maximum":3,"default":2},"kind":{"type":"string","enum":["one","two"],"description":"The kind"},"inner":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false},"all":{"type":"array","items":{"type":"string"}}},"required":["words"],"additionalProperties":false}"#;
        assert_eq!(of::<Arguments>().to_string(), expected);
    }
}
