//! Values as a page can hold them: their text, or a mark for a value that no page can hold.

use trommel::reader::{Cursor, Event, Kind, Payload, Result, Scalar};
use trommel_base::text::first;

use super::mark::{LOOKED_AT, Mark};
use crate::text::chars;

/// The text of a value without its insignificant white space, as far as it was wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendering {
    /// All of it, or its beginning.
    pub text: String,
    /// True if that is all of it.
    pub whole: bool,
}

impl Rendering {
    /// The beginning of a text that is longer than was wanted.
    pub fn beginning(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Self { text: first(&text, LOOKED_AT).to_owned(), whole: false }
    }
}

/// Renders the value that comes next, which is checked as it is gone through; no further than
/// `most` characters.
pub(crate) fn render(cursor: &mut Cursor<'_>, most: usize) -> Result<Rendering> {
    let mut text = String::new();
    let (mut count, mut separated) = (0, true);
    while let Some(event) = cursor.advance()? {
        let before = text.len();
        if !separated && !matches!(event, Event::End(_)) {
            text.push(',');
        }
        separated = matches!(event, Event::Name | Event::Begin(_));
        let cut = push_token(event, cursor, most, &mut text);
        count += chars(&text[before..]);
        if cut || count > most {
            return Ok(Rendering::beginning(text.as_bytes()));
        }
        if cursor.is_at_end() {
            break;
        }
    }
    Ok(Rendering { text, whole: true })
}

/// Appends the text of an event. Returns true if it is longer than wanted, and only its beginning
/// was appended.
fn push_token(event: Event, cursor: &Cursor<'_>, most: usize, text: &mut String) -> bool {
    match event {
        Event::Begin(kind) => text.push(if kind == Kind::Object { '{' } else { '[' }),
        Event::End(kind) => text.push(if kind == Kind::Object { '}' } else { ']' }),
        Event::Name | Event::Scalar(_) => {
            let Some(token) = cursor.bytes(cursor.span()) else {
                if let Payload::Scalar(Scalar::String(cut)) = cursor.payload() {
                    text.push('"');
                    text.push_str(&String::from_utf8_lossy(cut.raw()));
                }
                return true;
            };
            // No character takes more than four bytes.
            if token.len() / 4 > most {
                text.push_str(&String::from_utf8_lossy(token.get(..most).unwrap_or(token)));
                return true;
            }
            // The cursor has checked that it is UTF-8.
            text.push_str(&String::from_utf8_lossy(token));
            if event == Event::Name {
                text.push(':');
            }
        }
    }
    false
}

/// Returns the type of a valid value by its first byte.
pub fn kind_of(value: &[u8]) -> Kind {
    match value.first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Bool,
        Some(b'n') => Kind::Null,
        _ => Kind::Number,
    }
}

/// A value on its way to a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    text: String,
    chars: usize,
    /// The stand-in, if the value may be too long.
    mark: Option<Box<Mark>>,
    large: bool,
}

impl Item {
    /// Creates an item for a page of `most` characters.
    #[expect(
        clippy::expect_used,
        clippy::missing_panics_doc,
        reason = "a mark fits in any room but a small one"
    )]
    pub fn new(rendering: Rendering, most: usize, mark: impl FnOnce() -> Mark) -> Self {
        let Rendering { text, whole } = rendering;
        let count = chars(&text);
        if whole && count * 4 <= most {
            return Self { text, chars: count, mark: None, large: false };
        }
        let mark = Box::new(mark().beginning(&text));
        if whole {
            return Self { text, chars: count, mark: Some(mark), large: false };
        }
        let text = mark.text(usize::MAX).expect("there is room for every mark");
        Self { chars: chars(&text), text, mark: Some(mark), large: true }
    }

    /// Creates an item of a text that is at hand.
    pub(crate) fn of_text(text: String, most: usize, path: &str) -> Self {
        let bytes = text.len() as u64;
        let kind = kind_of(text.as_bytes());
        let whole = text.len() <= most || chars(&text) <= most;
        Self::new(Rendering { text, whole }, most, || Mark::new(path.to_owned(), kind, bytes))
    }

    /// The text on the page: the value's, or a mark.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Characters of [`text`](Self::text).
    pub(crate) fn chars(&self) -> usize {
        self.chars
    }

    /// True if the text is a mark.
    pub(crate) fn is_large(&self) -> bool {
        self.large
    }

    /// Returns a mark of at most `room` characters, if there is one.
    pub(crate) fn mark(&self, room: usize) -> Option<String> {
        self.mark.as_ref().and_then(|mark| mark.text(room))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::reader::{Config, Framing};

    fn rendered(value: &str, most: usize) -> Rendering {
        let whole = render(&mut Cursor::new(value.as_bytes(), &Config::new()), most).unwrap();
        let followed = format!("{value}, \"more\"");
        let stream = std::io::Cursor::new(followed.into_bytes());
        let config = Config::new().window(16);
        let mut cursor = Cursor::from_reader(stream, Framing::Single, &config);
        assert_eq!(render(&mut cursor, most).unwrap(), whole);
        whole
    }

    #[test]
    fn white_space_goes_and_nothing_else() {
        let value = "{ \"a b\" :\t[ 1.0e0 ,\n-0 , {} , [ ] ] , \"a b\":\"\\u0041ü\" }";
        let text = "{\"a b\":[1.0e0,-0,{},[]],\"a b\":\"\\u0041ü\"}";
        assert_eq!(rendered(value, 40), Rendering { text: text.into(), whole: true });
        assert_eq!(chars(text), 40);
        assert!(!rendered(value, 39).whole);
        assert!(text.starts_with(&rendered(value, 10).text));
        for scalar in ["12", "true", "null", "\"\"", "-0.5E+7"] {
            assert_eq!(rendered(scalar, 100).text, scalar);
        }
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for bad in ["[1 2]", "{\"a\":tru}", "[\"\\x\"]", "[\"\u{1}\"]", "{\"a\":1", "[{]}"] {
            assert!(render(&mut Cursor::new(bad.as_bytes(), &Config::new()), 1000).is_err(), "{bad}");
        }
    }

    #[test]
    fn marks_say_what_there_is_room_for() {
        let text = format!("[\"{}\"]", "ab\u{202e}\"c\\".repeat(50));
        let mark = || Mark::new("$['a']".into(), Kind::Array, 12_345);
        let item = Item::new(Rendering { text, whole: false }, 100, mark);
        assert!(item.is_large() && item.chars() == chars(item.text()));
        let mut lengths = Vec::new();
        for room in 0..600 {
            let Some(mark) = item.mark(room) else { continue };
            assert!(chars(&mark) <= room, "{room}: {mark}");
            let value: serde_json::Value = serde_json::from_str(&mark).unwrap();
            assert_eq!(value["$truncated"], true);
            assert!(!mark.contains('\u{202e}'));
            lengths.push(value.as_object().unwrap().len());
        }
        assert!(lengths.is_sorted() && lengths.contains(&1) && lengths.contains(&3) && lengths.contains(&5));
        assert_eq!(item.mark(18), None);
        assert_eq!(item.mark(10_000).as_deref(), Some(item.text()));
    }

    #[test]
    fn texts_know_their_kind() {
        let item = Item::of_text("\"aaaaaaaaaa\"".into(), 8, "$.x");
        assert!(
            item.is_large() && item.text().contains("\"kind\":\"string\",\"bytes\":12"),
            "{}",
            item.text()
        );
        assert!(!Item::of_text("1".into(), 8, "$.x").is_large());
    }
}
