//! Reads the parts of a value that may fit on a page, from where the engine found it.

use std::sync::Arc;

use trommel::path::{Query, Selector};
use trommel::reader::{Config, Cursor, Error, Framing, Guide, Kind, Validation, View, compact};
use trommel_guide::{Below, Index};
use trommel_toolbox::outputs::{Character, Child, Content, Item, Rendering, TruncationMark, kind_of};

use super::page::{PageRequest, Value};

/// A larger value is not read as a whole, because no page can hold it.
const MAX_WHOLE_BYTES: u64 = 1 << 20;

/// The maximum number of bytes of a character or an escape in a string.
const MAX_UNIT_BYTES: usize = 12;

/// The bytes of a value that its truncation mark is made from.
const EXCERPT_BYTES: usize = 2048;

/// The children of a value that may fit on the page.
#[derive(Default)]
pub(super) struct Children {
    pub(super) all: Vec<Child>,
    /// The sum of their characters.
    chars: usize,
}

impl Children {
    pub(super) fn push(&mut self, child: Child) {
        self.chars += child.chars();
        self.all.push(child);
    }
}

/// Reads values for a page.
pub(super) struct ValueReader<'a> {
    pub(super) request: PageRequest<'a>,
    pub(super) config: Config,
    /// What a guide knows of the input.
    pub(super) index: Option<Arc<Index>>,
}

impl ValueReader<'_> {
    /// Reads a value, which is in `depth` containers.
    pub(super) fn value(&self, view: View<'_>, depth: u32) -> Result<Value, Error> {
        let bytes = view.bytes();
        let kind = kind_of(bytes);
        let (items, content) = match kind {
            Kind::Object => {
                let (items, children) = self.children(view, depth, true)?;
                (Some(items), Content::Members(children))
            }
            Kind::Array => {
                let (items, children) = self.children(view, depth, false)?;
                (Some(items), Content::Elements(children))
            }
            Kind::String => (None, self.string(bytes)),
            _ => (None, Content::Whole(self.item(view, || self.request.query.clone())?)),
        };
        Ok(Value { kind: kind.name(), bytes: bytes.len() as u64, items, content })
    }

    /// Counts children and keeps those that may fit on the page. A guide passes others.
    fn children(&self, view: View<'_>, depth: u32, is_object: bool) -> Result<(u64, Vec<Child>), Error> {
        let config = self.config.validation(Validation::Structural);
        let below = self.index.as_ref().map(|index| Below::new(Arc::clone(index), depth));
        let guide = below.as_ref().map(|below| below as &dyn Guide);
        let mut cursor = Cursor::from_view(view, Framing::Single, &config).guided_by(guide);
        let mut kept = Children::default();
        let mut count = 0;
        cursor.begin_value()?;
        loop {
            count += cursor.pass_children(count, self.unwanted(&kept, count))?;
            if !(if is_object { cursor.next_member()? } else { cursor.next_element()? }) {
                return Ok((count, kept.all));
            }
            let is_wanted = self.may_fit(&kept, count);
            let name = if is_wanted && is_object { cursor.name() } else { None };
            let names = name.map(|name| (spelled(name.raw()), name.decode().into_owned()));
            let span = cursor.skip_value()?;
            if let (true, Some(child)) = (is_wanted, view.narrow(span)) {
                let (spelled, name) = names.unzip();
                let selector = || name.map_or(Selector::Index(count as i64), Selector::Name);
                let path = || self.request.query.clone().with_child(selector());
                kept.push(Child::new(spelled, self.item(child, path)?, span.end, self.request.max_chars));
            }
            count += 1;
        }
    }

    /// The number of children, from child `number` on, that are not on the page.
    fn unwanted(&self, kept: &Children, number: u64) -> u64 {
        if self.may_fit(kept, number) {
            0
        } else {
            self.request.start.checked_sub(number).unwrap_or(u64::MAX)
        }
    }

    /// True if child `number` may fit on the page after the kept ones.
    pub(super) fn may_fit(&self, kept: &Children, number: u64) -> bool {
        number >= self.request.start && kept.chars <= self.request.max_chars
    }

    /// Converts a record into an element of the stream.
    pub(super) fn record(&self, view: View<'_>, number: u64) -> Result<Child, Error> {
        let item = self.item(view, || Query::root().with_child(Selector::Index(number as i64)))?;
        Ok(Child::new(None, item, view.base() + view.bytes().len() as u64, self.request.max_chars))
    }

    /// Renders a value for the page. Validates it, because the engine skipped it.
    fn item(&self, view: View<'_>, path: impl FnOnce() -> Query) -> Result<Item, Error> {
        let bytes = view.bytes();
        let whole = if bytes.len() as u64 <= MAX_WHOLE_BYTES { Some(self.text(view)?) } else { None };
        let rendering = match whole {
            Some(text) if text.chars().count() <= self.request.max_chars => Rendering { text, whole: true },
            _ => {
                let mut beginning = Vec::new();
                compact(bytes.get(..EXCERPT_BYTES).unwrap_or(bytes), &mut beginning);
                Rendering::prefix(&beginning)
            }
        };
        let mark = || TruncationMark::new(path().shorthand(), kind_of(bytes), bytes.len() as u64);
        Ok(Item::new(rendering, self.request.max_chars, mark))
    }

    /// The text of a value without insignificant white space.
    fn text(&self, view: View<'_>) -> Result<String, Error> {
        let mut cursor = Cursor::from_view(view, Framing::Single, &self.config);
        while cursor.advance()?.is_some() {}
        let mut text = Vec::new();
        compact(view.bytes(), &mut text);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Returns the characters of a string from the start of the page, with escapes as written.
    /// Returns one more than fits, so that the page notices the rest.
    fn string(&self, lexeme: &[u8]) -> Content {
        let inside = &lexeme[1..lexeme.len() - 1];
        let start = usize::try_from(self.request.start).unwrap_or(usize::MAX).min(inside.len());
        let rest = &inside[start..];
        let wanted = rest.get(..(self.request.max_chars + 1) * MAX_UNIT_BYTES).unwrap_or(rest);
        Content::Characters(Character::escaped(wanted, false, self.request.max_chars), inside.len() as u64)
    }
}

/// Returns a name as a JSON string, with escapes as written.
fn spelled(name: &[u8]) -> String {
    format!("\"{}\"", String::from_utf8_lossy(name))
}
