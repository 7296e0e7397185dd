//! Pages of one value: the children of a container, the characters of a string, or a scalar.
//!
//! Pages of stored outputs and of files have the same text, except for their cursors, which the
//! caller writes.

use std::fmt::Write;

use serde::Serialize;

use crate::outputs::item::Item;
use crate::outputs::mark::shortened_name;
use crate::outputs::page::{
    Next, PageTooSmall, PagedAnswer, Reason, Truncation, fit, fitting, push_warning, unit_text,
};
use crate::text::{chars, json, push_char};

/// The members of a page that describe its value.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The path, as given.
    pub path: &'a str,
    /// The type: that of a JSON value, `records`, or `text`.
    pub kind: &'a str,
    /// The size of the whole value in bytes.
    pub bytes: u64,
    /// The number of all elements, members, records, or lines.
    pub items: Option<u64>,
    /// The number of the line of a text in which the page starts, from 1.
    pub start_line: Option<u64>,
}

/// The position in a value from which a page continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The number of children before it; in a text, that of line ends.
    pub index: u64,
    /// The offset after the content shown so far. The caller chooses its origin.
    pub at: u64,
}

/// The content that a page may show.
#[derive(Debug)]
#[non_exhaustive]
pub enum Content {
    /// Members of an object.
    Members(Vec<Child>),
    /// Elements of an array, or records.
    Elements(Vec<Child>),
    /// Characters of a string or text, and the offset of its end.
    Characters(Vec<Character>, u64),
    /// A value that is shown whole.
    Whole(Item),
}

/// A child of a container.
#[derive(Debug)]
pub struct Child {
    /// The name of a member, as written.
    name: Option<String>,
    /// True if the name is shortened.
    is_cut: bool,
    item: Item,
    /// The offset after the child.
    end: u64,
}

impl Child {
    /// Creates a child for a page of `max_chars` characters. `name` is the name of a member, as a
    /// JSON string in the form it is written. `end` is the offset after the child.
    pub fn new(name: Option<String>, item: Item, end: u64, max_chars: usize) -> Self {
        let short = name.as_ref().and_then(|name| shortened_name(name, max_chars));
        Self { is_cut: short.is_some(), name: short.or(name), item, end }
    }

    /// Returns the number of characters that the child and its separator take on a page.
    pub fn chars(&self) -> usize {
        self.name.as_ref().map_or(0, |name| chars(name) + 1) + self.item.chars() + 1
    }

    fn push(&self, at: usize, first: Option<&str>, out: &mut String) {
        if at > 0 {
            out.push(',');
        }
        if let Some(name) = &self.name {
            out.push_str(name);
            out.push(':');
        }
        out.push_str(unit_text(at, self.item.text(), first));
    }
}

/// A character: its text on a page, and its length in the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Character {
    text: String,
    bytes: usize,
    /// True if the character ends a line.
    line_end: bool,
}

impl Character {
    fn new(text: impl Into<String>, bytes: usize) -> Self {
        Self { text: text.into(), bytes, line_end: false }
    }

    /// Returns the number of bytes that the character takes in the value.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Splits a part of a JSON string into characters, as written. An escape is one character, and
    /// so are the two escapes of a surrogate pair.
    ///
    /// A character that is cut at the end is omitted, unless the part is the last one. Returns at
    /// most `max_chars + 1` characters.
    pub fn escaped(piece: &[u8], last: bool, max_chars: usize) -> Vec<Self> {
        let mut units = Vec::new();
        let mut rest = piece;
        while let Some((unit, after)) = rest.split_at_checked(char_length(rest)) {
            if unit.is_empty() || units.len() > max_chars {
                return units;
            }
            units.push(Self::new(String::from_utf8_lossy(unit), unit.len()));
            rest = after;
        }
        if last && !rest.is_empty() {
            // The string ends within a character. The validation of the part reports that.
            units.push(Self::new(String::from_utf8_lossy(rest), rest.len()));
        }
        units
    }

    /// Splits a part of a text into characters, and escapes them as in a JSON string. Bytes that
    /// are not UTF-8 are replaced. Returns at most `max_chars + 1` characters.
    pub fn decoded(piece: &[u8], last: bool, max_chars: usize) -> Vec<Self> {
        let mut units = Vec::new();
        let mut rest = piece.utf8_chunks().peekable();
        while let Some(chunk) = rest.next() {
            for c in chunk.valid().chars() {
                if units.len() > max_chars {
                    return units;
                }
                let mut text = String::new();
                push_char(c, &mut text);
                units.push(Self { text, bytes: c.len_utf8(), line_end: c == '\n' });
            }
            if let [first, ..] = chunk.invalid() {
                // A character may be cut at the end of a part, unless it is the last one.
                let is_cut = !last && rest.peek().is_none() && chunk.invalid().len() < utf8_length(*first);
                if !is_cut {
                    units.push(Self::new("\u{FFFD}", chunk.invalid().len()));
                }
            }
        }
        units
    }
}

