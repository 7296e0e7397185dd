//! Stored outputs, their maintenance, and buffers.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use trommel_base::text::first;
use trommel_route::BufferInfo;
use trommel_store::{Damage, EvictionReason, GcReport, Kind, RebuildReport, Row, VerifyReport};

use super::{Column, Fit, Grid, heading, on_one_line};
use crate::output::size::{binary, grouped};
use crate::output::{Stream, escape};

/// The maximum number of characters of a preview.
const PREVIEW: usize = 60;

/// The maximum number of characters of a name or ID.
const NAME: usize = 64;

/// The minimum number of characters of a name or content in a narrow terminal.
const MIN_TEXT: usize = 8;

/// Summarizes the content of an output.
fn content(row: &Row) -> String {
    let summary = match &row.summary {
        Some(summary) if !row.corrupted => summary,
        _ => return "damaged".into(),
    };
    let counted = |count: Option<u64>, unit: &str| {
        count.map(|count| format!("{} {unit}{}", grouped(count), if count == 1 { "" } else { "s" }))
    };
    let is_stream = row.kind == Some(Kind::JsonLines);
    let damaged = (row.damaged_records > 0).then(|| format!("{} damaged", grouped(row.damaged_records)));
    let words = if is_stream {
        [counted(summary.items, "record"), damaged, None]
    } else {
        [Some(summary.type_.clone()), counted(summary.keys, "key"), counted(summary.items, "item")]
    };
    let failed = (!row.success).then(|| "failed".to_owned());
    words.into_iter().chain([failed]).flatten().collect::<Vec<_>>().join(", ")
}

/// Formats outputs, one per row, with at most `preview` characters of their previews.
pub(crate) fn outputs(rows: &[Row], preview: Option<usize>, zone: &TimeZone, out: Stream) -> String {
    let previews = preview.is_some() && rows.iter().any(|row| row.preview.is_some());
    let columns = [
        Column::new("id", Fit::Whole),
        Column::new("tool", Fit::Text).at_least(MIN_TEXT),
        Column::new("stored", Fit::Whole),
        Column::number("size"),
        Column::new("content", Fit::Text).at_least(MIN_TEXT),
    ];
    let preview_column = previews.then(|| Column::new("preview", Fit::Text).rank(1));
    let mut grid = Grid::of(columns.into_iter().chain(preview_column).collect(), out);
    for row in rows {
        let cells = [
            escape::short(&row.id, NAME),
            escape::short(&row.tool_name, NAME),
            clock(row.created_at, zone),
            binary(row.size_bytes),
            content(row),
        ];
        let preview = preview.zip(row.preview.as_deref());
        let preview = preview.map(|(most, text)| on_one_line(first(text, most), PREVIEW));
        grid.row(cells.into_iter().chain(preview));
    }
    grid.text()
}

/// Formats a time to the second.
fn clock(milliseconds: i64, zone: &TimeZone) -> String {
    let Ok(moment) = Timestamp::from_millisecond(milliseconds) else { return milliseconds.to_string() };
    moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// Formats the result of a collection, or of its dry run.
pub(crate) fn swept(swept: &GcReport, out: Stream) -> String {
    let mut sections = Vec::new();
    if !swept.evicted.is_empty() {
        let mut grid = Grid::new(&["id", "size", "reason"], &[false, true, false], out);
        for one in &swept.evicted {
            let reason = match one.reason {
                EvictionReason::Age => "age",
                EvictionReason::Count => "number",
                _ => "size",
            };
            grid.row([one.id.clone(), binary(one.bytes), reason.to_owned()]);
        }
        let title = if swept.dry_run { "Outputs to evict" } else { "Evicted outputs" };
        sections.push(heading(title, out) + &grid.text());
    }
    if !swept.removed.is_empty() {
        let mut grid = Grid::new(&["file", "size"], &[false, true], out).wrapped();
        for one in &swept.removed {
            grid.row([one.path.display().to_string(), binary(one.bytes)]);
        }
        let title = if swept.dry_run { "Leftovers to remove" } else { "Removed leftovers" };
        sections.push(heading(title, out) + &grid.text());
    }
    let mut grid = Grid::unnamed(&[false, true], out);
    let freed = if swept.dry_run { "to free" } else { "freed" };
    grid.row([freed.into(), binary(swept.freed_bytes)]);
    grid.row(["outputs kept".into(), grouped(swept.left_count)]);
    grid.row(["size kept".into(), binary(swept.left_bytes)]);
    for (what, count) in
        [("kept because pinned", swept.spared_pinned), ("kept because being read", swept.spared_open)]
    {
        if count > 0 {
            grid.row([what.into(), grouped(count)]);
        }
    }
    sections.push(grid.text());
    sections.join("\n")
}

/// Formats the result of a verification.
pub(crate) fn verified(
    verified: &VerifyReport,
    damages: &[Damage],
    leftovers: &[Damage],
    out: Stream,
) -> String {
    let mut text = String::new();
    for (prefix, found) in [("", damages), ("note: ", leftovers)] {
        for one in found {
            let what = one.id.clone().unwrap_or_else(|| one.path.display().to_string());
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{prefix}{}: {}", escape::short(&what, NAME), escape::text(&one.message));
        }
    }
    let mut grid = Grid::unnamed(&[false, true], out);
    grid.row(["outputs".into(), grouped(verified.outputs)]);
    grid.row(["read".into(), binary(verified.bytes)]);
    grid.row(["damaged".into(), grouped(verified.damaged)]);
    if verified.strays > 0 {
        grid.row(["leftovers".into(), grouped(verified.strays)]);
    }
    text + &grid.text()
}

/// Formats the result of a rebuild.
pub(crate) fn rebuilt(rebuilt: &RebuildReport, out: Stream) -> String {
    let mut grid = Grid::unnamed(&[false, true], out);
    grid.row(["outputs".into(), grouped(rebuilt.outputs)]);
    grid.row(["damaged".into(), grouped(rebuilt.corrupted)]);
    grid.row(["leftovers".into(), grouped(rebuilt.strays)]);
    grid.text()
}

/// Formats buffers, one per row.
pub(crate) fn buffers(rows: &[BufferInfo], out: Stream) -> String {
    let names = ["name", "characters", "lines", "source", "written"];
    let mut grid = Grid::new(&names, &[false, true, true, false, false], out);
    for row in rows {
        let written = row.updated_at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string();
        let source = escape::short(&row.source, NAME);
        grid.row([escape::short(&row.name, NAME), grouped(row.chars), grouped(row.lines), source, written]);
    }
    grid.text()
}
