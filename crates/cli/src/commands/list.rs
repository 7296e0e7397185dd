//! `trommel list`: lists stored outputs.

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde::Serialize;
use trommel_store::{Filter, Page};
use trommel_toolbox::outputs::ListedOutput;

use crate::args::ListArgs;
use crate::errors::{self, Failure};
use crate::output::{self, Notes, Screen, tables};
use crate::progress::Progress;
use crate::{home, signals};

/// The answer, with the members of the answer of `tool_outputs.list`.
#[derive(Serialize)]
struct Listed<'a> {
    outputs: Vec<ListedOutput<'a>>,
    total: u64,
    has_more: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    truncated: Option<Truncated>,
}

#[derive(Serialize)]
struct Truncated {
    reason: &'static str,
    returned: usize,
    next: u64,
}

impl<'a> Listed<'a> {
    fn new(args: &ListArgs, page: &'a Page) -> Self {
        let (returned, next) = (page.rows.len(), next(args, page));
        let preview = preview(args);
        Self {
            outputs: page.rows.iter().map(|row| ListedOutput::new(row, preview)).collect(),
            total: page.total,
            has_more: page.has_more,
            truncated: page.has_more.then_some(Truncated { reason: "limit", returned, next }),
        }
    }
}

pub(crate) fn run(args: &ListArgs, screen: &Screen) -> Result<(), Failure> {
    let progress = Arc::new(Progress::new(screen));
    signals::install(Arc::clone(&progress))?;
    let page = home::store()?.list(&filter(args));
    let page = page.map_err(|error| errors::list::failure(args.json, &error))?;
    if args.json || !screen.out.is_terminal {
        let document = output::json_line(&Listed::new(args, &page));
        return Ok(output::print_json(&document, true, screen.out)?);
    }
    let notes = Notes::new("", progress);
    if page.rows.is_empty() {
        notes.note(if page.total > 0 { "no more outputs" } else { "no stored outputs match" });
        return Ok(());
    }
    let zone = if args.utc { TimeZone::UTC } else { TimeZone::system() };
    output::print(&tables::outputs(&page.rows, preview(args), &zone, screen.out))?;
    if page.has_more {
        let (shown, next) = (page.rows.len(), next(args, &page));
        notes.note(&format!("{shown} of {}; next page: --offset {next}", page.total));
    }
    Ok(())
}

fn filter(args: &ListArgs) -> Filter {
    let mut filter = Filter::default();
    filter.conversation_id.clone_from(&args.conversation);
    filter.tool_name.clone_from(&args.tool);
    filter.success = args.success;
    (filter.after, filter.before) = (args.after, args.before);
    (filter.limit, filter.offset) = (args.limit.map_or(u64::MAX, Into::into), args.offset);
    (filter.sort_by, filter.sort_order) = (args.sort_by.into(), args.sort_order.into());
    filter
}

/// Returns the maximum number of preview characters, or `None` without previews.
fn preview(args: &ListArgs) -> Option<usize> {
    (!args.no_preview).then_some(args.preview_length.into())
}

/// Returns the offset of the next page.
fn next(args: &ListArgs, page: &Page) -> u64 {
    args.offset.saturating_add(page.rows.len() as u64)
}
