//! Invalid arguments.

use std::borrow::Cow;
use std::fmt;

use trommel_base::text::excerpt;

/// An argument with an invalid value, or several that conflict.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestFault {
    /// The session ID is empty.
    EmptyId,
    /// The project is empty.
    EmptyProject,
    /// The search text is empty.
    EmptyText,
    /// The search text is too long.
    LongText {
        /// The maximum number of characters.
        max: usize,
    },
    /// The search text cannot be compiled to a pattern.
    Pattern {
        /// The error of the pattern compiler.
        why: String,
    },
    /// The scope is unknown.
    UnknownScope {
        /// The name.
        given: String,
    },
    /// Too many context lines.
    ContextLines {
        /// The number of lines.
        given: usize,
        /// The maximum.
        max: usize,
    },
    /// A page size of zero, or a too large one.
    Limit {
        /// The number of rows.
        given: usize,
        /// The maximum.
        max: usize,
    },
    /// A character limit too small for any row.
    MaxChars {
        /// The number of characters.
        given: usize,
        /// The minimum.
        min: usize,
    },
    /// Too many fields.
    Fields {
        /// The number of fields.
        count: usize,
        /// The maximum.
        max: usize,
    },
    /// A malformed field path.
    Field {
        /// The text.
        given: String,
        /// The reason.
        why: &'static str,
    },
    /// Too many event types.
    EventTypes {
        /// The number of types.
        count: usize,
        /// The maximum.
        max: usize,
    },
    /// A malformed event type.
    EventType {
        /// The text.
        given: String,
    },
    /// A malformed time.
    Time {
        /// The text.
        given: String,
    },
    /// A malformed date range.
    Days {
        /// The text.
        given: String,
    },
    /// A date range that ends before it starts.
    ReversedDays {
        /// Its first day.
        first: String,
        /// Its last day.
        last: String,
    },
    /// A rewind without a target.
    NoTarget,
    /// A rewind with several targets.
    SeveralTargets,
    /// A rewind to turn 0.
    TurnZero,
    /// The clock is at the latest representable time, so no backup can be named.
    Clock,
}

impl RequestFault {
    /// The argument's name in tool calls. None if the fault is not in a single argument.
    pub const fn argument(&self) -> Option<&'static str> {
        Some(match self {
            Self::EmptyId => "session_id",
            Self::EmptyProject => "project",
            Self::EmptyText | Self::LongText { .. } | Self::Pattern { .. } => "query",
            Self::UnknownScope { .. } => "scope",
            Self::ContextLines { .. } => "context_lines",
            Self::Limit { .. } => "limit",
            Self::MaxChars { .. } => "max_chars",
            Self::Fields { .. } | Self::Field { .. } => "fields",
            Self::EventTypes { .. } | Self::EventType { .. } => "event_types",
            Self::Time { .. } => "before_timestamp",
            Self::Days { .. } | Self::ReversedDays { .. } => "date_range",
            Self::TurnZero => "to_turn",
            Self::NoTarget | Self::SeveralTargets | Self::Clock => return None,
        })
    }

    pub(super) fn help(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::EmptyId => "list sessions to see their ids".into(),
            Self::EmptyProject => "pass its name, its directory, or a part of either".into(),
            Self::EmptyText => "pass a word to search for".into(),
            Self::LongText { .. } => "search for a part of it".into(),
            Self::UnknownScope { .. } => "pass metadata, transcript, events, or all".into(),
            Self::ContextLines { .. } => "pass a smaller number".into(),
            Self::Limit { .. } => "read in pages, with offset".into(),
            Self::MaxChars { .. } => "pass a larger number".into(),
            Self::Fields { .. } => "request fewer at once".into(),
            Self::Field { .. } => "write names with dots between them, like data.model".into(),
            Self::EventTypes { .. } => "use `tool:*` for all types with that prefix".into(),
            Self::EventType { .. } => "use `*` only at the end, like `tool:*`".into(),
            Self::Time { .. } => "write it like 2026-03-01T09:00:00Z, or as a day, 2026-03-01".into(),
            Self::Days { .. } => {
                let names = "today, yesterday, this_week, last_week, last_month, 2026-03-01";
                format!("write {names}, or 2026-03-01:2026-03-31 with either end left out").into()
            }
            Self::ReversedDays { first, last } => format!("write {last}:{first}").into(),
            Self::NoTarget => "pass one of to_turn, to_message, and before_timestamp".into(),
            Self::SeveralTargets => "pass only one of them".into(),
            Self::TurnZero => "to_turn 1 keeps the first turn".into(),
            Self::Clock => "set the clock of this machine".into(),
            Self::Pattern { .. } => return None,
        })
    }
}

impl fmt::Display for RequestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EmptyId => f.write_str("the session's id must not be empty"),
            Self::EmptyProject => f.write_str("the project must not be empty"),
            Self::EmptyText => f.write_str("the search text is empty"),
            Self::LongText { max } => write!(f, "the search text has more than {max} characters"),
            Self::Pattern { why } => write!(f, "cannot search for this text: {why}"),
            Self::UnknownScope { given } => write!(f, "unknown scope `{}`", excerpt(given, 40)),
            Self::ContextLines { given, max } => write!(f, "context_lines {given} is more than {max}"),
            Self::Limit { given, max } => write!(f, "limit {given} is not between 1 and {max}"),
            Self::MaxChars { given, min } => {
                write!(f, "max_chars {given} is less than {min}, which a row may need")
            }
            Self::Fields { count, max } => write!(f, "{count} fields are more than {max}"),
            Self::Field { given, why } => write!(f, "`{}` is not a field: {why}", excerpt(given, 80)),
            Self::EventTypes { count, max } => write!(f, "{count} event types are more than {max}"),
            Self::EventType { given } => write!(f, "`{}` is not an event type", excerpt(given, 60)),
            Self::Time { given } => write!(f, "`{}` is not a time", excerpt(given, 60)),
            Self::Days { given } => write!(f, "`{}` is not a range of days", excerpt(given, 60)),
            Self::ReversedDays { .. } => f.write_str("the range ends before it begins"),
            Self::NoTarget => f.write_str("the target of the rewind is missing"),
            Self::SeveralTargets => {
                f.write_str("to_turn, to_message, and before_timestamp exclude each other")
            }
            Self::TurnZero => f.write_str("turns count from 1"),
            Self::Clock => f.write_str("the clock is at the latest representable time"),
        }
    }
}
