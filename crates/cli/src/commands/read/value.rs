//! Reads the parts of a value that may be on a page, from where the engine found it.

use trommel::path::{Query, Selector};
use trommel::reader::{Config, Cursor, Error, Framing, Kind, Validation, View, compact};
use trommel_toolbox::outputs::{Character, Child, Content, Item, Mark, Rendering, kind_of};

use super::page::{Asked, Value};

/// A longer value is not read as a whole: no page can hold it.
const LARGE: u64 = 1 << 20;

/// The most bytes of a character or an escape of a string.
const LONGEST_UNIT: usize = 12;

/// Bytes of a value from which the mark in its place is made.
const BEGINNING: usize = 2048;

/// The children that may be on the page.
#[derive(Default)]
pub(super) struct Children {
    pub(super) all: Vec<Child>,
    /// Characters that they take together.
    chars: usize,
}

impl Children {
    pub(super) fn push(&mut self, child: Child) {
        self.chars += child.chars();
        self.all.push(child);
    }
}

/// Reads values for a page.
pub(super) struct Look<'a> {
    pub(super) asked: Asked<'a>,
    pub(super) config: Config,
}

impl Look<'_> {
    /// Reads a value.
    pub(super) fn value(&self, view: View<'_>) -> Result<Value, Error> {
        let bytes = view.bytes();
        let kind = kind_of(bytes);
        let (items, content) = match kind {
            Kind::Object => {
                let (items, children) = self.children(view, true)?;
                (Some(items), Content::Members(children))
            }
            Kind::Array => {
                let (items, children) = self.children(view, false)?;
                (Some(items), Content::Elements(children))
            }
            Kind::String => (None, self.string(bytes)),
            _ => (None, Content::Whole(self.item(view, || self.asked.query.clone())?)),
        };
        Ok(Value { kind: kind.name(), bytes: bytes.len() as u64, items, content })
    }

    /// Counts children, and keeps those that may be on the page.
    fn children(&self, view: View<'_>, is_object: bool) -> Result<(u64, Vec<Child>), Error> {
        let config = self.config.validation(Validation::Structural);
        let mut cursor = Cursor::from_view(view, Framing::Single, &config);
        let mut kept = Children::default();
        let mut count = 0;
        cursor.begin_value()?;
        while if is_object { cursor.next_member()? } else { cursor.next_element()? } {
            let is_wanted = self.may_fit(&kept, count);
            let name = if is_wanted && is_object { cursor.name() } else { None };
            let names = name.map(|name| (spelled(name.raw()), name.decode().into_owned()));
            let span = cursor.skip_value()?;
            if let (true, Some(child)) = (is_wanted, view.narrow(span)) {
                let (spelled, name) = names.unzip();
                let selector = || name.map_or(Selector::Index(count as i64), Selector::Name);
                let path = || self.asked.query.clone().with_child(selector());
                kept.push(Child::new(spelled, self.item(child, path)?, span.end, self.asked.most));
            }
            count += 1;
        }
        Ok((count, kept.all))
    }

    /// True if the child of this number may be on the page, after those that are kept.
    pub(super) fn may_fit(&self, kept: &Children, number: u64) -> bool {
        number >= self.asked.start && kept.chars <= self.asked.most
    }

    /// A record as an element of the stream.
    pub(super) fn record(&self, view: View<'_>, number: u64) -> Result<Child, Error> {
        let item = self.item(view, || Query::root().with_child(Selector::Index(number as i64)))?;
        Ok(Child::new(None, item, view.base() + view.bytes().len() as u64, self.asked.most))
    }

    /// A value as it may be on the page. The engine skipped it, so it is checked now.
    fn item(&self, view: View<'_>, path: impl FnOnce() -> Query) -> Result<Item, Error> {
        let bytes = view.bytes();
        let whole = if bytes.len() as u64 <= LARGE { Some(self.text(view)?) } else { None };
        let rendering = match whole {
            Some(text) if text.chars().count() <= self.asked.most => Rendering { text, whole: true },
            _ => {
                let mut beginning = Vec::new();
                compact(bytes.get(..BEGINNING).unwrap_or(bytes), &mut beginning);
                Rendering::beginning(&beginning)
            }
        };
        let mark = || Mark::new(path().shorthand(), kind_of(bytes), bytes.len() as u64);
        Ok(Item::new(rendering, self.asked.most, mark))
    }

    /// The text of a value without insignificant white space.
    fn text(&self, view: View<'_>) -> Result<String, Error> {
        let mut cursor = Cursor::from_view(view, Framing::Single, &self.config);
        while cursor.advance()?.is_some() {}
        let mut text = Vec::new();
        compact(view.bytes(), &mut text);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The characters of a string from the start of the page on, in its own spelling; one more than
    /// fit on it.
    fn string(&self, lexeme: &[u8]) -> Content {
        let inside = &lexeme[1..lexeme.len() - 1];
        let start = usize::try_from(self.asked.start).unwrap_or(usize::MAX).min(inside.len());
        let rest = &inside[start..];
        let wanted = rest.get(..(self.asked.most + 1) * LONGEST_UNIT).unwrap_or(rest);
        Content::Characters(Character::spelled(wanted, false, self.asked.most), inside.len() as u64)
    }
}

/// A name as a JSON string, in its own spelling.
fn spelled(name: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(name))
}
