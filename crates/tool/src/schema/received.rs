//! What stands in the arguments, shown in an error.

use serde_json::Value;

use crate::redact::{REDACTED, Redaction};
use crate::spaced::spaced;

/// Characters of a value or a name that an error shows.
pub(super) const SHOWN: usize = 80;

/// A value as an error shows it: short, and blotted out where its place says that it is a secret.
pub(crate) fn text(value: &Value, pointer: &str, redaction: &Redaction) -> String {
    if pointer.split('/').any(|name| redaction.is_secret(name)) {
        return REDACTED.to_owned();
    }
    match value {
        Value::String(text) => spaced(&redaction.short(text, SHOWN), SHOWN + 2),
        Value::Array(_) | Value::Object(_) => redaction.short(&spaced(value, 4 * SHOWN), SHOWN),
        scalar => spaced(scalar, SHOWN),
    }
}

/// A name in double quotes, no longer than an error shows.
pub(super) fn quoted(name: &str) -> String {
    spaced(name, SHOWN)
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
