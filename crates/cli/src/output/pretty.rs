//! The appearance of JSON on standard output: indented, colored, or with raw strings.
//!
//! JSON passes through a [`Layout`] in pieces of any length. It works on tokens instead of a tree,
//! so a value can be of any size and depth: it holds one byte per level, and of a string at most
//! an incomplete escape.

use std::sync::LazyLock;

use memchr::{memchr, memchr2};
use owo_colors::Style;
use trommel::reader::Kind;

use super::decode::StringDecoder;
use super::escape;

/// Columns of indentation per level.
const STEP: usize = 2;

/// The maximum level of indentation. Without it, the length would grow with the square of the
/// depth.
const MAX_DEPTH: usize = 100;

/// The appearance of JSON values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonStyle {
    /// Indents, with one member or element per line.
    pub(crate) indented: bool,
    pub(crate) colored: bool,
    /// Prints values that are strings decoded and without quotes.
    pub(crate) raw_strings: bool,
    /// Ends each value with NUL instead of a newline.
    pub(crate) nul: bool,
    /// Escapes unsafe characters of raw strings, for a terminal.
    pub(crate) escaped: bool,
    /// Each value follows a prefix that ends with a tab and stays as it is.
    pub(crate) prefixed: bool,
}

impl JsonStyle {
    /// True if values are printed as they are, so that no layout is needed.
    pub(crate) fn is_plain(self) -> bool {
        !(self.indented || self.colored || self.raw_strings || self.nul)
    }
}

/// Indents a valid JSON text that has no insignificant white space, with or without colors.
///
/// Linear in the length; depth is unlimited.
pub(crate) fn json(text: &str, colored: bool) -> String {
    styled(text, JsonStyle { indented: true, colored, ..JsonStyle::default() })
}

/// Lays out a whole JSON text.
pub(super) fn styled(text: &str, style: JsonStyle) -> String {
    let mut out = Vec::with_capacity(text.len() * 2);
    let mut layout = Layout::new(style);
    layout.push(text.as_bytes(), &mut out);
    layout.end(&mut out);
    super::into_text(out)
}

/// Lays out JSON values that are separated by newlines.
#[derive(Debug)]
pub(super) struct Layout {
    style: JsonStyle,
    /// The open containers, outermost first: true for objects.
    open: Vec<bool>,
    token: Token,
    /// True directly after the start of a container: an empty one stays on its line.
    is_fresh: bool,
    /// True if the next string is the name of a member.
    before_name: bool,
}

/// The token that the last piece ended in.
#[derive(Debug)]
enum Token {
    /// Between tokens.
    None,
    String {
        /// True after a backslash, so that a quote does not end the string.
        is_escaped: bool,
    },
    /// A string without quotes.
    Raw { is_escaped: bool, decoder: StringDecoder },
    /// A number or literal.
    Word,
    /// The text before a value.
    Prefix,
}

impl Layout {
    pub(super) fn new(style: JsonStyle) -> Self {
        let mut layout =
            Self { style, open: Vec::new(), token: Token::None, is_fresh: false, before_name: false };
        layout.begin_line();
        layout
    }

    /// Lays out the next bytes.
    pub(super) fn push(&mut self, mut rest: &[u8], out: &mut Vec<u8>) {
        while let Some(&first) = rest.first() {
            let used = match &mut self.token {
                Token::None => self.between(first, out),
                Token::String { is_escaped } => {
                    let (length, ended) = content_length(rest, is_escaped);
                    let used = length + usize::from(ended);
                    out.extend_from_slice(&rest[..used]);
                    if ended {
                        self.end_token(out);
                    }
                    used
                }
                Token::Raw { is_escaped, decoder } => {
                    let (length, ended) = content_length(rest, is_escaped);
                    push_text(&decoder.decode(&rest[..length]), self.style, out);
                    if ended {
                        push_text(&decoder.end(), self.style, out);
                        self.token = Token::None;
                    }
                    length + usize::from(ended)
                }
                Token::Prefix => {
                    let tab = memchr(b'\t', rest);
                    let length = tab.map_or(rest.len(), |tab| tab + 1);
                    out.extend_from_slice(&rest[..length]);
                    if tab.is_some() {
                        self.token = Token::None;
                    }
                    length
                }
                Token::Word => {
                    let is_end =
                        |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                    let length = rest.iter().position(is_end).unwrap_or(rest.len());
                    out.extend_from_slice(&rest[..length]);
                    if length < rest.len() {
                        self.end_token(out);
                    }
                    length
                }
            };
            rest = &rest[used..];
        }
    }

    /// Ends the last value, if no newline follows it.
    pub(super) fn end(&mut self, out: &mut Vec<u8>) {
        if matches!(self.token, Token::Word) {
            self.end_token(out);
        }
    }

