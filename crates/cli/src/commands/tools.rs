//! `trommel tools` and `trommel history`: the registered tools and their past calls.

use std::io;
use std::sync::Arc;

use serde::Serialize;
use trommel_display::{DisplayOptions, History, RegistryView, Show, ToolDetails, ToolList};
use trommel_tool::budget::Excess;
use trommel_tool::dialect::{Dialect, Dropped, Fate};
use trommel_tool::{Executor, Metadata, Tool};
use trommel_toolbox::StoreRecord;

use crate::args::{DisplayForm as Form, HistoryArgs, ToolsArgs};
use crate::errors::Failure;
use crate::output::{self, Notes, Screen, Stream, escape};
use crate::progress::Progress;
use crate::signals;
use crate::toolbox::Toolbox;

pub(crate) fn run(args: &ToolsArgs, screen: &Screen) -> Result<(), Failure> {
    signals::install(Arc::new(Progress::hidden()))?;
    let toolbox = Toolbox::open(screen)?;
    let tools = toolbox.registry.tools();
    let all: Vec<&Metadata> = tools.iter().map(Tool::metadata).collect();
    if args.state {
        return show(args.form, &RegistryView::new(&toolbox.registry.state()), screen.out);
    }
    let named = match &args.name {
        Some(name) => {
            let tool = toolbox.registry.get(name).ok_or_else(|| toolbox.not_found(name, args.form))?;
            Some(tool)
        }
        None => None,
    };
    let named = named.as_ref().map(Tool::metadata);
    match (args.schema, named) {
        (Some(provider), named) => {
            let described = Described { all: &all, named };
            export(provider.into(), described, args, screen.out)
        }
        (None, Some(tool)) => show(args.form, &ToolDetails::new(tool), screen.out),
        (None, None) => show(args.form, &ToolList::new(all), screen.out),
    }
}

/// The tools to export.
#[derive(Clone, Copy)]
struct Described<'a> {
    all: &'a [&'a Metadata],
    /// The tool to print, unless all are printed.
    named: Option<&'a Metadata>,
}

/// Prints the export of tools in a dialect, or the changes that it makes.
fn export(dialect: Dialect, described: Described<'_>, args: &ToolsArgs, out: Stream) -> Result<(), Failure> {
    let Described { all, named } = described;
    // Exports all tools even if one is printed, because exported names depend on the other tools.
    let export = dialect.export(all);
    let concerns = |tool: &str| named.is_none_or(|named| named.name == tool);
    let changes: Vec<&Dropped> = export.dropped.iter().filter(|one| concerns(&one.tool)).collect();
    if args.report {
        return report(&changes, args.form, out);
    }
    let described = named.map(|tool| export.tool(&tool.name).ok_or(tool));
    if let Some(Err(tool)) = described {
        let why = changes.iter().map(|one| format!("error: {}\n", escape::text(&one.to_string())));
        let why =
            why.chain([format!("the tool {} cannot be exported to {dialect}\n", escape::text(&tool.name))]);
        return Err(Failure::Tool { text: why.collect(), is_request: false });
    }
    let document = described.and_then(Result::ok).cloned().unwrap_or_else(|| export.document());
    note(&changes, if named.is_some() { Vec::new() } else { export.excesses() });
    Ok(output::print_json(&document.to_string(), args.form.json, out)?)
}

/// Prints the changes of an export, one per line or as JSON.
fn report(changes: &[&Dropped], form: Form, out: Stream) -> Result<(), Failure> {
    if form.json || !(form.plain || out.is_terminal) {
        let document = serde_json::to_string(changes).map_err(io::Error::other)?;
        return Ok(output::print_json(&document, true, out)?);
    }
    let lines = changes.iter().map(|one| escape::text(&one.to_string()).into_owned() + "\n");
    Ok(output::print(&lines.collect::<String>())?)
}

/// Notes the tools that are not exported as requested, the limits of a request that they exceed,
/// and the number of other changes.
fn note(changes: &[&Dropped], excesses: Vec<Excess>) {
    let notes = Notes::new("", Arc::new(Progress::hidden()));
    let (weighty, others): (Vec<&Dropped>, Vec<&Dropped>) =
        changes.iter().partition(|one| matches!(one.fate, Fate::NotStrict | Fate::Refused));
    for one in weighty {
        notes.note(&escape::text(&one.to_string()));
    }
    for excess in excesses {
        notes.note(&escape::text(&excess.to_string()));
    }
    if !others.is_empty() {
        let changes = if others.len() == 1 { "change" } else { "changes" };
        notes.note(&format!("{} {changes} to the tools' schemas; list them with --report", others.len()));
    }
}

pub(crate) fn history(args: &HistoryArgs, screen: &Screen) -> Result<(), Failure> {
    signals::install(Arc::new(Progress::hidden()))?;
    let toolbox = Toolbox::open(screen)?;
    let executor = Executor::new(Arc::clone(&toolbox.registry));
    let executor = executor.record(Arc::new(StoreRecord::new(&toolbox.store)));
    let failed = |failure: trommel_tool::Failure| Failure::Tool {
        text: format!("error: {failure}\n"),
        is_request: false,
    };
    let total = executor.total().map_err(failed)?;
    let newest = executor.history(args.limit.map_or(usize::MAX, Into::into)).map_err(failed)?;
    let look = screen.out.layout(args.form.plain);
    let look = if args.utc { look.utc() } else { look };
    show_as(args.form, &History::new(&newest, total), &look, screen.out)
}

/// Prints a display: as text on a terminal, otherwise as JSON.
fn show(form: Form, display: &(impl Show + Serialize), out: Stream) -> Result<(), Failure> {
    show_as(form, display, &out.layout(form.plain), out)
}

fn show_as(
    form: Form,
    display: &(impl Show + Serialize),
    look: &DisplayOptions,
    out: Stream,
) -> Result<(), Failure> {
    if !form.json && (form.plain || out.is_terminal) {
        return Ok(output::print(&display.text(look))?);
    }
    let document = serde_json::to_string(display).map_err(io::Error::other)?;
    Ok(output::print_json(&document, true, out)?)
}
