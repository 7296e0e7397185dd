//! Error messages of the tools.
//!
//! A message names the tool, the action that failed, the reason, and what to do next. The metadata
//! has a `code` that never changes. Messages contain nothing of a payload except member names in
//! paths. Text from outside is shortened and escaped.

use trommel::groups::GroupError;
use trommel::path::ParseError;
use trommel::reader::{self, ErrorKind, Limit};
use trommel::{Error, NotCountable};
use trommel_base::text::excerpt;
use trommel_store::{Error as StoreError, ErrorClass, Kind, NotJson, Stored};
use trommel_tool::{Failure, FailureKind};

use super::cursor::CursorError;
use super::page::{MAX_CHARS, PageTooSmall};

/// The maximum length of a query or path in a message, in characters.
const MAX_QUERY_CHARS: usize = 200;

/// The action of a call, for messages: its tool, its verb, and its output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Action<'a> {
    pub(crate) tool: &'a str,
    /// The verb in the infinitive: `extract from`.
    pub(crate) verb: &'a str,
    /// The ID of the output, as given. Empty for an action on all outputs.
    pub(crate) id: &'a str,
}

impl Action<'_> {
    fn failure(self, kind: FailureKind, code: &str, why: &str) -> Failure {
        let Self { tool, verb, id } = self;
        let output = if id.is_empty() { String::new() } else { format!(" output {}", excerpt(id, 80)) };
        let message = format!("{tool}: cannot {verb}{output}: {why}");
        let failure = match kind {
            FailureKind::Refused => Failure::refused(message),
            FailureKind::Cancelled => Failure::cancelled(),
            _ => Failure::new(message),
        };
        failure.with("code", code)
    }

    /// Returns the failure of an invalid request.
    pub(crate) fn refuse(self, code: &str, why: impl AsRef<str>) -> Failure {
        self.failure(FailureKind::Refused, code, why.as_ref())
    }

    /// Returns the failure of a valid request.
    pub(crate) fn fail(self, code: &str, why: impl AsRef<str>) -> Failure {
        self.failure(FailureKind::Failed, code, why.as_ref())
    }

    /// Converts an error of the store.
    pub(crate) fn store(self, error: &StoreError) -> Failure {
        let code = error.code();
        let candidates = error.candidates();
        let is_request = matches!(
            error.class(),
            ErrorClass::InvalidId
                | ErrorClass::NotFound
                | ErrorClass::Ambiguous
                | ErrorClass::Filter
                | ErrorClass::NotJson
        );
        // The advice of the store names a command, and callers of this tool have no command line.
        let message = error.to_string().replace("`list`", "tool_outputs.list");
        let kind = if is_request { FailureKind::Refused } else { FailureKind::Failed };
        let failure = self.failure(kind, code, &message);
        if candidates.is_empty() { failure } else { failure.with("candidates", candidates.to_vec()) }
    }

    /// Returns the failure for an output that is not JSON.
    pub(crate) fn not_json(self, stored: &Stored) -> Failure {
        if stored.size_bytes == 0 {
            return self.refuse("not_json", "it is empty; rerun the tool that created it");
        }
        // For a text that starts like JSON, the parse error helps to find where it stops being
        // JSON.
        let is_near = stored.preview.trim_start().starts_with(['{', '[']);
        let because = match &stored.not_json {
            Some(NotJson { message, .. }) if is_near => format!(" ({})", excerpt(message, MAX_QUERY_CHARS)),
            _ => String::new(),
        };
        self.refuse(
            "not_json",
            format!(
                "it is {}, not JSON{because}, and has no paths; tool_outputs.search finds lines in it, and tool_outputs.read reads it page by page",
                Kind::Text.name()
            ),
        )
    }

    /// Converts a syntax error in a query. `what` names the argument.
    pub(crate) fn query(self, what: &str, text: &str, error: &ParseError) -> Failure {
        let query = excerpt(text, MAX_QUERY_CHARS);
        let failure = self.refuse(error.kind().code(), format!("{what} `{query}` is not valid: {error}"));
        let failure = failure.with("offset", error.offset() as u64);
        match error.suggestion().and_then(|suggestion| suggestion.apply(text)) {
            Some(better) => failure.with("suggestion", excerpt(&better, MAX_QUERY_CHARS)),
            None => failure,
        }
    }

    /// Converts the error of a cursor.
    pub(crate) fn cursor(self, bad: CursorError) -> Failure {
        let why = match bad {
            CursorError::Foreign => {
                "the cursor does not belong to this call: a cursor is valid only for the tool, output, and arguments that returned \
                 it; copy it whole, and pass the arguments of that call again, or leave out `cursor` to start over"
            }
            CursorError::Version => "the cursor is from a later release; leave out `cursor` to start over",
        };
        self.refuse("bad_cursor", why)
    }

    /// Returns the failure for a page that is too small for one unit.
    pub(crate) fn too_small(self, small: PageTooSmall, max_chars: usize, cursor: bool) -> Failure {
        let PageTooSmall { needed } = small;
        let again = if cursor { ", with the same cursor" } else { "" };
        let next = if needed <= MAX_CHARS {
            format!("pass `max_chars` of {needed} or more{again}")
        } else {
            "request less: fewer or shorter names and paths".to_owned()
        };
        self.refuse("max_chars", format!("not even one item fits into {max_chars} characters; {next}"))
            .with("needed", needed as u64)
    }

    /// Converts an error of the engine.
    pub(crate) fn engine(self, error: &Error) -> Failure {
        match error {
            Error::Read { error, record } => self.read(error, *record),
            Error::NotAnArray { query, kind } => {
                let query = excerpt(query, MAX_QUERY_CHARS);
                let why = format!(
                    "{query} selects a value of type {}, but a sample is drawn from an array; to sample the nodes of a query, \
                     use one that can select several, such as {query}[*] or {query}.*",
                    kind.name()
                );
                self.refuse("not_an_array", why)
            }
            Error::MixedPopulation { .. } => self.refuse("mixed_population", error.to_string()),
            Error::NotCountable(what) => self.not_countable(what),
            Error::Sample(error) => {
                self.refuse("sample", format!("{error}; use a `strata_path` that makes fewer groups"))
            }
            Error::Group { error, record } => self.group(error, *record),
            Error::TooManyBadRecords { .. } => {
                let why = "further records of the payload are damaged since it was stored; rerun the tool that created it";
                self.fail("bad_records", why)
            }
            Error::Query(error) => self.refuse(error.kind().code(), error.to_string()),
            other => self.fail("failed", format!("{other}; try again")),
        }
    }

    fn not_countable(self, what: &NotCountable) -> Failure {
        let NotCountable { name, wanted, location, kind, instead, .. } = what;
        let (name, location) = (excerpt(name, MAX_QUERY_CHARS), excerpt(location, MAX_QUERY_CHARS));
        let purpose = match *instead {
            "matches" => "to count the selected values themselves",
            "array_length" => "to count its elements",
            _ => "to count its members",
        };
        let why = format!(
            "count `{name}`: {location} is of type {}, which has no {wanted}; pass `count_type` \"{instead}\" {purpose}",
            kind.name()
        );
        self.refuse("not_countable", why).with("location", location).with("count_type", *instead)
    }

    /// Converts an error of grouping.
    fn group(self, error: &GroupError, record: Option<u64>) -> Failure {
        let position = record.map_or_else(String::new, |record| format!(" (record {record})"));
        match error {
            GroupError::Groups { limit } => {
                let next = "use paths with fewer distinct values, or keep fewer records with `where`";
                self.refuse("group_limit", format!("there are more than {limit} groups; {next}"))
            }
            GroupError::Bytes { limit } => {
                let next = "use paths with fewer distinct values, fewer figures, or `where`";
                self.refuse("group_limit", format!("the groups take more than {limit} bytes; {next}"))
            }
            GroupError::Unusable(value) => {
                let next = "leave out such records with `where`, or use another path";
                let why = excerpt(&value.to_string(), 2 * MAX_QUERY_CHARS);
                let failure = self.refuse("unusable_value", format!("{why}{position}; {next}"));
                failure
                    .with("location", excerpt(&value.location, MAX_QUERY_CHARS))
                    .with("offset", value.offset)
            }
            other => {
                self.refuse("limit", format!("{}{position}", excerpt(&other.to_string(), MAX_QUERY_CHARS)))
            }
        }
    }

    /// Converts an error of the reader.
    pub(crate) fn read(self, error: &reader::Error, record: Option<u64>) -> Failure {
        if error.is_cancelled() {
            return self.failure(FailureKind::Cancelled, "cancelled", "");
        }
        let location = error_location(error, record);
        let (code, why) = match error.kind() {
            ErrorKind::Limit(Limit::Other(..)) => {
                let why = format!("{}; use a `strata_path` that leads to a shorter value", error.message());
                return self.refuse("limit", why);
            }
            ErrorKind::Limit(_) => {
                ("limit", format!("{location}: {}; request a part of it", error.message()))
            }
            ErrorKind::SourceChanged => {
                ("changed", "its file changed while it was read; try again".to_owned())
            }
            kind if error.is_syntax() => (
                kind.code(),
                format!(
                    "the payload is damaged at {location}: {}; rerun the tool that created it",
                    error.message()
                ),
            ),
            kind => (kind.code(), format!("{location}: {}; try again", error.message())),
        };
        self.fail(code, why).with("offset", error.offset())
    }
}

/// Describes the location of an error: its byte offset, and its record in a stream.
pub(crate) fn error_location(error: &reader::Error, record: Option<u64>) -> String {
    let byte = error.offset();
    match record {
        Some(record) => format!("byte {byte}, record {record}"),
        None => format!("byte {byte}"),
    }
}
