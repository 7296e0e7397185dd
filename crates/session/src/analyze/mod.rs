//! What the events of a session were, in figures: all of them, errors, turns, usage, and figures of any field.

mod aggregate;
mod errors;
mod seen;
mod timeline;
mod usage;

pub use aggregate::{Aggregate, AggregateQuery, Group};
#[cfg(test)]
pub(crate) use errors::FIELDS as ERROR_FIELDS;
pub use errors::{ErrorRow, Errors};
pub use timeline::{Timeline, Turn};
#[cfg(test)]
pub(crate) use usage::FIELDS as USAGE_FIELDS;
pub use usage::{LeftOut, ModelUsage, SessionUsage, ToolCalls, UsageReport};

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use crate::divided::each_found;
use crate::error::Result;
use crate::events::Known;
use crate::list::check_limit;
use crate::project::{FieldPath, Found};
use crate::records::{Damage, Flow, Log, Record};
use crate::session::{Format, Session};
use crate::text::{is_zero, shown};
use crate::time::{milliseconds, spelt};
use crate::watch::Watch;

/// Which part of what was found to return.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Page {
    /// How many to pass over.
    pub offset: u64,
    /// How many at most.
    pub limit: usize,
}

impl Default for Page {
    fn default() -> Self {
        Self { offset: 0, limit: 100 }
    }
}

impl Page {
    /// A page.
    pub fn new(offset: u64, limit: usize) -> Self {
        Self { offset, limit }
    }

    fn check(self) -> Result<Self> {
        check_limit(self.limit).map(|()| self)
    }

    /// Whether the next of something belongs to it, of which so many were before and so many are kept.
    fn takes(self, before: u64, kept: usize) -> bool {
        before >= self.offset && kept < self.limit
    }

    fn has_more(self, kept: usize, total: u64) -> bool {
        self.offset + (kept as u64) < total
    }
}

/// Names that are counted one by one; more of them together.
const NAMES: usize = 200;

/// Characters of such a name.
const NAME: usize = 100;

/// How often each of some names was met.
#[derive(Clone, Debug, Default)]
struct Counts {
    names: BTreeMap<String, u64>,
    other: u64,
}

impl Counts {
    fn add(&mut self, name: &str) {
        if let Some(count) = self.names.get_mut(name) {
            *count += 1;
            return;
        }
        let name = shown(name, NAME);
        if self.names.len() < NAMES || self.names.contains_key(&name) {
            *self.names.entry(name).or_default() += 1;
        } else {
            self.other += 1;
        }
    }
}

/// All events of a session in figures.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// How many.
    pub total_events: u64,
    /// How many of each type, by its name in the log.
    pub event_types: BTreeMap<String, u64>,
    /// How many of further types, where there are more than two hundred.
    #[serde(skip_serializing_if = "is_zero")]
    pub other_types: u64,
    /// How many of each level.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, u64>,
    /// How many are of an error.
    pub errors: u64,
    /// From the first time to the last.
    pub duration_ms: Option<i64>,
    /// The earliest time.
    pub first_event: Option<String>,
    /// The latest time.
    pub last_event: Option<String>,
    /// Bytes of the log.
    pub bytes: u64,
    /// The longest event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<Largest>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// The longest event of a log.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Largest {
    /// Its record, from 0.
    pub record: u64,
    /// Its type.
    pub event: String,
    /// Its bytes.
    pub bytes: u64,
}

/// From when to when something was.
#[derive(Clone, Copy, Debug, Default)]
struct Period {
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

impl Period {
    fn add(&mut self, time: Option<Timestamp>) {
        let Some(time) = time else { return };
        self.first = Some(self.first.map_or(time, |first| first.min(time)));
        self.last = Some(self.last.map_or(time, |last| last.max(time)));
    }

    fn duration(self) -> Option<i64> {
        Some(milliseconds(self.first?, self.last?))
    }
}

/// Goes through events, of each looking at the known members and some more.
fn each_event(
    log: &Log,
    format: Format,
    more: &[(FieldPath, usize)],
    watch: &Watch<'_>,
    take: impl FnMut(&Found, Record) -> Result<Flow>,
) -> Result<Damage> {
    let known = Known::and(format, more);
    each_found(log, known.fields(), &|_| true, watch, take)
}

/// Paths with dots, which are right, of each at most so many characters.
fn paths(paths: &[(&str, usize)]) -> Vec<(FieldPath, usize)> {
    paths.iter().map(|(path, cap)| (FieldPath::of(path.split('.')), *cap)).collect()
}

impl Session {
    /// All its events in figures.
    pub fn summary(&self, watch: &Watch<'_>) -> Result<Summary> {
        let log = self.events(watch)?;
        let job = watch.job(log.len())?;
        let mut summary = Summary { bytes: log.len(), ..Summary::default() };
        let (mut types, mut levels, mut period) = (Counts::default(), Counts::default(), Period::default());
        summary.damage = each_event(&log, self.format, &[], watch, |found, record| {
            let event = Known::event(found);
            summary.total_events += 1;
            summary.errors += u64::from(Known::is_error(self.format, found));
            types.add(&event);
            let level = Known::level(found);
            if !level.is_empty() {
                levels.add(&level);
            }
            period.add(Known::time(found));
            let bytes = record.span.len();
            if summary.largest.as_ref().is_none_or(|largest| largest.bytes < bytes) {
                summary.largest = Some(Largest { record: record.number, event: shown(&event, 200), bytes });
            }
            Ok(Flow::On)
        })?;
        job.done();
        (summary.event_types, summary.other_types) = (types.names, types.other);
        summary.levels = levels.names;
        summary.duration_ms = period.duration();
        (summary.first_event, summary.last_event) = (period.first.map(spelt), period.last.map(spelt));
        Ok(summary)
    }
}
