//! `trommel tools` and `trommel history`: the tools there are, and what was called.

use std::io;
use std::sync::Arc;

use serde::Serialize;
use trommel_tool::dialect::{Dialect, Fate};
use trommel_tool::display::{History, Look, RegistryView, Show, ToolDetails, ToolList};
use trommel_tool::{Executor, Metadata, Tool};
use trommel_toolbox::StoreRecord;

use crate::args::{HistoryArgs, ToolsArgs};
use crate::errors::Failure;
use crate::output::{self, Notes, escape};
use crate::progress::Progress;
use crate::signals;
use crate::toolbox::{Toolbox, look};

pub(crate) fn run(args: &ToolsArgs) -> Result<(), Failure> {
    signals::install(Arc::new(Progress::new()))?;
    let toolbox = Toolbox::open()?;
    let tools = toolbox.registry.tools();
    let all: Vec<&Metadata> = tools.iter().map(Tool::metadata).collect();
    if args.state {
        return show(args.json, &RegistryView::new(&toolbox.registry.state()), &look(io::stdout()));
    }
    let named = match &args.name {
        Some(name) => {
            let tool = toolbox.registry.get(name).ok_or_else(|| toolbox.not_found(name, args.json))?;
            Some(tool)
        }
        None => None,
    };
    let named = named.as_ref().map(Tool::metadata);
    match (args.schema, named) {
        (Some(provider), named) => export(provider.into(), &all, named, args.json),
        (None, Some(tool)) => show(args.json, &ToolDetails::new(tool), &look(io::stdout())),
        (None, None) => show(args.json, &ToolList::new(all), &look(io::stdout())),
    }
}

/// Prints tools as a dialect describes them, and says what it has no place for.
fn export(dialect: Dialect, all: &[&Metadata], named: Option<&Metadata>, json: bool) -> Result<(), Failure> {
    // All are exported in any case, so that a name is spelt alike alone and among others.
    let export = dialect.export(all);
    let notes = Notes::new("", Arc::new(Progress::new()));
    let concerns = |tool: &str| named.is_none_or(|named| named.name == tool);
    let lost = export.dropped.iter().filter(|one| matches!(one.fate, Fate::NotStrict | Fate::Refused));
    for one in lost.filter(|one| concerns(&one.tool)) {
        notes.note(&escape::text(&one.to_string()));
    }
    let excesses = if named.is_some() { Vec::new() } else { export.excesses() };
    for excess in excesses {
        notes.note(&escape::text(&excess.to_string()));
    }
    let document = match named {
        Some(tool) => export.tool(&tool.name).cloned().unwrap_or_default(),
        None => export.document(),
    };
    Ok(output::print_json(&document.to_string(), json)?)
}

pub(crate) fn history(args: &HistoryArgs) -> Result<(), Failure> {
    signals::install(Arc::new(Progress::new()))?;
    let toolbox = Toolbox::open()?;
    let executor = Executor::new(Arc::clone(&toolbox.registry));
    let executor = executor.record(Arc::new(StoreRecord::new(&toolbox.store)));
    let failed = |failure: trommel_tool::Failure| Failure::Tool {
        shown: format!("error: {failure}\n"),
        request: false,
    };
    let all = executor.history(usize::MAX).map_err(failed)?;
    let shown = args.limit.map_or(all.len(), Into::into).min(all.len());
    let newest = all.get(all.len() - shown..).unwrap_or_default();
    let mut look = look(io::stdout());
    if args.utc {
        look = look.utc();
    }
    show(args.json, &History::new(newest, all.len() as u64), &look)
}

/// Prints a display: the wireframe's on a terminal, else JSON.
pub(crate) fn show(json: bool, display: &(impl Show + Serialize), look: &Look) -> Result<(), Failure> {
    if !json && output::is_terminal() {
        return Ok(output::print(&display.text(look))?);
    }
    let document = serde_json::to_string(display).map_err(io::Error::other)?;
    Ok(output::print_json(&document, true)?)
}
