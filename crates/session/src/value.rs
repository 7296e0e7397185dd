//! One value taken from a record's tokens: its JSON, if it is short enough, else the fact that it
//! is there.

use std::borrow::Cow;

use trommel::reader::{self, Cursor, Event, Kind, Payload, Scalar, Text};

/// A value as it stands in the file, without white space, if it was short enough.
#[derive(Clone, Debug, Default)]
pub(crate) struct Value {
    kind: Option<Kind>,
    json: String,
    is_over: bool,
}

impl Value {
    pub(crate) fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Forgets the value, and keeps its buffer for the next.
    pub(crate) fn clear(&mut self) {
        self.kind = None;
    }

    /// Whether it had too many characters to be kept.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Its JSON; of one that is too long nothing that could be read.
    pub(crate) fn json(&self) -> Option<&str> {
        (!self.is_over && self.kind.is_some()).then_some(&*self.json)
    }

    /// A string's text; of one that was too long its beginning.
    pub(crate) fn text(&self) -> Option<Cow<'_, str>> {
        (self.kind == Some(Kind::String)).then_some(())?;
        let inside = self.json.strip_prefix('"').unwrap_or(&self.json);
        let inside = if self.is_over { inside } else { inside.strip_suffix('"').unwrap_or(inside) };
        Some(Text::from_raw(inside.as_bytes(), inside.contains('\\')).decode())
    }

    /// JSON that stands for it where at most `cap` characters are looked at: its own; or, as it was
    /// too long to be kept, of a string the beginning, and for another value one of its kind, each
    /// longer than that. It was taken with two characters more.
    pub(crate) fn stand_in(&self, cap: usize) -> Cow<'_, str> {
        if !self.is_over {
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

    /// Takes the value that comes next, and passes over it when it has more than so many
    /// characters.
    pub(crate) fn capture(&mut self, cursor: &mut Cursor<'_>, cap: usize) -> reader::Result<()> {
        self.json.clear();
        self.is_over = false;
        let outside = cursor.depth();
        let mut event = cursor.begin_value()?;
        self.kind = Some(match event {
            Event::Begin(kind) | Event::End(kind) | Event::Scalar(kind) => kind,
            Event::Name => Kind::String,
        });
        let mut room = Room { left: cap, fresh: true };
        loop {
            if !room.write(&mut self.json, event, cursor.payload()) {
                self.is_over = true;
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

/// Characters that may still be written.
struct Room {
    left: usize,
    /// Whether nothing stands before the next value that it has to be kept apart from.
    fresh: bool,
}

impl Room {
    /// Writes an event as JSON; whether there was room for it.
    fn write(&mut self, out: &mut String, event: Event, payload: Payload<'_>) -> bool {
        let comma = !self.fresh && !matches!(event, Event::End(_));
        if comma && !self.push(out, ",") {
            return false;
        }
        self.fresh = matches!(event, Event::Begin(_) | Event::Name);
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

    /// A string as it is spelt. Of one that is too long its beginning is written.
    fn quote(&mut self, out: &mut String, text: &Text<'_>) -> bool {
        // The reader has checked it; only a cut one may end within a character.
        let raw = text.raw().utf8_chunks().next().map_or("", |chunk| chunk.valid());
        if !self.push(out, "\"") {
            return false;
        }
        if text.is_cut() || !self.has_room(raw) {
            out.push_str(beginning(raw, self.left));
            return false;
        }
        self.push(out, raw) && self.push(out, "\"")
    }

    fn has_room(&self, text: &str) -> bool {
        text.len() <= self.left || text.chars().nth(self.left).is_none()
    }

    fn push(&mut self, out: &mut String, text: &str) -> bool {
        let room = self.has_room(text);
        if room {
            out.push_str(text);
            self.left -=
                if text.len() <= self.left && text.is_ascii() { text.len() } else { text.chars().count() };
        }
        room
    }
}

/// At most so many characters of a string's spelling, and no half of an escape.
fn beginning(raw: &str, most: usize) -> &str {
    let mut end = 0;
    let mut chars = raw.char_indices();
    for _ in 0..most {
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

/// A string's spelling without half of a surrogate pair at its end, which its beginning may have.
fn whole_pairs(raw: &str) -> &str {
    const ESCAPE: usize = 6;
    let before = raw.len().checked_sub(ESCAPE).and_then(|at| raw.split_at_checked(at));
    let is_half = |escape: &str| escape.starts_with("\\ud") || escape.starts_with("\\uD");
    match before {
        // The backslash may be one that another escapes: only what stands for no character is half
        // of one.
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
    fn a_beginning_ends_between_escapes() {
        assert_eq!(beginning(r"ab\ncd", 3), r"ab\n");
        assert_eq!(beginning(r"\u00e9\u00e9", 1), r"\u00e9");
        assert_eq!(beginning(r"ab\u00", 9), "ab");
        assert_eq!(beginning("äöü", 2), "äö");
    }
}