    /// Lays out a byte between tokens, or the first byte of a token. Returns the number of bytes
    /// that are done.
    fn between(&mut self, byte: u8, out: &mut Vec<u8>) -> usize {
        match byte {
            b'{' | b'[' => {
                self.begin_value(out);
                out.push(byte);
                self.open.push(byte == b'{');
                (self.is_fresh, self.before_name) = (true, byte == b'{');
            }
            b'}' | b']' => {
                self.open.pop();
                if !std::mem::take(&mut self.is_fresh) {
                    self.line(out);
                }
                self.before_name = false;
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                self.line(out);
                self.before_name = self.open.last().copied().unwrap_or(false);
            }
            b':' => {
                out.push(byte);
                if self.style.indented {
                    out.push(b' ');
                }
            }
            b'\n' if self.open.is_empty() => {
                out.push(if self.style.nul { 0 } else { b'\n' });
                self.begin_line();
            }
            b' ' | b'\t' | b'\n' | b'\r' => {
                if !self.style.indented {
                    out.push(byte);
                }
            }
            b'"' if self.style.raw_strings && self.open.is_empty() => {
                self.token = Token::Raw { is_escaped: false, decoder: StringDecoder::default() };
            }
            b'"' => {
                self.begin_value(out);
                let is_name = std::mem::take(&mut self.before_name);
                self.begin_token(if is_name { &COLORS.name } else { &COLORS.string }, out);
                self.token = Token::String { is_escaped: false };
                out.push(byte);
            }
            _ => {
                self.begin_value(out);
                self.begin_token(&COLORS.word, out);
                self.token = Token::Word;
                return 0;
            }
        }
        1
    }

    /// Prepares for the next value and its prefix, if values have one.
    fn begin_line(&mut self) {
        if self.style.prefixed {
            self.token = Token::Prefix;
        }
    }

    /// Starts a line before the first name or value of a container.
    fn begin_value(&mut self, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.is_fresh) {
            self.line(out);
        }
    }

    fn begin_token(&self, color: &Color, out: &mut Vec<u8>) {
        if self.style.colored {
            out.extend_from_slice(color.start.as_bytes());
        }
    }

    fn end_token(&mut self, out: &mut Vec<u8>) {
        self.token = Token::None;
        if self.style.colored {
            out.extend_from_slice(COLORS.word.end.as_bytes());
        }
    }

    fn line(&self, out: &mut Vec<u8>) {
        if self.style.indented {
            out.push(b'\n');
            out.resize(out.len() + STEP * self.open.len().min(MAX_DEPTH), b' ');
        }
    }
}

