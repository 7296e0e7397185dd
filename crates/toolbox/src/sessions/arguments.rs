//! The arguments of `session`, flat beside the operation.

use serde::Deserialize;
use trommel_tool::Failure;

use super::place::SyncRequest;
use super::refused;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
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

impl Operation {
    pub(super) const ALL: [Self; 11] = [
        Self::List,
        Self::Get,
        Self::Search,
        Self::GetEvents,
        Self::AnalyzeEvents,
        Self::Rewind,
        Self::Undo,
        Self::Diagnose,
        Self::Repair,
        Self::SyncStatus,
        Self::Sync,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Get => "get",
            Self::Search => "search",
            Self::GetEvents => "get_events",
            Self::AnalyzeEvents => "analyze_events",
            Self::Rewind => "rewind",
            Self::Undo => "undo",
            Self::Diagnose => "diagnose",
            Self::Repair => "repair",
            Self::SyncStatus => "sync_status",
            Self::Sync => "sync",
        }
    }

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

/// What to find out about events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Analysis {
    Summary,
    Errors,
    Timeline,
    Usage,
    Aggregate,
}

impl Analysis {
    pub(super) const ALL: [Self; 5] =
        [Self::Summary, Self::Errors, Self::Timeline, Self::Usage, Self::Aggregate];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Errors => "errors",
            Self::Timeline => "timeline",
            Self::Usage => "usage",
            Self::Aggregate => "aggregate",
        }
    }

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

/// Characters of an answer when nothing is said.
pub(super) const DEFAULT_CHARS: usize = 30_000;

/// Characters of an answer that can be asked for at least.
pub(super) const LEAST_CHARS: usize = 1_000;

/// The arguments as they come.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Arguments {
    pub(super) operation: Operation,
    pub(super) session_id: Option<String>,
    pub(super) project: Option<String>,
    pub(super) date_range: Option<String>,
    pub(super) top_level_only: Option<bool>,
    pub(super) include_cloud: Option<bool>,
    pub(super) limit: Option<usize>,
    pub(super) offset: Option<u64>,
    pub(super) include_transcript: Option<bool>,
    pub(super) include_events_summary: Option<bool>,
    pub(super) max_text: Option<usize>,
    pub(super) query: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) context_lines: Option<usize>,
    pub(super) event_types: Option<Vec<String>>,
    pub(super) fields: Option<Vec<String>>,
    pub(super) errors_only: Option<bool>,
    analysis_type: Option<Analysis>,
    field: Option<String>,
    pub(super) by: Option<String>,
    pub(super) to_turn: Option<u64>,
    pub(super) to_message: Option<u64>,
    pub(super) before_timestamp: Option<String>,
    dry_run: Option<bool>,
    settle: Option<String>,
    all: Option<bool>,
    max_chars: Option<usize>,
}

impl Arguments {
    /// An error for an argument that the operation does not take, or not with another.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let takes = self.operation.takes();
        if let Some(name) = self.given().find(|name| !takes.contains(name)) {
            return Err(refused(format!("it takes no `{name}`, but {}", takes.join(", "))));
        }
        if self.is_all() && self.session_id.is_some() {
            return Err(refused("`all` is for every session: leave out either it or `session_id`"));
        }
        let Some(analysis) = self.analysis_type else { return Ok(()) };
        let not_for_all = Analysis::ALL.iter().flat_map(|other| other.takes());
        let unfit =
            |name: &&str| !analysis.takes().contains(name) && not_for_all.clone().any(|all| all == name);
        match self.given().find(unfit) {
            None => Ok(()),
            Some(name) => Err(refused(format!("the analysis {} takes no `{name}`", analysis.name()))),
        }
    }

    /// The names of those that were given.
    fn given(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("session_id", self.session_id.is_some()),
            ("project", self.project.is_some()),
            ("date_range", self.date_range.is_some()),
            ("top_level_only", self.top_level_only.is_some()),
            ("include_cloud", self.include_cloud.is_some()),
            ("limit", self.limit.is_some()),
            ("offset", self.offset.is_some()),
            ("include_transcript", self.include_transcript.is_some()),
            ("include_events_summary", self.include_events_summary.is_some()),
            ("max_text", self.max_text.is_some()),
            ("query", self.query.is_some()),
            ("scope", self.scope.is_some()),
            ("context_lines", self.context_lines.is_some()),
            ("event_types", self.event_types.is_some()),
            ("fields", self.fields.is_some()),
            ("errors_only", self.errors_only.is_some()),
            ("analysis_type", self.analysis_type.is_some()),
            ("field", self.field.is_some()),
            ("by", self.by.is_some()),
            ("to_turn", self.to_turn.is_some()),
            ("to_message", self.to_message.is_some()),
            ("before_timestamp", self.before_timestamp.is_some()),
            ("dry_run", self.dry_run.is_some()),
            ("settle", self.settle.is_some()),
            ("all", self.all.is_some()),
        ];
        given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name)
    }

    pub(super) fn session_id(&self) -> Result<&str, Failure> {
        let id = self.session_id.as_deref();
        id.ok_or_else(|| {
            refused("pass the session's id, or how it begins, as `session_id`; `list` shows them")
        })
    }

    pub(super) fn analysis(&self) -> Result<Analysis, Failure> {
        self.analysis_type.ok_or_else(|| {
            let names = Analysis::ALL.map(Analysis::name).join(", ");
            refused(format!("pass what to find out as `analysis_type`: {names}"))
        })
    }

    /// The field of an aggregation.
    pub(super) fn field(&self) -> Result<&str, Failure> {
        let field = self.field.as_deref();
        field.ok_or_else(|| refused("pass the field with the numbers as `field`, such as data.duration_ms"))
    }

    /// Whether only to tell what would be done. What takes something away is told first; both sides are made the same when it is said.
    pub(super) fn is_dry_run(&self) -> bool {
        self.dry_run.unwrap_or(self.operation != Operation::Sync)
    }

    /// Whether those that lie in the cloud only are meant as well.
    pub(super) fn is_all(&self) -> bool {
        self.all.unwrap_or(false)
    }

    /// The request of a synchronization.
    pub(super) fn sync(&self) -> SyncRequest<'_> {
        SyncRequest {
            session_id: self.session_id.as_deref(),
            settle: self.settle.as_deref(),
            all: self.is_all(),
            dry_run: self.is_dry_run(),
        }
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset.unwrap_or(0)
    }

    pub(super) fn max_chars(&self) -> usize {
        self.max_chars.unwrap_or(DEFAULT_CHARS)
    }

    /// Characters of all rows together, which leaves room for what stands around them.
    pub(super) fn row_chars(&self) -> usize {
        self.max_chars() / 4 * 3
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn names_are_those_that_are_read() {
        for operation in Operation::ALL {
            let read: Operation = serde_json::from_value(json!(operation.name())).unwrap();
            assert_eq!(read, operation);
        }
        for analysis in Analysis::ALL {
            let read: Analysis = serde_json::from_value(json!(analysis.name())).unwrap();
            assert_eq!(read, analysis);
        }
    }

    #[test]
    fn what_is_not_taken_is_refused() {
        let check = |json: Value| serde_json::from_value::<Arguments>(json).unwrap().check();
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
