//! The results of a profile.

use super::trie::{NONE, Node, Sizes, Trie};
use super::walk::Core;
use crate::Accumulator;
use crate::figures::{KindSet, TypeCounts, ValuesSummary};
use crate::schema::Schema;

/// All results of a profile. With the feature `serde` it is serialized with the member names of the
/// tool `tool_outputs.stats`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Summary {
    /// Figures about the whole.
    pub structure: Structure,
    /// The number of values of each type.
    pub types: TypeCounts,
    /// Arrays by path, in order of first appearance; `None` if paths were not tracked.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub arrays: Option<Vec<ArrayRow>>,
    /// Objects by path, in order of first appearance; `None` if paths were not tracked.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub objects: Option<Vec<ObjectRow>>,
    /// The schema, if requested.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub schema: Option<Schema>,
    /// Scalars by path, in order of first appearance, if figures about values were requested.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub values: Option<Vec<ValuesSummary>>,
    /// Everything that was dropped to stay within the limits.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Capped::is_empty"))]
    pub capped: Capped,
}

/// Figures about the whole. Exact, except for repeated names if `capped` says so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Structure {
    /// The type of all roots, `mixed` if they have several, `none` without roots.
    pub root_type: &'static str,
    /// The number of values on the longest path from a root to a leaf, both included.
    pub max_depth: u64,
    /// Members of all objects, repeated names included.
    pub total_keys: u64,
    /// Values, containers and roots included.
    pub total_values: u64,
    /// Members whose name occurred before in the same object; 0 if they were not
    /// [counted](super::ProfileOptions::duplicate_names).
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_zero"))]
    pub duplicate_names: u64,
    /// Roots observed.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub records: u64,
}

/// The arrays of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ArrayRow {
    /// The path, as a query.
    pub path: String,
    /// The total number of elements.
    pub length: u64,
    /// The types of their elements joined by `|`; `empty` without elements, `unknown` if not
    /// requested.
    pub item_type: String,
    /// The number of arrays, if more than one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub count: Option<u64>,
    /// The number of elements of the shortest array, if there are several.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub min_length: Option<u64>,
    /// The number of elements of the longest array, if there are several.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub max_length: Option<u64>,
}

/// The objects of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct ObjectRow {
    /// The path, as a query.
    pub path: String,
    /// The total number of members, repeated names included.
    pub keys: u64,
    /// The number of objects, if more than one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub count: Option<u64>,
    /// The number of members of the smallest object, if there are several.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub min_keys: Option<u64>,
    /// The number of members of the largest object, if there are several.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub max_keys: Option<u64>,
}

/// Everything that was dropped to stay within the limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct Capped {
    /// Rows of arrays, if some were dropped.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub arrays: Option<RowCounts>,
    /// Rows of objects, if some were dropped.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub objects: Option<RowCounts>,
    /// Rows of values, if some were dropped.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub values: Option<RowCounts>,
    /// Paths whose objects have too many distinct names; some of these share the path `.*`.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_zero"))]
    pub folded_paths: u64,
    /// The depth of rows and schema, if memory did not allow for the requested depth.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub max_depth: Option<u32>,
    /// True if the number of repeated names is a lower bound.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "crate::is_false"))]
    pub duplicate_names: bool,
}

impl Capped {
    /// Returns true if nothing was dropped.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The numbers of returned rows and of all rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct RowCounts {
    /// Returned rows.
    pub shown: u64,
    /// All rows.
    pub total: u64,
}

impl Summary {
    pub(super) fn of(core: &Core) -> Self {
        let rows = Rows { core, trie: &core.trie };
        let item_types = core.options.item_types;
        let (arrays, arrays_cut) = rows.collect(
            |node| node.arrays.as_ref().map(|arrays| arrays.sizes.first),
            |node, path| {
                node.arrays.as_ref().map(|arrays| array_row(path, arrays.sizes, arrays.items, item_types))
            },
        );
        let (objects, objects_cut) = rows.collect(
            |node| node.objects.as_ref().map(|objects| objects.sizes.first),
            |node, path| node.objects.as_ref().map(|objects| object_row(path, objects.sizes)),
        );
        let (values, values_cut) = rows.collect(
            |node| node.values.as_ref().map(|_| node.first),
            |node, path| node.values.as_ref().map(|values| values.summary(path)),
        );
        let folded =
            core.trie.nodes.iter().filter(|node| node.objects.as_ref().is_some_and(|objects| objects.folded));
        let options = &core.options;
        Self {
            structure: structure(core),
            types: core.totals.kinds.summary(),
            arrays: options.per_path.then_some(arrays),
            objects: options.per_path.then_some(objects),
            schema: (options.schema && options.per_path)
                .then(|| Schema::of(&core.trie, options, core.depth_cap)),
            values: (options.values && options.per_path).then_some(values),
            capped: Capped {
                arrays: arrays_cut,
                objects: objects_cut,
                values: values_cut,
                folded_paths: folded.count() as u64,
                max_depth: Some(core.depth_cap).filter(|&depth| depth < options.max_depth),
                duplicate_names: core.totals.missed,
            },
        }
    }
}

fn structure(core: &Core) -> Structure {
    let totals = &core.totals;
    let root_type = match totals.roots.only() {
        Some(kind) => kind.name(),
        None if totals.roots.is_empty() => "none",
        None => "mixed",
    };
    Structure {
        root_type,
        max_depth: totals.max_depth,
        total_keys: totals.keys,
        total_values: totals.kinds.total(),
        duplicate_names: totals.duplicates,
        records: totals.records,
    }
}

struct Rows<'a> {
    core: &'a Core,
    trie: &'a Trie,
}

impl Rows<'_> {
    /// Builds the rows of the nodes that have a first offset, ordered by it. Also returns the row
    /// counts if some rows were dropped.
    fn collect<T>(
        &self,
        first: impl Fn(&Node) -> Option<u64>,
        make: impl Fn(&Node, String) -> Option<T>,
    ) -> (Vec<T>, Option<RowCounts>) {
        let limits = &self.core.options.limits;
        let nodes = (0..NONE).zip(&self.trie.nodes);
        let mut found: Vec<(u64, u32)> = nodes.filter_map(|(id, node)| Some((first(node)?, id))).collect();
        // Truncate before building paths: their total length is bounded by the row limit, not by
        // the shape.
        found.sort_unstable();
        let total = found.len();
        found.truncate(limits.rows);
        let root = &self.core.options.root_path;
        let rows = found.into_iter().filter_map(|(_, id)| {
            let path = self.trie.path(id, root, limits.path_bytes)?;
            make(self.trie.nodes.get(id as usize)?, path)
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
