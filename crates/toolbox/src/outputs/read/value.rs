//! The location of a value, the position in it, and the page that starts there.

use trommel::path::Query;
use trommel::reader::Kind;
use trommel_tool::{Failure, Output};

use super::page::{Content, Head, Position, ValuePage};
use crate::outputs::cache::Cache;
use crate::outputs::cursor::Binding;
use crate::outputs::job::Job;
use crate::outputs::page::Reason;
use crate::outputs::shared::{CallSubject, Shared};

/// The location and size of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) value_type: ValueType,
    pub(super) start: u64,
    pub(super) end: u64,
    /// The number of elements, members, or records.
    pub(super) items: Option<u64>,
}

impl Located {
    pub(super) fn head<'a>(&self, path: &'a str) -> Head<'a> {
        let bytes = self.end - self.start;
        Head { path, kind: self.value_type.name(), bytes, items: self.items, start_line: None }
    }
}

/// The type of a value that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
    Array,
    Object,
    String,
    Number,
    Bool,
    Null,
    /// A whole stream of records.
    Records,
}

impl ValueType {
    const ALL: [Self; 7] =
        [Self::Array, Self::Object, Self::String, Self::Number, Self::Bool, Self::Null, Self::Records];

    fn of(number: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|value_type| *value_type as u64 == number)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Records => "records",
            Self::Array => Kind::Array.name(),
            Self::Object => Kind::Object.name(),
            Self::String => Kind::String.name(),
            Self::Number => Kind::Number.name(),
            Self::Bool => Kind::Bool.name(),
            Self::Null => Kind::Null.name(),
        }
    }
}

impl From<Kind> for ValueType {
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

/// A value, and the position in it where a page starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PageStart {
    pub(super) value: Located,
    pub(super) position: Position,
}

impl PageStart {
    /// Starts at the beginning of a value.
    pub(super) fn start(value: Located) -> Self {
        Self { position: Position { index: 0, at: value.start }, value }
    }

    /// Decodes the numbers of a cursor.
    pub(super) fn of(numbers: &[u64]) -> Option<Self> {
        let [value_type, start, length, items, index, passed] = *numbers else { return None };
        let value = Located {
            value_type: ValueType::of(value_type)?,
            start,
            end: start + length,
            // Encoded plus one, so that 0 represents `None`.
            items: items.checked_sub(1),
        };
        Some(Self { value, position: Position { index, at: start + passed } })
    }

    /// Encodes the numbers of a cursor.
    pub(super) fn numbers(&self) -> [u64; 6] {
        let Self { value: Located { value_type, start, end, items }, position: Position { index, at } } =
            *self;
        [value_type as u64, start, end - start, items.map_or(0, |items| items + 1), index, at - start]
    }
}

/// The result of reading a page.
pub(super) type Answer = Result<Output, Failure>;

/// One call of `tool_outputs.read`.
pub(super) struct PageReader<'a> {
    pub(super) shared: &'a Shared,
    pub(super) locations: &'a Cache<Located>,
    /// The number of lines of texts without an index, by digest.
    pub(super) lines: &'a Cache<u64>,
    pub(super) subject: CallSubject<'a>,
    pub(super) path: &'a str,
    pub(super) query: &'a Query,
    pub(super) binding: &'a Binding,
    pub(super) job: &'a Job,
    pub(super) warning: Option<&'a str>,
}

impl PageReader<'_> {
    /// Writes the page that starts at a position, with as much of its content as fits.
    pub(super) fn page(&self, page_start: &PageStart, content: Content, end: Option<Reason>) -> Answer {
        let cursor = |position: Position| {
            self.binding.cursor(&PageStart { position, value: page_start.value }.numbers())
        };
        let head = page_start.value.head(self.path);
        let page = ValuePage::new(&head, content, page_start.position, &cursor).ended(end);
        let page = page.warned(self.warning);
        self.subject.written(page.fit(self.subject.max_chars))
    }
}
