//! A summary of all events of a session.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Serialize;

use super::common::{Counts, each_event};
use crate::error::Result;
use crate::layout::EventMembers;
use crate::records::{Damage, Flow};
use crate::session::Session;
use crate::text::{is_zero, label};
use crate::time::{milliseconds, to_rfc3339};
use crate::watch::Watch;

/// A summary of all events of a session.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// The number of events.
    pub total_events: u64,
    /// The number of events of each type, by the name in the log.
    pub event_types: BTreeMap<String, u64>,
    /// The number of events of further types, if there are more than 200.
    #[serde(skip_serializing_if = "is_zero")]
    pub other_types: u64,
    /// The number of events of each level.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, u64>,
    /// The number of events that report errors.
    pub errors: u64,
    /// The milliseconds from the earliest time to the latest.
    pub duration_ms: Option<i64>,
    /// The earliest time.
    pub first_event: Option<String>,
    /// The latest time.
    pub last_event: Option<String>,
    /// The size of the log in bytes.
    pub bytes: u64,
    /// The event with the most bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub largest: Option<LargestEvent>,
    /// The records that could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// The event with the most bytes.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LargestEvent {
    /// The record's index, from 0.
    pub record: u64,
    /// Its type.
    pub event: String,
    /// The size in bytes.
    pub bytes: u64,
}

/// The earliest and the latest time.
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
    /// Summarizes the session's events.
    pub fn summary(&self, watch: &Watch<'_>) -> Result<Summary> {
        let (log, layout) = (self.events(watch)?, self.layout());
        let job = watch.job(log.len())?;
        let mut summary = Summary { bytes: log.len(), ..Summary::default() };
        let (mut types, mut levels, mut period) = (Counts::default(), Counts::default(), Period::default());
        summary.damage = each_event(&log, layout, &[], watch, |found, record| {
            let event = EventMembers::event(found);
            summary.total_events += 1;
            summary.errors += u64::from(EventMembers::is_error(layout, found));
            types.add(&event);
            let level = EventMembers::level(found);
            if !level.is_empty() {
                levels.add(&level);
            }
            period.add(EventMembers::time(found));
            let bytes = record.span.len();
            if summary.largest.as_ref().is_none_or(|largest| largest.bytes < bytes) {
                summary.largest =
                    Some(LargestEvent { record: record.number, event: label(&event, 200), bytes });
            }
            Ok(Flow::Continue)
        })?;
        job.done();
        (summary.event_types, summary.other_types) = (types.names, types.other);
        summary.levels = levels.names;
        summary.duration_ms = period.duration();
        (summary.first_event, summary.last_event) =
            (period.first.map(to_rfc3339), period.last.map(to_rfc3339));
        Ok(summary)
    }
}
