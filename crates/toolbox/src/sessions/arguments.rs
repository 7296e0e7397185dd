//! The arguments of `session`, flat beside the operation.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use trommel_session::FIELD_CHARS;
use trommel_tool::Failure;

use super::failures::refused;
use super::place::SyncRequest;

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
    /// The arguments it takes besides `max_chars`.
    fn takes(self) -> &'static [&'static str] {
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
            Self::Sync => &["session_id", "settle", "all", "dry_run"],
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

    /// Those of the arguments that not every analysis takes which this one does.
    fn takes(self) -> &'static [&'static str] {
        match self {
            Self::Summary => &[],
            Self::Errors | Self::Timeline => &["limit", "offset"],
            Self::Usage => &["offset"],
            Self::Aggregate => &["offset", "field", "by", "event_types"],
        }
    }
}

/// What a caller may ask for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// Rows of an answer at most.
    pub rows: usize,
    /// Characters of an answer at most.
    pub chars: usize,
    /// Characters of a message at most. Where there is no limit, a message that does not fit an
    /// answer is whole in one of its own.
    pub text: Option<usize>,
}

impl Bounds {
    /// For a program that reads answers by itself: memory follows what it asks for.
    pub const WIDE: Self = Self { rows: trommel_session::MOST_ROWS, chars: 8_000_000, text: None };
}

impl Default for Bounds {
    /// For a model.
    fn default() -> Self {
        Self { rows: 1_000, chars: 100_000, text: Some(20_000) }
    }
}

/// Characters of an answer, unless the call says otherwise.
const DEFAULT_CHARS: usize = 30_000;

/// The fewest characters of an answer that can be asked for.
const LEAST_CHARS: usize = 1_000;

fn default_chars() -> usize {
    DEFAULT_CHARS
}

fn yes() -> bool {
    true
}

/// The arguments as they come. The description of the tool restricts some of them.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// What to do
    pub(super) operation: Operation,
    /// The session's id, or a beginning that no other has; project/id where two projects have the
    /// same
    pub(super) session_id: Option<String>,
    /// list, search: sessions of these projects only: a name from lists, a directory, or a part of
    /// one, such as app
    pub(super) project: Option<String>,
    #[schemars(
        description = "Sessions that were there on these days: today, yesterday, this_week, last_week (the seven \
        days before today), last_month, 2026-03-01, or 2026-03-01:2026-03-31 with either end left out"
    )]
    pub(super) date_range: Option<String>,
    /// list: without sessions that others spawned, such as sub-agents
    #[serde(default = "yes")]
    pub(super) top_level_only: bool,
    /// list, search: also sessions that lie in the cloud only; `connected` says whether it was
    /// reached
    #[serde(default = "yes")]
    pub(super) include_cloud: bool,
    /// search: the text, in either case
    pub(super) query: Option<String>,
    /// search: descriptions, messages, or events; all: events only of sessions where the others
    /// have no match
    #[schemars(extend("enum" = ["metadata", "transcript", "events", "all"], "default" = "all"))]
    pub(super) scope: Option<String>,
    /// search: lines of the same text around a hit
    #[serde(default = "context_lines")]
    #[schemars(range(max = 20))]
    pub(super) context_lines: usize,
    /// get: with a page of messages
    #[serde(default)]
    pub(super) include_transcript: bool,
    /// get: with counts, times and errors of the events
    #[serde(default)]
    pub(super) include_events_summary: bool,
    /// get: characters of a message at most
    #[schemars(extend("default" = 1_000))]
    pub(super) max_text: Option<usize>,
    /// Rows at most; usually 50 sessions or messages, 20 matches, 100 events, errors or turns
    #[schemars(range(min = 1))]
    pub(super) limit: Option<usize>,
    /// Rows to pass over
    #[schemars(extend("default" = 0))]
    pub(super) offset: Option<u64>,
    /// Characters of the answer at most
    #[serde(default = "default_chars")]
    #[schemars(range(min = LEAST_CHARS))]
    pub(super) max_chars: usize,
    #[schemars(description = "get_events, aggregate: events of these types only; a name may end with *")]
    #[serde(default)]
    pub(super) event_types: Vec<String>,
    #[schemars(description = format!(
        "get_events: paths of names with dots, such as data.usage.input_tokens; one longer than {FIELD_CHARS} characters is left \
         out and named in `omitted`. Without any: the time, the type, the level, and small known ones"
    ))]
    #[serde(default)]
    pub(super) fields: Vec<String>,
    #[schemars(description = "get_events: events that tell of an error only")]
    #[serde(default)]
    pub(super) errors_only: bool,
    #[schemars(description = "analyze_events: what to find out")]
    analysis_type: Option<Analysis>,
    #[schemars(description = "aggregate: the field with the number, such as data.duration_ms")]
    field: Option<String>,
    /// aggregate: the field that groups the numbers, such as data.model
    pub(super) by: Option<String>,
    /// rewind: the last turn that stays, from 1
    #[schemars(range(min = 1))]
    pub(super) to_turn: Option<u64>,
    /// rewind: the last message that stays, from 0
    pub(super) to_message: Option<u64>,
    /// rewind: what is of this time or later goes, such as 2026-03-01T09:00:00Z
    pub(super) before_timestamp: Option<String>,
    /// rewind, repair: only tell what would be done
    #[schemars(extend("default" = true))]
    dry_run: Option<bool>,
    /// sync: which side of a conflict counts; merge puts what is here behind what is there. Without
    /// it, both stay as they are
    #[schemars(extend("enum" = ["local", "remote", "merge"]))]
    settle: Option<String>,
    /// sync: also bring here what lies in the cloud only
    #[serde(default)]
    all: bool,
}

