//! Headers that repeat parts of a request (MCP 2026-07-28, Streamable HTTP, sections Standard
//! Request Headers and Custom Headers from Tool Parameters).

use std::collections::HashSet;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Map, Value};

/// The annotation of a parameter whose value is repeated in a header.
const ANNOTATION: &str = "x-mcp-header";

/// The largest integer, in either direction, that JSON readers agree on.
const MAX_SAFE: u64 = (1 << 53) - 1;

/// The parameter of a method that its header `Mcp-Name` repeats.
pub(super) fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// Encodes a value, so that it can be the value of a header.
pub(super) fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~')) && value.trim() == value;
    let seems_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if is_plain && !seems_encoded {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
    }
}

/// The parameters of a tool that are repeated in headers: their places, and the headers' names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mirrored(Vec<(Vec<String>, String)>);

impl Mirrored {
    /// Reads the annotations of a tool's input schema.
    ///
    /// # Errors
    /// Returns the reason why they are invalid. Such a tool must not be offered.
    pub(crate) fn of(schema: &Value) -> Result<Self, String> {
        let mut found = Self::default();
        if let Value::Object(schema) = schema {
            found.collect(schema, &mut Vec::new(), true)?;
        }
        let mut names = HashSet::new();
        let repeated = found.0.iter().find(|(_, name)| !names.insert(name.to_ascii_lowercase()));
        match repeated {
            Some((_, name)) => Err(format!("two parameters have the header {name}")),
            None => Ok(found),
        }
    }

    /// Collects the annotations below a schema. Only those that are reached by `properties` alone
    /// are valid.
    fn collect(
        &mut self,
        schema: &Map<String, Value>,
        path: &mut Vec<String>,
        is_reached: bool,
    ) -> Result<(), String> {
        if let Some(name) = schema.get(ANNOTATION) {
            self.0.push((path.clone(), checked(name, schema, path, is_reached)?));
        }
        for (keyword, value) in schema {
            match keyword.as_str() {
                // Not schemas.
                "default" | "const" | "enum" | "examples" | "required" | "dependentRequired" => {}
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                    let Value::Object(named) = value else { continue };
                    for (name, schema) in named {
                        let Value::Object(schema) = schema else { continue };
                        path.push(name.clone());
                        self.collect(schema, path, is_reached && keyword == "properties")?;
                        path.pop();
                    }
                }
                _ => self.collect_elsewhere(value, path)?,
            }
        }
        Ok(())
    }

    fn collect_elsewhere(&mut self, value: &Value, path: &mut Vec<String>) -> Result<(), String> {
        match value {
            Value::Object(schema) => self.collect(schema, path, false),
            Value::Array(schemas) => schemas.iter().try_for_each(|schema| match schema {
                Value::Object(schema) => self.collect(schema, path, false),
                _ => Ok(()),
            }),
            _ => Ok(()),
        }
    }

    /// The headers of a call with these arguments.
    ///
    /// # Errors
    /// Returns the reason why a value cannot be repeated.
    pub(crate) fn headers(&self, arguments: &Value) -> Result<Vec<(String, String)>, String> {
        let mut headers = Vec::new();
        for (path, name) in &self.0 {
            let value = path.iter().try_fold(arguments, |value, key| value.get(key));
            let text = match value {
                None | Some(Value::Null) => continue,
                Some(Value::String(text)) => encoded(text),
                Some(Value::Bool(flag)) => flag.to_string(),
                Some(Value::Number(number)) => {
                    let size = number.as_i64().map(i64::unsigned_abs).or_else(|| number.as_u64());
                    if size.is_some_and(|size| size > MAX_SAFE) {
                        return Err(format!(
                            "{} is not a safe integer, which its header needs",
                            path.join(".")
                        ));
                    }
                    number.to_string()
                }
                Some(_) => return Err(format!("{} must be a string, integer, or boolean", path.join("."))),
            };
            headers.push((format!("Mcp-Param-{name}"), text));
        }
        Ok(headers)
    }
}

