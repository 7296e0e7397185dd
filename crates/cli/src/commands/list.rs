//! `trommel list`: which outputs are stored.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::args::{DisplayForm as Form, ListArgs};
use crate::errors::Failure;
use crate::output::{self, Notes, Screen, tables};
use crate::progress::Progress;
use crate::signals;
use crate::toolbox::Toolbox;

/// Rows that the tool gives at a time.
const PAGE: u64 = 100;

/// Characters of the tool's answer: as many as it gives.
const MOST: u64 = 100_000;

/// The tool's answer, as much of it as is looked at.
#[derive(Deserialize)]
struct Page {
    outputs: Vec<Box<RawValue>>,
    total: u64,
    has_more: bool,
}

/// The answer of all pages, in the words of the tool.
#[derive(Serialize)]
struct Listed {
    outputs: Vec<Box<RawValue>>,
    total: u64,
    has_more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Value>,
}

/// What tells rows apart.
#[derive(Deserialize)]
struct Id {
    id: String,
}

pub(crate) fn run(args: &ListArgs, screen: &Screen) -> Result<(), Failure> {
    let progress = Arc::new(Progress::new(screen));
    signals::install(Arc::clone(&progress))?;
    let listed = list(args, &Toolbox::open(screen)?)?;
    if args.json || !screen.out.is_terminal {
        let document = serde_json::to_string(&listed).map_err(io::Error::other)?;
        return Ok(output::print_json(&document, true, screen.out)?);
    }
    let rows = listed.outputs.iter().map(|row| serde_json::from_str(row.get()));
    let rows: Vec<tables::OutputRow> = rows.collect::<Result<_, _>>().map_err(io::Error::other)?;
    let notes = Notes::new("", progress);
    if rows.is_empty() {
        notes.note(if listed.total > 0 { "no more outputs" } else { "no stored outputs match" });
        return Ok(());
    }
    let zone = if args.utc { TimeZone::UTC } else { TimeZone::system() };
    output::print(&tables::outputs(&rows, &zone, screen.out))?;
    if listed.has_more {
        let next = args.offset + rows.len() as u64;
        notes.note(&format!("{} of {}; next page: --offset {next}", rows.len(), listed.total));
    }
    Ok(())
}

/// Asks the tool page by page. A row that others have pushed onto the next page meanwhile is not
/// told twice.
fn list(args: &ListArgs, toolbox: &Toolbox) -> Result<Listed, Failure> {
    let most = args.limit.map_or(u64::MAX, Into::into);
    let mut listed = Listed { outputs: Vec::new(), total: 0, has_more: true, truncated: None };
    let mut told = BTreeSet::new();
    let mut offset = args.offset;
    while listed.has_more {
        let wanted = most.saturating_sub(listed.outputs.len() as u64).min(PAGE);
        if wanted == 0 {
            break;
        }
        let asked = arguments(args, wanted, offset);
        let answer = toolbox.ask("tool_outputs.list", asked, Form::json(args.json), &Progress::hidden())?;
        let page: Page = serde_json::from_str(answer.get()).map_err(io::Error::other)?;
        (listed.total, listed.has_more) = (page.total, page.has_more && !page.outputs.is_empty());
        offset += page.outputs.len() as u64;
        for row in page.outputs {
            let Id { id } = serde_json::from_str(row.get()).map_err(io::Error::other)?;
            if told.insert(id) {
                listed.outputs.push(row);
            }
        }
    }
    if listed.has_more {
        let returned = listed.outputs.len();
        listed.truncated = Some(json!({"reason": "limit", "returned": returned, "next": offset}));
    }
    Ok(listed)
}

/// What the tool is asked.
fn arguments(args: &ListArgs, limit: u64, offset: u64) -> Value {
    let mut asked = json!({
        "limit": limit,
        "offset": offset,
        "sort_by": args.sort_by.name(),
        "sort_order": args.sort_order.name(),
        "include_preview": !args.no_preview,
        "preview_length": args.preview_length,
        "max_chars": MOST,
    });
    let filters = [
        ("conversation_id", args.conversation.clone().map(Value::from)),
        ("tool_name", args.tool.clone().map(Value::from)),
        ("success", args.success.map(Value::from)),
        ("after", args.after.map(Value::from)),
        ("before", args.before.map(Value::from)),
    ];
    for (name, value) in filters {
        if let (Some(value), Some(asked)) = (value, asked.as_object_mut()) {
            asked.insert(name.into(), value);
        }
    }
    asked
}
