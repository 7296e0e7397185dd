//! `trommel buffers`: reads and changes the buffers of a session, with the answers that a model
//! gets.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use trommel_route::Scope;
use trommel_toolbox::buffers::{self, Answer, BufferRef, Export, Hit, Range, Request, Search, Truncated};

use crate::args::{BufferOperation, BuffersArgs, Session};
use crate::errors::{self, Failure};
use crate::output::size::grouped;
use crate::output::{self, Screen, Stream, escape, tables};
use crate::progress::Progress;
use crate::signals;
use crate::toolbox::{self, Workspace};

pub(crate) fn run(args: &BuffersArgs, screen: &Screen) -> Result<(), Failure> {
    let progress = Arc::new(Progress::new(screen));
    signals::install(Arc::clone(&progress))?;
    let (operation, session) = (&args.operation, args.operation.session());
    let request = match action(operation)? {
        Action::Request(request) => request,
        Action::Removal { names, all } => return remove(names, all, session, screen.out),
    };
    let root = match operation {
        BufferOperation::Export { root: Some(root), .. } => root.as_path(),
        _ => Path::new("."),
    };
    let workspace = Workspace { session: &session.session, root, usual: Scope::Session };
    let destinations = toolbox::destinations(&workspace)?;
    let answer = buffers::answer(&destinations, &request, &mut |bytes, total| {
        progress.update(bytes, Some(total));
        true
    });
    progress.clear();
    let answer = answer.map_err(|error| errors::buffers::failure(operation.name(), session.json, &error))?;
    let is_plain = session.json || !screen.out.is_terminal;
    match layout(&answer, screen.out) {
        Some(text) if !is_plain => Ok(output::print(&text)?),
        _ => Ok(output::print_json(&answer.to_json(), is_plain, screen.out)?),
    }
}

/// Removes buffers of a session. If one of them does not exist, removes none.
fn remove(names: &[String], all: bool, session: &Session, out: Stream) -> Result<(), Failure> {
    let buffers = crate::home::buffers(&session.session, Scope::Session)?;
    let (text, removed) = if all {
        let count = buffers.clear(Scope::Session)?;
        let plural = if count == 1 { "" } else { "s" };
        (format!("removed {} buffer{plural}\n", grouped(count as u64)), json!(count))
    } else {
        let names: BTreeSet<_> = names.iter().collect();
        for name in &names {
            buffers.check_exists(name, Scope::Session)?;
        }
        for name in &names {
            buffers.remove(name, Some(Scope::Session))?;
        }
        let lines = names.iter().map(|name| format!("removed {}\n", escape::text(name)));
        (lines.collect(), json!(names))
    };
    if session.json {
        return Ok(output::print_json(&json!({"removed": removed}).to_string(), true, out)?);
    }
    Ok(output::print(&text)?)
}

/// An operation, by its implementation.
enum Action<'a> {
    /// A request to the library, which the tool sends, too.
    Request(Request<'a>),
    /// A removal, which only this command does: a model cannot remove buffers.
    Removal { names: &'a [String], all: bool },
}

/// Converts an operation into a request or a removal.
fn action(operation: &BufferOperation) -> Result<Action<'_>, Failure> {
    Ok(Action::Request(match operation {
        BufferOperation::Rm { names, all, .. } => return Ok(Action::Removal { names, all: *all }),
        BufferOperation::List { offset, .. } => Request::List { scope: None, offset: *offset },
        BufferOperation::Info { name, .. } => Request::Info(named(name)),
        BufferOperation::Peek { name, offset, max_chars, .. } => {
            Request::Peek { buffer: named(name), offset: *offset, max_chars: *max_chars }
        }
        BufferOperation::Read { name, lines, offset, length, session } => {
            let range = match (*lines, offset.zip(*length)) {
                (Some((first, last)), _) => Range::Lines { first, last },
                (None, Some((offset, length))) => Range::Chars { offset, length },
                (None, None) => return Err(errors::buffers::no_range(session.json)),
            };
            Request::Read { buffer: named(name), range }
        }
        BufferOperation::Search { name, pattern, plain, context, offset, .. } => Request::Search(Search {
            buffer: named(name),
            pattern,
            plain: *plain,
            context: (*context).into(),
            offset: *offset,
        }),
        BufferOperation::Export { name, path, write_mode, .. } => {
            Request::Export(Export { buffer: named(name), path, write_mode: write_mode.map(Into::into) })
        }
    }))
}

/// A buffer of the session, by name.
fn named(name: &str) -> BufferRef<'_> {
    BufferRef { name, scope: None }
}

/// Lays an answer out for a terminal. Returns `None` if its JSON is as readable.
fn layout(answer: &Answer, out: Stream) -> Option<String> {
    let (mut text, truncated) = match answer {
        Answer::List(list) => {
            let unreadable = list.unreadable.iter().map(|why| format!("{}\n", escape::text(why)));
            (tables::buffers(&list.buffers, out) + &unreadable.collect::<String>(), list.truncated)
        }
        Answer::Excerpt(piece) => (escape::lines(&with_newline(&piece.content)), piece.truncated),
        Answer::Hits(found) => {
            (escape::lines(&found.hits.iter().map(format_hit).collect::<String>()), found.truncated)
        }
        Answer::Export(export) => (escape::lines(&with_newline(&export.notice)), None),
        _ => return None,
    };
    if let Some(Truncated { next, .. }) = truncated {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "… continue with --offset {next}");
    }
    Some(text)
}

/// Returns a text that ends with a newline, unless it is empty.
fn with_newline(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// Formats a match as grep does: `line:column: text`, and lines of context with `-`.
fn format_hit(hit: &Hit) -> String {
    let first = hit.line - hit.before.len() as u64;
    let around = |from: u64, lines: &[String]| -> String {
        lines
            .iter()
            .zip(from..)
            .flat_map(|(line, number)| [number.to_string(), format!("- {line}\n")])
            .collect()
    };
    let Hit { line, column, text, before, after, .. } = hit;
    format!("{}{line}:{column}: {text}\n{}", around(first, before), around(line + 1, after))
}
