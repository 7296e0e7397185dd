//! The state of a pass that collects values, and the damage that it finds.

use std::io;

use trommel::reader::{self, Error};
use trommel::{Damage, Match, Report, Sink};

use crate::outputs::failures::error_location;

/// A sink that collects the values of an answer.
pub(super) trait Collect: Sink {
    /// The state of the pass.
    fn pass(&self) -> &Pass;

    /// True if the answer can be returned before the pass has ended.
    fn has_first(&self) -> bool;

    /// True if any value was collected.
    fn has_any(&self) -> bool;

    /// Returns the maximum number of values of each path, given that of a page.
    fn limit(&self, page: u64) -> Option<u64>;

    /// The number of values of the first path that earlier pages have, unless the collector skips
    /// them itself.
    fn skip(&self) -> u64;
}

/// The state of a pass.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// True if later values cannot be part of the answer.
    pub(super) enough: bool,
    /// The offset after the last value found.
    pub(super) read: u64,
    /// The value that is not JSON and ended the pass, and its record in a stream.
    damage: Option<(Error, Option<u64>)>,
    /// The first damaged record that was skipped.
    first_bad: Option<(Error, Option<u64>)>,
    pub(super) bad_records: u64,
}

impl Pass {
    /// Records that a value was found.
    pub(super) fn found(&mut self, found: &Match<'_>) {
        self.read = self.read.max(found.span.end);
    }

    /// Ends the pass at a value that is not JSON.
    pub(super) fn refuse(&mut self, error: Error, record: Option<u64>) -> io::Error {
        self.damage = Some((error, record));
        io::Error::other("a value is not JSON")
    }

    /// Ends the pass if later values cannot be part of the answer.
    ///
    /// A sink can stop a pass only by an error. [`enough`](Self::enough) distinguishes it from a
    /// real one.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.enough { Err(io::Error::other("enough")) } else { Ok(()) }
    }

    /// Records that a damaged record was skipped.
    pub(super) fn skipped(&mut self, damage: &Damage) {
        self.bad_records += 1;
        self.first_bad.get_or_insert_with(|| (damage.error.clone(), Some(damage.record)));
    }

    /// Returns the value that is not JSON and ended the pass, and its record in a stream.
    pub(super) fn damage(&self) -> Option<(&reader::Error, Option<u64>)> {
        self.damage.as_ref().map(|(error, record)| (error, *record))
    }

    /// True if the payload is damaged.
    pub(super) fn is_damage(&self, ran: &Result<Report, trommel::Error>) -> bool {
        match ran {
            Err(trommel::Error::Read { error, .. }) => error.is_syntax(),
            Err(trommel::Error::TooManyBadRecords { .. }) => true,
            Err(_) => self.damage.is_some(),
            Ok(_) => false,
        }
    }

    /// Returns the warning that reports the damage.
    pub(super) fn damage_report(&self, ran: &Result<Report, trommel::Error>) -> Option<String> {
        let (error, record) = match (self.damage.as_ref().or(self.first_bad.as_ref()), ran) {
            (Some((error, record)), _) | (None, Err(trommel::Error::Read { error, record })) => {
                (error, *record)
            }
            _ => return None,
        };
        let left_out = match self.bad_records {
            0 => "the rest is omitted".to_owned(),
            1 => "that record is skipped".to_owned(),
            many => format!("{many} records are skipped, this one included"),
        };
        let location = error_location(error, record);
        Some(format!("the payload is damaged at {location}: {}; {left_out}", error.message()))
    }
}
