//! Buffers.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::Grid;
use crate::output::escape;
use crate::output::size::grouped;

/// Characters of names that are shown.
const NAME: usize = 64;

/// A buffer as the tool lists it.
#[derive(Debug, Deserialize)]
pub(crate) struct BufferRow {
    name: String,
    chars: u64,
    lines: u64,
    source: String,
    updated_at: Timestamp,
}

/// Buffers, one a row.
pub(crate) fn buffers(rows: &[BufferRow]) -> String {
    let mut grid =
        Grid::new(&["name", "characters", "lines", "source", "written"], &[false, true, true, false, false]);
    for row in rows {
        let written = row.updated_at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string();
        let source = escape::short(&row.source, NAME);
        grid.row([escape::short(&row.name, NAME), grouped(row.chars), grouped(row.lines), source, written]);
    }
    grid.text()
}
