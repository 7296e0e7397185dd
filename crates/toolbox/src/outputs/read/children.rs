//! Pages of arrays, objects, and streams of records: their children, starting at any of them.

use std::fmt::Write;
use std::io::Read;

use trommel::reader::{Config, Cursor, Error, Framing, Result, Span, Validation};

use super::page::{Child, Content};
use super::value::{Answer, PageReader, PageStart, ValueType};
use crate::outputs::damage::RecordSkipper;
use crate::outputs::item::{Item, kind_of};
use crate::outputs::job::AnswerCoverage;
use crate::outputs::mark::TruncationMark;
use crate::outputs::page::Reason;
use crate::outputs::source::{Source, Values};
use crate::text::{push_name, unquoted};

impl PageReader<'_> {
    /// Returns a page of a container.
    pub(super) fn container(
        &self,
        source: &Source<'_>,
        page_start: &PageStart,
        coverage: &mut AnswerCoverage,
    ) -> Answer {
        let mut children = Vec::new();
        let mut end = None;
        if let Err(error) = self.fill(source, page_start, &mut children, coverage) {
            let out_of_time = error.is_cancelled() && self.job.is_out_of_time();
            if children.is_empty() || !(out_of_time || error.is_syntax()) {
                return Err(self.subject.action.read(&error, None));
            }
            end = Some(if out_of_time { Reason::Time } else { Reason::Damage });
        }
        let is_object = page_start.value.value_type == ValueType::Object;
        let content = if is_object { Content::Members(children) } else { Content::Elements(children) };
        self.page(page_start, content, end)
    }

    /// Returns the page of a number, a boolean, or null.
    pub(super) fn scalar(
        &self,
        source: &Source<'_>,
        page_start: &PageStart,
        coverage: &mut AnswerCoverage,
    ) -> Answer {
        let span = Span::new(page_start.value.start, page_start.value.end);
        let item = source.values().and_then(|mut values| self.item(&mut values, span, String::new));
        let item = item.map_err(|error| self.subject.action.read(&error, None))?;
        coverage.read += span.len();
        self.page(page_start, Content::Whole(item), None)
    }

    /// Reads a child. `step` returns the step from the container's path to the child.
    fn item(&self, values: &mut Values<'_>, span: Span, step: impl FnOnce() -> String) -> Result<Item> {
        let max_chars = self.subject.max_chars;
        let rendering = values.rendering(span, max_chars)?;
        let kind = kind_of(rendering.text.as_bytes());
        Ok(Item::new(rendering, max_chars, || {
            TruncationMark::new(self.query.shorthand() + &step(), kind, span.len())
        }))
    }

    /// Reads children until they exceed the size of the page.
    fn fill(
        &self,
        source: &Source<'_>,
        page_start: &PageStart,
        children: &mut Vec<Child>,
        coverage: &mut AnswerCoverage,
    ) -> Result<()> {
        let PageStart { value, position } = page_start;
        let max_chars = self.subject.max_chars;
        let mut values = source.values()?;
        let framing = source.framing();
        let begin: &[u8] = substitute_start(value.value_type, position.index > 0, framing);
        // The first page reads the container's own bracket. Later pages start after a child, so a
        // substitute bracket and child precede the rest.
        let from = if position.index > 0 { position.at } else { value.start };
        let rest = source.payload_from(from)?.take(value.end - from);
        let config = Config::new().validation(Validation::Structural);
        let framing = if value.value_type == ValueType::Records { framing } else { Framing::Single };
        let mut cursor =
            Cursor::from_reader(begin.chain(rest), framing, &config).monitored(self.job.quiet_monitor());
        // Offsets of the cursor include the substitute.
        let absolute = |offset: u64| (offset + from).saturating_sub(begin.len() as u64);
        let moved = |error: Error| Error::plain(error.kind(), absolute(error.offset()));
        let mut walk = Walk {
            cursor: &mut cursor,
            value_type: value.value_type,
            records: RecordSkipper::new(&source.stored),
        };
        walk.begin(position.index > 0).map_err(moved)?;
        let (mut sum, mut number) = (0, position.index);
        while sum <= max_chars {
            let Some((name, span)) = walk.child().map_err(moved)? else { break };
            let span = Span::new(absolute(span.start), absolute(span.end));
            let item = self.item(&mut values, span, || step(name.as_deref(), number))?;
            self.job.notifier().notify();
            let child = Child::new(name, item, span.end, max_chars);
            sum += child.chars();
            children.push(child);
            number += 1;
        }
        coverage.read += walk.cursor.offset();
        Ok(())
    }
}

/// Returns the step of a path into a child.
fn step(name: Option<&str>, index: u64) -> String {
    let mut step = String::new();
    match name {
        Some(name) => push_name(&unquoted(name), &mut step),
        None => {
            // Writing to a string cannot fail.
            let _ = write!(step, "[{index}]");
        }
    }
    step
}

/// Returns the text that replaces the children already read. It makes the rest a container that the
/// parser accepts.
fn substitute_start(value_type: ValueType, continues: bool, framing: Framing) -> &'static [u8] {
    match (value_type, continues) {
        (_, false) => b"",
        (ValueType::Object, true) => b"{\"\":0",
        (ValueType::Records, true) if framing == Framing::JsonSeq => b"\x1E0",
        (ValueType::Records, true) => b"0",
        (_, true) => b"[0",
    }
}

/// Iterates over the children of a container.
struct Walk<'w, 'c> {
    cursor: &'w mut Cursor<'c>,
    value_type: ValueType,
    records: RecordSkipper,
}

impl Walk<'_, '_> {
    /// Moves before the first child, and past the substitute on a later page.
    fn begin(&mut self, continues: bool) -> Result<()> {
        if self.value_type != ValueType::Records {
            self.cursor.begin_value()?;
        }
        if continues {
            self.child()?;
        }
        Ok(())
    }

    /// Returns the next child's name, as written, and its span.
    fn child(&mut self) -> Result<Option<(Option<String>, Span)>> {
        let more = match self.value_type {
            ValueType::Object => self.cursor.next_member()?,
            ValueType::Records => self.records.next_record(self.cursor)?,
            _ => self.cursor.next_element()?,
        };
        if !more {
            return Ok(None);
        }
        let name = if self.value_type == ValueType::Object { self.cursor.name() } else { None };
        let name = name.map(|name| format!("\"{}\"", String::from_utf8_lossy(name.raw())));
        Ok(Some((name, self.cursor.skip_value()?)))
    }
}
