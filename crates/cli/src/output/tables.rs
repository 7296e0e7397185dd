//! Answers laid out for people on a terminal.

mod counts;
mod routed;
pub(crate) mod sessions;
mod stats;
mod stored;
mod values;

pub(crate) use counts::counts;
pub(crate) use routed::{BufferRow, buffers};
pub(crate) use stats::stats;
pub(crate) use stored::{OutputRow, outputs, rebuilt, swept, verified};

use std::io;

use comfy_table::presets::NOTHING;
use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table};
use owo_colors::OwoColorize;
use terminal_size::{Width, terminal_size_of};

use super::{escape, is_coloured};

/// Columns that a table takes at least: words broken into letters are no words.
const NARROWEST: u16 = 60;

/// A table without lines; numbers stand to the right.
pub(super) struct Grid {
    table: Table,
    /// Which columns are numbers.
    right: &'static [bool],
}

/// Names of columns that are never broken: ids, which people copy, and times.
const WHOLE: [&str; 3] = ["id", "session", "changed"];

impl Grid {
    /// A table whose columns have names and sides. Ids, times and numbers are never broken across lines.
    fn new(names: &[&str], right: &'static [bool]) -> Self {
        let mut grid = Self::unnamed(right);
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
    fn unnamed(right: &'static [bool]) -> Self {
        let mut table = Table::new();
        table.load_style(NOTHING);
        if let Some(width) = width() {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
        }
        Self { table, right }
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
            if number == 0 && self.table.header().is_some() && is_coloured() {
                text.push_str(&line.dimmed().to_string());
            } else {
                text.push_str(line);
            }
            text.push('\n');
        }
        text
    }
}

/// Columns that there are; nothing where that is not known.
fn width() -> Option<u16> {
    match terminal_size_of(io::stdout()) {
        // A terminal that does not know how wide it is says 0.
        Some((Width(width @ 1..), _)) => Some(width.max(NARROWEST)),
        _ => None,
    }
}

/// The beginning of a text without its line breaks.
fn on_one_line(text: &str, most: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line,
    }
}

/// A heading.
fn heading(text: &str) -> String {
    if is_coloured() { format!("{}\n", text.bold()) } else { format!("{text}\n") }
}
