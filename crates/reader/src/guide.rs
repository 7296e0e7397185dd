//! Waypoints: offsets at which a cursor may continue, found when the same input was read before.

use std::cmp::Ordering;

use crate::config::Limits;

/// An offset in an open container, before one of its children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has exactly these parts")]
pub struct Waypoint {
    /// Absolute offset of the child's first byte: of its name in an object, else of its value.
    pub offset: u64,
    /// The number of children before it.
    pub index: u64,
}

/// The end of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "it has exactly these parts")]
pub struct ContainerEnd {
    /// Absolute offset after the closing bracket.
    pub offset: u64,
    /// The number of members or elements.
    pub children: u64,
}

/// An order in which the names of an object ascend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "every search must know the order")]
pub enum NameOrder {
    /// By their bytes.
    Bytes,
    /// By their length, and those of equal length by their bytes: as numbers ascend.
    Length,
}

impl NameOrder {
    /// Compares two names without escapes.
    pub fn compare(self, one: &[u8], other: &[u8]) -> Ordering {
        let lengths = match self {
            Self::Bytes => Ordering::Equal,
            Self::Length => one.len().cmp(&other.len()),
        };
        lengths.then_with(|| one.cmp(other))
    }
}

/// The part of an object in which a name can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the cursor must treat every case")]
pub enum NameRange {
    /// From this waypoint on.
    From(Waypoint),
    /// Before this offset.
    Before(u64),
}

/// Facts about an input that was validated strictly: where its long containers end, and
/// waypoints in them. A [`Cursor`](crate::Cursor) uses them to pass bytes without reading them.
///
/// An offset `at` and a depth denote the container that is open at that depth around that offset;
/// the outermost container has depth 1. Only containers that are long have facts.
///
/// The facts must be those of the same bytes. A cursor checks each waypoint as far as the bytes
/// around it can show, and ignores one that cannot be true.
pub trait Guide: Send + Sync {
    /// True if no value of the input exceeds these limits of depth and tokens.
    fn is_within(&self, limits: &Limits) -> bool;

    /// The end of a container.
    fn end(&self, at: u64, depth: u32) -> Option<ContainerEnd>;

    /// The last waypoint in a container that is after `at`, with at most `index` children before
    /// it. If the depth is 0, the children are the records of the input.
    fn waypoint(&self, at: u64, depth: u32, index: u64) -> Option<Waypoint>;

    /// The last waypoint at or before an offset, in the container that is open at a depth around
    /// `at`.
    fn waypoint_before(&self, at: u64, depth: u32, offset: u64) -> Option<Waypoint>;

    /// The part after `at` in which a name can be a member of the object that is open at a depth
    /// around `at`, if the names of that object ascend. `compare` compares the name at an offset
    /// with the one that is searched. Without an answer, the search ends.
    fn name_range(
        &self,
        at: u64,
        depth: u32,
        compare: &mut dyn FnMut(NameOrder, u64) -> Option<Ordering>,
    ) -> Option<NameRange>;

    /// The offset up to which one of these names may occur from `at` on. `None` if none can occur
    /// right after `at`, or if they may occur up to the end.
    fn names_until(&self, at: u64, names: &[&str]) -> Option<u64>;

    /// The last waypoint after `at` before which none of these names occurs, in a container that is
    /// open around `at` at a depth from `floor` to `deepest`. Also returns the depth of that
    /// container.
    fn before_names(&self, at: u64, floor: u32, deepest: u32, names: &[&str]) -> Option<(u32, Waypoint)>;
}
