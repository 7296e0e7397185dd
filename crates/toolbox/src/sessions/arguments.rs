//! The arguments of `session`, all on one level with the operation.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trommel_session::FIELD_CHARS;
use trommel_tool::Failure;

use super::access::SyncRequest;
use super::failures::refused;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Operation {
    List,
    Get,
    Search,
    GetEvents,
    AnalyzeEvents,
    Rewind,
    Undo,
    Diagnose,
    Repair,
    SyncStatus,
    Sync,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Operation {
    /// Returns the names of the arguments that the operation takes besides `max_chars`.
    fn argument_names(self) -> &'static [&'static str] {
        match self {
            Self::List => &["project", "date_range", "top_level_only", "include_cloud", "limit", "offset"],
            Self::Get => {
                &["session_id", "include_transcript", "include_events_summary", "limit", "offset", "max_text"]
            }
            Self::Search => &[
                "query",
                "scope",
                "project",
                "date_range",
                "include_cloud",
                "limit",
                "offset",
                "context_lines",
            ],
            Self::GetEvents => &["session_id", "event_types", "fields", "errors_only", "limit", "offset"],
            Self::AnalyzeEvents => {
                &["session_id", "analysis_type", "limit", "offset", "field", "by", "event_types"]
            }
            Self::Rewind => &["session_id", "to_turn", "to_message", "before_timestamp", "dry_run"],
            Self::Repair => &["session_id", "dry_run"],
            Self::Undo | Self::Diagnose | Self::SyncStatus => &["session_id"],
            Self::Sync => &["session_id", "resolve", "all", "dry_run"],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Analysis {
    Summary,
    Errors,
    Timeline,
    Usage,
    Aggregate,
}

impl fmt::Display for Analysis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Analysis {
    const ALL: [Self; 5] = [Self::Summary, Self::Errors, Self::Timeline, Self::Usage, Self::Aggregate];

    /// Returns the names of the arguments that the analysis takes, among those that only some
    /// analyses take.
    fn argument_names(self) -> &'static [&'static str] {
        match self {
            Self::Summary => &[],
            Self::Errors | Self::Timeline => &["limit", "offset"],
            Self::Usage => &["offset"],
            Self::Aggregate => &["offset", "field", "by", "event_types"],
        }
    }
}

/// The largest values that the arguments of a call may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// The maximum number of rows in an answer.
    pub rows: usize,
    /// The maximum length of an answer in characters.
    pub chars: usize,
    /// The maximum length of a message in characters. Without a limit, a message that does not fit
    /// an answer gets one of its own.
    pub text: Option<usize>,
}

impl Bounds {
    /// The bounds for a program, whose memory use depends on what it requests.
    pub const WIDE: Self = Self { rows: trommel_session::MAX_ROWS, chars: 8_000_000, text: None };
}

impl Default for Bounds {
    /// The bounds for a model.
    fn default() -> Self {
        Self { rows: 1_000, chars: 100_000, text: Some(20_000) }
    }
}

/// The default length of an answer in characters.
const DEFAULT_CHARS: usize = 30_000;

/// The smallest `max_chars` of a call.
const MIN_ANSWER_CHARS: usize = 1_000;

fn default_chars() -> usize {
    DEFAULT_CHARS
}

fn yes() -> bool {
    true
}

/// The arguments as deserialized. The metadata of the tool restricts some of them further.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// What to do
    pub(super) operation: Operation,
    /// The session's ID, or a unique prefix of it; project/id if two projects have the same ID
    pub(super) session_id: Option<String>,
    /// list, search: sessions of these projects only: a name from lists, a directory, or a part of
    /// one, such as app
    pub(super) project: Option<String>,
    #[schemars(
        description = "Sessions that existed on these days: today, yesterday, this_week, last_week (the seven \
        days before today), last_month, 2026-03-01, or 2026-03-01:2026-03-31 with either end omitted"
    )]
    pub(super) date_range: Option<String>,
    /// list: omit sessions that other sessions spawned, such as sub-agents
    #[serde(default = "yes")]
    pub(super) top_level_only: bool,
    /// list, search: include sessions that are only in the cloud; `connected` says whether it was
    /// reached
    #[serde(default = "yes")]
    pub(super) include_cloud: bool,
    /// search: the text, case-insensitive
    pub(super) query: Option<String>,
    /// search: descriptions, messages, or events; all: events only of sessions without another
    /// match
    #[schemars(extend("enum" = ["metadata", "transcript", "events", "all"], "default" = "all"))]
    pub(super) scope: Option<String>,
    /// search: lines of the same text around a match
    #[serde(default = "context_lines")]
    #[schemars(range(max = 20))]
    pub(super) context_lines: usize,
    /// get: include a page of messages
    #[serde(default)]
    pub(super) include_transcript: bool,
    /// get: include counts, times, and errors of the events
    #[serde(default)]
    pub(super) include_events_summary: bool,
    /// get: maximum characters of a message
    #[schemars(extend("default" = 1_000))]
    pub(super) max_text: Option<usize>,
    /// Maximum rows; by default 50 sessions or messages, 20 matches, 100 events, errors, or turns
    #[schemars(range(min = 1))]
    pub(super) limit: Option<usize>,
    /// Rows to skip
    #[schemars(extend("default" = 0))]
    pub(super) offset: Option<u64>,
    /// Maximum characters of the answer
    #[serde(default = "default_chars")]
    #[schemars(range(min = MIN_ANSWER_CHARS))]
    pub(super) max_chars: usize,
    #[schemars(description = "get_events, aggregate: only events of these types; a name may end with *")]
    #[serde(default)]
    pub(super) event_types: Vec<String>,
    #[schemars(description = format!(
        "get_events: paths of names with dots, such as data.usage.input_tokens; one longer than {FIELD_CHARS} characters is \
         omitted and named in `omitted`. Without any: the time, the type, the level, and small known ones"
    ))]
    #[serde(default)]
    pub(super) fields: Vec<String>,
    #[schemars(description = "get_events: only events that report an error")]
    #[serde(default)]
    pub(super) errors_only: bool,
    #[schemars(description = "analyze_events: the kind of analysis")]
    analysis_type: Option<Analysis>,
    #[schemars(description = "aggregate: the field with the number, such as data.duration_ms")]
    field: Option<String>,
    /// aggregate: the field to group the numbers by, such as data.model
    pub(super) by: Option<String>,
    /// rewind: the last turn to keep, from 1
    #[schemars(range(min = 1))]
    pub(super) to_turn: Option<u64>,
    /// rewind: the last message to keep, from 0
    pub(super) to_message: Option<u64>,
    /// rewind: remove everything from this time on, such as 2026-03-01T09:00:00Z
    pub(super) before_timestamp: Option<String>,
    /// rewind, repair: only report what would be done
    #[schemars(extend("default" = true))]
    dry_run: Option<bool>,
    /// sync: the side that wins a conflict; merge appends the local lines to the remote ones.
    /// Without it, conflicts stay
    #[schemars(extend("enum" = ["local", "remote", "merge"]))]
    resolve: Option<String>,
    /// sync: also download sessions that are only in the cloud
    #[serde(default)]
    all: bool,
}