/// Appends a part of a raw string.
fn push_text(text: &str, style: JsonStyle, out: &mut Vec<u8>) {
    if style.escaped {
        out.extend_from_slice(escape::lines(text).as_bytes());
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

/// Returns the length of a string's content up to its closing quote, and true if that is there.
/// Otherwise the content continues in the next piece.
fn content_length(bytes: &[u8], is_escaped: &mut bool) -> (usize, bool) {
    let mut at = 0;
    loop {
        if std::mem::take(is_escaped) {
            at += 1;
        }
        let Some(found) = bytes.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) else {
            return (bytes.len(), false);
        };
        at += found;
        if bytes[at] == b'"' {
            return (at, true);
        }
        at += 1;
        *is_escaped = true;
        if at == bytes.len() {
            return (at, false);
        }
    }
}

/// The sequences that start and end a color.
#[derive(Debug)]
struct Color {
    start: String,
    end: String,
}

impl Color {
    fn of(style: Style) -> Self {
        Self { start: style.prefix_formatter().to_string(), end: style.suffix_formatter().to_string() }
    }
}

/// The color of one scalar, outside of a [`Layout`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Highlight(Option<&'static Color>);

impl Highlight {
    /// The color of a scalar of this kind, if there are colors.
    pub(super) fn of(kind: Kind, colored: bool) -> Self {
        Self(colored.then(|| if kind == Kind::String { &COLORS.string } else { &COLORS.word }))
    }

    pub(super) fn begin(self, out: &mut Vec<u8>) {
        self.0.inspect(|color| out.extend_from_slice(color.start.as_bytes()));
    }

    pub(super) fn end(self, out: &mut Vec<u8>) {
        self.0.inspect(|color| out.extend_from_slice(color.end.as_bytes()));
    }
}

/// The colors of tokens.
struct Colors {
    name: Color,
    string: Color,
    word: Color,
}

static COLORS: LazyLock<Colors> = LazyLock::new(|| Colors {
    name: Color::of(Style::new().cyan()),
    string: Color::of(Style::new().green()),
    word: Color::of(Style::new().yellow()),
});

#[cfg(test)]
mod tests {
    use super::*;

    const RAW: JsonStyle = JsonStyle {
        raw_strings: true,
        indented: false,
        colored: false,
        nul: false,
        escaped: false,
        prefixed: false,
    };

    fn parse(text: &str) -> serde_json::Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn laid_out_json_is_the_same_json() {
        let text = r#"{"a":[1,{"b":"x, \"y\": {"},[],{}],"é":null}"#;
        let expected = "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x, \\\"y\\\": {\"\n    },\n    [],\n    {}\n  ],\n  \"é\": null\n}";
        assert_eq!(json(text, false), expected);
        assert_eq!(parse(&json(text, false)), parse(text));
        assert!(json(text, true).contains("\u{1b}["));
    }

    #[test]
    fn length_is_linear_in_the_depth() {
        let deep = "[".repeat(10_000) + "1" + &"]".repeat(10_000);
        assert!(json(&deep, false).len() < 5_000_000);
        assert_eq!(json("true", false), "true");
    }

    #[test]
    fn pieces_of_any_length_look_the_same() {
        let texts =
            "{\"a\\\\\":[1,{\"\\\"b\":\"x\\ud83d\\ude00\\\"\"},[],{}],\"é\":null}\n\"ü\\n\\\\\"\n-1.5\n[]\n";
        for bits in 0..32_u8 {
            let is = |bit: u8| bits & 1 << bit != 0;
            let style = JsonStyle {
                indented: is(0),
                colored: is(1),
                raw_strings: is(2),
                nul: is(3),
                escaped: is(4),
                prefixed: false,
            };
            let whole = styled(texts, style);
            for length in [1, 2, 3, 7] {
                let (mut layout, mut out) = (Layout::new(style), Vec::new());
                texts.as_bytes().chunks(length).for_each(|piece| layout.push(piece, &mut out));
                layout.end(&mut out);
                assert_eq!(String::from_utf8(out).unwrap(), whole, "{style:?} in pieces of {length}");
            }
        }
    }

    #[test]
    fn only_strings_at_the_top_are_raw() {
        let texts = "\"a \\\"b\\\" \\u00fc\\n\"\n[\"\\u00fc\"]\n{\"\\n\":\"\\n\"}\n1\n";
        assert_eq!(styled(texts, RAW), "a \"b\" ü\n\n[\"\\u00fc\"]\n{\"\\n\":\"\\n\"}\n1\n");
        let nul = styled(texts, JsonStyle { nul: true, ..RAW });
        assert_eq!(nul, "a \"b\" ü\n\0[\"\\u00fc\"]\0{\"\\n\":\"\\n\"}\x001\0");
    }

    #[test]
    fn raw_strings_are_safe_on_a_terminal() {
        let shown = styled("\"a\\u001b[1m\\u202e\\tb\\nc\\r\"\n", JsonStyle { escaped: true, ..RAW });
        assert_eq!(shown, "a\\u001b[1m\\u202e\tb\nc\\u000d\n");
    }

    #[test]
    fn prefixes_stay_as_they_are() {
        let texts = "[a \"b\"\t\"c\"\nd\t{\"e\":\n[1]}\n";
        let style = JsonStyle { prefixed: true, nul: true, ..RAW };
        assert_eq!(styled(texts, style), "[a \"b\"\tc\0d\t{\"e\":\n[1]}\0");
        let (mut layout, mut out) = (Layout::new(style), Vec::new());
        texts.as_bytes().chunks(1).for_each(|piece| layout.push(piece, &mut out));
        assert_eq!(String::from_utf8(out).unwrap(), styled(texts, style));
    }

    /// White space inside of a verbatim value is not the end of the value.
    #[test]
    fn verbatim_values_keep_their_white_space() {
        let text = "{ \"a\" :\n [ 1 ,\r\n\t2 ] }\n";
        assert_eq!(styled(text, RAW), text);
        let nul = styled(text, JsonStyle { nul: true, ..JsonStyle::default() });
        assert_eq!(nul, "{ \"a\" :\n [ 1 ,\r\n\t2 ] }\0");
        let colored = styled(text, JsonStyle { colored: true, ..JsonStyle::default() });
        let plain = anstream::adapter::strip_str(&colored).to_string();
        assert!(plain == text && plain != colored);
    }

    #[test]
    fn names_and_values_differ_in_color() {
        let colored =
            styled("{\"a\":\"b\",\"c\":[\"d\",1]}", JsonStyle { colored: true, ..JsonStyle::default() });
        let (name, string, word) = (&COLORS.name, &COLORS.string, &COLORS.word);
        let expected = format!(
            "{{{}\"a\"{end}:{}\"b\"{end},{}\"c\"{end}:[{}\"d\"{end},{}1{end}]}}",
            name.start,
            string.start,
            name.start,
            string.start,
            word.start,
            end = name.end
        );
        assert_eq!(colored, expected);
    }
}
