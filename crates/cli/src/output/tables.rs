//! Tables for terminals.

mod bytes;
mod fields;
mod grid;
mod groups;
pub(crate) mod sessions;
mod shorten;
mod stats;
mod stored;

pub(crate) use bytes::bytes;
pub(crate) use grid::Grid;
pub(crate) use groups::groups;
pub(crate) use stats::{Section, Selection, StatsView, stats};
pub(crate) use stored::{buffers, outputs, rebuilt, swept, verified};

use owo_colors::OwoColorize;
use trommel_base::text;

use super::Stream;
use super::size::grouped;
use grid::{Cell, Column, CountedItem, Fit, width};

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

/// Draws a bar whose length shows a part of a whole, to an eighth of a column. A part above zero is
/// always visible.
fn bar(part: u64, whole: u64, columns: u64) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    if part == 0 || whole == 0 {
        return String::new();
    }
    let eighths = u128::from(part.min(whole)) * u128::from(columns) * 8 / u128::from(whole);
    // At most eight for each column, as the part is not larger than the whole.
    let eighths = (eighths as usize).max(1);
    "█".repeat(eighths / 8) + EIGHTHS[eighths % 8]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional() {
        for (part, whole, shown) in
            [(0, 10, ""), (1, 1_000_000, "▏"), (5, 10, "██"), (10, 10, "████"), (3, 8, "█▌"), (9, 8, "████")]
        {
            assert_eq!(bar(part, whole, 4), shown, "{part} of {whole}");
        }
        assert_eq!(bar(u64::MAX, u64::MAX, 20).chars().count(), 20);
    }
}
