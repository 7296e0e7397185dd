//! What a profile looks at, and how much it may keep.

/// What a [`Profile`](super::Profile) looks at. Start from the default and change fields.
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
    /// How deep rows, schema and values go; the root is 1. Structure and types always cover
    /// everything. At first 10,000.
    pub max_depth: u32,
    /// Whether rows of arrays tell the types of their elements, else `unknown`. At first yes.
    pub item_types: bool,
    /// Whether to make a schema. At first no.
    pub schema: bool,
    /// Whether to take figures about the scalars of every path. At first no.
    pub values: bool,
    /// Whether to look at paths at all: without, there is nothing but structure and types. At first
    /// yes.
    pub per_path: bool,
    /// Whether to count repeated names where paths are not looked at; where they are, they are
    /// counted in any case. At first yes.
    pub duplicate_names: bool,
    /// Whether to count structure and types. Without, and where paths are not looked at, repeated
    /// names are all that is counted, which costs less. At first yes.
    #[cfg_attr(feature = "serde", serde(default = "yes", skip_serializing_if = "Clone::clone"))]
    pub counts: bool,
    /// The query that the roots were selected by, which the paths of all rows begin with. At first
    /// `$`.
    pub root_path: String,
    /// How much may be kept.
    pub limits: ProfileLimits,
}

impl Default for ProfileOptions {
    fn default() -> Self {
        Self {
            max_depth: 10_000,
            item_types: true,
            schema: false,
            values: false,
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

impl ProfileOptions {
    /// Whether repeated names are looked for where paths are not.
    pub(super) const fn looks_for_repeats(&self) -> bool {
        self.duplicate_names || !self.counts
    }

    /// What two profiles that merge can both answer.
    pub(super) fn restrict(&mut self, other: &Self) {
        self.max_depth = self.max_depth.min(other.max_depth);
        self.item_types &= other.item_types;
        self.schema &= other.schema;
        self.values &= other.values;
        self.per_path &= other.per_path;
        self.duplicate_names &= other.duplicate_names;
        self.counts &= other.counts;
        self.limits.names_per_path = self.limits.names_per_path.min(other.limits.names_per_path);
        self.limits.bytes = self.limits.bytes.min(other.limits.bytes);
    }
}

/// How much a [`Profile`](super::Profile) may keep and show. What is cut is said in
/// [`Capped`](super::Capped); counts, types and depth are exact in any case.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ProfileLimits {
    /// Different names told apart in the objects of one path: with more, all but those that every
    /// object has are folded into one, whose path is `.*`. At first 65,536.
    pub names_per_path: u32,
    /// Bytes of everything that is kept about paths and values. When they are used up, first the
    /// caps of the values' figures are halved (down to a thousandth), then `names_per_path`, then
    /// the depth. At first 64 MiB.
    pub bytes: u64,
    /// Bytes of the names of objects that are still open, where repeated names are looked for
    /// outside of the known paths. When they are used up, the number of repeated names is a lower
    /// bound. At first 32 MiB.
    pub open_names_bytes: u64,
    /// Rows of arrays, of objects and of values. At first 1,000 each.
    pub rows: usize,
    /// Rows whose path is spelt in more bytes than this are left out. At first 16,384.
    pub path_bytes: usize,
    /// Subschemas of a schema. At first 10,000.
    pub schema_nodes: usize,
}

impl Default for ProfileLimits {
    fn default() -> Self {
        Self {
            names_per_path: 65_536,
            bytes: 64 << 20,
            open_names_bytes: 32 << 20,
            rows: 1000,
            path_bytes: 16_384,
            schema_nodes: 10_000,
        }
    }
}
