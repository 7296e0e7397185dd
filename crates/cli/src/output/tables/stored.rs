//! Stored outputs, and what their upkeep did.

use std::fmt::Write;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;
use trommel_store::{Damage, Reason, Rebuilt, Summary, Swept, Verified};

use super::{Grid, heading, on_one_line};
use crate::output::escape;
use crate::output::size::{binary, grouped};

/// Characters of a preview that are shown.
const PREVIEW: usize = 60;

/// Characters of names and ids that are shown.
const NAME: usize = 64;

/// An output as the tool lists it.
#[derive(Debug, Deserialize)]
pub(crate) struct OutputRow {
    id: String,
    tool_name: String,
    created_at: i64,
    success: bool,
    size_bytes: u64,
    preview: Option<String>,
    summary: Option<Summary>,
    #[serde(default)]
    corrupted: bool,
}

impl OutputRow {
    /// What it is made of, in a few words.
    fn content(&self) -> String {
        let Some(summary) = self.summary.as_ref().filter(|_| !self.corrupted) else {
            return "damaged".into();
        };
        let counted = |count: Option<u64>, unit: &str| {
            count.map(|count| format!("{} {unit}{}", grouped(count), if count == 1 { "" } else { "s" }))
        };
        let figures = [counted(summary.keys, "key"), counted(summary.items, "item")];
        let words = [Some(summary.type_.clone())].into_iter().chain(figures);
        let failed = (!self.success).then(|| "failed".to_owned());
        words.chain([failed]).flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Outputs, one a row.
pub(crate) fn outputs(rows: &[OutputRow], zone: &TimeZone) -> String {
    let previews = rows.iter().any(|row| row.preview.is_some());
    let names = ["id", "tool", "made", "size", "content", "preview"];
    let names = if previews { &names[..] } else { names.split_last().map_or(&[][..], |(_, names)| names) };
    let mut grid = Grid::new(names, &[false, false, false, true, false, false]);
    for row in rows {
        let cells = [
            escape::short(&row.id, NAME),
            escape::short(&row.tool_name, NAME),
            clock(row.created_at, zone),
            binary(row.size_bytes),
            row.content(),
        ];
        let preview = row.preview.as_deref().map(|text| on_one_line(text, PREVIEW)).filter(|_| previews);
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
pub(crate) fn swept(swept: &Swept) -> String {
    let mut sections = Vec::new();
    if !swept.evicted.is_empty() {
        let mut grid = Grid::new(&["id", "size", "because of their"], &[false, true, false]);
        for one in &swept.evicted {
            let reason = match one.reason {
                Reason::Age => "age",
                Reason::Count => "number",
                _ => "size",
            };
            grid.row([one.id.clone(), binary(one.bytes), reason.to_owned()]);
        }
        let title = if swept.dry_run { "Outputs that would go" } else { "Outputs that went" };
        sections.push(heading(title) + &grid.text());
    }
    if !swept.removed.is_empty() {
        let mut grid = Grid::new(&["file", "size"], &[false, true]);
        for one in &swept.removed {
            grid.row([one.path.display().to_string(), binary(one.bytes)]);
        }
        let title = if swept.dry_run { "Remains that would go" } else { "Remains that went" };
        sections.push(heading(title) + &grid.text());
    }
    let mut grid = Grid::unnamed(&[false, true]);
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
pub(crate) fn verified(verified: &Verified, damages: &[Damage], leftovers: &[Damage]) -> String {
    let mut text = String::new();
    for (prefix, found) in [("", damages), ("note: ", leftovers)] {
        for one in found {
            let what = one.id.clone().unwrap_or_else(|| one.path.display().to_string());
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{prefix}{}: {}", escape::short(&what, NAME), escape::text(&one.message));
        }
    }
    let mut grid = Grid::unnamed(&[false, true]);
    grid.row(["outputs".into(), grouped(verified.outputs)]);
    grid.row(["read".into(), binary(verified.bytes)]);
    grid.row(["damaged".into(), grouped(verified.damaged)]);
    if verified.strays > 0 {
        grid.row(["leftovers".into(), grouped(verified.strays)]);
    }
    text + &grid.text()
}

/// What a rebuild found.
pub(crate) fn rebuilt(rebuilt: &Rebuilt) -> String {
    let mut grid = Grid::unnamed(&[false, true]);
    grid.row(["outputs".into(), grouped(rebuilt.outputs)]);
    grid.row(["damaged".into(), grouped(rebuilt.corrupted)]);
    grid.row(["remains".into(), grouped(rebuilt.strays)]);
    grid.text()
}
