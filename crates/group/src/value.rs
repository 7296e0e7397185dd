//! The identity of a value: a JSON text that two values share exactly if they are equal.
//!
//! Equality is that of RFC 9535, section 2.3.5.2.2. Strings are equal by their characters, numbers
//! by their exact value, and objects by their members in any order. Of repeated names, the first or
//! the last member counts. The text has no white space, no control characters, and no zero byte.

use std::ops::Range;

use trommel_base::decimal::identity;
use trommel_reader::{Config, Cursor, Event, Framing, Kind, Limits, Payload, Result, Scalar, Text, View};

/// Maximum length of an integer whose lexeme is its identity.
const PLAIN_DIGITS: usize = 20;

/// True if the bytes of a scalar are its identity: a string without escapes, an integer of at most
/// 20 digits, or a literal. The check is exact also for bytes that were not validated.
#[inline]
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    match bytes {
        [b'"', inside @ .., b'"'] => is_plain_text(inside),
        [b'-', digits @ ..] => digits != b"0" && is_plain_integer(digits),
        [b'0'..=b'9', ..] => is_plain_integer(bytes),
        _ => matches!(bytes, b"null" | b"true" | b"false"),
    }
}

#[inline]
fn is_plain_text(inside: &[u8]) -> bool {
    // Without an early exit, the loop compiles to vector instructions.
    let (mut plain, mut ascii) = (true, true);
    for &byte in inside {
        plain &= byte >= 0x20 && byte != b'\\' && byte != b'"';
        ascii &= byte < 0x80;
    }
    plain && (ascii || std::str::from_utf8(inside).is_ok())
}

#[inline]
fn is_plain_integer(digits: &[u8]) -> bool {
    let is_short = !digits.is_empty() && digits.len() < PLAIN_DIGITS;
    is_short && (digits[0] != b'0' || digits.len() == 1) && digits.iter().all(u8::is_ascii_digit)
}

/// Appends the identity of a value. Of repeated names the first member counts, or with `last` the
/// last one. Linear in the length, apart from objects within objects whose members are not sorted.
///
/// # Errors
/// If the value is not valid JSON: it was not validated before. The line and column of the error
/// count from the start of the value.
pub(crate) fn write_identity(value: View<'_>, last: bool, out: &mut Vec<u8>) -> Result<()> {
    if is_plain(value.bytes()) {
        out.extend_from_slice(value.bytes());
        return Ok(());
    }
    // The depth was checked against the limit of the document.
    let mut limits = Limits::default();
    limits.depth = Limits::MAX_DEPTH;
    let mut cursor = Cursor::from_view(value, Framing::Single, &Config::new().limits(limits));
    cursor.next_record()?;
    let mut writer = IdentityWriter { out, last, open: Vec::new(), members: Vec::new() };
    while let Some(event) = cursor.advance()? {
        writer.event(event, cursor.payload());
    }
    Ok(())
}

/// Writes the identity of a value, event by event.
struct IdentityWriter<'o> {
    out: &'o mut Vec<u8>,
    last: bool,
    open: Vec<OpenContainer>,
    /// The members of the open objects, those of the innermost one last.
    members: Vec<Member>,
}

struct OpenContainer {
    is_object: bool,
    /// The index in the output after the bracket.
    inside: usize,
    /// The number of members of the containers around it.
    members: usize,
}

/// A member in the output. It ends before the comma of the next one.
#[derive(Clone, Copy)]
struct Member {
    start: usize,
    name_end: usize,
}

impl IdentityWriter<'_> {
    fn event(&mut self, event: Event, payload: Payload<'_>) {
        match (event, payload) {
            (Event::Begin(kind), _) => {
                self.separate();
                self.out.push(if kind == Kind::Object { b'{' } else { b'[' });
                let (inside, members) = (self.out.len(), self.members.len());
                self.open.push(OpenContainer { is_object: kind == Kind::Object, inside, members });
            }
            (Event::End(kind), _) => {
                if let Some(container) = self.open.pop()
                    && container.is_object
                {
                    self.sort_members(&container);
                }
                self.out.push(if kind == Kind::Object { b'}' } else { b']' });
            }
            (_, Payload::Name(name)) => {
                if self.open.last().is_some_and(|object| self.out.len() > object.inside) {
                    self.out.push(b',');
                }
                let start = self.out.len();
                write_text(name, self.out);
                self.members.push(Member { start, name_end: self.out.len() });
                self.out.push(b':');
            }
            (_, Payload::Scalar(scalar)) => {
                self.separate();
                write_scalar(&scalar, self.out);
            }
            (Event::Name | Event::Scalar(_), Payload::None) => {}
        }
    }

    /// Writes the comma before an element.
    fn separate(&mut self) {
        if self.open.last().is_some_and(|array| !array.is_object && self.out.len() > array.inside) {
            self.out.push(b',');
        }
    }

    /// Sorts the members of the object that ends, and drops repeated names.
    fn sort_members(&mut self, object: &OpenContainer) {
        let members = &self.members[object.members..];
        let out = &*self.out;
        let name = |member: &Member| &out[member.start..member.name_end];
        if !members.is_sorted_by(|left, right| name(left) < name(right)) {
            let ends = members.iter().skip(1).map(|next| next.start - 1).chain([out.len()]);
            let mut sorted: Vec<(Member, Range<usize>)> =
                members.iter().zip(ends).map(|(member, end)| (*member, member.start..end)).collect();
            if self.last {
                sorted.reverse();
            }
            // The sort is stable, so the member that counts is the first of its name.
            sorted.sort_by(|left, right| name(&left.0).cmp(name(&right.0)));
            sorted.dedup_by(|later, first| name(&later.0) == name(&first.0));
            let texts: Vec<&[u8]> = sorted.iter().map(|(_, range)| &out[range.clone()]).collect();
            let text = texts.join(&b',');
            self.out.truncate(object.inside);
            self.out.extend_from_slice(&text);
        }
        self.members.truncate(object.members);
    }
}

