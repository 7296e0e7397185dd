//! Collects values as they are found, as many as an answer may hold.

use std::io;

use trommel::reader::Error;
use trommel::{Damage, Found, Sink};

use crate::outputs::item::{Item, kind_of};
use crate::outputs::job::Watch;
use crate::outputs::mark::{Mark, of_record};
use crate::outputs::source::rendering;
use crate::text::chars;

/// What was found for the paths that are asked for.
#[derive(Debug)]
pub(crate) struct Collector {
    pub(crate) parts: Vec<Part>,
    keeps: Keeps,
    chars: usize,
    count: usize,
    /// True if nothing that is still to come could be part of the answer.
    pub(crate) enough: bool,
    /// How far values were found.
    pub(crate) read: u64,
    /// The first thing that is not as it was stored, and its record.
    pub(crate) damage: Option<(Error, Option<u64>)>,
    pub(crate) bad_records: u64,
    watch: Watch,
}

/// What is kept of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keeps {
    /// Characters of an answer.
    pub(super) most: usize,
    /// True if each record of a stream is asked.
    pub(super) stream: bool,
    /// True if locations are part of the answer.
    pub(super) with_location: bool,
}

/// What was found for one path.
#[derive(Debug)]
pub(crate) struct Part {
    /// The number of the path.
    pub(crate) path: usize,
    /// Values that are skipped.
    pub(crate) skip: u64,
    /// Values found, those included.
    pub(crate) seen: u64,
    pub(crate) values: Vec<Value>,
    /// True if there are more than are kept.
    pub(crate) more: bool,
}

/// One value.
#[derive(Debug)]
pub(crate) struct Value {
    pub(crate) item: Item,
    /// Its location, if that is part of the answer.
    pub(crate) location: Option<String>,
}

impl Value {
    fn cost(&self) -> usize {
        self.item.chars() + 1 + self.location.as_deref().map_or(0, chars)
    }
}

impl Collector {
    /// Creates a collector for paths, each with its number and how many of its values are skipped.
    pub(super) fn new(paths: impl Iterator<Item = (usize, u64)>, keeps: Keeps, watch: Watch) -> Self {
        let part = |(path, skip)| Part { path, skip, seen: 0, values: Vec::new(), more: false };
        Self {
            parts: paths.map(part).collect(),
            keeps,
            chars: 0,
            count: 0,
            enough: false,
            read: 0,
            damage: None,
            bad_records: 0,
            watch,
        }
    }

    /// What is kept.
    pub(super) fn keeps(&self) -> Keeps {
        self.keeps
    }

    /// True if there is a value of the first path.
    pub(crate) fn has_first(&self) -> bool {
        self.parts.first().is_some_and(|part| !part.values.is_empty())
    }

    /// True if there is any value.
    pub(crate) fn has_any(&self) -> bool {
        self.count > 0
    }

    fn keep(&mut self, measure: usize, value: Value) {
        let cost = value.cost();
        if measure == 0 {
            self.watch.found();
        }
        self.parts[measure].values.push(value);
        self.chars += cost;
        self.count += 1;
        // Of what is too much for an answer, the last goes first.
        while self.chars > self.keeps.most && self.count > 1 {
            let last = self.parts.iter_mut().rev().find(|part| !part.values.is_empty());
            let Some(part) = last else { break };
            part.more = true;
            if let Some(value) = part.values.pop() {
                self.chars -= value.cost();
                self.count -= 1;
            }
        }
        self.enough = self.parts.first().is_some_and(|part| part.more);
    }

    fn value(&self, found: &Found<'_>) -> Result<Value, Error> {
        let location = found.location.unwrap_or("$");
        let mark = || {
            let path =
                if self.keeps.stream { of_record(found.record, location) } else { location.to_owned() };
            Mark::new(path, kind_of(found.value), found.span.len())
        };
        let item =
            Item::new(rendering(found.view(), found.span.len(), self.keeps.most)?, self.keeps.most, mark);
        let location = self.keeps.with_location.then(|| location.to_owned());
        Ok(Value { item, location })
    }
}

impl Sink for Collector {
    fn found(&mut self, found: &Found<'_>) -> io::Result<()> {
        self.read = self.read.max(found.span.end);
        // There is a part for each measure that was asked.
        let part = &mut self.parts[found.measure];
        part.seen += 1;
        if part.seen <= part.skip || part.more {
            return Ok(());
        }
        match self.value(found) {
            Ok(value) => self.keep(found.measure, value),
            Err(error) => {
                self.damage = Some((error, self.keeps.stream.then_some(found.record)));
                return Err(io::Error::other("a value is not JSON"));
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
