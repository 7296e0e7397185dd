//! The arguments of `buffer_ops`, all on one level with the operation, and their conversion to a
//! request.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::json;
use trommel_route::reading::{MAX_CONTEXT_LINES, MAX_PEEK_CHARS, MAX_READ_CHARS};
use trommel_route::{ErrorClass, Scope, WriteMode};
use trommel_tool::Failure;

use super::request::{BufferRef, Export, Range, Request, Search};
use crate::schema;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Operation {
    List,
    Info,
    Peek,
    Read,
    Search,
    Export,
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Operation {
    /// Returns the names of the arguments that the operation takes.
    fn argument_names(self) -> &'static [&'static str] {
        match self {
            Self::List => &["scope", "offset"],
            Self::Info => &["target", "scope"],
            Self::Peek => &["target", "scope", "offset", "max_chars"],
            Self::Read => &["target", "scope", "start_line", "end_line", "start", "end", "offset", "length"],
            Self::Search => &["target", "scope", "query", "plain", "context", "offset"],
            Self::Export => &["target", "scope", "destination", "write_mode"],
        }
    }
}

/// The arguments as deserialized.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// What to do
    pub(super) operation: Operation,
    /// The buffer's name; for search the pattern, if the buffer is in scope
    pub(super) target: Option<String>,
    /// run or session, if both have the name; for search the buffer's name, if the pattern is in
    /// target
    scope: Option<String>,
    /// What to search for
    query: Option<String>,
    /// Search for the text literally
    #[serde(default)]
    plain: bool,
    /// Lines to show before and after each hit
    #[serde(default)]
    #[schemars(range(max = MAX_CONTEXT_LINES))]
    context: usize,
    /// Character to start at; for list the number of buffers to skip
    offset: Option<u64>,
    /// Maximum characters of a peek
    #[serde(default = "peek_chars")]
    #[schemars(range(min = 1, max = MAX_PEEK_CHARS))]
    max_chars: u64,
    #[schemars(range(min = 1), description = format!("Characters to read, at most {MAX_READ_CHARS}"))]
    length: Option<u64>,
    /// First line to read
    #[schemars(range(min = 1))]
    start_line: Option<u64>,
    /// Last line to read
    #[schemars(range(min = 1))]
    end_line: Option<u64>,
    #[schemars(range(min = 1), description = "The same as start_line")]
    start: Option<u64>,
    #[schemars(range(min = 1), description = "The same as end_line")]
    end: Option<u64>,
    /// Path of the file to export to, below the root
    pub(super) destination: Option<String>,
    /// How to write to an existing file: append to it, replace it, or write a new numbered file
    #[serde(default)]
    #[schemars(schema_with = "write_modes")]
    pub(super) write_mode: Option<WriteMode>,
}

fn peek_chars() -> u64 {
    MAX_PEEK_CHARS
}

fn write_modes(_: &mut SchemaGenerator) -> Schema {
    schema::one_of(&WriteMode::ALL)
}

/// The member of a failure's metadata with the names of the arguments at fault. Hosts that name
/// them differently use it.
pub(super) const ARGUMENTS: &str = "arguments";

/// Returns the failure of a request whose arguments contradict each other.
pub(super) fn refused(message: impl Into<String>, arguments: &[&str]) -> Failure {
    Failure::refused(message).with("code", ErrorClass::Range.code()).with(ARGUMENTS, json!(arguments))
}

