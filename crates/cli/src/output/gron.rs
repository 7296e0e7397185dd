//! The form `gron`: an assignment for each value inside a match, `json.path = value;`.
//!
//! [gron](https://github.com/tomnomnom/gron) reads the lines back. A match is not held: its events
//! become lines at once. The path of the current value is held, and an index for each open array.

use std::io;

use trommel::reader::{Cursor, Event, Framing, Kind};
use unicode_general_category::{GeneralCategory, get_general_category};

use super::pretty::Highlight;
use super::{FoundValue, Target, Values, WriteError, escape, push_string};

/// The words that JavaScript reserves, which cannot follow a dot.
const RESERVED: [&str; 37] = [
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "import",
    "in",
    "instanceof",
    "new",
    "null",
    "return",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
    "",
];

/// The line that declares the records of a stream as the elements of an array.
pub(super) const STREAM: &[u8] = b"json = [];\n";

/// Returns the start of a line: `json`, or `json[RECORD]` in a stream.
pub(super) fn root(record: Option<u64>) -> String {
    record.map_or_else(|| "json".into(), |record| format!("json[{record}]"))
}

/// The path of the current value, as gron writes it.
#[derive(Debug)]
struct Path {
    text: Vec<u8>,
    /// The open containers: the length of their paths, and the index of the current element of an
    /// array.
    open: Vec<(usize, Option<u64>)>,
    /// True if a terminal shows the path.
    is_escaped: bool,
}

/// Writes an assignment for each value inside a match.
///
/// The values are validated on the way, so the lines before an error are written.
pub(super) fn write(
    found: &FoundValue<'_>,
    root: Vec<u8>,
    values: &mut Values,
    colored: bool,
    to: &mut dyn Target,
) -> Result<(), WriteError> {
    let mut path = Path { text: root, open: Vec::new(), is_escaped: values.is_escaped() };
    path.push_location(found.located());
    let mut cursor = Cursor::from_view(found.view, Framing::Single, &values.config());
    while let Some(event) = cursor.advance()? {
        match event {
            Event::Name => {
                path.leave_child();
                #[expect(clippy::expect_used, reason = "the event is a name")]
                path.push_name(&cursor.name().expect("a name has a text").decode());
            }
            Event::Begin(kind) => {
                path.enter_value();
                let empty: &[u8] = if kind == Kind::Array { b"[]" } else { b"{}" };
                put(&path, empty, to)?;
                path.open.push((path.text.len(), (kind == Kind::Array).then_some(0)));
            }
            Event::End(_) => {
                path.leave_child();
                path.open.pop();
            }
            Event::Scalar(kind) => {
                path.enter_value();
                #[expect(clippy::expect_used, reason = "a token of a view is a part of it")]
                let value = found.view.narrow(cursor.span()).expect("the token is in the value");
                to.bytes().extend_from_slice(&path.text);
                to.bytes().extend_from_slice(b" = ");
                let highlight = Highlight::of(kind, colored);
                highlight.begin(to.bytes());
                let checked = values.check(value)?;
                values.put(&checked, to)?;
                highlight.end(to.bytes());
                to.bytes().extend_from_slice(b";\n");
                to.flush_if_full()?;
            }
        }
    }
    Ok(())
}

/// Writes the assignment of an empty container.
fn put(path: &Path, value: &[u8], to: &mut dyn Target) -> io::Result<()> {
    to.bytes().extend_from_slice(&path.text);
    to.bytes().extend_from_slice(b" = ");
    to.bytes().extend_from_slice(value);
    to.bytes().extend_from_slice(b";\n");
    to.flush_if_full()
}

impl Path {
    /// Appends a normalized path (RFC 9535, section 2.7).
    fn push_location(&mut self, location: &str) {
        let mut rest = location.strip_prefix('$').unwrap_or(location);
        while let Some(step) = rest.strip_prefix('[') {
            if let Some(name) = step.strip_prefix('\'') {
                let (name, after) = unquote(name);
                self.push_name(&name);
                rest = after.strip_prefix(']').unwrap_or(after);
            } else {
                let (index, after) = step.split_once(']').unwrap_or((step, ""));
                self.text.extend_from_slice(format!("[{index}]").as_bytes());
                rest = after;
            }
        }
    }

