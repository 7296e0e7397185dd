//! Retries with increasing pauses and a limit.

use std::thread;
use std::time::{Duration, Instant};

use trommel_session::Watch;

use crate::error::{Error, ErrorKind, Result};

/// Limits of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// Maximum attempts, including the first.
    pub attempts: u32,
    /// Time after which no attempt may still run.
    pub within: Duration,
    /// The pause before the second attempt; each later one is twice as long.
    pub first: Duration,
    /// Maximum pause.
    pub max_pause: Duration,
}

impl Default for Retry {
    /// At most 9 attempts within 60 seconds.
    fn default() -> Self {
        Self {
            attempts: 9,
            within: Duration::from_mins(1),
            first: Duration::from_millis(200),
            max_pause: Duration::from_secs(15),
        }
    }
}

/// The failure of an attempt.
#[derive(Debug)]
#[non_exhaustive]
pub enum AttemptError {
    /// A retry cannot help.
    Permanent(Error),
    /// A retry may succeed, but not before this time if the storage declared one.
    Transient(Error, Option<Duration>),
}

impl AttemptError {
    /// The error, for callers that do not retry.
    pub fn into_error(self) -> Error {
        match self {
            Self::Permanent(error) | Self::Transient(error, _) => error,
        }
    }
}

/// The interval at which sleeping checks for cancellation.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl Retry {
    /// Runs `attempt` until it succeeds, fails for good, or the limits are reached; then returns
    /// the last error. Each attempt gets the remaining time, which it must not exceed.
    pub fn run<T>(
        &self,
        watch: &Watch<'_>,
        mut attempt: impl FnMut(Duration) -> std::result::Result<T, AttemptError>,
    ) -> Result<T> {
        let since = Instant::now();
        let mut wait = self.first;
        for count in 1.. {
            watch.check()?;
            let (error, at_least) = match attempt(self.within.saturating_sub(since.elapsed())) {
                Ok(done) => return Ok(done),
                Err(AttemptError::Permanent(error)) => return Err(error),
                Err(AttemptError::Transient(error, at_least)) => (error, at_least),
            };
            let pause = spread(wait.min(self.max_pause), count).max(at_least.unwrap_or(Duration::ZERO));
            // Waiting is pointless if no time is left for another attempt.
            if count >= self.attempts || since.elapsed() + pause >= self.within {
                return Err(error);
            }
            sleep(pause, watch)?;
            wait = wait.saturating_mul(2);
        }
        Err(ErrorKind::Cancelled.into())
    }
}

/// Returns between half and all of a pause, so that writers that failed together do not retry
/// together.
pub(crate) fn spread(wait: Duration, count: u32) -> Duration {
    // The process, thread, and attempt of two writers are rarely equal, so no random source is
    // needed.
    let mut hash = blake3::Hasher::new();
    hash.update(&std::process::id().to_le_bytes());
    hash.update(&count.to_le_bytes());
    hash.update(format!("{:?}", thread::current().id()).as_bytes());
    let [part, ..] = *hash.finalize().as_bytes();
    let part = u32::from(part);
    wait / 2 + wait * part / (2 * 255)
}

/// Sleeps, unless cancelled.
pub(crate) fn sleep(pause: Duration, watch: &Watch<'_>) -> Result<()> {
    let end = Instant::now() + pause;
    loop {
        watch.check()?;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(POLL_INTERVAL));
    }
}
