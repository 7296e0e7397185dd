//! The checksum of a block's data: SHA-256 of its JSON as Python's `json.dumps(data,
//! sort_keys=True)` writes it.
//!
//! Keys are sorted by code point, separators are `", "` and `": "`, all characters outside ASCII
//! are escaped, and floating-point numbers have the shortest digits that read back the same. So
//! equal data has one checksum, however its storage formats it.

use std::fmt::Write as _;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::error::{ErrorKind, Result};

/// A checksum with the length of the text that it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checksum {
    /// SHA-256, in 64 hexadecimal digits.
    pub hex: String,
    /// Length of that text in bytes.
    pub bytes: u64,
}

/// Maximum nesting of containers.
pub(crate) const DEPTH: usize = 500;

/// Computes the checksum of JSON. Linear in its length, times its depth; holds a copy of its text.
///
/// ```
/// let one = trommel_blocks::checksum::of(r#"{"b": 1.0, "a": "é"}"#)?;
/// let other = trommel_blocks::checksum::of("{\"a\":\"\\u00e9\",\"b\":1e0}")?;
/// assert_eq!(one, other);
/// assert_eq!(one.bytes, r#"{"a": "\u00e9", "b": 1.0}"#.len() as u64);
/// # Ok::<(), trommel_blocks::Error>(())
/// ```
///
/// # Errors
/// Fails for malformed JSON, a lone surrogate, and nesting deeper than 500 containers.
pub fn of(json: &str) -> Result<Checksum> {
    let text = canonical(json)?;
    let digest = Sha256::digest(text.as_bytes());
    let mut hex = String::with_capacity(64);
    for byte in digest {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    Ok(Checksum { hex, bytes: text.len() as u64 })
}

/// Writes the canonical text that a checksum covers.
pub fn canonical(json: &str) -> Result<String> {
    let mut text = String::with_capacity(json.len() + json.len() / 8);
    write(json, &mut text, DEPTH).map_err(|cause| ErrorKind::NotCanonical { cause })?;
    Ok(text)
}

/// An error of the parser; `None` if containers are nested too deep.
type WriteResult = std::result::Result<(), Option<serde_json::Error>>;

fn write(json: &str, text: &mut String, depth: usize) -> WriteResult {
    let json = json.trim_ascii();
    let left = || depth.checked_sub(1).ok_or(None);
    let parsed = Some::<serde_json::Error>;
    match json.as_bytes().first() {
        Some(b'{') => {
            let mut members: Members<'_> = serde_json::from_str(json).map_err(parsed)?;
            let depth = left()?;
            // Of members with one name, the last one counts: the sort is stable, and `dedup_by`
            // keeps the first of equals. UTF-8 sorts by code point, like Python.
            members.0.reverse();
            members.0.sort_by(|(one, _), (other, _)| one.cmp(other));
            members.0.dedup_by(|(one, _), (other, _)| one == other);
            text.push('{');
            for (at, (name, value)) in members.0.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                quote(name, text);
                text.push_str(": ");
                write(value.get(), text, depth)?;
            }
            text.push('}');
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(json).map_err(parsed)?;
            let depth = left()?;
            text.push('[');
            for (at, value) in items.iter().enumerate() {
                text.push_str(if at > 0 { ", " } else { "" });
                write(value.get(), text, depth)?;
            }
            text.push(']');
        }
        // Within a container, the parser of the container has accepted the string.
        Some(b'"') if depth < DEPTH && is_canonical(json) => text.push_str(json),
        Some(b'"') => quote(&serde_json::from_str::<String>(json).map_err(parsed)?, text),
        Some(b't' | b'f' | b'n') => {
            serde_json::from_str::<&RawValue>(json).map_err(parsed)?;
            text.push_str(json);
        }
        _ => {
            serde_json::from_str::<&RawValue>(json).map_err(parsed)?;
            number(json, text);
        }
    }
    Ok(())
}

/// The members of an object in the order of the input.
pub(crate) struct Members<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &'de RawValue>()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

/// True if a valid string of JSON is what [`quote`] would write: printable ASCII with the shortest
/// escapes. Most strings are, and are copied.
fn is_canonical(json: &str) -> bool {
    let text = json.as_bytes();
    if !text.iter().fold(true, |all, byte| all & matches!(byte, b' '..=b'~')) {
        return false;
    }
    let mut next = 0;
    memchr::memchr_iter(b'\\', text).all(|at| {
        if at < next {
            // The second of two backslashes.
            return true;
        }
        next = at + 2;
        text.get(at + 1).is_some_and(|escape| b"\"\\nrtbf".contains(escape))
    })
}

fn quote(value: &str, text: &mut String) {
    let is_plain = |byte: u8| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    text.push('"');
    let mut rest = value;
    // Copy runs of characters that need no escape at once.
    while let Some((plain, other)) =
        rest.bytes().position(|byte| !is_plain(byte)).and_then(|at| rest.split_at_checked(at))
    {
        text.push_str(plain);
        let mut characters = other.chars();
        characters.next().into_iter().for_each(|character| escape(character, text));
        rest = characters.as_str();
    }
    text.push_str(rest);
    text.push('"');
}