fn context_lines() -> usize {
    2
}

impl Arguments {
    /// Refuses an argument that the operation does not take, or not with another. `given` are the
    /// names of the call's arguments.
    pub(super) fn check<'n>(&self, given: impl Iterator<Item = &'n str>) -> Result<(), Failure> {
        let takes = self.operation.takes();
        let given: Vec<&str> = given.filter(|name| !matches!(*name, "operation" | "max_chars")).collect();
        if let Some(name) = given.iter().find(|name| !takes.contains(name)) {
            return Err(refused(format!("it takes no `{name}`, but {}", takes.join(", "))));
        }
        if self.all && self.session_id.is_some() {
            return Err(refused("`all` is for every session: leave out either it or `session_id`"));
        }
        let Some(analysis) = self.analysis_type else { return Ok(()) };
        let not_for_all = Analysis::ALL.iter().flat_map(|other| other.takes());
        let unfit =
            |name: &&&str| !analysis.takes().contains(name) && not_for_all.clone().any(|all| all == *name);
        match given.iter().find(unfit) {
            None => Ok(()),
            Some(name) => Err(refused(format!("the analysis {analysis} takes no `{name}`"))),
        }
    }

    pub(super) fn session_id(&self) -> Result<&str, Failure> {
        let id = self.session_id.as_deref();
        id.ok_or_else(|| {
            refused("pass the session's id, or how it begins, as `session_id`; `list` shows them")
        })
    }

    pub(super) fn analysis(&self) -> Result<Analysis, Failure> {
        self.analysis_type.ok_or_else(|| {
            let names = Analysis::ALL.map(|analysis| analysis.to_string()).join(", ");
            refused(format!("pass what to find out as `analysis_type`: {names}"))
        })
    }

    /// The field of an aggregation.
    pub(super) fn field(&self) -> Result<&str, Failure> {
        let field = self.field.as_deref();
        field.ok_or_else(|| refused("pass the field with the numbers as `field`, such as data.duration_ms"))
    }

    /// True if the call only reports what would be done: a synchronization if it says so, a change
    /// of a session unless it says otherwise.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run.unwrap_or(self.operation != Operation::Sync)
    }

    /// True if sessions that are in the cloud only are included.
    pub(super) fn is_all(&self) -> bool {
        self.all
    }

    /// The request of a synchronization.
    pub(super) fn sync(&self) -> SyncRequest<'_> {
        SyncRequest {
            session_id: self.session_id.as_deref(),
            settle: self.settle.as_deref(),
            all: self.all,
            dry_run: self.is_dry_run(),
        }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset.unwrap_or(0)
    }

    /// Characters of all rows together, which leaves room for the text around them.
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
            "it takes no `limit`, but session_id"
        );
        let summary = json!({"operation": "analyze_events", "analysis_type": "summary", "field": "x"});
        assert_eq!(refused(summary), "the analysis summary takes no `field`");
        let usage =
            json!({"operation": "analyze_events", "session_id": "a", "analysis_type": "usage", "offset": 3});
        assert!(check(usage).is_ok());
    }
}
