//! The layout of JSON texts. Numbers and names stay verbatim.

use serde_json::{Map, Value};
use trommel_tool::one_line_json;

/// Maximum characters of a value that is part of a line.
const LONGEST: usize = 2_000;

/// Maximum levels of indentation: the text must not grow with the square of the depth.
const DEEPEST: usize = 30;

/// A JSON text on one line, with a space after each comma and colon.
pub(crate) fn inline(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 8);
    for token in tokens(json) {
        out.push_str(token);
        if matches!(token, "," | ":") {
            out.push(' ');
        }
    }
    out
}

/// A JSON text over several lines, with two columns of indentation per level.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut tokens = tokens(json).peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', 2 * depth.min(DEEPEST)));
    };
    while let Some(token) = tokens.next() {
        match token {
            "{" | "[" => {
                out.push_str(token);
                if let Some(close) = tokens.next_if(|next| matches!(*next, "}" | "]")) {
                    out.push_str(close);
                } else {
                    depth += 1;
                    line(&mut out, depth);
                }
            }
            "}" | "]" => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push_str(token);
            }
            "," => {
                out.push(',');
                line(&mut out, depth);
            }
            ":" => out.push_str(": "),
            _ => out.push_str(token),
        }
    }
    out
}

/// The tokens of a JSON text.
fn tokens(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let (token, after) = rest.split_at(length(rest));
        rest = after;
        (!token.is_empty()).then_some(token)
    })
}

/// The length of the first token of a text.
fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let Some(first) = bytes.first() else { return 0 };
    match first {
        b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
        b'"' => {
            let mut escaped = false;
            let end = bytes.iter().skip(1).position(|byte| {
                let closes = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                closes
            });
            end.map_or(bytes.len(), |end| end + 2)
        }
        _ => {
            let ends =
                |byte: &u8| matches!(byte, b',' | b'}' | b']' | b':' | b'"' | b' ' | b'\t' | b'\n' | b'\r');
            bytes.iter().position(ends).unwrap_or(bytes.len())
        }
    }
}

/// A value: a string verbatim, anything else as JSON on one line, truncated with `…`.
pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => one_line_json(other, LONGEST),
    }
}

/// An object on one line of at most `most` characters: whole members as long as they fit, then the
/// beginning of the next one if that shows enough of its value, then `...`.
pub(crate) fn members(object: &Map<String, Value>, most: usize) -> String {
    const MORE: &str = "...";
    /// Minimum characters of a truncated value.
    const LEAST: usize = 8;
    let mut text = "{".to_owned();
    let mut length = 1;
    for (at, (name, value)) in object.iter().enumerate() {
        let mark = if at == 0 { "" } else { ", " };
        let member = format!("{mark}{}: {}", Value::from(name.as_str()), one_line_json(value, most + 1));
        let is_last = at + 1 == object.len();
        // A bracket follows the last member, and `, ...}` any other.
        let room = most.saturating_sub(length + if is_last { 1 } else { 6 });
        let count = member.chars().count();
        if count <= room {
            text.push_str(&member);
            length += count;
            continue;
        }
        // The mark and the bracket follow.
        let shown = most.saturating_sub(length + MORE.len() + 1);
        let of_value = shown.saturating_sub(mark.len() + name.chars().count() + 4);
        if at == 0 || of_value >= LEAST {
            text.extend(member.chars().take(shown));
            text.push_str(MORE);
        } else {
            text.push_str(", ");
            text.push_str(MORE);
        }
        break;
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_are_verbatim() {
        let text = "{\"a\" :[1.50, {\"b\":\"x, \\\"y\\\": {\\\\\"},[] ,{}],\n\"é\":null}";
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert_eq!(inline(text), "{\"a\": [1.50, {\"b\": \"x, \\\"y\\\": {\\\\\"}, [], {}], \"é\": null}");
        assert_eq!(parse(&pretty(text)), parse(text));
        assert_eq!(pretty("{\"a\":[1,[]]}"), "{\n  \"a\": [\n    1,\n    []\n  ]\n}");
        assert_eq!((inline(" true "), pretty("\"a\"")), ("true".to_owned(), "\"a\"".to_owned()));
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert!(pretty(&deep).len() < 20_000_000);
    }

    #[test]
    fn objects_are_cut_between_members() {
        let Value::Object(call) = json!({"file_path": "/home/user/output.txt", "content": "x".repeat(100)})
        else {
            return;
        };
        assert_eq!(members(&call, 54), r#"{"file_path": "/home/user/output.txt", ...}"#);
        assert_eq!(members(&call, 20), r#"{"file_path": "/...}"#);
        assert_eq!(members(&call, 1_000), inline(&Value::Object(call.clone()).to_string()));
        assert_eq!(members(&Map::new(), 54), "{}");
        let Value::Object(call) =
            json!({"id": "ex-1234", "paths": ["$.products[?@.price > 100].name", "$.a"]})
        else {
            return;
        };
        let shown = members(&call, 54);
        assert_eq!(shown, r#"{"id": "ex-1234", "paths": ["$.products[?@.price >...}"#);
        assert_eq!(shown.chars().count(), 54);
    }
}
