//! Opens the inputs of a command, one after the other.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use trommel::path::Duplicates;
use trommel::{Analysis, Cancel, Document, OnBadRecord};

use super::Job;
use crate::errors::Failure;
use crate::input::{Options, SharedInputs};
use crate::output::Screen;
use crate::progress::Progress;
use crate::signals;

/// The progress over all inputs.
#[derive(Debug, Default)]
pub(super) struct OverallProgress {
    /// Bytes of the inputs before the current one.
    before: AtomicU64,
    /// Bytes of all inputs; 0 if they are unknown.
    total: AtomicU64,
}

impl OverallProgress {
    /// The progress over these inputs, before the first.
    fn new(files: &[PathBuf], options: &Options) -> Self {
        let size = |file: &PathBuf| options.of_file(file.clone()).size();
        let total: Option<u64> = files.iter().map(size).sum();
        Self { before: AtomicU64::new(0), total: AtomicU64::new(total.unwrap_or(0)) }
    }

    /// Notes that the current input, of so many bytes, is done.
    pub(super) fn advance(&self, bytes: u64) {
        self.before.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Forgets the total if the size of an input is unknown, because it is compressed.
    fn begin(&self, document: &Document<'_>) {
        if document.len().is_none() {
            self.total.store(0, Ordering::Relaxed);
        }
    }

    fn before(&self) -> u64 {
        self.before.load(Ordering::Relaxed)
    }

    fn total(&self) -> Option<u64> {
        Some(self.total.load(Ordering::Relaxed)).filter(|total| *total > 0)
    }
}

impl Job {
    /// Opens the first input. Of several inputs, reports those that cannot be opened, and opens the
    /// first other one.
    ///
    /// # Errors
    /// If an ID of a stored output is unknown, or the only input cannot be opened. If none of
    /// several can be opened, the failures are already reported.
    pub(crate) fn open(files: Vec<PathBuf>, options: Options, screen: &Screen) -> Result<Self, Failure> {
        let (progress, cancel) = (Arc::new(Progress::new(screen)), Cancel::new());
        signals::install(Arc::clone(&progress))?;
        let options = Options { is_one_of_several: files.len() > 1, ..options };
        let shared = SharedInputs::default();
        let repeats = repeats_names(&files, &options, &shared)?;
        let overall = Arc::new(OverallProgress::new(&files, &options));
        let (watch, sum, several) = (Arc::clone(&progress), Arc::clone(&overall), options.is_one_of_several);
        let mut analysis = Analysis::new()
            .validation(options.validation)
            .limits(options.limits)
            // As the tools do, selects all members of a stored output that repeats names.
            .duplicates(match options.duplicates {
                Duplicates::First if repeats => Duplicates::All,
                asked => asked,
            })
            .on_bad_record(options.on_bad_record)
            .cancel_with(&cancel)
            .on_progress(move |progress| {
                let total = if several { sum.total() } else { progress.total };
                watch.update(sum.before() + progress.bytes, total);
            });
        if let Some(threads) = options.threads {
            analysis = analysis.threads(threads);
        }
        let mut job = Self {
            later: files.iter().rev().cloned().collect(),
            read: Vec::new(),
            files,
            options,
            screen: *screen,
            document: Document::from_bytes([]),
            stored: None,
            guide: None,
            shared,
            analysis,
            filters: Vec::new(),
            has_records: false,
            is_one_record: false,
            progress,
            overall,
            cancel,
            has_failed: false,
        };
        if several {
            return if job.open_next() { Ok(job) } else { Err(Failure::AlreadyReported) };
        }
        let first = job.later.pop();
        first.map_or(Ok(()), |file| job.open_file(file))?;
        if let (Some(stored), OnBadRecord::Stop) = (&job.stored, job.options.on_bad_record) {
            // As the tools do, skips the known damaged records of a stored output.
            let policy = stored.on_bad_record();
            job.configure(|analysis| analysis.on_bad_record(policy));
        }
        Ok(job)
    }

    /// Opens the next of several inputs. Reports those that cannot be opened. Returns false after
    /// the last one.
    pub(crate) fn open_next(&mut self) -> bool {
        while let Some(file) = self.later.pop() {
            match self.open_file(file) {
                Ok(()) => return true,
                Err(failure) => self.report_failure(&failure),
            }
        }
        false
    }

    fn open_file(&mut self, file: PathBuf) -> Result<(), Failure> {
        self.options = self.options.of_file(file);
        (self.document, self.stored) = self.options.open(&self.shared)?;
        self.guide = self.options.guide(&self.document);
        if let Some(found) = &self.guide {
            let document = std::mem::replace(&mut self.document, Document::from_bytes([]));
            self.document = found.guide.guide(document);
        }
        self.overall.begin(&self.document);
        Ok(())
    }
}

/// True if one of the inputs is a stored output that repeats names. An unknown ID is an error
/// before anything is read.
fn repeats_names(files: &[PathBuf], options: &Options, shared: &SharedInputs) -> Result<bool, Failure> {
    let mut repeats = false;
    for file in files {
        if let Some(stored) = options.of_file(file.clone()).stored(shared)? {
            repeats |= stored.duplicate_names > 0;
        }
    }
    Ok(repeats)
}
