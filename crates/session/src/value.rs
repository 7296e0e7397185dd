//! One value extracted from a record's tokens: its JSON if it is short enough, otherwise only its
//! kind.

use std::borrow::Cow;

use trommel::reader::{self, Cursor, Event, Kind, Payload, Scalar, Text};

/// A value, verbatim but without white space, if it is short enough.
#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    kind: Option<Kind>,
    json: String,
    is_too_long: bool,
}

impl Value {
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Removes the value, and keeps its buffer for the next one.
    pub(crate) fn clear(&mut self) {
        self.kind = None;
    }

    /// True if it has too many characters to be kept.
    pub(crate) fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    /// Returns its JSON. None if it is too long.
    pub(crate) fn json(&self) -> Option<&str> {
        (!self.is_too_long && self.kind.is_some()).then_some(&*self.json)
    }

    /// Returns a string's text. If it is too long, a prefix.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        (self.kind == Some(Kind::String)).then_some(())?;
        let inside = self.json.strip_prefix('"').unwrap_or(&self.json);
        let inside = if self.is_too_long { inside } else { inside.strip_suffix('"').unwrap_or(inside) };
        Some(Text::from_raw(inside.as_bytes(), inside.contains('\\')).decode())
    }

    /// Returns JSON to replace the value in an outline. A short value replaces itself. One that is
    /// too long is replaced by a longer one than `cap`: for a string, a prefix; otherwise, a dummy
    /// of its kind. The value must have been captured with a limit of `cap + 2`.
    pub(crate) fn replacement(&self, cap: usize) -> Cow<'_, str> {
        if !self.is_too_long {
            return Cow::Borrowed(&self.json);
        }
        Cow::Owned(match self.kind {
            Some(Kind::String) => format!("{}\"", whole_pairs(&self.json)),
            Some(Kind::Number) => "1".repeat(cap + 1),
            Some(Kind::Array) => format!("[\"{}\"]", ".".repeat(cap)),
            Some(Kind::Object) => format!("{{\"\":\"{}\"}}", ".".repeat(cap)),
            _ => "null".to_owned(),
        })
    }

    /// Captures the next value, or skips it if it has more than `cap` characters.
    pub(crate) fn capture(&mut self, cursor: &mut Cursor<'_>, cap: usize) -> reader::Result<()> {
        self.json.clear();
        self.is_too_long = false;
        let outside = cursor.depth();
        let mut event = cursor.begin_value()?;
        self.kind = Some(match event {
            Event::Begin(kind) | Event::End(kind) | Event::Scalar(kind) => kind,
            Event::Name => Kind::String,
        });
        let mut writer = BoundedWriter { left: cap, is_first: true };
        loop {
            if !writer.write(&mut self.json, event, cursor.payload()) {
                self.is_too_long = true;
                while cursor.depth() > outside {
                    cursor.leave()?;
                }
                return Ok(());
            }
            if cursor.depth() == outside {
                return Ok(());
            }
            let Some(next) = cursor.advance()? else { return Ok(()) };
            event = next;
        }
    }
}

/// Writes events as JSON within a character budget.
struct BoundedWriter {
    left: usize,
    /// True if the next value needs no comma before it.
    is_first: bool,
}

impl BoundedWriter {
    /// Writes an event as JSON. Returns false if the budget is exceeded.
    fn write(&mut self, out: &mut String, event: Event, payload: Payload<'_>) -> bool {
        let comma = !self.is_first && !matches!(event, Event::End(_));
        if comma && !self.push(out, ",") {
            return false;
        }
        self.is_first = matches!(event, Event::Begin(_) | Event::Name);
        match (event, payload) {
            (Event::Begin(kind), _) => self.push(out, if kind == Kind::Object { "{" } else { "[" }),
            (Event::End(kind), _) => self.push(out, if kind == Kind::Object { "}" } else { "]" }),
            (Event::Name, Payload::Name(name)) => self.quote(out, &name) && self.push(out, ":"),
            (_, Payload::Scalar(Scalar::String(text))) => self.quote(out, &text),
            (_, Payload::Scalar(Scalar::Number(number))) => self.push(out, number.lexeme()),
            (_, Payload::Scalar(Scalar::Bool(value))) => self.push(out, if value { "true" } else { "false" }),
            _ => self.push(out, "null"),
        }
    }

    /// Writes a raw string. If it is too long, writes a prefix.
    fn quote(&mut self, out: &mut String, text: &Text<'_>) -> bool {
        // The reader has validated the string. Only a truncated one may end inside a character.
        let raw = text.raw().utf8_chunks().next().map_or("", |chunk| chunk.valid());
        if !self.push(out, "\"") {
            return false;
        }
        if text.is_cut() || !self.fits(raw) {
            out.push_str(prefix(raw, self.left));
            return false;
        }
        self.push(out, raw) && self.push(out, "\"")
    }

    fn fits(&self, text: &str) -> bool {
        text.len() <= self.left || text.chars().nth(self.left).is_none()
    }

    fn push(&mut self, out: &mut String, text: &str) -> bool {
        let fits = self.fits(text);
        if fits {
            out.push_str(text);
            self.left -=
                if text.len() <= self.left && text.is_ascii() { text.len() } else { text.chars().count() };
        }
        fits
    }
}

/// Returns a prefix of at most `max` characters of a raw string, which does not end inside an
/// escape.
fn prefix(raw: &str, max_chars: usize) -> &str {
    let mut end = 0;
    let mut chars = raw.char_indices();
    for _ in 0..max_chars {
        let Some((at, c)) = chars.next() else { break };
        end = at + c.len_utf8();
        if c != '\\' {
            continue;
        }
        let more = match chars.next() {
            Some((_, 'u')) => chars.nth(3).map(|(at, c)| at + c.len_utf8()),
            Some((at, c)) => Some(at + c.len_utf8()),
            None => None,
        };
        match more {
            Some(more) => end = more,
            None => return &raw[..at],
        }
    }
    &raw[..end]
}

/// Removes half of a surrogate pair from the end of a raw string, where truncation may have left
/// one.
fn whole_pairs(raw: &str) -> &str {
    const ESCAPE: usize = 6;
    let before = raw.len().checked_sub(ESCAPE).and_then(|at| raw.split_at_checked(at));
    let is_half = |escape: &str| escape.starts_with("\\ud") || escape.starts_with("\\uD");
    match before {
        // The backslash may itself be escaped. Only an escape that decodes to the replacement
        // character is half of a pair.
        Some((before, escape)) if is_half(escape) => {
            let is_lost = Text::from_raw(raw.as_bytes(), true).decode().ends_with('\u{fffd}');
            if is_lost { before } else { raw }
        }
        _ => raw,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_ends_between_escapes() {
        assert_eq!(prefix(r"ab\ncd", 3), r"ab\n");
        assert_eq!(prefix(r"\u00e9\u00e9", 1), r"\u00e9");
        assert_eq!(prefix(r"ab\u00", 9), "ab");
        assert_eq!(prefix("äöü", 2), "äö");
    }
}
