//! One call at work: its cancellation, its progress, and the basis of its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel::reader::{Error, ErrorKind, Monitor, Validation};
use trommel::{Analysis, Coverage, Progress};
use trommel_base::{Cancel, Reason};
use trommel_tool::{Call, Meter};

use super::source::Source;

/// The most time that is kept back for handing over what was found before the call is given up.
const RESERVE: Duration = Duration::from_secs(2);

/// One call at work.
pub(crate) struct Job {
    /// Cancelled with the call. Its deadline is a little before the call's, and armed once
    /// something was found.
    cancel: Cancel,
    state: Arc<State>,
    meter: Meter,
    started: Instant,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes that passed.
    read: AtomicU64,
    /// Bytes of earlier passes, and of those that follow.
    before: AtomicU64,
    after: AtomicU64,
}

impl State {
    /// Reports the progress of all passes together, when one has done `done` bytes of `total`.
    fn report(&self, meter: &Meter, done: u64, total: Option<u64>) {
        let (before, after) = (self.before.load(Ordering::Relaxed), self.after.load(Ordering::Relaxed));
        meter.progress(before + done, total.map(|total| before + total + after));
    }
}

/// Is notified by the part of the work that finds something.
#[derive(Clone, Debug)]
pub(crate) struct Watch(Cancel);

impl Watch {
    /// There is something to hand over, so that the work may be ended before its time is quite up.
    pub(crate) fn found(&self) {
        self.0.arm();
    }
}

impl Job {
    /// Begins the work of a call.
    pub(crate) fn new(call: &Call<'_>) -> Self {
        let started = Instant::now();
        let until = call.remaining().map(|left| left.saturating_sub((left / 10).min(RESERVE)));
        let called = call.cancel();
        let cancel = match until.and_then(|left| started.checked_add(left)) {
            Some(until) => called.with_unarmed_deadline(until),
            None => called.child(),
        };
        Self { cancel, state: Arc::default(), meter: call.meter(), started }
    }

    /// An analysis of a source that ends with the call and reports its progress.
    pub(crate) fn analysis(&self, source: &Source<'_>, validation: Validation) -> Analysis {
        let (meter, state) = (self.meter.clone(), Arc::clone(&self.state));
        Analysis::new()
            .validation(validation)
            .duplicates(source.duplicates())
            .cancel_with(&self.cancel)
            .on_progress(move |Progress { bytes, total, .. }| {
                state.read.fetch_max(bytes, Ordering::Relaxed);
                state.report(&meter, bytes, total);
            })
    }

    /// An analysis of a source that ends with the call and reports nothing.
    pub(crate) fn quiet_analysis(&self, source: &Source<'_>) -> Analysis {
        Analysis::new().duplicates(source.duplicates()).cancel_with(&self.cancel)
    }

    /// Does a pass over `bytes` bytes that another one will follow.
    pub(crate) fn first_pass<T>(&self, bytes: u64, pass: impl FnOnce() -> T) -> T {
        self.state.after.store(bytes, Ordering::Relaxed);
        let passed = pass();
        self.state.after.store(0, Ordering::Relaxed);
        self.state.before.store(bytes, Ordering::Relaxed);
        passed
    }

    /// Ends a cursor with the call, and reports its progress over `total` bytes.
    pub(crate) fn monitor(&self, total: u64) -> Monitor<'static> {
        let (meter, state) = (self.meter.clone(), Arc::clone(&self.state));
        let mut quiet = self.quiet_monitor();
        Box::new(move |offset| {
            quiet(offset)?;
            state.read.fetch_max(offset, Ordering::Relaxed);
            state.report(&meter, offset.min(total), Some(total));
            Ok(())
        })
    }

    /// Ends a cursor with the call.
    pub(crate) fn quiet_monitor(&self) -> Monitor<'static> {
        let cancel = self.cancel.clone();
        Box::new(
            move |offset| {
                if cancel.is_cancelled() { Err(Error::plain(ErrorKind::Cancelled, offset)) } else { Ok(()) }
            },
        )
    }

    /// To be notified when something is found.
    pub(crate) fn watch(&self) -> Watch {
        Watch(self.cancel.clone())
    }

    /// True if the work was ended because its time was nearly up, with something to hand over.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.cancel.reason() == Some(Reason::Deadline)
    }

    /// True if the work must end.
    pub(crate) fn is_over(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Bytes that passed, as far as was reported.
    pub(crate) fn read(&self) -> u64 {
        self.state.read.load(Ordering::Relaxed)
    }

    /// Reports that all is done.
    pub(crate) fn finished(&self, total: u64) {
        self.state.report(&self.meter, total, Some(total));
    }

    /// How long it has taken.
    pub(crate) fn took(&self) -> Duration {
        self.started.elapsed()
    }
}

/// The basis of an answer: what was read for it, and how well it was checked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis {
    /// Passes over the payload; more than one where its size had to be known before.
    pub(crate) passes: u32,
    /// Bytes read for this call, of all passes; none where the answer was known.
    pub(crate) read: u64,
    /// Bytes of the payload.
    pub(crate) total: u64,
    pub(crate) validation: Validation,
    /// True if every figure is exact.
    pub(crate) exact: bool,
    /// True if the whole payload was read and checked.
    pub(crate) complete: bool,
}

impl Basis {
    /// An answer that was known, or needs no payload.
    pub(crate) fn known(total: u64) -> Self {
        Self { passes: 1, read: 0, total, validation: Validation::Structural, exact: true, complete: false }
    }

    /// The basis of an analysis.
    pub(crate) fn of(coverage: &Coverage, total: u64) -> Self {
        Self {
            passes: 1,
            read: coverage.bytes_read,
            total,
            validation: if coverage.strict { Validation::Strict } else { Validation::Structural },
            exact: true,
            complete: coverage.complete,
        }
    }

    /// The `coverage` of a result's metadata.
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
        if let (Some(members), 2..) = (coverage.as_object_mut(), self.passes) {
            members.insert("passes".into(), self.passes.into());
        }
        coverage
    }
}
