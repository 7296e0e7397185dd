//! Indented JSON for terminals.

use std::borrow::Cow;

use owo_colors::{OwoColorize, Style};

/// Columns of indentation per level.
const STEP: usize = 2;

/// The maximum level of indentation. Without it, the length would grow with the square of the
/// depth.
const MAX_DEPTH: usize = 100;

/// Indents a valid JSON text that has no insignificant white space, with or without colors.
///
/// Linear in the length. Works on tokens instead of a tree, so depth is unlimited.
pub(crate) fn json(text: &str, colored: bool) -> String {
    let mut layout = Layout { out: String::with_capacity(text.len() * 2), depth: 0, colored };
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
    colored: bool,
}

impl Layout {
    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n(' ', STEP * self.depth.min(MAX_DEPTH)));
    }

    fn token(&mut self, token: &str, style: Style) {
        let token: Cow<'_, str> =
            if self.colored { token.style(style).to_string().into() } else { token.into() };
        self.out.push_str(&token);
    }
}

/// The length of the first token.
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
    fn length_is_linear_in_the_depth() {
        let deep = "[".repeat(10_000) + "1" + &"]".repeat(10_000);
        assert!(json(&deep, false).len() < 5_000_000);
        assert_eq!(json("true", false), "true");
    }
}