/// Returns the length in bytes of the first character in a part of a JSON string. The length
/// exceeds the part if the character is cut.
fn char_length(rest: &[u8]) -> usize {
    match rest {
        [] => 0,
        // A high surrogate: the escape of the low surrogate follows.
        [b'\\', b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B', ..] => 12,
        [b'\\', b'u', ..] => 6,
        [b'\\', ..] => 2,
        [byte, ..] => utf8_length(*byte),
    }
}

fn utf8_length(first: u8) -> usize {
    match first {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
        _ => 1,
    }
}

/// A page of one value, in the form of `tool_outputs.read`: `{"path": …, "kind": …, "size": {…},
/// "content": …}`.
///
/// ```
/// use trommel_toolbox::outputs::{Character, Content, Head, Position, ValuePage};
///
/// let head = Head { path: "$.name", kind: "string", bytes: 102, items: None, start_line: None };
/// let content = Content::Characters(Character::escaped(&[b'x'; 100], true, 100), 100);
/// let cursor = |position: Position| format!("from-{}", position.at);
/// let page = ValuePage::new(&head, content, Position::default(), &cursor);
/// let text = r#"{"path":"$.name","kind":"string","size":{"bytes":102},"content":"xxx…","truncated":{"reason":"max_chars","returned":3,"next":"from-3"}}"#;
/// assert_eq!(page.fit(135).unwrap(), text);
/// ```
pub struct ValuePage<'a> {
    head: String,
    /// The number of the value's children.
    items: u64,
    content: Content,
    start: Position,
    cursor: &'a dyn Fn(Position) -> String,
    /// The reason why reading stopped early, if it did.
    end: Option<Reason>,
    warning: Option<&'a str>,
}

impl<'a> ValuePage<'a> {
    /// Creates a page of `content`, which starts at `start`. `cursor` encodes the position from
    /// which the next page continues.
    pub fn new(
        head: &Head<'_>,
        content: Content,
        start: Position,
        cursor: &'a dyn Fn(Position) -> String,
    ) -> Self {
        let (head, items) = (head.text(), head.items.unwrap_or(0));
        Self { head, items, content, start, cursor, end: None, warning: None }
    }

    /// Adds a warning.
    pub(super) fn warned(self, warning: Option<&'a str>) -> Self {
        Self { warning, ..self }
    }

    /// Sets the reason why reading stopped early.
    pub(super) fn ended(self, end: Option<Reason>) -> Self {
        Self { end, ..self }
    }

    /// Returns the text with as much of the content as fits into `max_chars` characters. A page of
    /// text ends at a line break if possible.
    ///
    /// # Errors
    /// Returns an error if not even one child or character fits.
    pub fn fit(&self, max_chars: usize) -> Result<String, PageTooSmall> {
        let has_lines =
            matches!(&self.content, Content::Characters(units, _) if units.iter().any(|unit| unit.line_end));
        let shown = if has_lines { fitting(self, max_chars) } else { None };
        match shown.and_then(|shown| self.last_line(shown)) {
            Some(shown) => Ok(self.text(shown, None)),
            None => fit(self, max_chars),
        }
    }

    /// Returns the number of children after the first `shown` of this page.
    fn left(&self, shown: usize) -> u64 {
        self.items.saturating_sub(self.start.index + shown as u64)
    }

    /// Returns the offset after the characters in `shown`.
    fn offset_after(&self, shown: &[Character]) -> u64 {
        self.start.at + shown.iter().map(|unit| unit.bytes as u64).sum::<u64>()
    }

    /// Returns the number of characters up to the last line break among the first `shown`. Returns
    /// `None` if those complete the value.
    fn last_line(&self, shown: usize) -> Option<usize> {
        let Content::Characters(units, until) = &self.content else { return None };
        let units = &units[..shown];
        if self.offset_after(units) >= *until {
            return None;
        }
        units.iter().rposition(|unit| unit.line_end).map(|at| at + 1)
    }

