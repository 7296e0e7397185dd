//! The arguments of `buffer_ops`, flat beside the operation, and what they mean together.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::json;
use trommel_route::look::{CONTEXT_LINES, PEEK_CHARS, READ_CHARS};
use trommel_route::{ErrorClass, Scope, WriteMode};
use trommel_tool::Failure;

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
    /// The arguments it takes.
    fn takes(self) -> &'static [&'static str] {
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

/// The arguments as they come.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(super) struct Arguments {
    /// What to do
    pub(super) operation: Operation,
    /// The buffer's name; for search the pattern, when the buffer is in scope
    pub(super) target: Option<String>,
    /// run or session, where a name is in both; for search the buffer's name, when the pattern is
    /// in target
    scope: Option<String>,
    /// What to search for
    query: Option<String>,
    /// Search for the text as it stands
    #[serde(default)]
    pub(super) plain: bool,
    /// Lines to show before and after each hit
    #[serde(default)]
    #[schemars(range(max = CONTEXT_LINES))]
    pub(super) context: usize,
    /// Character to begin at; for list the number of buffers to pass over
    pub(super) offset: Option<u64>,
    /// Most characters of a peek
    #[serde(default = "peek_chars")]
    #[schemars(range(min = 1, max = PEEK_CHARS))]
    pub(super) max_chars: u64,
    #[schemars(range(min = 1), description = format!("Characters to read, at most {READ_CHARS}"))]
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
    /// How to write to an existing file: after its content, in its place, or under a new number
    #[serde(default)]
    #[schemars(schema_with = "write_modes")]
    pub(super) write_mode: Option<WriteMode>,
}

fn peek_chars() -> u64 {
    PEEK_CHARS
}

fn write_modes(_: &mut SchemaGenerator) -> Schema {
    schema::one_of(&WriteMode::ALL)
}

/// The member of a failure's metadata with the arguments that its message is about, for hosts that
/// spell them otherwise.
pub(super) const ARGUMENTS: &str = "arguments";

/// A request that contradicts itself, because of these arguments.
fn refused(message: impl Into<String>, arguments: &[&str]) -> Failure {
    Failure::refused(message).with("code", ErrorClass::Range.code()).with(ARGUMENTS, json!(arguments))
}

/// What is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// From one line to another, both included.
    Lines(u64, u64),
    /// A number of characters from one on.
    Chars(u64, u64),
}

impl Arguments {
    /// Refuses an argument that the operation does not take. `given` are the names of the call's
    /// arguments.
    pub(super) fn check<'n>(&self, given: impl Iterator<Item = &'n str>) -> Result<(), Failure> {
        let takes = self.operation.takes();
        let mut strange = given.filter(|name| *name != "operation" && !takes.contains(name));
        match strange.next() {
            None => Ok(()),
            Some(name) => {
                let message = format!("unknown argument `{name}`; it takes {}", takes.join(", "));
                Err(refused(message, &[name]))
            }
        }
    }

    /// The buffer's name, and in which scope it is looked for.
    pub(super) fn buffer(&self) -> Result<(&str, Option<Scope>), Failure> {
        if self.operation == Operation::Search {
            let (_, name, scope) = self.searched()?;
            return Ok((name, scope));
        }
        match self.target.as_deref() {
            Some(name) => Ok((name, self.lifetime()?)),
            None => Err(refused(
                "pass the buffer's name as `target`; the operation list shows the names",
                &["target"],
            )),
        }
    }

    /// The scope, where it is one.
    pub(super) fn lifetime(&self) -> Result<Option<Scope>, Failure> {
        Ok(self.scope.as_deref().map(str::parse::<Scope>).transpose()?)
    }

    /// The pattern, the buffer's name, and its scope: the pattern in `query` and the buffer in
    /// `target`, or the pattern in `target` and the buffer in `scope`.
    pub(super) fn searched(&self) -> Result<(&str, &str, Option<Scope>), Failure> {
        match (self.query.as_deref(), self.target.as_deref(), self.scope.as_deref()) {
            (Some(query), Some(target), _) => Ok((query, target, self.lifetime()?)),
            (Some(query), None, Some(scope)) => Ok((query, scope, None)),
            (None, Some(target), Some(scope)) => Ok((target, scope, None)),
            _ => Err(refused(
                "pass the pattern as `query` and the buffer as `target`, or the pattern as `target` and the buffer as `scope`",
                &["query", "target", "scope"],
            )),
        }
    }

    /// What is to be read. All of it cannot be.
    pub(super) fn range(&self) -> Result<Range, Failure> {
        let lines = (self.start_line.or(self.start), self.end_line.or(self.end));
        if (self.start_line.is_some() && self.start.is_some())
            || (self.end_line.is_some() && self.end.is_some())
        {
            let message = "`start` is `start_line`, and `end` is `end_line`: pass one of each";
            return Err(refused(message, &["start", "start_line", "end", "end_line"]));
        }
        match (lines, (self.offset, self.length)) {
            ((Some(start), Some(end)), (None, None)) => Ok(Range::Lines(start, end)),
            ((None, None), (Some(offset), Some(length))) => Ok(Range::Chars(offset, length)),
            ((None, None), (None, None)) => Err(refused(
                "a buffer is not read as a whole: pass `start_line` and `end_line`, or `offset` and `length`; peek shows how it \
                 begins, search finds places, export writes it to a file",
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

    /// Where a buffer is exported to.
    pub(super) fn destination(&self) -> Result<&str, Failure> {
        let path = self.destination.as_deref().map_or("", str::trim);
        if path.is_empty() {
            return Err(refused("pass the file's path below the root as `destination`", &["destination"]));
        }
        Ok(path.strip_prefix("file:").map_or(path, str::trim))
    }
}
