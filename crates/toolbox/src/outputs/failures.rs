//! Why there is no answer, in words that teach: the tool, what was to be done, why it was not, and
//! what to do next.
//!
//! The metadata of each has a `code` that never changes. Nothing of a payload stands in them but
//! names in paths, and what comes from outside is short and escaped.

use trommel::path::ParseError;
use trommel::reader::{self, ErrorKind, Limit};
use trommel::{Error, NotCountable};
use trommel_base::text::shown;
use trommel_store::{Error as StoreError, ErrorClass, Kind, NotJson, Stored};
use trommel_tool::{Failure, FailureKind};

use super::cursor::BadCursor;
use super::page::{MAX_CHARS, TooSmall};

/// Characters of a query or path in a message.
const QUERY: usize = 200;

/// What is being done, for messages: by which tool, to which output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Doing<'a> {
    pub(crate) tool: &'a str,
    /// In the infinitive: `extract from`.
    pub(crate) verb: &'a str,
    /// The id as it was given; empty where it is about all outputs.
    pub(crate) id: &'a str,
}

impl Doing<'_> {
    fn failure(self, kind: FailureKind, code: &str, why: &str) -> Failure {
        let Self { tool, verb, id } = self;
        let output = if id.is_empty() { String::new() } else { format!(" output {}", shown(id, 80)) };
        let message = format!("{tool}: cannot {verb}{output}: {why}");
        let failure = match kind {
            FailureKind::Refused => Failure::refused(message),
            FailureKind::Cancelled => Failure::cancelled(),
            _ => Failure::new(message),
        };
        failure.with("code", code)
    }

    /// The request is wrong.
    pub(crate) fn refuse(self, code: &str, why: impl AsRef<str>) -> Failure {
        self.failure(FailureKind::Refused, code, why.as_ref())
    }

    /// The work failed.
    pub(crate) fn fail(self, code: &str, why: impl AsRef<str>) -> Failure {
        self.failure(FailureKind::Failed, code, why.as_ref())
    }

    /// What the store says.
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
        // The store's list is this tool's.
        let message = error.to_string().replace("`list`", "tool_outputs.list");
        let kind = if is_request { FailureKind::Refused } else { FailureKind::Failed };
        let failure = self.failure(kind, code, &message);
        if candidates.is_empty() { failure } else { failure.with("candidates", candidates.to_vec()) }
    }

    /// The payload is no JSON.
    pub(crate) fn no_json(self, stored: &Stored) -> Failure {
        if stored.size_bytes == 0 {
            return self.refuse("not_json", "it is empty; run the tool again that made it");
        }
        // Of a text that begins like JSON it helps to know where it stops being JSON.
        let is_near = stored.preview.trim_start().starts_with(['{', '[']);
        let because = match &stored.not_json {
            Some(NotJson { message, .. }) if is_near => format!(" ({})", shown(message, QUERY)),
            _ => String::new(),
        };
        self.refuse(
            "not_json",
            format!(
                "it is {}, not JSON{because}, and has no paths; tool_outputs.read gives it page by page",
                Kind::Text.name()
            ),
        )
    }

    /// A query cannot be read.
    pub(crate) fn query(self, what: &str, text: &str, error: &ParseError) -> Failure {
        let query = shown(text, QUERY);
        let failure = self.refuse(error.kind().code(), format!("{what} `{query}` is not valid: {error}"));
        let failure = failure.with("offset", error.offset() as u64);
        match error.suggestion().and_then(|suggestion| suggestion.apply(text)) {
            Some(better) => failure.with("suggestion", shown(&better, QUERY)),
            None => failure,
        }
    }

    /// A cursor is not taken.
    pub(crate) fn cursor(self, bad: BadCursor) -> Failure {
        let why = match bad {
            BadCursor::Foreign => {
                "the cursor does not belong to this call: a cursor is good for the same tool, output and arguments that gave \
                 it, copied whole (only max_chars may change); repeat that call, or leave out `cursor` to begin anew"
            }
            BadCursor::Version => "the cursor was made by a later release; leave out `cursor` to begin anew",
        };
        self.refuse("bad_cursor", why)
    }

    /// Not even one unit fits on a page.
    pub(crate) fn too_small(self, small: TooSmall, max_chars: usize, cursor: bool) -> Failure {
        let TooSmall { needed } = small;
        let again = if cursor { ", with the same cursor" } else { "" };
        let next = if needed <= MAX_CHARS {
            format!("pass `max_chars` of {needed} or more{again}")
        } else {
            "ask for less: fewer or shorter names and paths".to_owned()
        };
        self.refuse("max_chars", format!("not even one item fits into {max_chars} characters; {next}"))
            .with("needed", needed as u64)
    }

    /// What the engine says.
    pub(crate) fn engine(self, error: &Error) -> Failure {
        match error {
            Error::Read { error, record } => self.read(error, *record),
            Error::NotAnArray { query, kind } => {
                let query = shown(query, QUERY);
                let why = format!(
                    "{query} selects a value of type {}, and a sample is drawn from an array; to sample the nodes of a query, \
                     use one that can select several, such as {query}[*] or {query}.*",
                    kind.name()
                );
                self.refuse("not_an_array", why)
            }
            Error::NotCountable(what) => self.not_countable(what),
            Error::Sample(error) => {
                self.refuse("sample", format!("{error}; use a `strata_path` that makes fewer groups"))
            }
            Error::Query(error) => self.refuse(error.kind().code(), error.to_string()),
            other => self.fail("failed", format!("{other}; try again")),
        }
    }

    fn not_countable(self, what: &NotCountable) -> Failure {
        let NotCountable { name, wanted, location, kind, instead, .. } = what;
        let (name, location) = (shown(name, QUERY), shown(location, QUERY));
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

    /// What the reader says.
    pub(crate) fn read(self, error: &reader::Error, record: Option<u64>) -> Failure {
        if error.is_cancelled() {
            return self.failure(FailureKind::Cancelled, "cancelled", "");
        }
        let place = place(error, record);
        let (code, why) = match error.kind() {
            ErrorKind::Limit(Limit::Other(..)) => {
                let why = format!("{}; use a `strata_path` that leads to a shorter value", error.message());
                return self.refuse("limit", why);
            }
            ErrorKind::Limit(_) => ("limit", format!("{place}: {}; ask for a part of it", error.message())),
            ErrorKind::SourceChanged => {
                ("changed", "its file changed while it was read; try again".to_owned())
            }
            kind if error.is_syntax() => (
                kind.code(),
                format!(
                    "the payload is damaged at {place}: {}; it is not what was stored: run the tool again that made it",
                    error.message()
                ),
            ),
            kind => (kind.code(), format!("{place}: {}; try again", error.message())),
        };
        self.fail(code, why).with("offset", error.offset())
    }
}

/// Where an error is.
pub(crate) fn place(error: &reader::Error, record: Option<u64>) -> String {
    let byte = error.offset();
    match record {
        Some(record) => format!("byte {byte}, record {record}"),
        None => format!("byte {byte}"),
    }
}
