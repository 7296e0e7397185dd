//! Places and values of arguments, as errors show them: `counts[0].path`, `"100" (string)`.

use serde_json::Value;

use crate::redact::{REDACTED, Redaction};
use crate::text::one_line_json;

/// Maximum characters of a value or a name in an error.
const MAX_CHARS: usize = 80;

/// A value as an error shows it: truncated, and redacted if its path names a secret.
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

/// Returns the path of a JSON Pointer in words; empty for the whole arguments.
pub(crate) fn path_of(arguments: &Value, pointer: &str) -> String {
    let mut path = String::new();
    let mut value = Some(arguments);
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        if let Some(Value::Array(items)) = value {
            path.extend(["[", &name, "]"]);
            value = name.parse().ok().and_then(|index: usize| items.get(index));
        } else {
            join(&mut path, &name);
            value = value.and_then(|value| value.get(&name));
        }
    }
    path
}

/// Returns the path of a member of the value at `path`.
pub(super) fn member(path: &str, name: &str) -> String {
    let mut path = path.to_owned();
    join(&mut path, name);
    path
}

fn join(path: &mut String, name: &str) {
    let is_plain =
        name.len() <= MAX_CHARS && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if !is_plain || name.is_empty() {
        path.extend(["[", &one_line_json(name, MAX_CHARS), "]"]);
    } else {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_become_paths() {
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
            assert_eq!(path_of(&arguments, pointer), words);
        }
        assert_eq!(member("", "path"), "path");
        assert_eq!(member("counts[0]", "path"), "counts[0].path");
        assert!(member("", &"x".repeat(1_000_000)).starts_with("[\"xxx"));
        assert!(member("", &"x".repeat(1_000_000)).len() < 100);
    }
}
