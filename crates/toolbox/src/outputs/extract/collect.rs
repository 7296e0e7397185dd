//! Collects values during the pass, up to the size of an answer.

use std::io;

use trommel::reader::Error;
use trommel::{Damage, Match, Sink};

use super::pass::{Collect, Pass};
use crate::outputs::item::{Item, kind_of};
use crate::outputs::job::ResultNotifier;
use crate::outputs::mark::{TruncationMark, of_record};
use crate::outputs::source::rendering;
use crate::text::chars;

/// The values found so far, by path.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) parts: Vec<Part>,
    options: CollectOptions,
    chars: usize,
    count: usize,
    pass: Pass,
    notifier: ResultNotifier,
}

/// The options of a collector.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectOptions {
    /// The maximum length of an answer in characters.
    pub(super) max_chars: usize,
    /// True if the payload is a stream. Marks and errors then have the record.
    pub(super) stream: bool,
    /// True if records are queried: those of a stream, or nodes.
    pub(super) records: bool,
    /// True if the answer has locations.
    pub(super) with_location: bool,
}

/// The values of one path.
#[derive(Debug)]
pub(crate) struct Part {
    /// The index of the path.
    pub(crate) path: usize,
    /// The number of values to skip, because earlier pages have them.
    pub(crate) skip: u64,
    /// The number of values found, including the skipped ones.
    pub(crate) seen: u64,
    pub(crate) values: Vec<Value>,
    /// True if values were dropped for lack of space.
    pub(crate) more: bool,
}

/// A value in an answer.
#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) item: Item,
    /// The location, if the answer has locations.
    pub(crate) location: Option<String>,
    /// The number of its record, if the answer has locations and the payload is a stream.
    pub(crate) record: Option<u64>,
}

impl Value {
    fn cost(&self) -> usize {
        self.item.chars() + 1 + self.location.as_deref().map_or(0, chars)
    }
}

impl Collector {
    /// Creates a collector for paths, each with its index and the number of values to skip.
    pub(super) fn new(
        paths: impl Iterator<Item = (usize, u64)>,
        options: CollectOptions,
        notifier: ResultNotifier,
    ) -> Self {
        let part = |(path, skip)| Part { path, skip, seen: skip, values: Vec::new(), more: false };
        Self {
            parts: paths.map(part).collect(),
            options,
            chars: 0,
            count: 0,
            pass: Pass::default(),
            notifier,
        }
    }

    /// Returns the options.
    pub(super) fn options(&self) -> CollectOptions {
        self.options
    }

    fn keep(&mut self, measure: usize, value: Value) {
        let cost = value.cost();
        // The answer starts with the first path, so values of other paths alone cannot be returned
        // early.
        if measure == 0 {
            self.notifier.notify();
        }
        self.parts[measure].values.push(value);
        self.chars += cost;
        self.count += 1;
        // If the answer is full, the values of the last path are dropped first. The answer is cut
        // from its end, so they could not be shown.
        while self.chars > self.options.max_chars && self.count > 1 {
            let last = self.parts.iter_mut().rev().find(|part| !part.values.is_empty());
            let Some(part) = last else { break };
            part.more = true;
            if let Some(value) = part.values.pop() {
                self.chars -= value.cost();
                self.count -= 1;
            }
        }
        self.pass.enough = self.parts.first().is_some_and(|part| part.more);
    }

    fn value(&self, found: &Match<'_>) -> Result<Value, Error> {
        let location = found.location.unwrap_or("$");
        let mark = || {
            let path =
                if self.options.stream { of_record(found.record, location) } else { location.to_owned() };
            TruncationMark::new(path, kind_of(found.value), found.span.len())
        };
        let item = Item::new(
            rendering(found.view(), found.span.len(), self.options.max_chars)?,
            self.options.max_chars,
            mark,
        );
        let CollectOptions { with_location, stream, .. } = self.options;
        let location = with_location.then(|| location.to_owned());
        let record = (with_location && stream).then_some(found.record);
        Ok(Value { item, location, record })
    }
}

impl Sink for Collector {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.pass.found(found);
        // The analysis has one measure per part, in the same order.
        let part = &mut self.parts[found.measure];
        part.seen += 1;
        if part.more {
            return Ok(());
        }
        match self.value(found) {
            Ok(value) => self.keep(found.measure, value),
            Err(error) => return Err(self.pass.refuse(error, self.options.stream.then_some(found.record))),
        }
        self.pass.check()
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.pass.skipped(damage);
        Ok(())
    }

    fn wants_location(&self) -> bool {
        true
    }
}

impl Collect for Collector {
    fn pass(&self) -> &Pass {
        &self.pass
    }

    /// True if the first path has a value: the answer starts with it.
    fn has_first(&self) -> bool {
        self.parts.first().is_some_and(|part| !part.values.is_empty())
    }

    fn has_any(&self) -> bool {
        self.count > 0
    }

    fn limit(&self, page: u64) -> Option<u64> {
        Some(page)
    }

    fn skip(&self) -> u64 {
        self.parts.first().map_or(0, |part| part.skip)
    }
}
