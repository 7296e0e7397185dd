//! The results of a profile.

use super::maps::FoldedTrie;
use super::rows::Rows;
use super::walk::Core;
use crate::Accumulator;
use crate::figures::{TypeCounts, ValuesSummary};
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
    /// The values of every path, in order of first appearance, if requested.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub fields: Option<Vec<FieldRow>>,
    /// The bytes of every path, if requested: the largest first, so that a path comes after the one
    /// that contains it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub bytes: Option<Vec<BytesRow>>,
    /// The schema, if requested.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub schema: Option<Schema>,
    /// Scalars by path, in order of first appearance, if figures about values were requested.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub values: Option<Vec<ValuesSummary>>,
    /// The rows of the sample by path, if the figures about values are those of a sample.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub row_samples: Option<Vec<SampleRow>>,
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

/// All values of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FieldRow {
    /// The path, as a query.
    pub path: String,
    /// The number of values of each type. Serialized without the types that do not occur.
    #[cfg_attr(feature = "serde", serde(serialize_with = "occurring"))]
    pub types: TypeCounts,
    /// The number of values. If an object repeats the name, each repeat counts.
    pub count: u64,
    /// The number of objects of the parent path that do not have the name; 0 for roots, elements,
    /// and the members of maps. An upper bound if [`Capped::duplicate_names`] is true.
    pub missing: u64,
    /// The number of objects that could have the name: those of the parent path. 0 for roots,
    /// elements, and the members of maps.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub parents: u64,
}

/// The bytes of all values of one path. The values of a container contain the values and names of
/// its children; the rest of its bytes are brackets, commas, and white space.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct BytesRow {
    /// The path, as a query.
    pub path: String,
    /// The number of values of each type. Serialized without the types that do not occur.
    #[cfg_attr(feature = "serde", serde(serialize_with = "occurring"))]
    pub types: TypeCounts,
    /// The number of values.
    pub count: u64,
    /// The bytes of the values, with all that is in them.
    pub values: u64,
    /// The bytes of their names, with quotes and colons.
    pub names: u64,
    /// The bytes of white space in the values, outside of the values in them.
    pub space: u64,
    /// The distance to the earlier row of the path that contains this one; `None` for roots.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub parent: Option<u32>,
}

impl BytesRow {
    /// The bytes of the values and their names.
    pub fn total(&self) -> u64 {
        self.values.saturating_add(self.names)
    }
}

/// The rows of one path that are in a [sample](super::RowSample).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct SampleRow {
    /// The path, as a query.
    pub path: String,
    /// The number of rows in the sample.
    pub rows: u64,
    /// The number of all rows.
    pub total: u64,
    /// The offsets of at most ten of these rows, drawn at random.
    pub examples: Vec<u64>,
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
    /// Rows of fields, if some were dropped.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub fields: Option<RowCounts>,
    /// Rows of values, if some were dropped.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub values: Option<RowCounts>,
    /// Rows of bytes, if some were dropped: the smallest.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub bytes: Option<RowCounts>,
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
    /// Builds the summary of a normalized profile.
    pub(super) fn of(core: &Core) -> Self {
        let options = &core.options;
        // Only the whole input shows which objects are maps, so they are folded here.
        let folded = FoldedTrie::new(&core.trie);
        let rows = Rows::new(core, &folded);
        let (arrays, arrays_cut) = rows.arrays();
        let (objects, objects_cut) = rows.objects();
        let (values, values_cut) = rows.values();
        let (fields, fields_cut) = if options.fields { rows.fields() } else { (Vec::new(), None) };
        let (bytes, bytes_cut) = if options.bytes { rows.bytes() } else { (Vec::new(), None) };
        Self {
            structure: structure(core),
            types: core.totals.kinds.summary(),
            arrays: options.per_path.then_some(arrays),
            objects: options.per_path.then_some(objects),
            fields: (options.fields && options.per_path).then_some(fields),
            bytes: (options.bytes && options.per_path).then_some(bytes),
            schema: (options.schema && options.per_path)
                .then(|| Schema::of(folded.trie(), options, core.depth_cap)),
            values: (options.values && options.per_path).then_some(values),
            row_samples: options.row_sample.map(|_| rows.samples()),
            capped: Capped {
                arrays: arrays_cut,
                objects: objects_cut,
                fields: fields_cut,
                values: values_cut,
                bytes: bytes_cut,
                folded_paths: folded_paths(core),
                max_depth: Some(core.depth_cap).filter(|&depth| depth < options.max_depth),
                duplicate_names: core.totals.missed,
            },
        }
    }
}

/// Returns the number of paths whose names were folded to save memory. Names of the deepest rows
/// have no rows of their own.
fn folded_paths(core: &Core) -> u64 {
    let above = core.trie.nodes.iter().filter(|node| node.depth < core.depth_cap);
    above.filter(|node| node.objects.as_ref().is_some_and(|objects| objects.folded)).count() as u64
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

/// Serializes only the types that occur.
#[cfg(feature = "serde")]
fn occurring<S: serde::Serializer>(types: &TypeCounts, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(types.occurring())
}
