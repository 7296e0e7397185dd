//! Arguments with values that cannot be.

use std::borrow::Cow;
use std::fmt;

use trommel_base::text::shown;

/// An argument with a value that cannot be, or several that exclude each other.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestFault {
    /// The ID of the session is empty.
    EmptyId,
    /// The project is empty.
    EmptyProject,
    /// The search text is empty.
    EmptyText,
    /// The search text is too long.
    LongText {
        /// The maximum of characters.
        max: usize,
    },
    /// The search text cannot be made a pattern.
    Pattern {
        /// The error of the pattern's compiler.
        why: String,
    },
    /// There is no scope of this name.
    UnknownScope {
        /// The name.
        given: String,
    },
    /// More lines around a match than can be shown.
    ContextLines {
        /// The number of lines.
        given: usize,
        /// The maximum.
        max: usize,
    },
    /// A page without rows, or with too many.
    Limit {
        /// The number of rows.
        given: usize,
        /// The maximum.
        max: usize,
    },
    /// A page with too few characters for a row.
    MaxChars {
        /// The number of characters.
        given: usize,
        /// The minimum.
        min: usize,
    },
    /// More fields than can be read at once.
    Fields {
        /// The number of fields.
        count: usize,
        /// The maximum.
        max: usize,
    },
    /// A text that is not a path of names.
    Field {
        /// The text.
        given: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// More types of events than can be told apart at once.
    EventTypes {
        /// The number of types.
        count: usize,
        /// The maximum.
        max: usize,
    },
    /// A text that is not a type of events.
    EventType {
        /// The text.
        given: String,
    },
    /// A text that is not a time.
    Time {
        /// The text.
        given: String,
    },
    /// A text that is not a range of days.
    Days {
        /// The text.
        given: String,
    },
    /// A range of days that ends before it begins.
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
    /// The clock is at the end of time, so that no name for a backup is left.
    Clock,
}

impl RequestFault {
    /// The name of the argument, as tools have it. None if no single argument is wrong.
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
            Self::EmptyProject => "give its name, its directory, or a part of one".into(),
            Self::EmptyText => "pass a word to search for".into(),
            Self::LongText { .. } => "search for a part of it".into(),
            Self::UnknownScope { .. } => "pass metadata, transcript, events or all".into(),
            Self::ContextLines { .. } => "take fewer".into(),
            Self::Limit { .. } => "take pages, by offset".into(),
            Self::MaxChars { .. } => "allow more".into(),
            Self::Fields { .. } => "ask for fewer at once".into(),
            Self::Field { .. } => "write names with dots between them, like data.model".into(),
            Self::EventTypes { .. } => "`tool:*` stands for all that begin so".into(),
            Self::EventType { .. } => "put a `*` at the end, like `tool:*`".into(),
            Self::Time { .. } => "write it like 2026-03-01T09:00:00Z, or as a day, 2026-03-01".into(),
            Self::Days { .. } => {
                let names = "today, yesterday, this_week, last_week, last_month, 2026-03-01";
                format!("write {names}, or 2026-03-01:2026-03-31 with either end left out").into()
            }
            Self::ReversedDays { first, last } => format!("write {last}:{first}").into(),
            Self::NoTarget => "give one of to_turn, to_message and before_timestamp".into(),
            Self::SeveralTargets => "give one of them".into(),
            Self::TurnZero => "to_turn 1 keeps the first".into(),
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
            Self::LongText { max } => write!(f, "the text has more than {max} characters"),
            Self::Pattern { why } => write!(f, "that cannot be searched for: {why}"),
            Self::UnknownScope { given } => write!(f, "unknown scope `{}`", shown(given, 40)),
            Self::ContextLines { given, max } => write!(f, "context_lines {given} is more than {max}"),
            Self::Limit { given, max } => write!(f, "limit {given} is not between 1 and {max}"),
            Self::MaxChars { given, min } => {
                write!(f, "max_chars {given} is less than {min}, which a row may need")
            }
            Self::Fields { count, max } => write!(f, "{count} fields are more than {max}"),
            Self::Field { given, why } => write!(f, "`{}` is not a field: {why}", shown(given, 80)),
            Self::EventTypes { count, max } => write!(f, "{count} event types are more than {max}"),
            Self::EventType { given } => write!(f, "`{}` is not an event type", shown(given, 60)),
            Self::Time { given } => write!(f, "`{}` is not a time", shown(given, 60)),
            Self::Days { given } => write!(f, "`{}` is not a range of days", shown(given, 60)),
            Self::ReversedDays { .. } => f.write_str("the range ends before it begins"),
            Self::NoTarget => f.write_str("the target of the rewind is missing"),
            Self::SeveralTargets => {
                f.write_str("to_turn, to_message and before_timestamp exclude each other")
            }
            Self::TurnZero => f.write_str("turns count from 1"),
            Self::Clock => f.write_str("the clock is at the end of time"),
        }
    }
}
