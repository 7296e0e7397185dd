//! Values nested so deep that nothing recursive may touch them.

use serde_json::Value;

/// Levels of arguments and schemas at most: as many as a JSON parser takes.
pub(crate) const DEEPEST: usize = 128;

/// The value, unless it is nested deeper than allowed; then it is taken apart without recursion.
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

/// The value, or a sentence instead of one that is nested too deep.
pub(crate) fn shallow_or_told(value: Value) -> Value {
    shallow(value).unwrap_or_else(|| format!("[nested deeper than {DEEPEST} levels]").into())
}

/// Whether a value has at most the levels allowed.
pub(crate) fn is_shallow(value: &Value) -> bool {
    let mut open = vec![(value, 1)];
    while let Some((value, level)) = open.pop() {
        if level > DEEPEST {
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
    fn depth_is_bounded_without_recursion() {
        assert!(shallow(nested(DEEPEST)).is_some());
        assert!(shallow(nested(DEEPEST + 1)).is_none());
        assert!(shallow(nested(1_000_000)).is_none());
    }
}
