use super::Grid;
use crate::output::size::grouped;

/// Counts by name, and their sum when there are several.
pub(crate) fn counts(counts: &[(&str, u64)], total: u64) -> String {
    let mut grid = Grid::new(&["name", "count"], &[false, true]);
    for (name, count) in counts {
        grid.row([(*name).to_owned(), grouped(*count)]);
    }
    if counts.len() > 1 {
        grid.row(["total".into(), grouped(total)]);
    }
    grid.text()
}
