//! One running call: its cancellation, its progress, and the coverage of its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel::reader::{Error, ErrorKind, Monitor, Validation};
use trommel::{Analysis, Coverage, Progress};
use trommel_base::{Cancel, Reason};
use trommel_search::PatternSearch;
use trommel_tool::{Call, ProgressHandle};

use super::source::Source;

/// The maximum time that is reserved before the deadline for returning a partial answer.
const RESERVE: Duration = Duration::from_secs(2);

/// A running call.
pub(crate) struct Job {
    /// Cancelled with the call. Its deadline is slightly before the call's. It is armed by the
    /// first result, because an empty answer is not worth returning early.
    cancel: Cancel,
    state: Arc<State>,
    progress: ProgressHandle,
    started: Instant,
}

#[derive(Debug, Default)]
struct State {
    /// The bytes read so far.
    read: AtomicU64,
    /// The bytes of earlier passes, and of the passes that follow.
    before: AtomicU64,
    after: AtomicU64,
}

impl State {
    /// Reports the progress of all passes together, when the current one has read `done` of `total`
    /// bytes.
    fn report(&self, handle: &ProgressHandle, done: u64, total: Option<u64>) {
        let (before, after) = (self.before.load(Ordering::Relaxed), self.after.load(Ordering::Relaxed));
        handle.progress(before + done, total.map(|total| before + total + after));
    }
}

/// Notifies a job of its first result.
#[derive(Clone, Debug)]
pub(crate) struct ResultNotifier(Cancel);

impl ResultNotifier {
    /// Arms the early deadline, since there is now something to return.
    pub(crate) fn notify(&self) {
        self.0.arm();
    }
}

impl Job {
    /// Starts the work of a call.
    pub(crate) fn new(call: &Call<'_>) -> Self {
        let started = Instant::now();
        let until = call.remaining().map(|left| left.saturating_sub((left / 10).min(RESERVE)));
        let called = call.cancel();
        let cancel = match until.and_then(|left| started.checked_add(left)) {
            Some(until) => called.with_unarmed_deadline(until),
            None => called.child(),
        };
        Self { cancel, state: Arc::default(), progress: call.progress_handle(), started }
    }

    /// Returns an analysis of a source that is cancelled with the call and reports its progress. It
    /// skips the known damaged records.
    pub(crate) fn analysis(&self, source: &Source<'_>, validation: Validation) -> Analysis {
        let (handle, state) = (self.progress.clone(), Arc::clone(&self.state));
        Analysis::new()
            .validation(validation)
            .duplicates(source.duplicates())
            .on_bad_record(source.stored.on_bad_record())
            .cancel_with(&self.cancel)
            .on_progress(move |Progress { bytes, total, .. }| {
                // Worker threads may report out of order, so only the maximum counts.
                state.read.fetch_max(bytes, Ordering::Relaxed);
                state.report(&handle, bytes, total);
            })
    }

    /// Returns an analysis of a source that is cancelled with the call and reports no progress.
    pub(crate) fn quiet_analysis(&self, source: &Source<'_>) -> Analysis {
        Analysis::new()
            .duplicates(source.duplicates())
            .on_bad_record(source.stored.on_bad_record())
            .cancel_with(&self.cancel)
    }

    /// Returns a search that is cancelled with the call and reports its progress.
    pub(crate) fn search(&self, search: PatternSearch) -> PatternSearch {
        let (handle, state) = (self.progress.clone(), Arc::clone(&self.state));
        search.cancel_with(&self.cancel).on_progress(move |Progress { bytes, total, .. }| {
            state.read.fetch_max(bytes, Ordering::Relaxed);
            state.report(&handle, bytes, total);
        })
    }

    /// Runs a pass over `bytes` bytes that another one will follow.
    pub(crate) fn first_pass<T>(&self, bytes: u64, pass: impl FnOnce() -> T) -> T {
        self.state.after.store(bytes, Ordering::Relaxed);
        let passed = pass();
        self.state.after.store(0, Ordering::Relaxed);
        self.state.before.store(bytes, Ordering::Relaxed);
        passed
    }

