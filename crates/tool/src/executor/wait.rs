//! The thread of the caller during a call: it reports progress, and stops the tool when it has to.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tracing::Span;
use trommel_base::Reason;

use super::error::CallError;
use super::job::Job;
use super::shared::{Done, Phase, Shared, Tokens, warn};
use crate::contract::host::Event;

/// The interval at which the token is checked.
const TICK: Duration = Duration::from_millis(10);

/// Runs a call on a thread of its own, and waits for it as long as it may take.
pub(super) fn run(job: Job, grace: Duration, events: &mut dyn FnMut(Event<'_>)) -> Done {
    let timeout = job.context.timeout;
    if let Some(reason @ Reason::Cancelled) = job.tokens.reason() {
        return Done::failed(CallError::Stopped { reason, timeout });
    }
    let wait = Wait { timeout, tokens: job.tokens.clone(), grace };
    let shared = Arc::new(Shared::default());
    let name = job.name().to_owned();
    let theirs = Arc::clone(&shared);
    let (subscriber, span) = (tracing::dispatcher::get_default(Clone::clone), Span::current());
    let spawned = thread::Builder::new().name(format!("tool {name}")).spawn(move || {
        // The tool logs to its caller's subscriber, in the caller's span.
        let done = tracing::dispatcher::with_default(&subscriber, || span.in_scope(|| job.run(&theirs)));
        drop(job);
        if let Some(done) = done {
            theirs.finish(done);
        }
    });
    match spawned {
        Ok(thread) => wait.until_done(&name, &shared, &|| thread.is_finished(), events),
        Err(cause) => Done::failed(CallError::NoThread { tool: &name, cause }),
    }
}

struct Wait {
    timeout: Duration,
    tokens: Tokens,
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
            // Checked before the state: a thread that is finished has left its result there.
            let is_gone = is_finished();
            let mut state = shared.lock();
            if let Some(progress) = state.progress.take() {
                drop(state);
                events(Event::Progress(progress));
                continue;
            }
            if let Some(done) = state.done.take() {
                return done;
            }
            if is_gone {
                let message = "its thread ended without a result";
                return Done::failed(CallError::Panicked { tool: name, message });
            }
            if let (None, Phase::Running, Some(reason)) = (stopped_at, state.phase, self.tokens.reason()) {
                state.stop = Some(reason);
                stopped_at = Some(Instant::now());
                // Some work watches only the flag of the token, which a deadline or a parent does
                // not raise.
                self.tokens.tool.cancel();
            }
            if let (Some(at), Phase::Running, Some(reason)) = (stopped_at, state.phase, state.stop)
                && at.elapsed() >= self.grace
            {
                state.phase = Phase::Abandoned;
                return self.abandoned(reason);
            }
            shared.wait(state, self.pause(stopped_at));
        }
    }

    /// The time until the next check.
    fn pause(&self, stopped_at: Option<Instant>) -> Duration {
        let next = match stopped_at {
            Some(at) => Some(self.grace.saturating_sub(at.elapsed())),
            None => self.tokens.remaining(),
        };
        next.map_or(TICK, |next| next.min(TICK))
    }

    fn abandoned(&self, reason: Reason) -> Done {
        let mut done = Done::failed(CallError::Stopped { reason, timeout: self.timeout });
        done.metadata.insert("abandoned".to_owned(), true.into());
        warn(
            &mut done.metadata,
            "the tool did not stop when it was asked to, and its thread was left behind",
        );
        done
    }
}
