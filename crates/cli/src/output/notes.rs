//! Notes and warnings on standard error, malformed records included.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use owo_colors::OwoColorize;
use trommel::Damage;

use super::escape;
use super::size::grouped;
use crate::progress::Progress;

/// The number of malformed records to report one by one. Later ones are only counted.
const BAD_RECORDS: u64 = 10;

/// True if notes are omitted. Like the streams, this belongs to the process.
static SILENCED: AtomicBool = AtomicBool::new(false);

/// Writes notes to standard error. The progress bar is hidden while it writes.
#[derive(Clone, Debug)]
pub(crate) struct Notes {
    progress: Arc<Progress>,
    file: String,
    bad_records: u64,
}

impl Notes {
    /// Creates the notes about a file.
    pub(crate) fn new(file: &str, progress: Arc<Progress>) -> Self {
        Self { progress, file: escape::short(file, 200), bad_records: 0 }
    }

    /// The next notes are about another file.
    pub(crate) fn begin_input(&mut self, file: &str) {
        self.file = escape::short(file, 200);
    }

    /// Omits all notes from now on. Warnings remain.
    pub(crate) fn silence() {
        SILENCED.store(true, Ordering::Relaxed);
    }

    /// True if notes are omitted.
    pub(crate) fn are_silenced() -> bool {
        SILENCED.load(Ordering::Relaxed)
    }

    /// Prints a note, unless notes are silenced. A failure to print is ignored.
    pub(crate) fn note(&self, text: &str) {
        if Self::are_silenced() {
            return;
        }
        self.progress.suspend(|| {
            let _ = writeln!(anstream::stderr(), "{} {text}", "note:".green().bold());
        });
    }

    /// Prints a warning about a problem that does not stop the work.
    pub(crate) fn warn(&self, text: &str) {
        self.progress.suspend(|| {
            let _ = writeln!(anstream::stderr(), "{} {text}", "warning:".yellow().bold());
        });
    }

    /// Counts a skipped malformed record, and reports it if it is among the first.
    pub(crate) fn bad_record(&mut self, damage: &Damage) {
        self.count_bad_record();
        if self.bad_records > BAD_RECORDS {
            return;
        }
        let Damage { record, error, .. } = damage;
        let position = match error.line_column() {
            Some(position) => format!(":{}:{}", position.line, position.column),
            None => String::new(),
        };
        self.progress.suspend(|| {
            let _ = writeln!(
                anstream::stderr(),
                "{} {}{position}: skipped record {record}: {} (byte {})",
                "warning:".yellow().bold(),
                self.file,
                escape::text(&error.message()),
                error.offset()
            );
        });
    }

    /// Counts a malformed record that is reported elsewhere.
    pub(crate) fn count_bad_record(&mut self) {
        self.bad_records += 1;
    }

    /// Returns the number of malformed records so far.
    pub(crate) fn bad_records(&self) -> u64 {
        self.bad_records
    }

    /// Reports the number of skipped records, if any.
    pub(crate) fn sum_up(&self) {
        match self.bad_records {
            0 => {}
            1 => self.note("skipped 1 malformed record"),
            many @ ..=BAD_RECORDS => self.note(&format!("skipped {many} malformed records")),
            many => {
                let many = grouped(many);
                self.note(&format!(
                    "skipped {many} malformed records; only the first {BAD_RECORDS} are listed"
                ));
            }
        }
    }
}
