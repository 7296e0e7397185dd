//! JSON laid out for people.

use std::borrow::Cow;

use owo_colors::{OwoColorize, Style};

/// Columns a level is moved in by.
const STEP: usize = 2;

/// Deeper levels are not moved in any further: nobody reads them, and the text must not grow with
/// the square of the depth.
const DEEPEST: usize = 100;

/// Lays a valid JSON text without insignificant white space out over lines, with or without
/// colours.
///
/// Linear in the length; nothing is parsed into a tree, so that any depth will do.
pub(crate) fn json(text: &str, coloured: bool) -> String {
    let mut layout = Layout { out: String::with_capacity(text.len() * 2), depth: 0, coloured };
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, after) = rest.split_at(token_length(rest));
        rest = after;
        match first {
            '{' | '[' => {
                layout.out.push(first);
                // An empty container stays on its line.
                if rest.starts_with(['}', ']']) {
                    let (close, after) = rest.split_at(1);
                    layout.out.push_str(close);
                    rest = after;
                } else {
                    layout.depth += 1;
                    layout.line();
                }
            }
            '}' | ']' => {
                layout.depth = layout.depth.saturating_sub(1);
                layout.line();
                layout.out.push(first);
            }
            ',' => {
                layout.out.push(',');
                layout.line();
            }
            ':' => layout.out.push_str(": "),
            '"' if rest.starts_with(':') => layout.token(token, Style::new().cyan()),
            '"' => layout.token(token, Style::new().green()),
            _ => layout.token(token, Style::new().yellow()),
        }
    }
    layout.out
}

struct Layout {
    out: String,
    depth: usize,
    coloured: bool,
}

impl Layout {
    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', STEP * self.depth.min(DEEPEST)));
    }

    fn token(&mut self, token: &str, style: Style) {
        let token: Cow<'_, str> =
            if self.coloured { token.style(style).to_string().into() } else { token.into() };
        self.out.push_str(&token);
    }
}

/// Length of the token that the text begins with.
fn token_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(b'"') => {
            let mut at = 1;
            while let Some(&byte) = bytes.get(at) {
                match byte {
                    b'"' => return at + 1,
                    b'\\' => at += 2,
                    _ => at += 1,
                }
            }
            bytes.len()
        }
        Some(b'{' | b'}' | b'[' | b']' | b',' | b':') => 1,
        _ => bytes.iter().position(|byte| matches!(byte, b',' | b'}' | b']')).unwrap_or(bytes.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laid_out_json_is_the_same_json() {
        let text = r#"{"a":[1,{"b":"x, \"y\": {"},[],{}],"é":null}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x, \\\"y\\\": {\"\n    },\n    [],\n    {}\n  ],\n  \"é\": null\n}";
        assert_eq!(json(text, false), expected);
        let parse = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(parse(&json(text, false)), parse(text));
        assert!(json(text, true).contains("\u{1b}["));
    }

    #[test]
    fn depth_does_not_square_the_length() {
        let deep = "[".repeat(10_000) + "1" + &"]".repeat(10_000);
        assert!(json(&deep, false).len() < 5_000_000);
        assert_eq!(json("true", false), "true");
    }
}
