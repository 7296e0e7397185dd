//! What the thread that called does meanwhile: it tells progress, and asks the tool to stop when it has to.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tracing::Span;

use super::job::{Done, Job};
use crate::call::Meter;
use crate::cancel::CancelFlag;
use crate::context::Context;
use crate::error::{ErrorKind, ToolError};
use crate::event::Event;

/// How often the context's flag is looked at.
const TICK: Duration = Duration::from_millis(10);

/// What the two threads of a call share.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// How far the tool is, until it is told.
    progress: Option<(u64, Option<u64>)>,
    /// How far it ever was.
    furthest: Option<u64>,
    stop: Option<Stop>,
    phase: Phase,
    done: Option<Done>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    /// The tool runs.
    #[default]
    Running,
    /// It has returned, and its result is being delivered.
    Ended,
    /// Nobody waits for it any more.
    Abandoned,
}

/// Why a tool was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    TimedOut,
    Cancelled,
}

/// How a tool ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// Before it was asked to stop.
    InTime,
    /// After that.
    Stopped(Stop),
    /// When nobody waited for it any more.
    Unheeded,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tool has returned.
    pub(super) fn ended(&self) -> Ended {
        let mut state = self.lock();
        if state.phase == Phase::Abandoned {
            return Ended::Unheeded;
        }
        state.phase = Phase::Ended;
        state.stop.map_or(Ended::InTime, Ended::Stopped)
    }

    fn finish(&self, done: Done) {
        self.lock().done = Some(done);
        self.changed.notify_one();
    }

    pub(super) fn meter(self: &Arc<Self>) -> Meter {
        let shared = Arc::clone(self);
        Meter(Arc::new(move |done, total| {
            let mut state = shared.lock();
            if state.furthest.is_none_or(|furthest| done > furthest) {
                state.furthest = Some(done);
                state.progress = Some((done, total));
                shared.changed.notify_one();
            }
        }))
    }
}

/// Runs a call on a thread of its own and waits for it, as long as it may take.
pub(super) fn run(job: Job, grace: Duration, events: &mut dyn FnMut(Event<'_>)) -> Done {
    let wait =
        Wait { context: job.context.clone(), cancel: job.cancel.clone(), deadline: job.deadline, grace };
    if wait.context.cancel.is_cancelled() {
        return Done::failed(Stop::Cancelled.error(&wait.context));
    }
    let shared = Arc::new(Shared::default());
    let name = job.name().to_owned();
    let theirs = Arc::clone(&shared);
    let (subscriber, span) = (tracing::dispatcher::get_default(Clone::clone), Span::current());
    let spawned = thread::Builder::new().name(format!("tool {name}")).spawn(move || {
        // What the tool logs goes where its caller's logs go, and belongs to the caller's span.
        let done = tracing::dispatcher::with_default(&subscriber, || span.in_scope(|| job.run(&theirs)));
        drop(job);
        if let Some(done) = done {
            theirs.finish(done);
        }
    });
    match spawned {
        Ok(thread) => wait.until_done(&name, &shared, &|| thread.is_finished(), events),
        Err(error) => {
            let message = format!("Tool {name} cannot run: there is no thread for it: {error}");
            Done::failed(ToolError::new(ErrorKind::Failed, message))
        }
    }
}

struct Wait {
    context: Context,
    cancel: CancelFlag,
    deadline: Option<Instant>,
    grace: Duration,
}

impl Wait {
    fn until_done(
        &self,
        name: &str,
        shared: &Shared,
        is_finished: &dyn Fn() -> bool,
        events: &mut dyn FnMut(Event<'_>),
    ) -> Done {
        let mut stopped_at = None;
        loop {
            // Asked before the state is, so that what a thread leaves behind when it ends is seen.
            let is_gone = is_finished();
            let mut state = shared.lock();
            if let Some((done, total)) = state.progress.take() {
                drop(state);
                events(Event::Progress { done, total });
                continue;
            }
            if let Some(done) = state.done.take() {
                return done;
            }
            if is_gone {
                return Done::panicked(name, "its thread ended without a result");
            }
            if let (None, Phase::Running, Some(stop)) = (stopped_at, state.phase, self.stop()) {
                state.stop = Some(stop);
                stopped_at = Some(Instant::now());
                self.cancel.cancel();
            }
            if let (Some(at), Phase::Running, Some(stop)) = (stopped_at, state.phase, state.stop)
                && at.elapsed() >= self.grace
            {
                state.phase = Phase::Abandoned;
                return self.abandoned(stop);
            }
            let pause = self.pause(stopped_at);
            // The state is looked at again in any case.
            drop(shared.changed.wait_timeout(state, pause));
        }
    }

    /// Whether the tool is to stop.
    fn stop(&self) -> Option<Stop> {
        if self.context.cancel.is_cancelled() {
            Some(Stop::Cancelled)
        } else {
            self.deadline.filter(|deadline| Instant::now() >= *deadline).map(|_| Stop::TimedOut)
        }
    }

    /// How long nothing can happen that has to be noticed.
    fn pause(&self, stopped_at: Option<Instant>) -> Duration {
        let next = match stopped_at {
            Some(at) => at.checked_add(self.grace),
            None => self.deadline,
        };
        next.map_or(TICK, |next| next.saturating_duration_since(Instant::now()).min(TICK))
    }

    fn abandoned(&self, stop: Stop) -> Done {
        let mut done = Done::failed(stop.error(&self.context));
        done.metadata.insert("abandoned".to_owned(), true.into());
        super::warn(
            &mut done.metadata,
            "the tool did not stop when it was asked to, and its thread was left behind",
        );
        done
    }
}