fn escape(character: char, text: &mut String) {
    match character {
        '"' => text.push_str("\\\""),
        '\\' => text.push_str("\\\\"),
        '\n' => text.push_str("\\n"),
        '\r' => text.push_str("\\r"),
        '\t' => text.push_str("\\t"),
        '\u{8}' => text.push_str("\\b"),
        '\u{c}' => text.push_str("\\f"),
        _ => {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
}

/// Writes a number as Python does: an integer of any length stays an integer.
#[expect(clippy::expect_used, reason = "the parser of JSON accepted the number")]
fn number(lexeme: &str, text: &mut String) {
    if !lexeme.contains(['.', 'e', 'E']) {
        // Python's integers have no negative zero.
        text.push_str(if lexeme == "-0" { "0" } else { lexeme });
        return;
    }
    let value: f64 = lexeme.parse().expect("a number of JSON is one of Rust");
    // Python reads a number out of range as infinity, and writes it in this form.
    if value.is_infinite() {
        text.push_str(if value < 0.0 { "-Infinity" } else { "Infinity" });
        return;
    }
    let shortest = shortest(value);
    let (digits, exponent) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let exponent: i32 = exponent.parse().expect("an exponent has three digits at most");
    // The bounds at which Python switches to an exponent.
    if (-4..16).contains(&exponent) {
        let fraction = digits.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let places = fraction as i32 - exponent;
        // `places` is negative if zeros precede the point.
        let plain = format!("{value:.*}", usize::try_from(places).unwrap_or(0));
        text.push_str(&plain);
        text.push_str(if plain.contains('.') { "" } else { ".0" });
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        // Writing to a string cannot fail.
        let _ = write!(text, "{digits}e{sign}{:02}", exponent.abs());
    }
}

/// Returns the shortest digits that read back the same; among several the nearest, and between two
/// equally near the even one.
fn shortest(value: f64) -> String {
    let shortest = format!("{value:e}");
    let digits = shortest.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    // The same number of digits, rounded exactly. Next to a power of two, they may read back as
    // another number.
    let nearest = format!("{value:.*e}", digits.saturating_sub(1));
    if nearest.parse() == Ok(value) { nearest } else { shortest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_what_python_writes() {
        // Each of these was printed by `json.dumps(json.loads(…), sort_keys=True)` of Python 3.
        let cases = [
            (r#"{"b":[1,2.50,-0,-0.0,1e5],"a":{}}"#, r#"{"a": {}, "b": [1, 2.5, 0, -0.0, 100000.0]}"#),
            (
                "[1e16,1e15,1E-4,1e-5,123456789012345678,1e999]",
                "[1e+16, 1000000000000000.0, 0.0001, 1e-05, 123456789012345678, Infinity]",
            ),
            (
                "[12345678901234567890123,0.1,1.7976931348623157e308,5e-324]",
                "[12345678901234567890123, 0.1, 1.7976931348623157e+308, 5e-324]",
            ),
            (
                "[\"é😀\\u007f/\\/\\b\\f\\n\\r\\t\\u0001\\\"\\\\\"]",
                r#"["\u00e9\ud83d\ude00\u007f//\b\f\n\r\t\u0001\"\\"]"#,
            ),
            (r#"{"é":1,"z":2,"Z":3,"":4,"z":5}"#, r#"{"": 4, "Z": 3, "z": 5, "\u00e9": 1}"#),
            (" [ true , false , null ] ", "[true, false, null]"),
            (
                "[161216523216167.625,-5e-324,9007199254740993.0]",
                "[161216523216167.62, -5e-324, 9007199254740992.0]",
            ),
        ];
        for (json, expected) in cases {
            assert_eq!(canonical(json).unwrap(), expected);
        }
    }

    #[test]
    fn copied_strings_are_those_that_are_written_again() {
        let parts =
            ["a", " ", "~", "\\\"", "\\\\", "\\n", "\\t", "\\/", "\\u0041", "\\u0001", "\\b", "\u{7f}", "é"];
        let mut copied = 0;
        for number in 0..parts.len().pow(4) {
            let text =
                (0..4).map(|digit| parts[number / parts.len().pow(digit) % parts.len()]).collect::<String>();
            let json = format!("\"{text}\"");
            let mut written = String::new();
            quote(&serde_json::from_str::<String>(&json).unwrap(), &mut written);
            // Control characters without a short escape are rare, and always written again.
            assert_eq!(is_canonical(&json), json == written && !json.contains("\\u"), "{json}");
            assert_eq!(canonical(&format!("[{json}]")).unwrap(), format!("[{written}]"));
            copied += usize::from(is_canonical(&json));
        }
        assert!(copied > 2_000, "{copied}");
    }

    #[test]
    fn malformed_json_has_no_checksum() {
        let deep = format!("{}{}", "[".repeat(600), "]".repeat(600));
        for json in
            ["", "{", "[1,]", "nul", "01", r#""a" "b""#, r#""a\""#, r#""\ud800""#, r#"{"a":1}{"#, &deep]
        {
            assert_eq!(of(json).unwrap_err().class(), crate::error::ErrorClass::Corrupt, "{json}");
        }
    }

    #[test]
    fn the_digits_are_sha_256() {
        // `printf '{}' | sha256sum`
        let empty = of(" {} ").unwrap();
        assert_eq!(empty.hex, "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a");
        assert_eq!(empty.bytes, 2);
    }
}
