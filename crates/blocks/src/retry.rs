//! Trying again, later each time, and not for ever.

use std::thread;
use std::time::{Duration, Instant};

use trommel_session::Watch;

use crate::error::{Error, ErrorKind, Result};

/// How often, and for how long, something is tried that may succeed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// Tries at most, the first one included.
    pub tries: u32,
    /// No try takes longer than until this after the first began.
    pub within: Duration,
    /// The wait before the second try; each later one is twice as long.
    pub first: Duration,
    /// No wait is longer.
    pub longest: Duration,
}

impl Default for Retry {
    /// At most 9 tries within 60 seconds.
    fn default() -> Self {
        Self {
            tries: 9,
            within: Duration::from_mins(1),
            first: Duration::from_millis(200),
            longest: Duration::from_secs(15),
        }
    }
}

/// How a try failed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failed {
    /// Trying again cannot help.
    Finally(Error),
    /// It may succeed later; not before this time, where the storage said so.
    ForNow(Error, Option<Duration>),
}

impl Failed {
    /// The error, for a caller that does not try again.
    pub fn into_error(self) -> Error {
        match self {
            Self::Finally(error) | Self::ForNow(error, _) => error,
        }
    }
}

/// How long a sleep lasts before it is looked whether to end.
const NAP: Duration = Duration::from_millis(20);

impl Retry {
    /// Tries until it succeeds, fails finally, or the tries or the time are used up; the last
    /// failure then. Each try is told how much time is left, which it is to keep to.
    pub fn run<T>(
        &self,
        watch: &Watch<'_>,
        mut attempt: impl FnMut(Duration) -> std::result::Result<T, Failed>,
    ) -> Result<T> {
        let since = Instant::now();
        let mut wait = self.first;
        for count in 1.. {
            watch.check()?;
            let (error, at_least) = match attempt(self.within.saturating_sub(since.elapsed())) {
                Ok(done) => return Ok(done),
                Err(Failed::Finally(error)) => return Err(error),
                Err(Failed::ForNow(error, at_least)) => (error, at_least),
            };
            let pause = spread(wait.min(self.longest), count).max(at_least.unwrap_or(Duration::ZERO));
            if count >= self.tries || since.elapsed() + pause >= self.within {
                return Err(error);
            }
            sleep(pause, watch)?;
            wait = wait.saturating_mul(2);
        }
        Err(ErrorKind::Cancelled.into())
    }
}

/// Between half of a wait and all of it, so that writers who failed together do not try again
/// together.
pub(crate) fn spread(wait: Duration, count: u32) -> Duration {
    let mut hash = blake3::Hasher::new();
    hash.update(&std::process::id().to_le_bytes());
    hash.update(&count.to_le_bytes());
    hash.update(format!("{:?}", thread::current().id()).as_bytes());
    let [part, ..] = *hash.finalize().as_bytes();
    let part = u32::from(part);
    wait / 2 + wait * part / (2 * 255)
}

/// Waits, unless it is to end.
pub(crate) fn sleep(pause: Duration, watch: &Watch<'_>) -> Result<()> {
    let end = Instant::now() + pause;
    loop {
        watch.check()?;
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        thread::sleep(left.min(NAP));
    }
}
