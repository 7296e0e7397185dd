//! One call at work: what ends it, what it tells while it goes on, and what it rests on in the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use trommel::reader::{Error, ErrorKind, Monitor, Validation};
use trommel::{Analysis, Cancel, Coverage, Progress};
use trommel_tool::{Call, Meter};

use super::source::Source;

/// How often it is looked whether the call is to end.
const GLANCE: Duration = Duration::from_millis(5);

/// Time kept back, at most, to hand over what was found before the call is given up.
const RESERVE: Duration = Duration::from_secs(2);

/// One call at work.
pub(crate) struct Job {
    cancel: Cancel,
    state: Arc<State>,
    meter: Meter,
    started: Instant,
}

#[derive(Debug, Default)]
struct State {
    done: AtomicBool,
    /// Whether there is something to hand over.
    found: AtomicBool,
    out_of_time: AtomicBool,
    /// Bytes that passed.
    read: AtomicU64,
    /// Bytes of earlier passes, and of those that follow.
    before: AtomicU64,
    after: AtomicU64,
}

impl State {
    /// How far all passes together are, when one is at some byte of so many.
    fn tell(&self, meter: &Meter, done: u64, total: Option<u64>) {
        let (before, after) = (self.before.load(Ordering::Relaxed), self.after.load(Ordering::Relaxed));
        meter.progress(before + done, total.map(|total| before + total + after));
    }
}

/// Is told by whoever finds something.
#[derive(Clone, Debug)]
pub(crate) struct Watch(Arc<State>);

impl Watch {
    /// There is something to hand over, so that the work may be ended before its time is quite up.
    pub(crate) fn found(&self) {
        self.0.found.store(true, Ordering::Relaxed);
    }
}

/// Ends the watch, however the work ends.
struct Ends<'a>(&'a State, &'a Thread);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.done.store(true, Ordering::Relaxed);
        self.1.unpark();
    }
}

impl Job {
    /// Does some work for a call, on this thread; another one watches the call's flag and its time.
    pub(crate) fn attend<T>(call: &Call<'_>, work: impl FnOnce(&Self) -> T) -> T {
        let started = Instant::now();
        let until = call.remaining().map(|left| left.saturating_sub((left / 10).min(RESERVE)));
        let until = until.and_then(|left| started.checked_add(left));
        let job = Self { cancel: Cancel::new(), state: Arc::default(), meter: call.meter(), started };
        let (flag, state, cancel) = (call.cancel(), &*job.state, &job.cancel);
        thread::scope(|scope| {
            let watcher = scope.spawn(move || watch(flag, until, state, cancel));
            let _ends = Ends(state, watcher.thread());
            work(&job)
        })
    }

    /// An analysis of a source that ends with the call and tells its progress.
    pub(crate) fn analysis(&self, source: &Source<'_>, validation: Validation) -> Analysis {
        let (meter, state) = (self.meter.clone(), Arc::clone(&self.state));
        Analysis::new()
            .validation(validation)
            .duplicates(source.duplicates())
            .cancel_with(&self.cancel)
            .on_progress(move |Progress { bytes, total, .. }| {
                state.read.fetch_max(bytes, Ordering::Relaxed);
                state.tell(&meter, bytes, total);
            })
    }

    /// An analysis of a source that ends with the call and reports nothing.
    pub(crate) fn quiet_analysis(&self, source: &Source<'_>) -> Analysis {
        Analysis::new().duplicates(source.duplicates()).cancel_with(&self.cancel)
    }

    /// Does a pass over so many bytes that another one will follow.
    pub(crate) fn first_pass<T>(&self, bytes: u64, pass: impl FnOnce() -> T) -> T {
        self.state.after.store(bytes, Ordering::Relaxed);
        let passed = pass();
        self.state.after.store(0, Ordering::Relaxed);
        self.state.before.store(bytes, Ordering::Relaxed);
        passed
    }

    /// What ends a cursor of this call's with it, and tells its progress over so many bytes.
    pub(crate) fn monitor(&self, total: u64) -> Monitor<'static> {
        let (meter, state) = (self.meter.clone(), Arc::clone(&self.state));
        let mut quiet = self.quiet_monitor();
        Box::new(move |offset| {
            quiet(offset)?;
            state.read.fetch_max(offset, Ordering::Relaxed);
            state.tell(&meter, offset.min(total), Some(total));
            Ok(())
        })
    }

    /// What ends a cursor of this call's with it.
    pub(crate) fn quiet_monitor(&self) -> Monitor<'static> {
        let cancel = self.cancel.clone();
        Box::new(
            move |offset| {
                if cancel.is_cancelled() { Err(Error::plain(ErrorKind::Cancelled, offset)) } else { Ok(()) }
            },
        )
    }

    /// What is to be told when something is found.
    pub(crate) fn watch(&self) -> Watch {
        Watch(Arc::clone(&self.state))
    }

    /// Whether the work was ended because time was nearly up, with something to hand over.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.state.out_of_time.load(Ordering::Relaxed)
    }

    /// Whether the work was asked to end.
    pub(crate) fn is_over(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// Bytes that passed, as far as was told.
    pub(crate) fn read(&self) -> u64 {
        self.state.read.load(Ordering::Relaxed)
    }

    /// Tells that all is done.
    pub(crate) fn finished(&self, total: u64) {
        self.state.tell(&self.meter, total, Some(total));
    }

    /// How long it has taken.
    pub(crate) fn took(&self) -> Duration {
        self.started.elapsed()
    }
}

fn watch(flag: &trommel_tool::Cancel, until: Option<Instant>, state: &State, cancel: &Cancel) {
    while !state.done.load(Ordering::Relaxed) {
        let found = state.found.load(Ordering::Relaxed);
        let late = found && until.is_some_and(|until| Instant::now() >= until);
        if late || flag.is_cancelled() {
            state.out_of_time.store(late, Ordering::Relaxed);
            cancel.cancel();
            return;
        }
        thread::park_timeout(GLANCE);
    }
}

/// What an answer rests on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Basis {
    /// Passes over the payload; more than one where its size had to be known before.
    pub(crate) passes: u32,
    /// Bytes read for this call, of all passes; none where the answer was known.
    pub(crate) read: u64,
    /// Bytes of the payload.
    pub(crate) total: u64,
    pub(crate) validation: Validation,
    /// Whether every figure is exact.
    pub(crate) exact: bool,
    /// Whether all was read and checked that the answer could depend on, and everything else.
    pub(crate) complete: bool,
}

impl Basis {
    /// An answer that was known, or needs no payload.
    pub(crate) fn known(total: u64) -> Self {
        Self { passes: 1, read: 0, total, validation: Validation::Structural, exact: true, complete: false }
    }

    /// What an analysis rests on.
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

    /// In the words of a result's metadata.
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
