//! Stored outputs, what their upkeep did, and buffers.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use trommel_base::text::first;
use trommel_route::BufferInfo;
use trommel_store::{Damage, Reason, Rebuilt, Row, Swept, Verified};

use super::{Grid, heading, on_one_line};
use crate::output::size::{binary, grouped};
use crate::output::{Stream, escape};

/// Characters of a preview that are shown.
const PREVIEW: usize = 60;

/// Characters of names and ids that are shown.
const NAME: usize = 64;

/// The content of an output, in a few words.
fn content(row: &Row) -> String {
    let summary = match &row.summary {
        Some(summary) if !row.corrupted => summary,
        _ => return "damaged".into(),
    };
    let counted = |count: Option<u64>, unit: &str| {
        count.map(|count| format!("{} {unit}{}", grouped(count), if count == 1 { "" } else { "s" }))
    };
    let figures = [counted(summary.keys, "key"), counted(summary.items, "item")];
    let words = [Some(summary.type_.clone())].into_iter().chain(figures);
    let failed = (!row.success).then(|| "failed".to_owned());
    words.chain([failed]).flatten().collect::<Vec<_>>().join(", ")
}

/// Outputs, one a row, with at most `preview` characters of their previews, or without them.
pub(crate) fn outputs(rows: &[Row], preview: Option<usize>, zone: &TimeZone, out: Stream) -> String {
    let previews = preview.is_some() && rows.iter().any(|row| row.preview.is_some());
    let names = ["id", "tool", "made", "size", "content", "preview"];
    let names = if previews { &names[..] } else { &names[..5] };
    let mut grid = Grid::new(names, &[false, false, false, true, false, false], out);
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

/// A moment, to the second.
fn clock(milliseconds: i64, zone: &TimeZone) -> String {
    let Ok(moment) = Timestamp::from_millisecond(milliseconds) else { return milliseconds.to_string() };
    moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

/// What was swept out, or would be.
pub(crate) fn swept(swept: &Swept, out: Stream) -> String {
    let mut sections = Vec::new();
    if !swept.evicted.is_empty() {
        let mut grid = Grid::new(&["id", "size", "because of their"], &[false, true, false], out);
        for one in &swept.evicted {
            let reason = match one.reason {
                Reason::Age => "age",
                Reason::Count => "number",
                _ => "size",
            };
            grid.row([one.id.clone(), binary(one.bytes), reason.to_owned()]);
        }
        let title = if swept.dry_run { "Outputs that would go" } else { "Outputs that went" };
        sections.push(heading(title, out) + &grid.text());
    }
    if !swept.removed.is_empty() {
        let mut grid = Grid::new(&["file", "size"], &[false, true], out);
        for one in &swept.removed {
            grid.row([one.path.display().to_string(), binary(one.bytes)]);
        }
        let title = if swept.dry_run { "Remains that would go" } else { "Remains that went" };
        sections.push(heading(title, out) + &grid.text());
    }
    let mut grid = Grid::unnamed(&[false, true], out);
    let freed = if swept.dry_run { "would be freed" } else { "freed" };
    grid.row([freed.into(), binary(swept.freed_bytes)]);
    grid.row(["outputs left".into(), grouped(swept.left_count)]);
    grid.row(["their size".into(), binary(swept.left_bytes)]);
    for (what, count) in
        [("kept, as pinned", swept.spared_pinned), ("kept, as being read", swept.spared_open)]
    {
        if count > 0 {
            grid.row([what.into(), grouped(count)]);
        }
    }
    sections.push(grid.text());
    sections.join("\n")
}

/// The result of a verification.
pub(crate) fn verified(verified: &Verified, damages: &[Damage], leftovers: &[Damage], out: Stream) -> String {
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

/// What a rebuild found.
pub(crate) fn rebuilt(rebuilt: &Rebuilt, out: Stream) -> String {
    let mut grid = Grid::unnamed(&[false, true], out);
    grid.row(["outputs".into(), grouped(rebuilt.outputs)]);
    grid.row(["damaged".into(), grouped(rebuilt.corrupted)]);
    grid.row(["remains".into(), grouped(rebuilt.strays)]);
    grid.text()
}

/// Buffers, one a row.
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