    /// Returns a monitor that cancels a cursor with the call, and reports its progress over `total`
    /// bytes.
    pub(crate) fn monitor(&self, total: u64) -> Monitor<'static> {
        let (handle, state) = (self.progress.clone(), Arc::clone(&self.state));
        let mut quiet = self.quiet_monitor();
        Box::new(move |offset| {
            quiet(offset)?;
            state.read.fetch_max(offset, Ordering::Relaxed);
            state.report(&handle, offset.min(total), Some(total));
            Ok(())
        })
    }

    /// Returns a monitor that cancels a cursor with the call.
    pub(crate) fn quiet_monitor(&self) -> Monitor<'static> {
        let cancel = self.cancel.clone();
        Box::new(
            move |offset| {
                if cancel.is_cancelled() { Err(Error::plain(ErrorKind::Cancelled, offset)) } else { Ok(()) }
            },
        )
    }

    /// Returns a handle that the work notifies of its first result.
    pub(crate) fn notifier(&self) -> ResultNotifier {
        ResultNotifier(self.cancel.clone())
    }

    /// True if the early deadline has passed, so that a partial answer can be returned.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.cancel.reason() == Some(Reason::Deadline)
    }

    /// True if the work must stop.
    pub(crate) fn is_over(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Returns the number of bytes read, as of the last progress report.
    pub(crate) fn read(&self) -> u64 {
        self.state.read.load(Ordering::Relaxed)
    }

    /// Reports that the work is complete.
    pub(crate) fn finished(&self, total: u64) {
        self.state.report(&self.progress, total, Some(total));
    }

    /// Returns the time since the call started.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// The coverage of an answer: the bytes that were read for it, and how strictly they were checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnswerCoverage {
    /// The number of passes over the payload. A second one is needed if the size of a population
    /// had to be counted first.
    pub(crate) passes: u32,
    /// The bytes read for this call in all passes. Zero if the answer was cached.
    pub(crate) read: u64,
    /// The size of the payload in bytes.
    pub(crate) total: u64,
    pub(crate) validation: Validation,
    /// True if every figure is exact.
    pub(crate) exact: bool,
    /// True if the whole payload was read and checked.
    pub(crate) complete: bool,
    /// True if a guide could pass bytes, which count as read.
    pub(crate) guide: bool,
}

impl AnswerCoverage {
    /// The coverage of an answer that was cached or needs no payload.
    pub(crate) fn known(total: u64) -> Self {
        let (validation, exact, complete, guide) = (Validation::Structural, true, false, false);
        Self { passes: 1, read: 0, total, validation, exact, complete, guide }
    }

    /// The coverage of an analysis.
    pub(crate) fn of(coverage: &Coverage, total: u64) -> Self {
        Self {
            passes: 1,
            read: coverage.bytes_read,
            total,
            validation: if coverage.strict { Validation::Strict } else { Validation::Structural },
            exact: true,
            complete: coverage.complete,
            guide: coverage.guide,
        }
    }

    /// Returns the `coverage` member of a result's metadata.
    pub(crate) fn to_json(self, took: Duration) -> Value {
        let validation = if self.validation == Validation::Strict { "strict" } else { "structural" };
        let milliseconds = (took.as_secs_f64() * 1e6).round() / 1e3;
        let mut coverage = json!({
            "bytes_read": self.read,
            "bytes_total": self.total,
            "validation": validation,
            "exact": self.exact,
            "complete": self.complete,
            "duration_ms": milliseconds,
        });
        let optional = [
            ("passes", (self.passes > 1).then(|| self.passes.into())),
            ("guide", self.guide.then(|| true.into())),
        ];
        for (name, value) in optional {
            if let (Some(members), Some(value)) = (coverage.as_object_mut(), value) {
                members.insert(name.into(), value);
            }
        }
        coverage
    }
}