/// Removes the annotations from a schema: our clients need not repeat what only the server uses.
pub(crate) fn without_annotations(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            members.shift_remove(ANNOTATION);
            for (keyword, value) in members {
                match (keyword.as_str(), value) {
                    ("default" | "const" | "enum" | "examples", _) => {}
                    ("properties" | "patternProperties" | "$defs" | "definitions", Value::Object(named)) => {
                        named.values_mut().for_each(without_annotations);
                    }
                    (_, value) => without_annotations(value),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(without_annotations),
        _ => {}
    }
}

/// Checks one annotation, and returns the name.
fn checked(
    name: &Value,
    schema: &Map<String, Value>,
    path: &[String],
    is_reached: bool,
) -> Result<String, String> {
    let place = path.join(".");
    let is_token = |name: &str| {
        let is_mark = |c: char| "!#$%&'*+-.^_`|~".contains(c);
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || is_mark(c))
    };
    let kind = schema.get("type").and_then(Value::as_str);
    match name.as_str() {
        _ if !is_reached || path.is_empty() => {
            Err(format!("{ANNOTATION} at {place:?} is not on a property that `properties` alone reaches"))
        }
        Some(name) if is_token(name) => match kind {
            Some("string" | "integer" | "boolean") => Ok(name.to_owned()),
            _ => Err(format!("{ANNOTATION} of {place:?} needs the type string, integer, or boolean")),
        },
        _ => Err(format!("{ANNOTATION} of {place:?} is not the name of a header")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_encoded_where_headers_need_it() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("two words", "two words"),
            ("", ""),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("日本", "=?base64?5pel5pys?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ] {
            assert_eq!(encoded(value), header, "{value}");
        }
    }

    #[test]
    fn annotated_parameters_become_headers() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "inner": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "flag": {"type": "boolean", "x-mcp-header": "Flag"},
            "default": {"type": "string"},
        }});
        let mirrored = Mirrored::of(&schema).unwrap();
        let headers = |arguments| mirrored.headers(&arguments);
        let all = headers(json!({"region": "ä", "inner": {"n": 7}, "flag": false, "other": 1})).unwrap();
        let expected =
            [("Mcp-Param-Region", "=?base64?w6Q=?="), ("Mcp-Param-N", "7"), ("Mcp-Param-Flag", "false")];
        assert_eq!(all, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(headers(json!({"region": null})), Ok(Vec::new()));
        assert!(headers(json!({"inner": {"n": 9_007_199_254_740_992_u64}})).is_err());
        assert!(headers(json!({"region": ["a"]})).is_err());
    }

    #[test]
    fn annotations_are_removed() {
        let mut schema = json!({"x-mcp-header": "A", "properties": {
            "x-mcp-header": {"type": "string", "x-mcp-header": "B", "default": {"x-mcp-header": 1}},
        }, "anyOf": [{"x-mcp-header": "C"}]});
        without_annotations(&mut schema);
        let expected = json!({"properties": {
            "x-mcp-header": {"type": "string", "default": {"x-mcp-header": 1}},
        }, "anyOf": [{}]});
        assert_eq!(schema, expected);
    }

    #[test]
    fn invalid_annotations_are_refused() {
        let property = |schema: Value| json!({"type": "object", "properties": {"p": schema}});
        let fault = |schema: &Value| Mirrored::of(schema).unwrap_err();
        for (schema, why) in [
            (property(json!({"type": "string", "x-mcp-header": ""})), "name of a header"),
            (property(json!({"type": "string", "x-mcp-header": "a b"})), "name of a header"),
            (property(json!({"type": "string", "x-mcp-header": 1})), "name of a header"),
            (property(json!({"type": "number", "x-mcp-header": "N"})), "needs the type"),
            (property(json!({"type": "array", "items": {"type": "string", "x-mcp-header": "I"}})), "alone"),
            (json!({"x-mcp-header": "Root", "type": "string"}), "alone"),
            (json!({"anyOf": [property(json!({"type": "string", "x-mcp-header": "A"}))]}), "alone"),
            (
                json!({"properties": {
                    "a": {"type": "string", "x-mcp-header": "One"},
                    "b": {"type": "string", "x-mcp-header": "one"},
                }}),
                "two parameters",
            ),
        ] {
            assert!(fault(&schema).contains(why), "{schema}: {}", fault(&schema));
        }
        // The value of a default is no schema.
        assert!(Mirrored::of(&property(json!({"default": {"x-mcp-header": 1}}))).is_ok());
    }
}
