//! The state that the two threads of a call share: progress, the reason to stop, and the result.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use trommel_base::{Cancel, Progress, Reason};

use super::error::CallError;
use crate::contract::call::ProgressHandle;
use crate::contract::context::Context;
use crate::contract::error::ToolError;
use crate::contract::output::Output;
use crate::contract::result::Delivered;
use crate::text::shortened;

/// Maximum characters of a panic's message.
const MAX_PANIC: usize = 1_000;

/// The result of a call's thread.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) metadata: Map<String, Value>,
    pub(super) result: Result<(Output, Delivered), ToolError>,
}

impl Done {
    pub(super) fn failed(error: CallError<'_>) -> Self {
        Self { metadata: Map::new(), result: Err(error.into()) }
    }
}

/// The tokens of a call.
#[derive(Clone)]
pub(super) struct Tokens {
    /// The token of the caller.
    caller: Cancel,
    /// The same with the deadline of the call.
    call: Cancel,
    /// A child for the tool: a tool that cancels its own token to end its helpers has not been
    /// stopped.
    pub(super) tool: Cancel,
}

impl Tokens {
    pub(super) fn new(context: &Context) -> Self {
        let caller = context.cancel.clone();
        let deadline = Instant::now().checked_add(context.timeout);
        let call = deadline.map_or_else(|| caller.child(), |deadline| caller.with_deadline(deadline));
        let tool = call.child();
        Self { caller, call, tool }
    }

    /// The reason to stop the tool, if there is one.
    pub(super) fn reason(&self) -> Option<Reason> {
        if self.caller.is_cancelled() {
            Some(Reason::Cancelled)
        } else if self.call.is_cancelled() {
            Some(Reason::Deadline)
        } else {
            None
        }
    }

    /// The time until the deadline.
    pub(super) fn remaining(&self) -> Option<Duration> {
        self.call.remaining()
    }
}

/// The state that the two threads of a call share.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct State {
    /// The latest progress, until it is reported.
    pub(super) progress: Option<Progress>,
    /// The most bytes of any progress.
    furthest: Option<u64>,
    pub(super) stop: Option<Reason>,
    pub(super) phase: Phase,
    pub(super) done: Option<Done>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// The tool runs.
    #[default]
    Running,
    /// It has returned, and its result is being delivered.
    Ended,
    /// The caller no longer waits for it.
    Abandoned,
}

/// The way a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Before it was asked to stop.
    InTime,
    /// After that.
    Stopped(Reason),
    /// After the caller stopped waiting.
    Unheeded,
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the tool has returned. It may have noticed the reason to stop before the caller's
    /// thread did.
    pub(super) fn ended(&self, tokens: &Tokens) -> Ended {
        let mut state = self.lock();
        if state.phase == Phase::Abandoned {
            return Ended::Unheeded;
        }
        state.phase = Phase::Ended;
        state.stop.or_else(|| tokens.reason()).map_or(Ended::InTime, Ended::Stopped)
    }

    pub(super) fn finish(&self, done: Done) {
        self.lock().done = Some(done);
        self.changed.notify_one();
    }

    /// Waits for a change, at most `pause`. The state may also be unchanged.
    pub(super) fn wait(&self, state: MutexGuard<'_, State>, pause: Duration) {
        drop(self.changed.wait_timeout(state, pause));
    }

    pub(super) fn progress_handle(self: &Arc<Self>) -> ProgressHandle {
        let shared = Arc::clone(self);
        ProgressHandle(Arc::new(move |progress: Progress| {
            let mut state = shared.lock();
            if state.furthest.is_none_or(|furthest| progress.bytes > furthest) {
                state.furthest = Some(progress.bytes);
                state.progress = Some(progress);
                shared.changed.notify_one();
            }
        }))
    }
}

/// Runs code of the host; `Err` is the message of its panic. The state that it changed is not used
/// after a panic.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("without a message");
    shortened(text, MAX_PANIC).unwrap_or_else(|| text.to_owned())
}

/// Adds a warning to a result's metadata, after the existing ones.
pub(super) fn warn(metadata: &mut Map<String, Value>, warning: &str) {
    let before = metadata.get("warning").and_then(Value::as_str);
    let all = before.map_or_else(|| warning.to_owned(), |before| format!("{before}; {warning}"));
    metadata.insert("warning".to_owned(), all.into());
}
