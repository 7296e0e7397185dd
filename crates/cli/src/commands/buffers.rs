//! `trommel buffers`: the buffers of a session, with the answers that a model gets.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use trommel_route::Scope;
use trommel_toolbox::buffers::{self, Answer, Export, Hit, Named, Range, Request, Search, Truncated};

use crate::args::{BufferOperation, BuffersArgs, Session};
use crate::errors::{self, Failure};
use crate::output::size::grouped;
use crate::output::{self, Screen, Stream, escape, tables};
use crate::progress::Progress;
use crate::signals;
use crate::toolbox::{self, Place};

pub(crate) fn run(args: &BuffersArgs, screen: &Screen) -> Result<(), Failure> {
    let progress = Arc::new(Progress::new(screen));
    signals::install(Arc::clone(&progress))?;
    let (operation, session) = (&args.operation, args.operation.session());
    let request = match asked(operation)? {
        Asked::Request(request) => request,
        Asked::Removal { names, all } => return remove(names, all, session, screen.out),
    };
    let root = match operation {
        BufferOperation::Export { root: Some(root), .. } => root.as_path(),
        _ => Path::new("."),
    };
    let place = Place { session: &session.session, root, usual: Scope::Session };
    let places = toolbox::destinations(&place)?;
    let answer = buffers::answer(&places, &request, &mut |bytes, total| {
        progress.update(bytes, Some(total));
        true
    });
    progress.clear();
    let answer = answer.map_err(|error| errors::buffers::failure(operation.name(), session.json, &error))?;
    let is_plain = session.json || !screen.out.is_terminal;
    match laid_out(&answer, screen.out) {
        Some(text) if !is_plain => Ok(output::print(&text)?),
        _ => Ok(output::print_json(&answer.to_json(), is_plain, screen.out)?),
    }
}

/// Removes buffers of a session: all of these, or none if one is not there.
fn remove(names: &[String], all: bool, session: &Session, out: Stream) -> Result<(), Failure> {
    let buffers = crate::home::buffers(&session.session, Scope::Session)?;
    let (text, removed) = if all {
        let count = buffers.clear(Scope::Session)?;
        let plural = if count == 1 { "" } else { "s" };
        (format!("removed {} buffer{plural}\n", grouped(count as u64)), json!(count))
    } else {
        let names: BTreeSet<_> = names.iter().collect();
        for name in &names {
            buffers.check_there(name, Scope::Session)?;
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

/// An operation, by what does it.
enum Asked<'a> {
    /// The library that the tool uses, too.
    Request(Request<'a>),
    /// This command alone: a model cannot remove buffers.
    Removal { names: &'a [String], all: bool },
}

/// The request of an operation.
fn asked(operation: &BufferOperation) -> Result<Asked<'_>, Failure> {
    Ok(Asked::Request(match operation {
        BufferOperation::Rm { names, all, .. } => return Ok(Asked::Removal { names, all: *all }),
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

/// A buffer of the session.
fn named(name: &str) -> Named<'_> {
    Named { name, scope: None }
}

/// An answer for people; nothing where its JSON says it best.
fn laid_out(answer: &Answer, out: Stream) -> Option<String> {
    let (mut text, truncated) = match answer {
        Answer::List(list) => {
            let unreadable = list.unreadable.iter().map(|why| format!("{}\n", escape::text(why)));
            (tables::buffers(&list.buffers, out) + &unreadable.collect::<String>(), list.truncated)
        }
        Answer::Piece(piece) => (escape::lines(&ended(&piece.content)), piece.truncated),
        Answer::Hits(found) => {
            (escape::lines(&found.hits.iter().map(of_hit).collect::<String>()), found.truncated)
        }
        Answer::Export(export) => (escape::lines(&ended(&export.notice)), None),
        _ => return None,
    };
    if let Some(Truncated { next, .. }) = truncated {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "… go on with --offset {next}");
    }
    Some(text)
}

/// A text whose last line is ended.
fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// A hit as other programs print theirs: `line:column: text`, the lines around with `-`.
fn of_hit(hit: &Hit) -> String {
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
