//! Pages of arrays, objects and streams of records: their children, from any of them on.

use std::fmt::Write;
use std::io::Read;

use trommel::reader::{Config, Cursor, Error, Framing, Result, Span, Validation};

use super::page::{Child, Content};
use super::value::{Answer, Place, Reading, What};
use crate::outputs::item::{Item, kind_of};
use crate::outputs::mark::Mark;
use crate::outputs::page::Reason;
use crate::outputs::source::{Source, Values};
use crate::text::{push_name, unquoted};

impl Reading<'_> {
    pub(super) fn container(&self, source: &Source<'_>, place: &Place, read: &mut u64) -> Answer {
        let mut children = Vec::new();
        let mut end = None;
        if let Err(error) = self.fill(source, place, &mut children, read) {
            let out_of_time = error.is_cancelled() && self.job.is_out_of_time();
            if children.is_empty() || !(out_of_time || error.is_syntax()) {
                return Err(self.asked.doing.read(&error, None));
            }
            end = Some(if out_of_time { Reason::Time } else { Reason::Damage });
        }
        let is_object = place.value.what == What::Object;
        let content = if is_object { Content::Members(children) } else { Content::Elements(children) };
        self.page(place, content, end)
    }

    /// A number or a word.
    pub(super) fn scalar(&self, source: &Source<'_>, place: &Place, read: &mut u64) -> Answer {
        let span = Span::new(place.value.start, place.value.end);
        let item = source.values().and_then(|mut values| self.item(&mut values, span, String::new));
        let item = item.map_err(|error| self.asked.doing.read(&error, None))?;
        *read += span.len();
        self.page(place, Content::Whole(item), None)
    }

    /// Reads a value. `step` leads to it from the value of the page.
    fn item(&self, values: &mut Values<'_>, span: Span, step: impl FnOnce() -> String) -> Result<Item> {
        let most = self.asked.max_chars;
        let rendering = values.rendering(span, most)?;
        let kind = kind_of(rendering.text.as_bytes());
        Ok(Item::new(rendering, most, || Mark::new(self.query.shorthand() + &step(), kind, span.len())))
    }

    /// Reads children, as many as there may be room for.
    fn fill(
        &self,
        source: &Source<'_>,
        place: &Place,
        children: &mut Vec<Child>,
        read: &mut u64,
    ) -> Result<()> {
        let Place { value, position } = place;
        let most = self.asked.max_chars;
        let mut values = source.values()?;
        let framing = source.framing();
        let begin: &[u8] = begin_of(value.what, position.index > 0, framing);
        // The container's own bracket is read again, unless a stand-in takes its place.
        let from = if position.index > 0 { position.at } else { value.start };
        let rest = source.payload_from(from)?.take(value.end - from);
        let config = Config::new().validation(Validation::Structural);
        let framing = if value.what == What::Records { framing } else { Framing::Single };
        let mut cursor =
            Cursor::from_reader(begin.chain(rest), framing, &config).monitored(self.job.quiet_monitor());
        // The cursor's offsets count the stand-in.
        let absolute = |offset: u64| (offset + from).saturating_sub(begin.len() as u64);
        let moved = |error: Error| Error::plain(error.kind(), absolute(error.offset()));
        let mut walk = Walk { cursor: &mut cursor, what: value.what };
        walk.begin(position.index > 0).map_err(moved)?;
        let (mut sum, mut number) = (0, position.index);
        while sum <= most {
            let Some((name, span)) = walk.child().map_err(moved)? else { break };
            let span = Span::new(absolute(span.start), absolute(span.end));
            let item = self.item(&mut values, span, || step(name.as_deref(), number))?;
            self.job.watch().found();
            let child = Child::new(name, item, span.end, most);
            sum += child.chars();
            children.push(child);
            number += 1;
        }
        *read += walk.cursor.offset();
        Ok(())
    }
}

/// The step of a path into a child.
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

/// Stands in for the children that were read, so that the rest is a container of its own.
fn begin_of(what: What, continues: bool, framing: Framing) -> &'static [u8] {
    match (what, continues) {
        (_, false) => b"",
        (What::Object, true) => b"{\"\":0",
        (What::Records, true) if framing == Framing::JsonSeq => b"\x1E0",
        (What::Records, true) => b"0",
        (_, true) => b"[0",
    }
}

/// Walks from child to child.
struct Walk<'w, 'c> {
    cursor: &'w mut Cursor<'c>,
    what: What,
}

impl Walk<'_, '_> {
    /// Moves before the first child; past the stand-in for those that were read.
    fn begin(&mut self, continues: bool) -> Result<()> {
        if self.what != What::Records {
            self.cursor.begin_value()?;
        }
        if continues {
            self.child()?;
        }
        Ok(())
    }

    /// Returns the name, as it is spelled, and the span of the next child.
    fn child(&mut self) -> Result<Option<(Option<String>, Span)>> {
        let more = match self.what {
            What::Object => self.cursor.next_member()?,
            What::Records => self.cursor.next_record()?,
            _ => self.cursor.next_element()?,
        };
        if !more {
            return Ok(None);
        }
        let name = if self.what == What::Object { self.cursor.name() } else { None };
        let name = name.map(|name| format!("\"{}\"", String::from_utf8_lossy(name.raw())));
        Ok(Some((name, self.cursor.skip_value()?)))
    }
}
