//! Tables for terminals.

mod fields;
mod figures;
mod grid;
mod groups;
pub(crate) mod sessions;
mod shorten;
mod stats;
mod stored;

pub(crate) use groups::groups;
pub(crate) use stats::{Section, Selection, StatsView, stats};
pub(crate) use stored::{buffers, outputs, rebuilt, swept, verified};

use owo_colors::OwoColorize;
use trommel_base::text;

use super::Stream;
use super::size::grouped;
use grid::{Cell, Column, CountedItem, Fit, Grid, width};

/// Joins the lines of a text and truncates it.
fn on_one_line(text: &str, max_chars: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    text::clip(&line, max_chars).into_owned()
}

/// Formats counts by name, and their sum if there are several.
pub(crate) fn counts(counts: &[(&str, u64)], total: u64, out: Stream) -> String {
    let mut grid = Grid::of(vec![Column::new("name", Fit::Path), Column::number("count")], out);
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
