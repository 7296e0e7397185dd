//! The arguments of `buffer_ops`, flat beside the operation, and what they mean together.

use serde::Deserialize;
use trommel_route::{Scope, WriteMode};
use trommel_tool::Failure;

use super::refused;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Operation {
    List,
    Info,
    Peek,
    Read,
    Search,
    Export,
}

impl Operation {
    pub(super) const ALL: [Self; 6] =
        [Self::List, Self::Info, Self::Peek, Self::Read, Self::Search, Self::Export];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Info => "info",
            Self::Peek => "peek",
            Self::Read => "read",
            Self::Search => "search",
            Self::Export => "export",
        }
    }

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
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Arguments {
    pub(super) operation: Operation,
    pub(super) target: Option<String>,
    scope: Option<String>,
    query: Option<String>,
    pub(super) plain: Option<bool>,
    pub(super) context: Option<usize>,
    pub(super) offset: Option<u64>,
    pub(super) max_chars: Option<u64>,
    length: Option<u64>,
    start_line: Option<u64>,
    end_line: Option<u64>,
    start: Option<u64>,
    end: Option<u64>,
    pub(super) destination: Option<String>,
    pub(super) write_mode: Option<WriteMode>,
}

/// What is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Range {
    /// From one line to another, both included.
    Lines(u64, u64),
    /// So many characters from one on.
    Chars(u64, u64),
}

impl Arguments {
    /// An error for an argument that the operation does not take.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let given = [
            ("target", self.target.is_some()),
            ("scope", self.scope.is_some()),
            ("query", self.query.is_some()),
            ("plain", self.plain.is_some()),
            ("context", self.context.is_some()),
            ("offset", self.offset.is_some()),
            ("max_chars", self.max_chars.is_some()),
            ("length", self.length.is_some()),
            ("start_line", self.start_line.is_some()),
            ("end_line", self.end_line.is_some()),
            ("start", self.start.is_some()),
            ("end", self.end.is_some()),
            ("destination", self.destination.is_some()),
            ("write_mode", self.write_mode.is_some()),
        ];
        let takes = self.operation.takes();
        match given.iter().find(|(name, given)| *given && !takes.contains(name)) {
            None => Ok(()),
            Some((name, _)) => {
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

    /// The pattern, the buffer's name, and its scope: the pattern in `query` and the buffer in `target`, or the pattern in `target`
    /// and the buffer in `scope`.
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
        let path = self.destination.as_deref().map(str::trim).filter(|path| !path.is_empty());
        let path = path.ok_or_else(|| {
            refused("pass the file's path below the root as `destination`", &["destination"])
        })?;
        Ok(path.strip_prefix("file:").map_or(path, str::trim))
    }
}