fn context_lines() -> usize {
    2
}

impl Arguments {
    /// Refuses an argument that the operation does not take, and arguments that cannot be combined.
    /// `given` has the names of the call's arguments.
    pub(super) fn check<'n>(&self, given: impl Iterator<Item = &'n str>) -> Result<(), Failure> {
        let takes = self.operation.argument_names();
        let given: Vec<&str> = given.filter(|name| !matches!(*name, "operation" | "max_chars")).collect();
        if let Some(name) = given.iter().find(|name| !takes.contains(name)) {
            return Err(refused(format!("unknown argument `{name}`; it takes {}", takes.join(", "))));
        }
        if self.all && self.session_id.is_some() {
            return Err(refused("`all` applies to every session: omit either `all` or `session_id`"));
        }
        let Some(analysis) = self.analysis_type else { return Ok(()) };
        let selective = Analysis::ALL.iter().flat_map(|other| other.argument_names());
        let unfit = |name: &&&str| {
            !analysis.argument_names().contains(name) && selective.clone().any(|all| all == *name)
        };
        match given.iter().find(unfit) {
            None => Ok(()),
            Some(name) => Err(refused(format!("the analysis {analysis} takes no `{name}`"))),
        }
    }

    pub(super) fn session_id(&self) -> Result<&str, Failure> {
        let id = self.session_id.as_deref();
        id.ok_or_else(|| {
            refused("pass the session's ID, or a prefix of it, as `session_id`; `list` shows the IDs")
        })
    }

    pub(super) fn analysis(&self) -> Result<Analysis, Failure> {
        self.analysis_type.ok_or_else(|| {
            let names = Analysis::ALL.map(|analysis| analysis.to_string()).join(", ");
            refused(format!("pass the kind of analysis as `analysis_type`: {names}"))
        })
    }

    /// Returns the field to aggregate.
    pub(super) fn field(&self) -> Result<&str, Failure> {
        let field = self.field.as_deref();
        field.ok_or_else(|| refused("pass the field with the numbers as `field`, such as data.duration_ms"))
    }

    /// True if the call only reports what would be done. This is the default of changes, but not of
    /// a sync.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run.unwrap_or(self.operation != Operation::Sync)
    }

    /// True if a sync includes sessions that are only in the cloud.
    pub(super) fn includes_cloud_only(&self) -> bool {
        self.all
    }

    /// Returns the request of a sync.
    pub(super) fn sync(&self) -> SyncRequest<'_> {
        SyncRequest {
            session_id: self.session_id.as_deref(),
            resolve: self.resolve.as_deref(),
            all: self.all,
            dry_run: self.is_dry_run(),
        }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset.unwrap_or(0)
    }

    /// Returns the maximum length of all rows together, which leaves space for the text around
    /// them.
    pub(super) fn row_chars(&self) -> usize {
        self.max_chars / 4 * 3
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn arguments_of_other_operations_are_refused() {
        let check = |json: Value| {
            let arguments: Arguments = serde_json::from_value(json.clone()).unwrap();
            arguments.check(json.as_object().unwrap().keys().map(String::as_str))
        };
        let refused = |json: Value| check(json).unwrap_err().message;
        assert_eq!(
            refused(json!({"operation": "undo", "session_id": "a", "limit": 3})),
            "unknown argument `limit`; it takes session_id"
        );
        let summary = json!({"operation": "analyze_events", "analysis_type": "summary", "field": "x"});
        assert_eq!(refused(summary), "the analysis summary takes no `field`");
        let usage =
            json!({"operation": "analyze_events", "session_id": "a", "analysis_type": "usage", "offset": 3});
        assert!(check(usage).is_ok());
    }
}
