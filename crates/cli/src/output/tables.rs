//! Answers laid out for people on a terminal.

pub(crate) mod sessions;
mod stats;
mod stored;
mod values;

pub(crate) use stats::{Section, Shown as StatsShown, stats};
pub(crate) use stored::{buffers, outputs, rebuilt, swept, verified};

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table};
use owo_colors::OwoColorize;
use trommel_base::text;

use super::size::grouped;
use super::{Stream, escape};

/// Columns that a table takes at least: words broken into letters are no words.
const NARROWEST: u16 = 60;

/// A table without lines; numbers stand to the right.
pub(super) struct Grid {
    table: Table,
    /// Which columns are numbers.
    right: &'static [bool],
    out: Stream,
}

/// Names of columns that are never broken: ids, which people copy, and times.
const WHOLE: [&str; 3] = ["id", "session", "changed"];

impl Grid {
    /// A table whose columns have names and sides. Ids, times and numbers are never broken across
    /// lines.
    fn new(names: &[&str], right: &'static [bool], out: Stream) -> Self {
        let mut grid = Self::unnamed(right, out);
        let cells = names.iter().enumerate();
        let cells: Vec<Cell> =
            cells.map(|(column, name)| Cell::new(name).set_alignment(grid.side(column))).collect();
        grid.table.set_header(cells);
        for (column, name) in names.iter().enumerate() {
            let is_whole = right.get(column) == Some(&true) || WHOLE.contains(name);
            if let (true, Some(column)) = (is_whole, grid.table.column_mut(column)) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        grid
    }

    /// A table whose columns have sides and no names.
    fn unnamed(right: &'static [bool], out: Stream) -> Self {
        let mut table = Table::new();
        table.load_style(NOTHING);
        if let Some(width) = width(out) {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        Self { table, right, out }
    }

    fn side(&self, column: usize) -> CellAlignment {
        if self.right.get(column) == Some(&true) { CellAlignment::Right } else { CellAlignment::Left }
    }

    /// Adds a row; what comes from the input is made safe here.
    fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        let cells = cells.into_iter().enumerate();
        let cells: Vec<Cell> = cells
            .map(|(column, text)| Cell::new(escape::text(&text)).set_alignment(self.side(column)))
            .collect();
        self.table.add_row(cells);
    }

    /// The lines.
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

/// The columns of a table; nothing where they are not known.
fn width(out: Stream) -> Option<u16> {
    out.width.map(|width| width.max(NARROWEST))
}

/// The beginning of a text without its line breaks.
fn on_one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    text::clip(&line, most).into_owned()
}

/// Counts by name, and their sum when there are several.
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

/// A heading.
fn heading(text: &str, out: Stream) -> String {
    if out.is_colored { format!("{}\n", text.bold()) } else { format!("{text}\n") }
}
