//! Values as they are found, as many as an answer may hold.

use std::io;

use trommel::reader::Error;
use trommel::{Damage, Found, Sink};

use super::answer::Shape;
use crate::outputs::item::{Item, kind_of};
use crate::outputs::job::Watch;
use crate::outputs::mark::Mark;
use crate::outputs::source::{Source, rendering};
use crate::outputs::text::chars;

/// What was found for the paths that are asked for.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) parts: Vec<Part>,
    most: usize,
    chars: usize,
    count: usize,
    stream: bool,
    shape: Shape,
    /// Whether nothing that is still to come could be part of the answer.
    pub(crate) enough: bool,
    /// How far values were found.
    pub(crate) read: u64,
    /// The first thing that is not as it was stored, and its record.
    pub(crate) damage: Option<(Error, Option<u64>)>,
    pub(crate) bad_records: u64,
    watch: Watch,
}

/// What was found for one path.
#[derive(Debug)]
pub(crate) struct Part {
    /// The number of the path.
    pub(crate) path: usize,
    /// Values that are passed over.
    pub(crate) skip: u64,
    /// Values found, those included.
    pub(crate) seen: u64,
    pub(crate) values: Vec<Value>,
    /// Whether there are more than are kept.
    pub(crate) more: bool,
}

/// One value.
#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) item: Item,
    /// Where it stands, if that is to be told.
    pub(crate) location: Option<String>,
}

impl Value {
    fn cost(&self) -> usize {
        self.item.chars() + 1 + self.location.as_deref().map_or(0, chars)
    }
}

impl Collector {
    pub(crate) fn new(
        paths: impl Iterator<Item = (usize, u64)>,
        most: usize,
        source: &Source<'_>,
        (shape, watch): (Shape, Watch),
    ) -> Self {
        let part = |(path, skip)| Part { path, skip, seen: 0, values: Vec::new(), more: false };
        Self {
            parts: paths.map(part).collect(),
            most,
            chars: 0,
            count: 0,
            stream: source.is_stream(),
            shape,
            enough: false,
            read: 0,
            damage: None,
            bad_records: 0,
            watch,
        }
    }

    /// Characters of an answer.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// Whether each record of a stream was asked.
    pub(super) fn is_stream(&self) -> bool {
        self.stream
    }

    /// Whether there is a value of the first path.
    pub(crate) fn has_first(&self) -> bool {
        self.parts.first().is_some_and(|part| !part.values.is_empty())
    }

    /// Whether there is any value.
    pub(crate) fn has_any(&self) -> bool {
        self.count > 0
    }

    fn keep(&mut self, measure: usize, value: Value) {
        let cost = value.cost();
        if measure == 0 {
            self.watch.found();
        }
        let Some(part) = self.parts.get_mut(measure) else { return };
        part.values.push(value);
        self.chars += cost;
        self.count += 1;
        // Of what is too much for an answer, the last goes first.
        while self.chars > self.most && self.count > 1 {
            let last = self.parts.iter_mut().rev().find(|part| !part.values.is_empty());
            let Some(part) = last else { break };
            part.more = true;
            self.chars -= part.values.pop().map_or(0, |value| value.cost());
            self.count -= 1;
        }
        self.enough = self.parts.first().is_some_and(|part| part.more);
    }

    fn value(&self, found: &Found<'_>) -> Result<Value, Error> {
        let location = found.location.unwrap_or("$");
        let mark = || {
            let path = if self.stream { of_record(found.record, location) } else { location.to_owned() };
            Mark::new(path, kind_of(found.value.first().copied()), found.span.len())
        };
        let item = Item::new(rendering(found.view(), found.span.len(), self.most)?, self.most, mark);
        let location = (self.shape == Shape::FlatWithPaths).then(|| location.to_owned());
        Ok(Value { item, location })
    }
}

/// A location in a record of a stream, as `tool_outputs.read` takes it.
pub(crate) fn of_record(record: u64, location: &str) -> String {
    format!("$[{record}]{}", location.trim_start_matches('$'))
}

impl Sink for Collector {
    fn found(&mut self, found: &Found<'_>) -> io::Result<()> {
        self.read = self.read.max(found.span.end);
        let Some(part) = self.parts.get_mut(found.measure) else { return Ok(()) };
        part.seen += 1;
        if part.seen <= part.skip || part.more {
            return Ok(());
        }
        match self.value(found) {
            Ok(value) => self.keep(found.measure, value),
            Err(error) => {
                self.damage = Some((error, self.stream.then_some(found.record)));
                return Err(io::Error::other("a value is no JSON"));
            }
        }
        if self.enough { Err(io::Error::other("enough")) } else { Ok(()) }
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        self.bad_records += 1;
        self.damage.get_or_insert_with(|| (damage.error.clone(), Some(damage.record)));
        Ok(())
    }

    fn wants_location(&self) -> bool {
        true
    }
}
