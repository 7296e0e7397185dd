//! A value as far as it may stand on a page, looked at where it lies.

use trommel::path::{Query, Selector};
use trommel::reader::{Config, Cursor, Error, Framing, Kind, Validation, View, compact};
use trommel_toolbox::outputs::{Mark, shortened_name};

use super::page::{Asked, Body, Child};

/// A longer value is not looked at as a whole: no page can hold it.
const LARGE: u64 = 1 << 20;

/// Bytes of a character or an escape of a string at most.
const LONGEST_UNIT: usize = 12;

/// Bytes of a value that a mark in its place is made of.
const BEGINNING: usize = 2048;

/// A value, and what of it may stand on the page.
pub(super) struct Value {
    pub(super) kind: &'static str,
    pub(super) bytes: u64,
    pub(super) items: Option<u64>,
    pub(super) body: Body,
}

impl Value {
    /// A stream of records.
    pub(super) fn records(bytes: u64, items: u64, children: Vec<Child>) -> Self {
        Self { kind: "records", bytes, items: Some(items), body: Body::Elements(children) }
    }
}

/// The children that may stand on the page.
#[derive(Default)]
pub(super) struct Children {
    pub(super) all: Vec<Child>,
    /// Characters that they take together at least.
    least: usize,
}

impl Children {
    pub(super) fn push(&mut self, child: Child) {
        self.least += child.least();
        self.all.push(child);
    }
}

/// How values are looked at.
pub(super) struct Look<'a> {
    pub(super) asked: Asked<'a>,
    pub(super) config: Config,
}

impl Look<'_> {
    /// Looks at a value.
    pub(super) fn value(&self, view: View<'_>) -> Result<Value, Error> {
        let bytes = view.bytes();
        let kind = kind_of(bytes);
        let (items, body) = match kind {
            Kind::Object | Kind::Array => {
                let (items, children) = self.children(view, kind == Kind::Object)?;
                let body =
                    if kind == Kind::Object { Body::Members(children) } else { Body::Elements(children) };
                (Some(items), body)
            }
            Kind::String => (None, self.string(bytes)),
            _ => (None, Body::Scalar(self.child(view, None, || self.asked.query.clone())?)),
        };
        Ok(Value { kind: kind.name(), bytes: bytes.len() as u64, items, body })
    }

    /// Counts children, and keeps those that may stand on the page.
    fn children(&self, view: View<'_>, object: bool) -> Result<(u64, Vec<Child>), Error> {
        let config = self.config.validation(Validation::Structural);
        let mut cursor = Cursor::from_view(view, Framing::Single, &config);
        let mut kept = Children::default();
        let mut count = 0;
        cursor.begin_value()?;
        while if object { cursor.next_member()? } else { cursor.next_element()? } {
            let wanted = self.may_stand(&kept, count);
            let name = cursor.name().filter(|_| wanted).map(|name| name.decode().into_owned());
            let spelt = cursor.bytes(cursor.span()).filter(|_| name.is_some());
            let spelt = spelt.map(|spelt| String::from_utf8_lossy(spelt).into_owned());
            let span = cursor.skip_value()?;
            if let (true, Some(child)) = (wanted, view.narrow(span)) {
                let path = || {
                    let selector = name.map_or(Selector::Index(count as i64), Selector::Name);
                    self.asked.query.clone().with_child(selector)
                };
                kept.push(self.child(child, spelt, path)?);
            }
            count += 1;
        }
        Ok((count, kept.all))
    }

    /// Whether the child of this number may stand on the page, behind those that are kept.
    pub(super) fn may_stand(&self, kept: &Children, number: u64) -> bool {
        number >= self.asked.start && kept.least <= self.asked.most
    }

    /// A child as it may stand on the page. It was passed over, and is checked now.
    pub(super) fn child(
        &self,
        view: View<'_>,
        name: Option<String>,
        path: impl FnOnce() -> Query,
    ) -> Result<Child, Error> {
        let bytes = view.bytes();
        let whole = (bytes.len() as u64 <= LARGE).then(|| self.text(view)).transpose()?;
        let whole = whole.filter(|text| text.chars().count() <= self.asked.most);
        let short = name.as_ref().and_then(|name| shortened_name(name, self.asked.most));
        let (is_cut, name) = (short.is_some(), short.or(name));
        // There is room for it on a page of its own.
        let is_short = whole.as_ref().is_some_and(|text| text.len() * 4 <= self.asked.most);
        let mark = (!is_short).then(|| {
            let mut beginning = Vec::new();
            compact(bytes.get(..BEGINNING).unwrap_or(bytes), &mut beginning);
            let mark = Mark::new(path().shorthand(), kind_of(bytes), bytes.len() as u64);
            mark.beginning(&String::from_utf8_lossy(&beginning))
        });
        let (is_large, marked) = (whole.is_none(), mark.as_ref().and_then(|mark| mark.text(usize::MAX)));
        let text = whole.or(marked).unwrap_or_default();
        Ok(Child { name, is_cut, text, mark, is_large })
    }

    /// The text of a value without insignificant white space.
    fn text(&self, view: View<'_>) -> Result<String, Error> {
        let mut cursor = Cursor::from_view(view, Framing::Single, &self.config);
        while cursor.advance()?.is_some() {}
        let mut text = Vec::new();
        compact(view.bytes(), &mut text);
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// The characters of a string from the start of the page on, as they are spelt; one more than fit on it.
    fn string(&self, lexeme: &[u8]) -> Body {
        let inside = lexeme.get(1..lexeme.len().saturating_sub(1)).unwrap_or_default();
        let start = usize::try_from(self.asked.start).unwrap_or(usize::MAX).min(inside.len());
        let rest = inside.get(start..).unwrap_or_default();
        let wanted = rest.get(..(self.asked.most + 1) * LONGEST_UNIT).unwrap_or(rest);
        let mut units = Vec::new();
        let mut left = wanted;
        while let Some(unit) = left.get(..unit_length(left)).filter(|unit| !unit.is_empty()) {
            if units.len() > self.asked.most {
                break;
            }
            units.push(String::from_utf8_lossy(unit).into_owned());
            left = left.get(unit.len()..).unwrap_or_default();
        }
        Body::String { units, left: rest.len() as u64 }
    }
}

/// Bytes of the character with which a piece of a JSON string begins. Escapes stay whole, and two that make one character
/// stay together.
fn unit_length(rest: &[u8]) -> usize {
    match rest {
        [] => 0,
        [b'\\', b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'b' | b'A'..=b'B', ..] => 12,
        [b'\\', b'u', ..] => 6,
        [b'\\' | 0xC0..=0xDF, ..] => 2,
        [0xE0..=0xEF, ..] => 3,
        [0xF0..=0xFF, ..] => 4,
        _ => 1,
    }
}

/// The type of a value by its first byte.
fn kind_of(value: &[u8]) -> Kind {
    match value.first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        Some(b'"') => Kind::String,
        Some(b't' | b'f') => Kind::Bool,
        Some(b'n') => Kind::Null,
        _ => Kind::Number,
    }
}
