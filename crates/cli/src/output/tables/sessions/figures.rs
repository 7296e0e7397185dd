//! Summaries of events, and aggregates of a numeric field.

use std::collections::BTreeMap;
use std::fmt::Write;
use trommel_answer::figures::{exact, rounded};

use trommel::statistics::Exact;
use trommel_session::{Aggregate, Group, LargestEvent, Summary};

use super::super::bar;
use super::times::format_duration;
use super::{Clock, NAME, counted};
use crate::output::size::{binary, grouped};
use crate::output::tables::{Grid, heading};
use crate::output::{Stream, escape};

/// The columns of the longest bar.
const BAR: u64 = 30;

/// Formats a summary of events.
pub(crate) fn summary(summary: &Summary, clock: &Clock, out: Stream) -> String {
    let mut grid = Grid::unnamed(&[false, false], out);
    let mut row = |name: &str, figure: String| grid.row([name.to_owned(), figure]);
    row("events", grouped(summary.total_events));
    row("errors", grouped(summary.errors));
    let levels = by_count(&summary.levels).into_iter();
    let levels: Vec<_> = levels.map(|(name, count)| format!("{} {name}", grouped(count))).collect();
    if levels.len() > 1 {
        row("levels", escape::short(&levels.join(", "), 200));
    }
    if let (Some(first), Some(last)) = (&summary.first_event, &summary.last_event) {
        row("from", clock.second(Some(first)));
        row("to", clock.second(Some(last)));
    }
    if let Some(duration) = summary.duration_ms {
        row("duration", format_duration(duration));
    }
    row("size", binary(summary.bytes));
    if let Some(LargestEvent { record, event, bytes, .. }) = &summary.largest {
        row("largest", format!("record {record}, {}, {}", escape::short(event, NAME), binary(*bytes)));
    }
    heading("Events", out) + &grid.text() + &types(summary, out)
}

fn types(summary: &Summary, out: Stream) -> String {
    let types = by_count(&summary.event_types);
    let Some((_, most)) = types.first() else { return String::new() };
    let mut grid = Grid::new(&["type", "events", ""], &[false, true, false], out);
    for (name, count) in &types {
        grid.row([escape::short(name, NAME), grouped(*count), bar(*count, *most, BAR)]);
    }
    if summary.other_types > 0 {
        grid.row(["(others)".to_owned(), grouped(summary.other_types), String::new()]);
    }
    format!("\n{}", grid.text())
}

/// Returns names and counts, the most frequent first.
fn by_count(counts: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    let mut counts: Vec<_> = counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    counts.sort_by(|(one, a), (other, b)| b.cmp(a).then(one.cmp(other)));
    counts
}

/// Formats an aggregate, one group per row.
pub(crate) fn aggregate(found: &Aggregate, out: Stream) -> String {
    let by = found.by.as_ref().map_or(String::new(), |by| format!(" by {}", escape::short(by, NAME)));
    let mut text = heading(&format!("{}{by}", escape::short(&found.field, NAME)), out);
    if !found.groups.is_empty() {
        text.push_str(&of_groups(found, out));
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "{}", counted(found.events, "event"));
    let others = [
        (found.missing, "without the field"),
        (found.not_numbers, "with a value that is not a number"),
        (found.repeated, "repeated for the same response, which counts once"),
    ];
    for (count, what) in others {
        if count > 0 {
            let _ = write!(text, ", {} {what}", grouped(count));
        }
    }
    if found.approximate {
        text.push_str("; approximate: too many responses to distinguish");
    }
    text + "\n"
}

fn of_groups(found: &Aggregate, out: Stream) -> String {
    let names = ["group", "count", "sum", "mean", "minimum", "maximum"];
    let mut grid = Grid::new(&names, &[false, true, true, true, true, true], out);
    let unknown = || "–".to_owned();
    let text = |number: &Option<Exact>| number.as_ref().map_or_else(unknown, exact);
    for Group { group, figures, .. } in &found.groups {
        let name = match (group, &found.by) {
            (Some(group), _) => escape::short(group, NAME),
            (None, Some(_)) => "(none)".to_owned(),
            (None, None) => "all".to_owned(),
        };
        let mean = figures.mean.map_or_else(unknown, rounded);
        let [sum, min, max] = [&figures.sum, &figures.min, &figures.max].map(text);
        grid.row([name, grouped(figures.count), sum, mean, min, max]);
    }
    grid.text()
}
