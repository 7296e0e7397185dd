//! `trommel buffers`: the buffers of a session, asked as a model asks them.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use trommel_route::Scope;
use trommel_toolbox::buffers::NAME;

use crate::args::{BufferOperation, BuffersArgs, DisplayForm as Form, Session};
use crate::errors::Failure;
use crate::output::size::grouped;
use crate::output::{self, Screen, Stream, escape, tables};
use crate::progress::Progress;
use crate::signals;
use crate::toolbox::{Place, Toolbox};

pub(crate) fn run(args: &BuffersArgs, screen: &Screen) -> Result<(), Failure> {
    let progress = Arc::new(Progress::new(screen));
    signals::install(Arc::clone(&progress))?;
    let (session, arguments) = match asked(&args.operation) {
        Request::Tool(session, arguments) => (session, arguments),
        Request::Removal { names, all, session } => return remove(names, all, session, screen.out),
    };
    let root = match &args.operation {
        BufferOperation::Export { root: Some(root), .. } => root.as_path(),
        _ => Path::new("."),
    };
    let place = Place { session: &session.session, root, usual: Scope::Session };
    let toolbox = Toolbox::at(&place, screen)?;
    let answer = toolbox.ask(NAME, arguments, Form::json(session.json), &progress)?;
    if session.json || !screen.out.is_terminal {
        return Ok(output::print_json(answer.get(), true, screen.out)?);
    }
    match laid_out(&args.operation, answer.get(), screen.out) {
        Some(text) => Ok(output::print(&text)?),
        None => Ok(output::print_json(answer.get(), false, screen.out)?),
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

/// What an operation is done by.
enum Request<'a> {
    /// The tool, with these arguments.
    Tool(&'a Session, Value),
    /// By hand only: a model has no operation for it.
    Removal { names: &'a [String], all: bool, session: &'a Session },
}

/// The request of an operation.
fn asked(operation: &BufferOperation) -> Request<'_> {
    let (session, arguments) = match operation {
        BufferOperation::Rm { names, all, session } => {
            return Request::Removal { names, all: *all, session };
        }
        BufferOperation::List { offset, session } => {
            (session, json!({"operation": "list", "offset": offset}))
        }
        BufferOperation::Info { name, session } => (session, json!({"operation": "info", "target": name})),
        BufferOperation::Peek { name, offset, max_chars, session } => {
            let arguments =
                json!({"operation": "peek", "target": name, "offset": offset, "max_chars": max_chars});
            (session, arguments)
        }
        BufferOperation::Read { name, lines, offset, length, session } => {
            let mut arguments = json!({"operation": "read", "target": name});
            let given = [
                ("start_line", lines.map(|(first, _)| first)),
                ("end_line", lines.map(|(_, last)| last)),
                ("offset", *offset),
                ("length", *length),
            ];
            add(&mut arguments, given);
            (session, arguments)
        }
        BufferOperation::Search { name, pattern, plain, context, offset, session } => {
            let arguments = json!({
                "operation": "search", "target": name, "query": pattern, "plain": plain, "context": context, "offset": offset
            });
            (session, arguments)
        }
        BufferOperation::Export { name, path, write_mode, session, .. } => {
            let mut arguments = json!({"operation": "export", "target": name, "destination": path});
            add(&mut arguments, [("write_mode", write_mode.map(crate::args::Mode::name))]);
            (session, arguments)
        }
    };
    Request::Tool(session, arguments)
}

/// Adds what was given.
fn add<T: Into<Value>>(arguments: &mut Value, given: impl IntoIterator<Item = (&'static str, Option<T>)>) {
    let given: Map<String, Value> =
        given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.into()))).collect();
    if let Some(arguments) = arguments.as_object_mut() {
        arguments.extend(given);
    }
}

/// What a terminal shows of an answer, where that is not the answer itself.
#[derive(Deserialize)]
struct Shown {
    #[serde(default)]
    buffers: Vec<tables::BufferRow>,
    #[serde(default)]
    unreadable: Vec<String>,
    #[serde(default)]
    content: String,
    #[serde(default)]
    hits: Vec<Hit>,
    #[serde(default)]
    notice: String,
    truncated: Option<Truncated>,
}

#[derive(Deserialize)]
struct Hit {
    line: u64,
    column: u64,
    text: String,
    #[serde(default)]
    before: Vec<String>,
    #[serde(default)]
    after: Vec<String>,
}

#[derive(Deserialize)]
struct Truncated {
    next: u64,
}

/// An answer for people; nothing where its JSON says it best.
fn laid_out(operation: &BufferOperation, answer: &str, out: Stream) -> Option<String> {
    let shown: Shown = serde_json::from_str(answer).ok()?;
    let mut text = match operation {
        BufferOperation::List { .. } => tables::buffers(&shown.buffers, out),
        BufferOperation::Info { .. } | BufferOperation::Rm { .. } => return None,
        BufferOperation::Peek { .. } | BufferOperation::Read { .. } => escape::lines(&ended(&shown.content)),
        BufferOperation::Search { .. } => escape::lines(&shown.hits.iter().map(of_hit).collect::<String>()),
        BufferOperation::Export { .. } => escape::lines(&ended(&shown.notice)),
    };
    // Writing to a string cannot fail.
    for why in &shown.unreadable {
        let _ = writeln!(text, "{}", escape::text(why));
    }
    if let Some(Truncated { next }) = shown.truncated {
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
    let Hit { line, column, text, before, after } = hit;
    format!("{}{line}:{column}: {text}\n{}", around(first, before), around(line + 1, after))
}
