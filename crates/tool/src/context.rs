//! The surroundings of a call.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::cancel::CancelFlag;

/// How long a tool may run unless the context says otherwise.
pub const TIMEOUT: Duration = Duration::from_mins(2);

/// How many bytes a tool may return without streaming unless the context says otherwise.
pub const MAX_OUTPUT_SIZE: usize = 100_000;

/// The surroundings of a call: where, for whom, and within which bounds it runs.
///
/// In JSON the timeout stands in seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Context {
    /// The folder that relative paths begin at.
    pub working_dir: PathBuf,
    /// The session the call belongs to.
    pub session_id: Option<String>,
    /// The agent that calls.
    pub agent_id: Option<String>,
    /// Whether the tool is only to say what it would do.
    pub dry_run: bool,
    /// How long it may run; [`Duration::MAX`] for as long as it likes.
    #[serde(serialize_with = "seconds", deserialize_with = "duration")]
    pub timeout: Duration,
    /// How many bytes it may return without streaming.
    pub max_output_size: usize,
    /// What the host adds.
    pub metadata: Map<String, Value>,
    /// The conversation the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation_id: Option<String>,
    /// The message the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// Ends the calls made with this context when it is raised. The executor never raises it.
    #[serde(skip)]
    pub cancel: CancelFlag,
}

impl Default for Context {
    fn default() -> Self {
        Self::new(".")
    }
}

impl Context {
    /// A context with the usual bounds.
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
            cancel: CancelFlag::new(),
        }
    }

    /// Sets how long a tool may run.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Lets tools only say what they would do.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Gives the flag that ends the calls.
    #[must_use]
    pub fn cancelled_by(mut self, flag: CancelFlag) -> Self {
        self.cancel = flag;
        self
    }
}

/// Equal but for the flag.
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

/// Seconds, or null for as long as it likes.
fn seconds<S: Serializer>(timeout: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    if *timeout == Duration::MAX {
        serializer.serialize_none()
    } else if timeout.subsec_nanos() == 0 {
        serializer.serialize_u64(timeout.as_secs())
    } else {
        serializer.serialize_f64(timeout.as_secs_f64())
    }
}

/// Whole seconds are read as such, so that any number of them comes back as it was.
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