impl Arguments {
    /// Refuses an argument that the operation does not take. `given` has the names of the call's
    /// arguments.
    pub(super) fn check<'n>(&self, given: impl Iterator<Item = &'n str>) -> Result<(), Failure> {
        let takes = self.operation.argument_names();
        let mut unknown = given.filter(|name| *name != "operation" && !takes.contains(name));
        match unknown.next() {
            None => Ok(()),
            Some(name) => {
                let message = format!("unknown argument `{name}`; it takes {}", takes.join(", "));
                Err(refused(message, &[name]))
            }
        }
    }

    /// Converts the arguments to a request.
    pub(super) fn request(&self) -> Result<Request<'_>, Failure> {
        let offset = self.offset.unwrap_or(0);
        Ok(match self.operation {
            Operation::List => Request::List { scope: self.parsed_scope()?, offset },
            Operation::Info => Request::Info(self.buffer()?),
            Operation::Peek => Request::Peek { buffer: self.buffer()?, offset, max_chars: self.max_chars },
            Operation::Read => {
                let range = self.range()?;
                Request::Read { buffer: self.buffer()?, range }
            }
            Operation::Search => {
                let (pattern, buffer) = self.search_target()?;
                let (plain, context) = (self.plain, self.context);
                Request::Search(Search { buffer, pattern, plain, context, offset })
            }
            Operation::Export => {
                let path = self.destination.as_deref().unwrap_or_default();
                Request::Export(Export { buffer: self.buffer()?, path, write_mode: self.write_mode })
            }
        })
    }

    /// Returns the buffer that the request is about.
    fn buffer(&self) -> Result<BufferRef<'_>, Failure> {
        match self.target.as_deref() {
            Some(name) => Ok(BufferRef { name, scope: self.parsed_scope()? }),
            None => Err(refused(
                "pass the buffer's name as `target`; the operation list shows the names",
                &["target"],
            )),
        }
    }

    /// Parses the scope.
    fn parsed_scope(&self) -> Result<Option<Scope>, Failure> {
        Ok(self.scope.as_deref().map(str::parse::<Scope>).transpose()?)
    }

    /// Returns the pattern and the buffer of a search. They are in `query` and `target`, or in
    /// `target` and `scope`.
    fn search_target(&self) -> Result<(&str, BufferRef<'_>), Failure> {
        match (self.query.as_deref(), self.target.as_deref(), self.scope.as_deref()) {
            (Some(query), Some(name), _) => Ok((query, BufferRef { name, scope: self.parsed_scope()? })),
            (Some(query), None, Some(name)) => Ok((query, BufferRef { name, scope: None })),
            (None, Some(pattern), Some(name)) => Ok((pattern, BufferRef { name, scope: None })),
            _ => Err(refused(
                "pass the pattern as `query` and the buffer as `target`, or the pattern as `target` and the buffer as `scope`",
                &["query", "target", "scope"],
            )),
        }
    }

    /// Returns the range to read. A whole buffer may be too long, so the range is required.
    fn range(&self) -> Result<Range, Failure> {
        let lines = (self.start_line.or(self.start), self.end_line.or(self.end));
        if (self.start_line.is_some() && self.start.is_some())
            || (self.end_line.is_some() && self.end.is_some())
        {
            let message = "`start` is `start_line`, and `end` is `end_line`: pass one of each";
            return Err(refused(message, &["start", "start_line", "end", "end_line"]));
        }
        match (lines, (self.offset, self.length)) {
            ((Some(first), Some(last)), (None, None)) => Ok(Range::Lines { first, last }),
            ((None, None), (Some(offset), Some(length))) => Ok(Range::Chars { offset, length }),
            ((None, None), (None, None)) => Err(refused(
                "a buffer is not read as a whole: pass `start_line` and `end_line`, or `offset` and `length`; peek shows how it \
                 begins, search finds text in it, export writes it to a file",
                &["start_line", "end_line", "offset", "length"],
            )),
            ((None, None), _) => {
                Err(refused("`offset` and `length` go together: pass both", &["offset", "length"]))
            }
            (_, (None, None)) => Err(refused(
                "`start_line` and `end_line` go together: pass both",
                &["start_line", "end_line"],
            )),
            _ => Err(refused(
                "pass lines, or `offset` and `length`, and not both",
                &["start_line", "end_line", "offset", "length"],
            )),
        }
    }
}
