//! The options and limits of a profile.

use super::row_sample::RowSample;

/// The figures that a [`Profile`](super::Profile) computes. Start from the default and change
/// fields.
///
/// ```
/// let mut options = trommel_stats::ProfileOptions::default();
/// options.schema = true;
/// options.max_depth = 5;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ProfileOptions {
    /// The maximum depth of rows, schema, and values; the root is 1. Structure and types always
    /// cover everything. Default: 10,000.
    pub max_depth: u32,
    /// Report the types of elements in rows of arrays; otherwise the type is `unknown`. Default:
    /// true.
    pub item_types: bool,
    /// Infer a schema. Default: false.
    pub schema: bool,
    /// Compute figures about the scalars of every path. Default: false.
    pub values: bool,
    /// Compute these figures from a sample of rows: all scalars outside of rows, and those in the
    /// rows of the sample. Observes one value at a time. Default: none, which is all scalars.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub row_sample: Option<RowSample>,
    /// Add histograms to the figures about scalars: of numbers, lengths, and times. Default: false.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_false"))]
    pub histograms: bool,
    /// List the types of every path, and the number of objects without it. Default: false.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_false"))]
    pub fields: bool,
    /// Count the bytes of every path, its names, and white space. Needs paths,
    /// and the true offsets of all events. Default: false.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "crate::is_false"))]
    pub bytes: bool,
    /// Track paths. Without them, only structure and types are computed. Default: true.
    pub per_path: bool,
    /// Count repeated names even if paths are not tracked. With paths, they are always counted.
    /// Default: true.
    pub duplicate_names: bool,
    /// Count structure and types. If neither these nor paths are tracked, only repeated names are
    /// counted, which costs less. Default: true.
    #[cfg_attr(feature = "serde", serde(default = "yes", skip_serializing_if = "Clone::clone"))]
    pub counts: bool,
    /// The query that selected the roots. The paths of all rows begin with it. Default: `$`.
    pub root_path: String,
    /// The bounds on memory and output.
    pub limits: ProfileLimits,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        Self {
            max_depth: 10_000,
            item_types: true,
            schema: false,
            values: false,
            row_sample: None,
            histograms: false,
            fields: false,
            bytes: false,
            per_path: true,
            duplicate_names: true,
            counts: true,
            root_path: "$".into(),
            limits: ProfileLimits::default(),
        }
    }
}

#[cfg(feature = "serde")]
const fn yes() -> bool {
    true
}

#[cfg(feature = "serde")]
const fn frequent_values() -> usize {
    crate::figures::FREQUENT_VALUES
}

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires this signature")]
const fn is_frequent_values(count: &usize) -> bool {
    *count == crate::figures::FREQUENT_VALUES
}

impl ProfileOptions {
    /// Returns true if repeated names are counted without tracking paths.
    pub(super) const fn counts_repeats(&self) -> bool {
        self.duplicate_names || !self.counts
    }

    /// Restricts the options to what two merging profiles have in common.
    pub(super) fn restrict(&mut self, other: &Self) {
        self.max_depth = self.max_depth.min(other.max_depth);
        self.item_types &= other.item_types;
        self.schema &= other.schema;
        self.values &= other.values;
        // Figures of different samples are those of no sample.
        self.values &= self.row_sample == other.row_sample;
        self.row_sample = if self.values { self.row_sample } else { None };
        self.histograms &= other.histograms;
        self.fields &= other.fields;
        self.bytes &= other.bytes;
        self.per_path &= other.per_path;
        self.duplicate_names &= other.duplicate_names;
        self.counts &= other.counts;
        self.limits.names_per_path = self.limits.names_per_path.min(other.limits.names_per_path);
        self.limits.bytes = self.limits.bytes.min(other.limits.bytes);
    }
}

/// The bounds on the state and output of a [`Profile`](super::Profile). [`Capped`](super::Capped)
/// lists everything that was dropped. Counts, types, and depth are always exact.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ProfileLimits {
    /// The maximum number of distinct names in the objects of one path. With more, all but those
    /// that every object has are folded into one path, `.*`. Default: 65,536.
    pub names_per_path: u32,
    /// The maximum number of bytes for paths and values. When they are used up, `names_per_path` is
    /// halved first (down to 4,096), then the caps of the figures about values (down to a
    /// thousandth), then `names_per_path` again, then the depth. Default: 64 MiB.
    pub bytes: u64,
    /// The maximum number of bytes for names of open objects, needed to find repeated names outside
    /// of the known paths. When they are used up, the number of repeated names is a lower bound.
    /// Default: 32 MiB.
    pub open_names_bytes: u64,
    /// The maximum number of rows of arrays, of objects, of values, and of fields. Default: 1,000
    /// each.
    pub rows: usize,
    /// The maximum number of frequent values in a row of values. At most 1,024 values are counted
    /// exactly, so a larger number shows all of those. Default: 10.
    #[cfg_attr(feature = "serde", serde(default = "frequent_values"))]
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "is_frequent_values"))]
    pub frequent_values: usize,
    /// Rows with a path of more bytes are dropped. Default: 16,384.
    pub path_bytes: usize,
    /// The maximum number of subschemas of a schema. Default: 10,000.
    pub schema_nodes: usize,
}

impl Default for ProfileLimits {
    fn default() -> Self {
        Self {
            names_per_path: 65_536,
            bytes: 64 << 20,
            open_names_bytes: 32 << 20,
            rows: 1000,
            frequent_values: crate::figures::FREQUENT_VALUES,
            path_bytes: 16_384,
            schema_nodes: 10_000,
        }
    }
}