fn write_scalar(scalar: &Scalar<'_>, out: &mut Vec<u8>) {
    match scalar {
        Scalar::Null => out.extend_from_slice(b"null"),
        Scalar::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
        Scalar::Number(number) => out.extend_from_slice(identity(number.lexeme()).as_bytes()),
        Scalar::String(text) => write_text(*text, out),
    }
}

/// Writes a string with the only escapes that JSON requires.
fn write_text(text: Text<'_>, out: &mut Vec<u8>) {
    out.push(b'"');
    for &byte in text.decode().as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            0..0x20 => {
                let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
                out.extend_from_slice(b"\\u00");
                out.extend_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// The type of a valid value, by its first byte.
pub(crate) fn kind_of(bytes: &[u8]) -> Kind {
    match bytes.first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b'n') => Kind::Null,
        Some(b't' | b'f') => Kind::Bool,
        _ => Kind::Number,
    }
}

/// The characters of a string with its quotes.
pub(crate) fn decoded(quoted: &[u8]) -> std::borrow::Cow<'_, str> {
    let inside = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or(quoted);
    Text::from_raw(inside, inside.contains(&b'\\')).decode()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, last: bool) -> String {
        let mut out = b"#".to_vec();
        write_identity(View::at(text.as_bytes(), 7), last, &mut out).unwrap();
        String::from_utf8(out[1..].to_vec()).unwrap()
    }

    #[test]
    fn equal_values_share_a_text() {
        for (identity, spellings) in [
            ("1", &["1", "1.0", "1e0", "10e-1"] as &[_]),
            ("0", &["-0", "0.00", "0e9"]),
            ("1e21", &["1000000000000000000000", "1E+21"]),
            ("1e100000000000000000000", &["10e99999999999999999999"]),
            (r#""a\"\\\u000a/é""#, &[r#""\u0061\"\\\n\/é""#, r#""a\u0022\u005c\u000A/\u00e9""#]),
            ("\"é\"", &["\"é\"", r#""\u00E9""#]),
            ("[]", &["[ ]"]),
            ("{}", &["{ }"]),
            (r#"[1,[],{"a":[2],"b":"x"},null]"#, &[r#"[ 1.0, [ ], {"\u0062": "x", "a": [2e0]}, null ]"#]),
            (
                r#"{"":{"a":1,"b":2},"a":3,"ab":4}"#,
                &[r#"{"ab":4,"a":3,"":{"b":2,"a":1}}"#, r#"{"a":3,"":{"a":1,"b":2},"ab":4}"#],
            ),
        ] {
            for spelling in spellings {
                assert_eq!(written(spelling, false), *identity, "{spelling}");
            }
            assert_eq!(written(identity, true), *identity, "an identity is its own");
        }
    }

    #[test]
    fn one_of_the_repeated_names_counts() {
        let repeated = r#"{"b":1,"a":{"x":1,"x":2},"b":[2,3]}"#;
        assert_eq!(written(repeated, false), r#"{"a":{"x":1},"b":1}"#);
        assert_eq!(written(repeated, true), r#"{"a":{"x":2},"b":[2,3]}"#);
        assert_eq!(written(r#"{"a":1,"a":2}"#, true), r#"{"a":2}"#);
    }

    #[test]
    fn malformed_values_are_errors() {
        for text in
            ["01", "-", "tru", "nulls", "\"\\x\"", "\"\\ud800\"", "\"a\u{1}\"", "[1,]", "{\"a\" 1}", "1 2"]
        {
            let error = write_identity(View::at(text.as_bytes(), 100), false, &mut Vec::new()).unwrap_err();
            assert!(error.is_syntax() && error.offset() >= 100, "{text}: {error}");
        }
        let invalid = write_identity(View::at(b"\"\xFF\"", 100), false, &mut Vec::new()).unwrap_err();
        assert_eq!(invalid.offset(), 101);
    }

    #[test]
    fn plain_values_are_their_own_identity() {
        for plain in ["\"\"", "\"ab c\u{7f}é\"", "0", "-1", "1234567890123456789", "true", "false", "null"] {
            assert!(is_plain(plain.as_bytes()), "{plain}");
            assert_eq!(written(plain, false), plain);
        }
        for other in ["-0", "00", "1.0", "1e1", "12345678901234567890123", "-", "\"\\n\"", "[]", "", "True"] {
            assert!(!is_plain(other.as_bytes()), "{other}");
        }
        assert!(!is_plain(b"\"\xC3\"") && !is_plain(b"\"\n\"") && !is_plain(b"\"\"\""));
    }

    #[test]
    fn deep_values_are_written_without_recursion() {
        let deep = format!("{}1.0{}", "{\"b\":0,\"a\":[".repeat(4000), "]}".repeat(4000));
        let identity = written(&deep, false);
        assert!(identity.starts_with("{\"a\":[{\"a\":[") && identity.ends_with("],\"b\":0}],\"b\":0}"));
        assert_eq!(written(&identity, false), identity);
    }
}