    /// Appends the name of a member: after a dot if JavaScript allows it, otherwise in brackets.
    fn push_name(&mut self, name: &str) {
        if is_identifier(name) && !(self.is_escaped && escape::is_needed(name)) {
            self.text.push(b'.');
            self.text.extend_from_slice(name.as_bytes());
            return;
        }
        self.text.push(b'[');
        let start = self.text.len();
        push_string(name, &mut self.text);
        if name.ends_with('\\') {
            // gron takes a quote after a backslash for an escaped one, whatever precedes them.
            self.text.truncate(self.text.len() - 3);
            self.text.extend_from_slice(b"\\u005c\"");
        }
        if self.is_escaped {
            let plain = self.text.split_off(start);
            escape::json(&plain, &mut self.text);
        }
        self.text.push(b']');
    }

    /// In an array, appends the index of the element that begins.
    fn enter_value(&mut self) {
        if let Some((length, Some(index))) = self.open.last_mut() {
            self.text.truncate(*length);
            self.text.extend_from_slice(format!("[{index}]").as_bytes());
            *index += 1;
        }
    }

    /// Returns to the path of the innermost open container.
    fn leave_child(&mut self) {
        if let Some((length, _)) = self.open.last() {
            self.text.truncate(*length);
        }
    }
}

/// Decodes a name of a normalized path up to its closing quote. Also returns the text after the
/// quote.
fn unquote(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return (name, &text[at + 1..]),
            '\\' => match chars.next().map_or('\\', |(_, escape)| escape) {
                'b' => name.push('\u{8}'),
                't' => name.push('\t'),
                'n' => name.push('\n'),
                'f' => name.push('\u{c}'),
                'r' => name.push('\r'),
                'u' => {
                    let digits: String = chars.by_ref().take(4).map(|(_, digit)| digit).collect();
                    let code = u32::from_str_radix(&digits, 16).ok();
                    name.push(code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                plain => name.push(plain),
            },
            c => name.push(c),
        }
    }
    (name, "")
}

/// True if a name is an identifier of JavaScript by the rule of gron: letters, `$`, and `_`, and
/// after the first also digits and marks.
fn is_identifier(name: &str) -> bool {
    !RESERVED.contains(&name) && name.chars().enumerate().all(|(at, c)| is_identifier_char(c, at == 0))
}

fn is_identifier_char(c: char, is_first: bool) -> bool {
    use GeneralCategory as Category;
    if c.is_ascii() {
        return c.is_ascii_alphabetic() || matches!(c, '$' | '_') || !is_first && c.is_ascii_digit();
    }
    match get_general_category(c) {
        Category::UppercaseLetter
        | Category::LowercaseLetter
        | Category::ModifierLetter
        | Category::OtherLetter
        | Category::LetterNumber => true,
        Category::NonspacingMark
        | Category::SpacingMark
        | Category::DecimalNumber
        | Category::ConnectorPunctuation => !is_first,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(location: &str) -> String {
        let mut path = Path { text: b"json".to_vec(), open: Vec::new(), is_escaped: false };
        path.push_location(location);
        String::from_utf8(path.text).unwrap()
    }

    #[test]
    fn normalized_paths_become_assignments() {
        for (location, expected) in [
            ("$", "json"),
            ("$['a'][0]['b1']", "json.a[0].b1"),
            ("$['a b']['']['1a']['_$']", r#"json["a b"][""]["1a"]._$"#),
            (r"$['it\'s']['\\']['\n\u0001\t']", r#"json["it's"]["\u005c"]["\n\u0001\t"]"#),
            ("$['größe']['ⅳ']['a\u{301}']['\u{301}a']", "json.größe.ⅳ.a\u{301}[\"\u{301}a\"]"),
            ("$['if']['iffy']['][\"x\"][']", r#"json["if"].iffy["][\"x\"]["]"#),
            ("$['a\\\\b']", r#"json["a\\b"]"#),
        ] {
            assert_eq!(path(location), expected, "{location}");
        }
    }

    #[test]
    fn words_and_signs_are_quoted() {
        for name in ["", "if", "null", "a-b", "a.b", "1", "²", "a\u{200d}b", "\u{24b6}"] {
            assert!(!is_identifier(name), "{name}");
        }
        for name in ["a", "$", "_1", "ñ", "日本", "a١"] {
            assert!(is_identifier(name), "{name}");
        }
    }
}
