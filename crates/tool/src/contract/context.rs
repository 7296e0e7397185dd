//! The context of a call.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use trommel_base::Cancel;

/// The default timeout of a call.
pub const TIMEOUT: Duration = Duration::from_mins(2);

/// The default for the most bytes that a tool may return without streaming.
pub const MAX_OUTPUT_SIZE: usize = 100_000;

/// The context of a call: where, for whom, and within which limits it runs.
///
/// In JSON the timeout is in seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Context {
    /// The folder that relative paths start at.
    pub working_dir: PathBuf,
    /// The session the call belongs to.
    pub session_id: Option<String>,
    /// The agent that calls.
    pub agent_id: Option<String>,
    /// True if the tool only describes what it would do.
    pub dry_run: bool,
    /// The time limit of the call; [`Duration::MAX`] for no limit.
    #[serde(serialize_with = "seconds", deserialize_with = "duration")]
    pub timeout: Duration,
    /// The most bytes that the tool may return without streaming.
    pub max_output_size: usize,
    /// Metadata of the host.
    pub metadata: Map<String, Value>,
    /// The conversation the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The message the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Cancels the calls made with this context. The executor never cancels it.
    #[serde(skip)]
    pub cancel: Cancel,
}

impl Default for Context {
    fn default() -> Self {
        Self::new(".")
    }
}

impl Context {
    /// A context with the default limits.
    pub fn new(working_dir: impl Into<PathBuf>) -> Self {
        Self {
            working_dir: working_dir.into(),
            session_id: None,
            agent_id: None,
            dry_run: false,
            timeout: TIMEOUT,
            max_output_size: MAX_OUTPUT_SIZE,
            metadata: Map::new(),
            conversation_id: None,
            message_id: None,
            cancel: Cancel::new(),
        }
    }

    /// Sets how long a call may run.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets if tools only describe what they would do.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Sets the token that cancels the calls.
    #[must_use]
    pub fn cancelled_by(mut self, cancel: Cancel) -> Self {
        self.cancel = cancel;
        self
    }
}

/// Compares all but the token.
impl PartialEq for Context {
    fn eq(&self, other: &Self) -> bool {
        self.working_dir == other.working_dir
            && self.session_id == other.session_id
            && self.agent_id == other.agent_id
            && self.dry_run == other.dry_run
            && self.timeout == other.timeout
            && self.max_output_size == other.max_output_size
            && self.metadata == other.metadata
            && self.conversation_id == other.conversation_id
            && self.message_id == other.message_id
    }
}

/// Seconds, or null for no limit.
fn seconds<S: Serializer>(timeout: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    if *timeout == Duration::MAX {
        serializer.serialize_none()
    } else if timeout.subsec_nanos() == 0 {
        serializer.serialize_u64(timeout.as_secs())
    } else {
        serializer.serialize_f64(timeout.as_secs_f64())
    }
}

/// Whole seconds are read as integers: a float would round large ones.
#[derive(Deserialize)]
#[serde(untagged)]
enum Seconds {
    Whole(u64),
    Fraction(f64),
}

fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    match Option::deserialize(deserializer)? {
        None => Ok(Duration::MAX),
        Some(Seconds::Whole(seconds)) => Ok(Duration::from_secs(seconds)),
        Some(Seconds::Fraction(seconds)) => {
            Duration::try_from_secs_f64(seconds).map_err(serde::de::Error::custom)
        }
    }
}
