//! A value that is read, how far, and the page that is made of it.

use trommel::path::Query;
use trommel::reader::Kind;
use trommel_tool::{Failure, Output};

use super::page::{Content, Head, Position, ValuePage};
use crate::outputs::cache::Cache;
use crate::outputs::cursor::Binding;
use crate::outputs::job::Job;
use crate::outputs::page::Reason;
use crate::outputs::shared::{Asked, Shared};

/// A value that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) what: What,
    pub(super) start: u64,
    pub(super) end: u64,
    /// Elements, members or records.
    pub(super) items: Option<u64>,
}

impl Located {
    pub(super) fn head<'a>(&self, path: &'a str) -> Head<'a> {
        Head { path, kind: self.what.name(), bytes: self.end - self.start, items: self.items }
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Array,
    Object,
    String,
    Number,
    Bool,
    Null,
    /// A stream of records, all of it.
    Records,
    /// A payload that is not JSON.
    Text,
}

impl What {
    const ALL: [Self; 8] = [
        Self::Array,
        Self::Object,
        Self::String,
        Self::Number,
        Self::Bool,
        Self::Null,
        Self::Records,
        Self::Text,
    ];

    fn of(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|what| *what as u64 == number)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Text => "text",
            Self::Array => Kind::Array.name(),
            Self::Object => Kind::Object.name(),
            Self::String => Kind::String.name(),
            Self::Number => Kind::Number.name(),
            Self::Bool => Kind::Bool.name(),
            Self::Null => Kind::Null.name(),
        }
    }
}

impl From<Kind> for What {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Array => Self::Array,
            Kind::Object => Self::Object,
            Kind::String => Self::String,
            Kind::Number => Self::Number,
            Kind::Bool => Self::Bool,
            Kind::Null => Self::Null,
        }
    }
}

/// A value, and how far it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) value: Located,
    pub(super) position: Position,
}

impl Place {
    /// The beginning of a value.
    pub(super) fn start(value: Located) -> Self {
        Self { position: Position { index: 0, at: value.start }, value }
    }

    /// Reads a place from the numbers of a cursor.
    pub(super) fn of(numbers: &[u64]) -> Option<Self> {
        let [what, start, length, items, index, passed] = *numbers else { return None };
        let value =
            Located { what: What::of(what)?, start, end: start + length, items: items.checked_sub(1) };
        Some(Self { value, position: Position { index, at: start + passed } })
    }

    /// The numbers of a cursor.
    pub(super) fn numbers(&self) -> [u64; 6] {
        let Self { value: Located { what, start, end, items }, position: Position { index, at } } = *self;
        [what as u64, start, end - start, items.map_or(0, |items| items + 1), index, at - start]
    }
}

/// A page of an answer, or why there is none.
pub(super) type Answer = Result<Output, Failure>;

/// A page that is made.
pub(super) struct Reading<'a> {
    pub(super) shared: &'a Shared,
    pub(super) places: &'a Cache<Located>,
    pub(super) asked: Asked<'a>,
    pub(super) path: &'a str,
    pub(super) query: &'a Query,
    pub(super) binding: &'a Binding,
    pub(super) job: &'a Job,
}

impl Reading<'_> {
    /// Returns the page of a place, with as much of its content as fits.
    pub(super) fn page(&self, place: &Place, content: Content, end: Option<Reason>) -> Answer {
        let cursor =
            |position: Position| self.binding.cursor(&Place { position, value: place.value }.numbers());
        let head = place.value.head(self.path);
        let page = ValuePage::new(&head, content, place.position, &cursor).ended(end);
        self.asked.written(page.fit(self.asked.max_chars))
    }
}
