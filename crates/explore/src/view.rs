//! Views over the tree: tables, lists of results, and texts.

use std::sync::Arc;

use crate::source::{Holder, Node};
use crate::task::Hit;
use crate::tree::{Cache, Lookup, TreePath};

/// A list with a selected row, of which a window is visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scroll {
    pub(crate) top: u64,
    pub(crate) selected: u64,
}

impl Scroll {
    /// Moves the selection by a number of rows, among `count`.
    pub(crate) fn step(&mut self, rows: i64, count: u64) {
        self.selected = self.selected.saturating_add_signed(rows).min(count.saturating_sub(1));
    }

    /// Makes the selection visible in a window.
    pub(crate) fn show(&mut self, height: u64) {
        let lowest = (self.selected + 1).saturating_sub(height.max(1));
        self.top = self.top.clamp(lowest, self.selected);
    }
}

/// A view over the tree.
#[derive(Debug)]
pub(crate) enum View {
    Table(Table),
    Results(Results),
    Text(Text),
}

/// An array, or the records, as a table.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) holder: Holder,
    pub(crate) path: TreePath,
    pub(crate) scroll: Scroll,
    /// The names of the members seen so far, in the order of their first occurrence.
    pub(crate) columns: Vec<String>,
    /// The selected column.
    pub(crate) column: usize,
    pub(crate) order: Option<Order>,
    /// True if the last row is wanted, whose number is not known yet.
    pub(crate) goes_to_end: bool,
}

/// The order of a sorted table.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    pub(crate) column: String,
    pub(crate) descending: bool,
    /// The elements; `None` while they are being sorted.
    pub(crate) indices: Option<Arc<[u32]>>,
}

/// Columns of a table at most.
const MAX_COLUMNS: usize = 200;

impl Table {
    pub(crate) fn new(holder: Holder, path: TreePath) -> Self {
        let scroll = Scroll::default();
        Self { holder, path, scroll, columns: Vec::new(), column: 0, order: None, goes_to_end: false }
    }

    /// The element in a row of the table; `None` after the last one.
    pub(crate) fn element(&self, row: u64) -> Option<u64> {
        match self.indices() {
            Some(indices) => indices.get(usize::try_from(row).ok()?).map(|index| u64::from(*index)),
            None => Some(row),
        }
    }

    pub(crate) fn indices(&self) -> Option<&Arc<[u32]>> {
        self.order.as_ref().and_then(|order| order.indices.as_ref())
    }

    /// Adds the names of the members of the visible rows.
    pub(crate) fn collect_columns(&mut self, cache: &mut Cache, height: u64) -> Lookup<()> {
        for row in self.scroll.top..self.scroll.top + height {
            let Some(element) = self.element(row) else { break };
            cache.touch(self.holder, element);
            let Some(found) = cache.row(self.holder, element)? else { break };
            for (name, _) in &found.cells {
                if self.columns.len() < MAX_COLUMNS && !self.columns.contains(name) {
                    self.columns.push(name.clone());
                }
            }
        }
        Ok(())
    }

    /// The array, if the table is not of records.
    pub(crate) const fn array(&self) -> Option<Node> {
        match self.holder {
            Holder::Value(node) => Some(node),
            Holder::Records => None,
        }
    }
}

/// The results of a query.
#[derive(Debug, Default)]
pub(crate) struct Results {
    pub(crate) title: String,
    pub(crate) hits: Vec<Hit>,
    pub(crate) scroll: Scroll,
    /// How the query ended: `None` while it runs.
    pub(crate) ended: Option<String>,
}

/// A text.
#[derive(Debug, Default)]
pub(crate) struct Text {
    pub(crate) title: String,
    pub(crate) lines: Vec<String>,
    pub(crate) scroll: Scroll,
}
