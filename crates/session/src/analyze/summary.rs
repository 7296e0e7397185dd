//! All events of a session in figures.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::common::{Counts, each_event};
use crate::error::Result;
use crate::layout::Known;
use crate::records::{Damage, Flow};
use crate::session::Session;
use crate::text::{is_zero, label};
use crate::time::{milliseconds, spelt};
use crate::watch::Watch;

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

impl Session {
    /// All its events in figures.
    pub fn summary(&self, watch: &Watch<'_>) -> Result<Summary> {
        let (log, layout) = (self.events(watch)?, self.layout());
        let job = watch.job(log.len())?;
        let mut summary = Summary { bytes: log.len(), ..Summary::default() };
        let (mut types, mut levels, mut period) = (Counts::default(), Counts::default(), Period::default());
        summary.damage = each_event(&log, layout, &[], watch, |found, record| {
            let event = Known::event(found);
            summary.total_events += 1;
            summary.errors += u64::from(Known::is_error(layout, found));
            types.add(&event);
            let level = Known::level(found);
            if !level.is_empty() {
                levels.add(&level);
            }
            period.add(Known::time(found));
            let bytes = record.span.len();
            if summary.largest.as_ref().is_none_or(|largest| largest.bytes < bytes) {
                summary.largest = Some(Largest { record: record.number, event: label(&event, 200), bytes });
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
