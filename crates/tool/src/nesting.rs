//! The depth of values, checked without recursion.

use serde_json::Value;

/// The most levels of arguments and schemas: those that a JSON parser accepts.
pub(crate) const MAX_DEPTH: usize = 128;

/// Returns the value unless it is too deep. A deep value is dropped without recursion.
pub(crate) fn shallow(value: Value) -> Option<Value> {
    if is_shallow(&value) {
        return Some(value);
    }
    let mut parts = vec![value];
    while let Some(part) = parts.pop() {
        match part {
            Value::Array(items) => parts.extend(items),
            Value::Object(members) => parts.extend(members.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    None
}

/// Returns the value, or a message instead of one that is too deep.
pub(crate) fn shallow_or_message(value: Value) -> Value {
    shallow(value).unwrap_or_else(|| format!("[nested deeper than {MAX_DEPTH} levels]").into())
}

/// True if a value has at most the allowed levels.
pub(crate) fn is_shallow(value: &Value) -> bool {
    let mut open = vec![(value, 1)];
    while let Some((value, level)) = open.pop() {
        if level > MAX_DEPTH {
            return false;
        }
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Value::Object(members) => open.extend(members.values().map(|value| (value, level + 1))),
            _ => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(levels: usize) -> Value {
        (1..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner]))
    }

    #[test]
    fn limits_depth_without_recursion() {
        assert!(shallow(nested(MAX_DEPTH)).is_some());
        assert!(shallow(nested(MAX_DEPTH + 1)).is_none());
        assert!(shallow(nested(1_000_000)).is_none());
    }
}
