//! Places and values of arguments, as errors show them: `counts[0].path`, `"100" (string)`.

use serde_json::Value;

use crate::redact::{REDACTED, Redaction};
use crate::text::one_line_json;

/// Maximum characters of a value or a name in an error.
const MAX_CHARS: usize = 80;

/// A value as an error shows it: truncated, and redacted if its place says that it is a secret.
pub(crate) fn received(value: &Value, pointer: &str, redaction: &Redaction) -> String {
    if pointer.split('/').any(|name| redaction.is_secret(name)) {
        return REDACTED.to_owned();
    }
    match value {
        Value::String(text) => one_line_json(&redaction.short(text, MAX_CHARS), MAX_CHARS + 2),
        Value::Array(_) | Value::Object(_) => {
            redaction.short(&one_line_json(value, 4 * MAX_CHARS), MAX_CHARS)
        }
        scalar => one_line_json(scalar, MAX_CHARS),
    }
}

/// The JSON type of a value.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The place of a JSON Pointer; empty for the arguments as a whole.
pub(crate) fn place(arguments: &Value, pointer: &str) -> String {
    let mut place = String::new();
    let mut value = Some(arguments);
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        if let Some(Value::Array(items)) = value {
            place.extend(["[", &name, "]"]);
            value = name.parse().ok().and_then(|index: usize| items.get(index));
        } else {
            join(&mut place, &name);
            value = value.and_then(|value| value.get(&name));
        }
    }
    place
}

/// The place of a member of the value at a place.
pub(super) fn member(place: &str, name: &str) -> String {
    let mut place = place.to_owned();
    join(&mut place, name);
    place
}

fn join(place: &mut String, name: &str) {
    let is_plain =
        name.len() <= MAX_CHARS && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if !is_plain || name.is_empty() {
        place.extend(["[", &one_line_json(name, MAX_CHARS), "]"]);
    } else {
        if !place.is_empty() {
            place.push('.');
        }
        place.push_str(name);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_become_places() {
        let arguments = json!({"counts": [{"path": 1}], "a b": {"0": 1}, "x/y": 1});
        let cases = [
            ("", ""),
            ("/counts", "counts"),
            ("/counts/0/path", "counts[0].path"),
            ("/a b/0", "[\"a b\"].0"),
            ("/x~1y", "[\"x/y\"]"),
            ("/nowhere/0", "nowhere.0"),
        ];
        for (pointer, words) in cases {
            assert_eq!(place(&arguments, pointer), words);
        }
        assert_eq!(member("", "path"), "path");
        assert_eq!(member("counts[0]", "path"), "counts[0].path");
        assert!(member("", &"x".repeat(1_000_000)).starts_with("[\"xxx"));
        assert!(member("", &"x".repeat(1_000_000)).len() < 100);
    }
}