    fn push_children(
        &self,
        shown: &[Child],
        is_object: bool,
        first: Option<&str>,
        out: &mut String,
    ) -> Option<Truncation> {
        out.push(if is_object { '{' } else { '[' });
        for (at, child) in shown.iter().enumerate() {
            child.push(at, first, out);
        }
        let left = self.left(shown.len());
        if left > 0 {
            out.push_str(if shown.is_empty() { "" } else { "," });
            let (open, close) = if is_object { ("", "") } else { ("{", "}") };
            // Writing to a string cannot fail.
            let _ = write!(out, r#"{open}"$more":{left}{close}"#);
        }
        out.push(if is_object { '}' } else { ']' });
        self.truncation(shown, first.is_some())
    }

    /// Returns the `truncated` member of a page of children, unless the page completes the value.
    fn truncation(&self, shown: &[Child], marked: bool) -> Option<Truncation> {
        let returned = shown.len() as u64;
        let position = |last: &Child| Position { index: self.start.index + returned, at: last.end };
        let last = if self.left(shown.len()) > 0 { shown.last() } else { None };
        let next = last.map(|last| Next::Cursor((self.cursor)(position(last))));
        let marked = marked || shown.iter().any(|child| child.is_cut || child.item.is_large());
        match self.end {
            Some(Reason::Damage) if shown.len() == self.len() => {
                Some(Truncation { reason: Reason::Damage, returned, next: None })
            }
            Some(reason) if shown.len() == self.len() => Some(Truncation { reason, returned, next }),
            _ if next.is_some() || marked => Some(Truncation { reason: Reason::MaxChars, returned, next }),
            _ => None,
        }
    }

    fn push_characters(
        &self,
        shown: &[Character],
        until: u64,
        first: Option<&str>,
        out: &mut String,
    ) -> Option<Truncation> {
        out.push('"');
        for (at, unit) in shown.iter().enumerate() {
            out.push_str(unit_text(at, &unit.text, first));
        }
        let at = self.offset_after(shown);
        let index = self.start.index + shown.iter().filter(|unit| unit.line_end).count() as u64;
        let is_cut = at < until;
        if is_cut && !shown.last().is_some_and(|unit| unit.line_end) {
            out.push('…');
        }
        out.push('"');
        is_cut.then(|| Truncation {
            reason: Reason::MaxChars,
            returned: shown.len() as u64,
            next: Some(Next::Cursor((self.cursor)(Position { index, at }))),
        })
    }
}

impl Head<'_> {
    fn text(&self) -> String {
        #[derive(Serialize)]
        struct Members<'a> {
            path: &'a str,
            kind: &'a str,
            size: Size,
            #[serde(skip_serializing_if = "Option::is_none")]
            start_line: Option<u64>,
        }

        #[derive(Serialize)]
        struct Size {
            bytes: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            items: Option<u64>,
        }

        let Self { path, kind, bytes, items, start_line } = *self;
        let mut head = json(&Members { path, kind, size: Size { bytes, items }, start_line });
        head.pop();
        head.push_str(r#","content":"#);
        head
    }
}

impl PagedAnswer for ValuePage<'_> {
    fn len(&self) -> usize {
        match &self.content {
            Content::Members(children) | Content::Elements(children) => children.len(),
            Content::Characters(units, _) => units.len(),
            Content::Whole(_) => 1,
        }
    }

    fn min_chars(&self, unit: usize) -> usize {
        match &self.content {
            Content::Members(children) | Content::Elements(children) => children[unit].item.chars(),
            Content::Characters(units, _) => chars(&units[unit].text),
            Content::Whole(item) => item.chars(),
        }
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let mut out = self.head.clone();
        let cut = match &self.content {
            Content::Members(children) => self.push_children(&children[..shown], true, first, &mut out),
            Content::Elements(children) => self.push_children(&children[..shown], false, first, &mut out),
            Content::Characters(units, until) => {
                self.push_characters(&units[..shown], *until, first, &mut out)
            }
            Content::Whole(item) => {
                out.push_str(unit_text(0, item.text(), first));
                let is_cut = first.is_some() || item.is_large();
                is_cut.then_some(Truncation { reason: Reason::MaxChars, returned: 0, next: None })
            }
        };
        if let Some(cut) = cut {
            cut.push(&mut out);
        }
        push_warning(self.warning, &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, max_chars: usize) -> Option<String> {
        match &self.content {
            Content::Members(children) | Content::Elements(children) => {
                children.first()?.item.mark(max_chars)
            }
            Content::Characters(..) => None,
            Content::Whole(item) => item.mark(max_chars),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(units: &[Character]) -> Vec<&str> {
        units.iter().map(|unit| unit.text.as_str()).collect()
    }

    #[test]
    fn escapes_are_not_split() {
        let piece = r"aü\n\u00e9\ud83d\ude00\\😀".as_bytes();
        assert_eq!(
            texts(&Character::escaped(piece, true, 99)),
            ["a", "ü", r"\n", r"\u00e9", r"\ud83d\ude00", r"\\", "😀"]
        );
        for cut in 0..=piece.len() {
            let units = Character::escaped(&piece[..cut], false, 99);
            let length: usize = units.iter().map(Character::bytes).sum();
            let again = [units, Character::escaped(&piece[length..], true, 99)].concat();
            assert_eq!(again, Character::escaped(piece, true, 99), "{cut}");
        }
    }

    #[test]
    fn text_is_decoded_and_malformed_bytes_replaced() {
        let piece = "a\n\u{1b}ü".as_bytes();
        assert_eq!(texts(&Character::decoded(piece, true, 99)), ["a", r"\n", r"\u001b", "ü"]);
        assert_eq!(texts(&Character::decoded(b"a\xFF\xC3", true, 99)), ["a", "\u{FFFD}", "\u{FFFD}"]);
        assert_eq!(texts(&Character::decoded(b"a\xFF\xC3", false, 99)), ["a", "\u{FFFD}"]);
        assert!(Character::decoded(b"a\n", false, 99)[1].line_end);
    }
}
