//! Sampled records as readable text, without secrets.

use trommel::reader::{Config, Cursor, Event, Payload, Scalar};
use trommel_base::text::clip;
use trommel_tool::{REDACTED, Redaction};

/// The maximum number of characters of a string.
const MAX_STRING: usize = 1_000;

/// The maximum level of indentation. The length would grow with the square of the depth.
const MAX_INDENT: usize = 40;

/// An open container.
struct Level {
    is_object: bool,
    is_empty: bool,
    /// True if all values in it are secret.
    is_secret: bool,
}

/// Formats a JSON value with one member or element per line. Numbers remain as written. With
/// `redaction`, strings and numbers under the names of secrets are replaced, and secrets in other
/// strings. Strings of more than 1,000 characters are clipped.
///
/// # Errors
/// If the text is not valid JSON.
pub fn readable(json: &[u8], redaction: Option<&Redaction>) -> Result<String, trommel::reader::Error> {
    let mut cursor = Cursor::new(json, &Config::new());
    let mut writer = Writer { out: String::new(), levels: Vec::new(), named: None, redaction };
    if cursor.next_record()? {
        while let Some(event) = cursor.advance()? {
            writer.event(event, cursor.payload());
        }
    }
    Ok(writer.out)
}

struct Writer<'a> {
    out: String,
    levels: Vec<Level>,
    /// After a name: true if it is that of a secret.
    named: Option<bool>,
    redaction: Option<&'a Redaction>,
}

impl Writer<'_> {
    fn event(&mut self, event: Event, payload: Payload<'_>) {
        match (event, payload) {
            (Event::Begin(kind), _) => {
                let is_object = kind == trommel::reader::Kind::Object;
                let is_secret = self.value();
                self.out.push(if is_object { '{' } else { '[' });
                self.levels.push(Level { is_object, is_empty: true, is_secret });
            }
            (Event::End(_), _) => {
                let Some(level) = self.levels.pop() else { return };
                if !level.is_empty {
                    self.line();
                }
                self.out.push(if level.is_object { '}' } else { ']' });
            }
            (Event::Name, Payload::Name(name)) => {
                self.next();
                let name = name.decode();
                self.string(&name);
                self.out.push_str(": ");
                self.named = Some(self.redaction.is_some_and(|redaction| redaction.is_secret(&name)));
            }
            (Event::Scalar(_), Payload::Scalar(scalar)) => {
                let is_secret = self.value();
                self.scalar(scalar, is_secret);
            }
            _ => {}
        }
    }

    /// Begins a value. Returns true if it is secret.
    fn value(&mut self) -> bool {
        let inherited = self.levels.last().is_some_and(|level| level.is_secret);
        let named = self.named.take();
        if named.is_none() {
            self.next();
        }
        inherited || named == Some(true)
    }

    /// Begins a member or an element.
    fn next(&mut self) {
        let Some(level) = self.levels.last_mut() else { return };
        if !std::mem::replace(&mut level.is_empty, false) {
            self.out.push(',');
        }
        self.line();
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("  ", self.levels.len().min(MAX_INDENT)));
    }

    fn scalar(&mut self, scalar: Scalar<'_>, is_secret: bool) {
        match scalar {
            Scalar::Number(_) | Scalar::String(_) if is_secret => self.string(REDACTED),
            Scalar::Number(number) => self.out.push_str(number.lexeme()),
            Scalar::String(text) => {
                let text = text.decode();
                match self.redaction {
                    Some(redaction) => self.string(&redaction.text(&text)),
                    None => self.string(&text),
                }
            }
            Scalar::Bool(value) => self.out.push_str(if value { "true" } else { "false" }),
            Scalar::Null => self.out.push_str("null"),
        }
    }

    fn string(&mut self, text: &str) {
        let text = clip(text, MAX_STRING);
        // Writing a string as JSON cannot fail.
        self.out.push_str(&serde_json::Value::from(&*text).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_indented_as_written() {
        let text = br#"{"a":[1.50,1e400,{}],"b":{"c":null,"d":"\u00e9"},"e":[]}"#;
        let expected = "{\n  \"a\": [\n    1.50,\n    1e400,\n    {}\n  ],\n  \"b\": {\n    \"c\": null,\n    \"d\": \"é\"\n  },\n  \"e\": []\n}";
        assert_eq!(readable(text, None).unwrap(), expected);
        assert_eq!(readable(b"7", None).unwrap(), "7");
        assert!(readable(b"[1", None).is_err());
    }

    #[test]
    fn secrets_are_redacted() {
        let text =
            br#"{"password":"x1","auth":{"user":["y2",3]},"url":"https://u:z4@h/","token":null,"n":5}"#;
        let found = readable(text, Some(&Redaction::new())).unwrap();
        for secret in ["x1", "y2", "3", "z4"] {
            assert!(!found.contains(secret), "{secret}: {found}");
        }
        assert!(found.contains("\"n\": 5") && found.contains("null"), "{found}");
        let open = readable(text, None).unwrap();
        assert!(open.contains("x1") && open.contains("z4"));
    }

    #[test]
    fn long_strings_and_deep_values_stay_short() {
        let long = format!("\"{}\"", "a".repeat(100_000));
        assert_eq!(readable(long.as_bytes(), None).unwrap().chars().count(), MAX_STRING + 3);
        let deep = "[".repeat(5_000) + &"]".repeat(5_000);
        assert!(readable(deep.as_bytes(), None).unwrap().len() < 5_000 * 2 * (2 * MAX_INDENT + 2));
    }
}
