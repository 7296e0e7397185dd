//! A guide for a part of its input.

use std::cmp::Ordering;
use std::sync::Arc;

use trommel::reader::{ContainerEnd, Guide, Limits, NameOrder, NameRange, Waypoint};

use crate::index::Index;

/// The index, for a cursor that begins inside of containers.
#[derive(Clone, Debug)]
pub struct Below {
    index: Arc<Index>,
    /// The number of containers around the cursor's first value.
    depth: u32,
}

impl Below {
    /// Creates a guide for a cursor whose first value is in `depth` containers.
    pub fn new(index: Arc<Index>, depth: u32) -> Self {
        Self { index, depth }
    }
}

impl Guide for Below {
    fn is_within(&self, limits: &Limits) -> bool {
        self.index.is_within(limits)
    }

    fn end(&self, at: u64, depth: u32) -> Option<ContainerEnd> {
        self.index.end(at, depth + self.depth)
    }

    fn waypoint(&self, at: u64, depth: u32, index: u64) -> Option<Waypoint> {
        self.index.waypoint(at, depth + self.depth, index)
    }

    fn waypoint_before(&self, at: u64, depth: u32, offset: u64) -> Option<Waypoint> {
        self.index.waypoint_before(at, depth + self.depth, offset)
    }

    fn name_range(
        &self,
        at: u64,
        depth: u32,
        compare: &mut dyn FnMut(NameOrder, u64) -> Option<Ordering>,
    ) -> Option<NameRange> {
        self.index.name_range(at, depth + self.depth, compare)
    }

    fn names_until(&self, at: u64, names: &[&str]) -> Option<u64> {
        self.index.names_until(at, names)
    }

    fn before_names(&self, at: u64, floor: u32, deepest: u32, names: &[&str]) -> Option<(u32, Waypoint)> {
        let (floor, deepest) = (floor + self.depth, deepest + self.depth);
        let (depth, waypoint) = self.index.before_names(at, floor, deepest, names)?;
        Some((depth - self.depth, waypoint))
    }
}
