//! Tables for terminals.

mod groups;
pub(crate) mod sessions;
mod stats;
mod stored;
mod values;

pub(crate) use groups::groups;
pub(crate) use stats::{Section, StatsView, stats};
pub(crate) use stored::{buffers, outputs, rebuilt, swept, verified};

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table};
use owo_colors::OwoColorize;
use trommel_base::text;

use super::size::grouped;
use super::{Stream, escape};

/// The minimum width of a table. In fewer columns, words would break into letters.
const MIN_WIDTH: u16 = 60;

/// A table without rules; numbers are right-aligned.
pub(super) struct Grid {
    table: Table,
    /// True for columns of numbers.
    right: Vec<bool>,
    out: Stream,
}

/// Columns that are never broken: IDs, which people copy, and times.
const UNBROKEN: [&str; 3] = ["id", "session", "changed"];

impl Grid {
    /// Creates a table with column names. IDs, times, and numbers are never broken across lines.
    fn new(names: &[&str], right: &[bool], out: Stream) -> Self {
        let mut grid = Self::unnamed(right, out);
        let cells = names.iter().enumerate();
        let cells: Vec<Cell> =
            cells.map(|(column, name)| Cell::new(name).set_alignment(grid.side(column))).collect();
        grid.table.set_header(cells);
        for (column, name) in names.iter().enumerate() {
            let is_whole = right.get(column) == Some(&true) || UNBROKEN.contains(name);
            if let (true, Some(column)) = (is_whole, grid.table.column_mut(column)) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        grid
    }

    /// Creates a table without column names.
    fn unnamed(right: &[bool], out: Stream) -> Self {
        let mut table = Table::new();
        table.load_style(NOTHING);
        if let Some(width) = width(out) {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        Self { table, right: right.to_vec(), out }
    }

    fn side(&self, column: usize) -> CellAlignment {
        if self.right.get(column) == Some(&true) { CellAlignment::Right } else { CellAlignment::Left }
    }

    /// Adds a row and escapes its cells.
    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().enumerate();
        let cells: Vec<Cell> = cells
            .map(|(column, text)| Cell::new(escape::text(&text)).set_alignment(self.side(column)))
            .collect();
        self.table.add_row(cells);
    }

    /// Renders the table.
    fn text(&self) -> String {
        let mut text = String::new();
        for (number, line) in self.table.lines().enumerate() {
            let line = line.trim_end();
            if number == 0 && self.table.header().is_some() && self.out.is_colored {
                text.push_str(&line.dimmed().to_string());
            } else {
                text.push_str(line);
            }
            text.push('\n');
        }
        text
    }
}

/// Returns the width of tables, if it is known.
fn width(out: Stream) -> Option<u16> {
    out.width.map(|width| width.max(MIN_WIDTH))
}

/// Joins the lines of a text and truncates it.
fn on_one_line(text: &str, max_chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    text::clip(&line, max_chars).into_owned()
}

/// Formats counts by name, and their sum if there are several.
pub(crate) fn counts(counts: &[(&str, u64)], total: u64, out: Stream) -> String {
    let mut grid = Grid::new(&["name", "count"], &[false, true], out);
    for (name, count) in counts {
        grid.row([(*name).to_owned(), grouped(*count)]);
    }
    if counts.len() > 1 {
        grid.row(["total".into(), grouped(total)]);
    }
    grid.text()
}

/// Formats a heading.
pub(crate) fn heading(text: &str, out: Stream) -> String {
    if out.is_colored { format!("{}\n", text.bold()) } else { format!("{text}\n") }
}
