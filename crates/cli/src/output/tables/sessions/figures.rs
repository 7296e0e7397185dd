//! Events in figures: all of them, and any number that they carry.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::times::took;
use super::{Clock, NAME, bar, counted};
use crate::output::escape;
use crate::output::size::{binary, grouped};
use crate::output::tables::{Grid, heading};

/// Columns of the longest bar.
const BAR: u64 = 30;

/// All events of a session.
#[derive(Deserialize)]
pub(super) struct SummaryRow {
    total_events: u64,
    event_types: Map<String, Value>,
    #[serde(default)]
    other_types: u64,
    #[serde(default)]
    levels: Map<String, Value>,
    errors: u64,
    duration_ms: Option<i64>,
    first_event: Option<String>,
    last_event: Option<String>,
    bytes: u64,
    largest: Option<Largest>,
}

#[derive(Deserialize)]
struct Largest {
    record: u64,
    event: String,
    bytes: u64,
}

/// What the events were.
pub(crate) fn summary(answer: &str, clock: &Clock) -> serde_json::Result<String> {
    Ok(of_summary(&serde_json::from_str(answer)?, clock))
}

/// The same of a summary inside of another answer.
pub(super) fn of_summary(summary: &SummaryRow, clock: &Clock) -> String {
    let mut grid = Grid::unnamed(&[false, false]);
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
        row("took", took(duration));
    }
    row("size", binary(summary.bytes));
    if let Some(Largest { record, event, bytes }) = &summary.largest {
        row("longest", format!("record {record}, {}, {}", escape::short(event, NAME), binary(*bytes)));
    }
    heading("Events") + &grid.text() + &types(summary)
}

fn types(summary: &SummaryRow) -> String {
    let types = by_count(&summary.event_types);
    let Some((_, most)) = types.first() else { return String::new() };
    let mut grid = Grid::new(&["type", "events", ""], &[false, true, false]);
    for (name, count) in &types {
        grid.row([escape::short(name, NAME), grouped(*count), bar(*count, *most, BAR)]);
    }
    if summary.other_types > 0 {
        grid.row(["(others)".to_owned(), grouped(summary.other_types), String::new()]);
    }
    format!("\n{}", grid.text())
}

/// Names and how often each was met, the one met most first.
fn by_count(counts: &Map<String, Value>) -> Vec<(&str, u64)> {
    let counts = counts.iter().map(|(name, count)| (name.as_str(), count.as_u64().unwrap_or(0)));
    let mut counts: Vec<_> = counts.collect();
    counts.sort_by(|(one, a), (other, b)| b.cmp(a).then(one.cmp(other)));
    counts
}

#[derive(Deserialize)]
struct Aggregate {
    field: String,
    by: Option<String>,
    groups: Vec<Figures>,
    events: u64,
    missing: u64,
    not_numbers: u64,
    #[serde(default)]
    repeated: u64,
    #[serde(default)]
    approximate: bool,
}

/// Numbers of a group, as exact as they were told.
#[derive(Deserialize)]
struct Figures {
    group: Option<String>,
    count: u64,
    sum: Option<Box<RawValue>>,
    mean: Option<Box<RawValue>>,
    min: Option<Box<RawValue>>,
    max: Option<Box<RawValue>>,
}

/// Figures of a number, one group a row.
pub(crate) fn aggregate(answer: &str) -> serde_json::Result<String> {
    let found: Aggregate = serde_json::from_str(answer)?;
    let by = found.by.as_ref().map_or(String::new(), |by| format!(" by {}", escape::short(by, NAME)));
    let mut text = heading(&format!("{}{by}", escape::short(&found.field, NAME)));
    if !found.groups.is_empty() {
        text.push_str(&of_groups(&found));
    }
    // Writing to a string cannot fail.
    let _ = write!(text, "{}", counted(found.events, "event"));
    let others = [
        (found.missing, "without it"),
        (found.not_numbers, "where it is not a number"),
        (found.repeated, "further parts of responses, each of which counts once"),
    ];
    for (count, what) in others {
        if count > 0 {
            let _ = write!(text, ", {} {what}", grouped(count));
        }
    }
    if found.approximate {
        text.push_str("; approximate, as there are too many responses to distinguish");
    }
    Ok(text + "\n")
}

fn of_groups(found: &Aggregate) -> String {
    let names = ["group", "count", "sum", "mean", "least", "greatest"];
    let mut grid = Grid::new(&names, &[false, true, true, true, true, true]);
    for one in &found.groups {
        let figure =
            |figure: &Option<Box<RawValue>>| figure.as_ref().map_or("–", |raw| number(raw)).to_owned();
        let group = match (&one.group, &found.by) {
            (Some(group), _) => escape::short(group, NAME),
            (None, Some(_)) => "(does not say)".to_owned(),
            (None, None) => "all".to_owned(),
        };
        let mean = one.mean.as_ref().map_or_else(|| "–".to_owned(), |mean| rounded(mean));
        let [sum, min, max] = [&one.sum, &one.min, &one.max].map(figure);
        grid.row([group, grouped(one.count), sum, mean, min, max]);
    }
    grid.text()
}

/// A mean with at most three digits after the point; one that these would not show, verbatim.
fn rounded(raw: &RawValue) -> String {
    let text = number(raw);
    match text.parse::<f64>() {
        Ok(mean) if mean == 0.0 || (0.01..1e15).contains(&mean.abs()) => {
            let text = format!("{mean:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        _ => text.to_owned(),
    }
}

/// A number as it was told; those that no double holds are told as texts.
fn number(raw: &RawValue) -> &str {
    raw.get().trim_matches('"')
}
