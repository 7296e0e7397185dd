//! Values in the form that a page shows: their text, or a mark if they are too large.

use trommel::reader::{Cursor, Event, Kind, Payload, Result, Scalar};
use trommel_base::text::first;

use super::mark::{PREVIEW_SOURCE_CHARS, TruncationMark};
use crate::text::chars;

/// The text of a value without insignificant white space, or a prefix of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendering {
    /// The text.
    pub text: String,
    /// True if the text is complete.
    pub whole: bool,
}

impl Rendering {
    /// Creates the rendering of a value that is too large, from a prefix of its text.
    pub fn prefix(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Self { text: first(&text, PREVIEW_SOURCE_CHARS).to_owned(), whole: false }
    }
}

/// Renders and validates the next value. Stops after `max_chars` characters.
pub(crate) fn render(cursor: &mut Cursor<'_>, max_chars: usize) -> Result<Rendering> {
    let mut text = String::new();
    let (mut count, mut separated) = (0, true);
    while let Some(event) = cursor.advance()? {
        let before = text.len();
        if !separated && !matches!(event, Event::End(_)) {
            text.push(',');
        }
        separated = matches!(event, Event::Name | Event::Begin(_));
        let cut = push_token(event, cursor, max_chars, &mut text);
        count += chars(&text[before..]);
        if cut || count > max_chars {
            return Ok(Rendering::prefix(text.as_bytes()));
        }
        if cursor.is_at_end() {
            break;
        }
    }
    Ok(Rendering { text, whole: true })
}

/// Appends the text of an event. Returns true if only a prefix was appended, because the text
/// exceeds `max_chars` characters.
fn push_token(event: Event, cursor: &Cursor<'_>, max_chars: usize, text: &mut String) -> bool {
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
            // A character takes at most four bytes.
            if token.len() / 4 > max_chars {
                text.push_str(&String::from_utf8_lossy(token.get(..max_chars).unwrap_or(token)));
                return true;
            }
            // The cursor has validated the token's UTF-8, so nothing is replaced.
            text.push_str(&String::from_utf8_lossy(token));
            if event == Event::Name {
                text.push(':');
            }
        }
    }
    false
}

/// Returns the type of a valid value from its first byte.
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

/// A value to be shown on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    text: String,
    chars: usize,
    /// The mark that replaces the value. `None` if the value is too short to need one.
    mark: Option<Box<TruncationMark>>,
    large: bool,
}

impl Item {
    /// Creates an item for a page of `max_chars` characters. `mark` is called only if the value may
    /// have to be replaced.
    #[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "every mark fits an unlimited budget")]
    pub fn new(rendering: Rendering, max_chars: usize, mark: impl FnOnce() -> TruncationMark) -> Self {
        let Rendering { text, whole } = rendering;
        let count = chars(&text);
        if whole && count * 4 <= max_chars {
            return Self { text, chars: count, mark: None, large: false };
        }
        let mark = Box::new(mark().preview(&text));
        if whole {
            return Self { text, chars: count, mark: Some(mark), large: false };
        }
        let text = mark.text(usize::MAX).expect("a mark fits an unlimited budget");
        Self { chars: chars(&text), text, mark: Some(mark), large: true }
    }

    /// Creates an item from a complete text.
    pub(crate) fn of_text(text: String, max_chars: usize, path: &str) -> Self {
        let bytes = text.len() as u64;
        let kind = kind_of(text.as_bytes());
        let whole = text.len() <= max_chars || chars(&text) <= max_chars;
        Self::new(Rendering { text, whole }, max_chars, || TruncationMark::new(path.to_owned(), kind, bytes))
    }

    /// Returns the text on the page: that of the value, or a mark.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the length of [`text`](Self::text) in characters.
    pub(crate) fn chars(&self) -> usize {
        self.chars
    }

    /// True if the text is a mark.
    pub(crate) fn is_large(&self) -> bool {
        self.large
    }

    /// Returns the mark that replaces the value, if it has one of at most `max_chars` characters.
    pub(crate) fn mark(&self, max_chars: usize) -> Option<String> {
        self.mark.as_ref().and_then(|mark| mark.text(max_chars))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::reader::{Config, Framing};

    fn rendered(value: &str, max_chars: usize) -> Rendering {
        let whole = render(&mut Cursor::new(value.as_bytes(), &Config::new()), max_chars).unwrap();
        let followed = format!("{value}, \"more\"");
        let stream = std::io::Cursor::new(followed.into_bytes());
        let config = Config::new().window(16);
        let mut cursor = Cursor::from_reader(stream, Framing::Single, &config);
        assert_eq!(render(&mut cursor, max_chars).unwrap(), whole);
        whole
    }

    #[test]
    fn only_white_space_is_removed() {
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
    fn invalid_json_is_refused() {
        for bad in ["[1 2]", "{\"a\":tru}", "[\"\\x\"]", "[\"\u{1}\"]", "{\"a\":1", "[{]}"] {
            assert!(render(&mut Cursor::new(bad.as_bytes(), &Config::new()), 1000).is_err(), "{bad}");
        }
    }

    #[test]
    fn marks_are_as_informative_as_possible() {
        let text = format!("[\"{}\"]", "ab\u{202e}\"c\\".repeat(50));
        let mark = || TruncationMark::new("$['a']".into(), Kind::Array, 12_345);
        let item = Item::new(Rendering { text, whole: false }, 100, mark);
        assert!(item.is_large() && item.chars() == chars(item.text()));
        let mut lengths = Vec::new();
        for max_chars in 0..600 {
            let Some(mark) = item.mark(max_chars) else { continue };
            assert!(chars(&mark) <= max_chars, "{max_chars}: {mark}");
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
    fn items_detect_their_type() {
        let item = Item::of_text("\"aaaaaaaaaa\"".into(), 8, "$.x");
        assert!(
            item.is_large() && item.text().contains("\"kind\":\"string\",\"bytes\":12"),
            "{}",
            item.text()
        );
        assert!(!Item::of_text("1".into(), 8, "$.x").is_large());
    }
}
