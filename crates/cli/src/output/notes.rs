//! What is said on standard error beside the answer: notes, warnings, bad records.

use std::io::Write;
use std::sync::Arc;

use owo_colors::OwoColorize;
use trommel::Damage;

use super::escape;
use super::size::grouped;
use crate::progress::Progress;

/// Bad records that are reported one by one; after them, only their number is.
const BAD_RECORDS: u64 = 10;

/// Notes on standard error; the progress bar makes way for them.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    progress: Arc<Progress>,
    file: String,
    bad_records: u64,
}

impl Notes {
    /// Notes about a file.
    pub(crate) fn new(file: &str, progress: Arc<Progress>) -> Self {
        Self { progress, file: escape::short(file, 200), bad_records: 0 }
    }

    /// Says something worth knowing. That it cannot be said is no reason to stop.
    pub(crate) fn note(&self, text: &str) {
        self.progress.suspend(|| {
            let _ = writeln!(anstream::stderr(), "{} {text}", "note:".green().bold());
        });
    }

    /// Says that something is not as it should be, and no reason to stop.
    pub(crate) fn warn(&self, text: &str) {
        self.progress.suspend(|| {
            let _ = writeln!(anstream::stderr(), "{} {text}", "warning:".yellow().bold());
        });
    }

    /// Counts a bad record that is left out, and reports it if it is among the first.
    pub(crate) fn bad_record(&mut self, damage: &Damage) {
        self.count_bad_record();
        if self.bad_records > BAD_RECORDS {
            return;
        }
        let Damage { record, error, .. } = damage;
        let place = match error.place() {
            Some(place) => format!(":{}:{}", place.line, place.column),
            None => String::new(),
        };
        self.progress.suspend(|| {
            let _ = writeln!(
                anstream::stderr(),
                "{} {}{place}: record {record} is left out: {} (byte {})",
                "warning:".yellow().bold(),
                self.file,
                escape::text(&error.message()),
                error.offset()
            );
        });
    }

    /// Counts a bad record that is reported elsewhere.
    pub(crate) fn count_bad_record(&mut self) {
        self.bad_records += 1;
    }

    /// Bad records so far.
    pub(crate) fn bad_records(&self) -> u64 {
        self.bad_records
    }

    /// Reports how many bad records were left out, if any.
    pub(crate) fn sum_up(&self) {
        match self.bad_records {
            0 => {}
            1 => self.note("1 bad record was left out"),
            many @ ..=BAD_RECORDS => self.note(&format!("{many} bad records were left out")),
            many => {
                let many = grouped(many);
                self.note(&format!(
                    "{many} bad records were left out; only the first {BAD_RECORDS} are listed"
                ));
            }
        }
    }
}
