//! The rows of a summary: the figures of each path.

use super::bytes::PathBytes;
use super::maps::FoldedTrie;
use super::summary::{ArrayRow, BytesRow, FieldRow, ObjectRow, RowCounts, SampleRow};
use super::trie::{Label, NONE, Node, Sizes};
use super::walk::Core;
use crate::Accumulator;
use crate::figures::{KindSet, ValuesSummary};
use std::collections::HashMap;

/// Rows, and their numbers if some were dropped.
type Cut<T> = (Vec<T>, Option<RowCounts>);

/// Builds rows from a normalized trie with folded maps.
pub(super) struct Rows<'a> {
    core: &'a Core,
    folded: &'a FoldedTrie<'a>,
}

impl<'a> Rows<'a> {
    pub(super) const fn new(core: &'a Core, folded: &'a FoldedTrie<'a>) -> Self {
        Self { core, folded }
    }

    pub(super) fn arrays(&self) -> Cut<ArrayRow> {
        let item_types = self.core.options.item_types;
        self.collect(
            |_, node| node.arrays.as_ref().map(|arrays| arrays.sizes.first),
            |_, node, path| {
                node.arrays.as_ref().map(|arrays| array_row(path, arrays.sizes, arrays.items, item_types))
            },
        )
    }

    pub(super) fn objects(&self) -> Cut<ObjectRow> {
        self.collect(
            |_, node| node.objects.as_ref().map(|objects| objects.sizes.first),
            |_, node, path| node.objects.as_ref().map(|objects| object_row(path, objects.sizes)),
        )
    }

    pub(super) fn values(&self) -> Cut<ValuesSummary> {
        let frequent = self.core.options.limits.frequent_values;
        self.collect(
            |id, node| self.folded.has_values(id).then_some(node.first),
            |id, _, path| self.folded.values(id).map(|values| values.summary(path, frequent)),
        )
    }

    pub(super) fn fields(&self) -> Cut<FieldRow> {
        self.collect(
            |_, node| (node.kinds.total() > 0).then_some(node.first),
            |_, node, path| Some(self.field_row(node, path)),
        )
    }

    /// The rows of the sample, in the order of their first values.
    pub(super) fn samples(&self) -> Vec<SampleRow> {
        let sampled = self.collect(
            |_, node| node.rows.as_ref().map(|_| node.first),
            |_, node, path| {
                let sampled = node.rows.as_deref()?;
                let examples = sampled.first.iter().map(|(_, at)| *at).collect();
                Some(SampleRow { path, rows: sampled.count, total: node.kinds.total(), examples })
            },
        );
        sampled.0
    }

    /// The rows with the most bytes, in the order of their size: parents come before children.
    pub(super) fn bytes(&self) -> Cut<BytesRow> {
        let trie = self.folded.trie();
        let total = |id: u32| trie.bytes_of(id).map(PathBytes::total);
        let (mut rows, cut) = self.collect(
            |id, node| if node.kinds.total() > 0 { Some(u64::MAX - total(id)?) } else { None },
            |id, node, path| {
                let PathBytes { values, names, space } = trie.bytes_of(id)?;
                let (types, count) = (node.kinds.summary(), node.kinds.total());
                Some((id, BytesRow { path, types, count, values, names, space, parent: Some(node.parent) }))
            },
        );
        // Numbers of nodes become distances between rows.
        let numbers: HashMap<u32, u32> = (0..).zip(&rows).map(|(number, (id, _))| (*id, number)).collect();
        for (number, (_, row)) in (0..).zip(&mut rows) {
            row.parent = row.parent.and_then(|parent| Some(number - numbers.get(&parent)?));
        }
        (rows.into_iter().map(|(_, row)| row).collect(), cut)
    }

    fn field_row(&self, node: &Node, path: String) -> FieldRow {
        let parent = self.folded.trie().nodes.get(node.parent as usize);
        let parents = match node.label {
            Label::Name(..) => parent.and_then(|parent| parent.objects.as_ref()),
            Label::Root | Label::Item | Label::Fold => None,
        };
        let parents = parents.map_or(0, |objects| objects.sizes.count);
        let (types, count) = (node.kinds.summary(), node.kinds.total());
        FieldRow { path, types, count, missing: parents.saturating_sub(node.present), parents }
    }

    /// Builds the rows of the nodes that have a first offset, ordered by it. Also returns the row
    /// counts if some rows were dropped.
    fn collect<T>(
        &self,
        first: impl Fn(u32, &Node) -> Option<u64>,
        make: impl Fn(u32, &Node, String) -> Option<T>,
    ) -> Cut<T> {
        let limits = &self.core.options.limits;
        let trie = self.folded.trie();
        // The root has a row even if no depth is requested.
        let depth = self.core.depth_cap.max(1);
        let nodes = (0..NONE).zip(&trie.nodes).filter(|(_, node)| node.depth <= depth);
        let mut found: Vec<(u64, u32)> =
            nodes.filter_map(|(id, node)| Some((first(id, node)?, id))).collect();
        // Truncate before building paths: their total length is bounded by the row limit, not by
        // the shape.
        found.sort_unstable();
        let total = found.len();
        found.truncate(limits.rows);
        let root = &self.core.options.root_path;
        let rows = found.into_iter().filter_map(|(_, id)| {
            let path = trie.path(id, root, limits.path_bytes)?;
            make(id, trie.nodes.get(id as usize)?, path)
        });
        let rows: Vec<T> = rows.collect();
        let shown = RowCounts { shown: rows.len() as u64, total: total as u64 };
        (rows, Some(shown).filter(|shown| shown.shown < shown.total))
    }
}

fn array_row(path: String, sizes: Sizes, items: KindSet, item_types: bool) -> ArrayRow {
    let [count, min_length, max_length] = several(sizes);
    let item_type = if item_types { items.name() } else { "unknown".into() };
    ArrayRow { path, length: sizes.total, item_type, count, min_length, max_length }
}

fn object_row(path: String, sizes: Sizes) -> ObjectRow {
    let [count, min_keys, max_keys] = several(sizes);
    ObjectRow { path, keys: sizes.total, count, min_keys, max_keys }
}

/// Returns the figures that are reported for several containers only.
fn several(sizes: Sizes) -> [Option<u64>; 3] {
    [sizes.count, sizes.min, sizes.max].map(|figure| (sizes.count > 1).then_some(figure))
}
