//! `tool_outputs.read`: one value, page by page.
//!
//! A value is found once; from then on cursors carry where it stands, how large it is and how far it was read, so that a later
//! page begins where the one before ended, on a line of any length. What a page shows of a container are its children, each
//! whole; of a string or text its characters.

mod children;
mod locate;
mod strings;

use std::fmt::Write;
use std::sync::Arc;

use serde::Deserialize;
use trommel::path::Query;
use trommel::reader::Kind;
use trommel_store::{Kind as Payload, Stored};
use trommel_tool::{Call, Failure, Metadata, Output, Tool};

use super::cursor::Binding;
use super::item::Item;
use super::job::{Basis, Job};
use super::page::{Cut, Reason, Sheet};
use super::text::push_string;
use super::{Asked, READ_CHARS, Shared, metadata, note};
pub(crate) use locate::Located;
use locate::What;

/// The tool.
pub(crate) struct Read {
    metadata: Metadata,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
struct Arguments {
    id: String,
    path: Option<String>,
    cursor: Option<String>,
    max_chars: Option<usize>,
}

impl Read {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: metadata::read(), shared: Arc::clone(shared) }
    }
}

impl Tool for Read {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let max_chars = arguments.max_chars.unwrap_or(READ_CHARS);
        let asked = Asked::new(&self.metadata.name, "read", &arguments.id, max_chars)
            .from(arguments.cursor.as_deref());
        let stored = self.shared.stored(asked.doing)?;
        let path = arguments.path.as_deref().unwrap_or("$");
        let query = self.shared.query(asked.doing, "the path", path)?;
        let binding = Binding::new(&self.metadata.name, &stored.id, &stored.digest).and(query.to_string());
        let place = asked.cursor.map(|cursor| binding.position(cursor)).transpose();
        let place = place.map_err(|bad| asked.doing.cursor(bad))?.and_then(|place| Place::of(&place));
        let (read, took) = Job::attend(call, |job| {
            let reading =
                Reading { shared: &self.shared, asked, path, query: &query, binding: &binding, job };
            (reading.answer(stored, place), job.took())
        });
        let (output, basis) = read?;
        note(call, basis, took);
        Ok(output)
    }
}

/// How far a value was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    value: Located,
    /// Children that were read.
    index: u64,
    /// Offset behind what was read.
    at: u64,
}

impl Place {
    /// The beginning of a value.
    fn start(value: Located) -> Self {
        Self { index: 0, at: value.start, value }
    }

    fn of(numbers: &[u64]) -> Option<Self> {
        let [what, start, length, items, index, passed] = *numbers else { return None };
        let value =
            Located { what: What::of(what)?, start, end: start + length, items: items.checked_sub(1) };
        Some(Self { value, index, at: start + passed })
    }

    fn numbers(&self) -> [u64; 6] {
        let Located { what, start, end, items } = self.value;
        [what as u64, start, end - start, items.map_or(0, |items| items + 1), self.index, self.at - start]
    }
}

/// A page that is made.
struct Reading<'a> {
    shared: &'a Shared,
    asked: Asked<'a>,
    path: &'a str,
    query: &'a Query,
    binding: &'a Binding,
    job: &'a Job,
}

impl Reading<'_> {
    fn answer(&self, stored: Stored, place: Option<Place>) -> Result<(Output, Basis), Failure> {
        let total = stored.size_bytes;
        let mut read = 0;
        let output = if stored.kind == Payload::Text {
            self.text(&stored, place, &mut read)?
        } else {
            self.value(stored, place, &mut read)?
        };
        self.job.finished(total);
        Ok((output, Basis { read, ..Basis::known(total) }))
    }

    fn value(&self, stored: Stored, place: Option<Place>, read: &mut u64) -> Result<Output, Failure> {
        let source = self.shared.open(self.asked.doing, stored)?;
        let place = match place {
            Some(place) => place,
            None => Place::start(self.locate(&source, read)?),
        };
        match place.value.what {
            What::Array | What::Object | What::Records => self.container(&source, place, read),
            What::String => self.string(&source, &place, read),
            What::Number | What::Bool | What::Null | What::Text => self.scalar(&source, &place, read),
        }
    }

    /// What stands before a page's content.
    fn head(&self, value: &Located) -> String {
        let mut head = String::from(r#"{"path":"#);
        push_string(self.path, &mut head);
        let Located { what, start, end, items } = value;
        // Writing to a string cannot fail.
        let _ = write!(head, r#","kind":"{}","size":{{"bytes":{}"#, what.name(), end - start);
        if let Some(items) = items {
            let _ = write!(head, r#","items":{items}"#);
        }
        head.push_str(r#"},"content":"#);
        head
    }
}

/// A page of one value that is not taken apart.
struct Whole {
    head: String,
    item: Item,
}

impl Sheet for Whole {
    fn len(&self) -> usize {
        1
    }

    fn least(&self, _: usize) -> usize {
        self.item.chars()
    }

    fn text(&self, _: usize, first: Option<&str>) -> String {
        let mut out = self.head.clone();
        out.push_str(first.unwrap_or_else(|| self.item.text()));
        if first.is_some() || self.item.is_large() {
            Cut { reason: Reason::MaxChars, returned: 0, next: None }.push(&mut out);
        }
        out.push('}');
        out
    }

    fn stand_in(&self, room: usize) -> Option<String> {
        self.item.mark(room)
    }
}

impl What {
    fn of_kind(kind: Kind) -> Self {
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
