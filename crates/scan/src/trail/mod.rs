//! Follows plain paths: enters the containers on them, and collects the values at their ends.
//!
//! The masks of a block are made once, and serve all levels. In an object on a path only colons and
//! brackets are inspected: a name ends right before a colon. All other containers are skipped by
//! their brackets.
//!
//! The kernel takes no decision about malformed or rare input. Where the bytes are not plain to
//! see, it stops, and the reader continues from there: at values that need a closer look, at names
//! with escapes, and at the end of the window.

#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

mod blocks;
mod kernel;

pub use blocks::{Carry, Leave, Masks};
pub(crate) use blocks::{classify, leave};
pub(crate) use kernel::trail;

use crate::members::Names;
use crate::runs::MAX_PASSED;

/// Maximum hits that are collected before they are reported.
const MAX_HITS: usize = 256;

/// Maximum hits in a line that is passed as a whole. They are all collected before it is known if
/// it can be.
const MAX_LINE_HITS: usize = 16 * MAX_HITS;

/// With more names than this, the name of each member is read.
const MAX_NAMES: usize = 8;

/// A value on a path.
#[derive(Clone, Debug)]
pub struct TrailNode {
    names: Names,
    /// The nodes of the members with these names.
    children: Vec<u32>,
    /// A bit mask with a bit for each name.
    all: u64,
    /// The node of every element.
    elements: Option<u32>,
    /// The nodes of elements, by index in ascending order.
    indices: Vec<(u64, u32)>,
    /// True if the values are to be collected.
    selected: bool,
    /// True if objects are beyond this search: it has too many names for them.
    is_apart: bool,
    /// True if the values are collected for their ends: after the values that they contain.
    marks_end: bool,
}

impl TrailNode {
    /// A value in which nothing is selected. It is collected itself if it is `selected`.
    pub fn new(selected: bool, names: Names) -> Self {
        let (children, indices) = (Vec::new(), Vec::new());
        Self { names, children, all: 0, elements: None, indices, selected, is_apart: false, marks_end: false }
    }

    /// Selects members: the children belong to the names in their order.
    #[must_use]
    pub fn with_members(mut self, children: Vec<u32>) -> Self {
        let are_short = self.names.max_len() <= MAX_PASSED;
        self.is_apart = children.len() > MAX_NAMES || !are_short || !self.names.are_plain();
        self.all = (0..children.len()).fold(0, |all, _| all << 1 | 1);
        Self { children, ..self }
    }

    /// Selects elements: all of them, or by index in ascending order.
    #[must_use]
    pub fn with_elements(self, all: Option<u32>, indices: Vec<(u64, u32)>) -> Self {
        Self { elements: all, indices, ..self }
    }

    /// Selects members that can only be found by reading each name.
    #[must_use]
    pub fn with_members_apart(self) -> Self {
        Self { is_apart: true, ..self }
    }

    /// Collects a value only to show where it ends, so that the search can enter it.
    #[must_use]
    pub fn marking_ends(self) -> Self {
        Self { marks_end: true, ..self }
    }

    #[inline(always)]
    fn leads_into(&self, object: bool) -> bool {
        if object {
            self.is_apart || !self.children.is_empty()
        } else {
            self.elements.is_some() || !self.indices.is_empty()
        }
    }

    /// True if a search can be in a container of this kind.
    #[inline(always)]
    pub fn can_enter(&self, object: bool) -> bool {
        !(self.selected && !self.marks_end || object && self.is_apart)
    }

    /// True if nothing more can be selected in a container of this node.
    #[inline(always)]
    fn is_used_up(&self, level: &TrailLevel, unique: bool) -> bool {
        if level.object {
            return unique && level.found == self.all;
        }
        let last = self.indices.last().map_or(0, |(last, _)| last.saturating_add(1));
        self.elements.is_none() && level.index >= last
    }

    /// The node of an element.
    fn element(&self, index: u64) -> Option<u32> {
        let known = || self.indices.binary_search_by_key(&index, |(known, _)| *known).ok();
        self.elements.or_else(|| self.indices.get(known()?).map(|(_, child)| *child))
    }
}

/// An open container on a path.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "the matcher makes and reads them")]
pub struct TrailLevel {
    /// Its node.
    pub node: u32,
    /// True for an object.
    pub object: bool,
    /// Absolute offset of its opening bracket.
    pub start: u64,
    /// The names that were found in it, one bit each.
    pub found: u64,
    /// The number of its elements that were passed.
    pub index: u64,
}

/// A value at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a value is fully described by its node and span")]
pub struct TrailHit {
    /// Its node.
    pub node: u32,
    /// Absolute offset of its start.
    pub start: u64,
    /// Absolute offset of its end.
    pub end: u64,
    /// The number of lines that were passed before its own.
    pub line: u64,
}

/// A search in progress.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the matcher and the reader prepare each run of the kernel")]
pub struct Trail {
    /// The innermost container of the caller, and those that the search has entered in it, the
    /// innermost last. The search leaves all but the first. Empty between two lines.
    pub levels: Vec<TrailLevel>,
    /// The values that were collected.
    pub hits: Vec<TrailHit>,
    /// The number of values of each node, instead of `hits`. Empty if they are to be collected.
    pub counts: Vec<u64>,
    /// True if only the first member of a name counts.
    pub unique: bool,
    /// True if nothing more can be selected in the containers around the first level.
    pub is_decided_outside: bool,
    /// The number of the level that is an array in which to pause between two elements. 0 for none.
    pub pause_level: usize,
    /// The absolute offset from which to pause.
    pub pause_from: u64,
    /// True if the position is before the first child of the innermost level.
    pub is_first: bool,
    /// Absolute offset of the first byte of the window.
    pub base: u64,
    /// The number of containers that may be open in the first level.
    pub limit: u64,
    /// True if every line is a value of the first node. `levels` is empty between two lines.
    pub in_lines: bool,
    /// The number of lines that were passed as a whole.
    pub lines: u64,
    /// Absolute offset of the last of them.
    pub last_line: u64,
    /// True if the end of a line was skipped, because nothing more could be selected in it.
    pub skips_rest: bool,
    /// Absolute offset of the end of the bytes that were inspected. Some of them may be beyond the
    /// point at which the search has stopped.
    pub inspected: u64,
}

/// The point at which a search has stopped. Its `levels` and `is_first` are those of this point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the reader must treat every case")]
pub enum TrailStop {
    /// At this index, between two children: the hits must be reported first.
    Full(usize),
    /// At this index, between two children: the next child needs a closer look, or the first level
    /// ends.
    Between(usize),
    /// At this index, before a value that needs a closer look.
    Value {
        /// The index.
        at: usize,
        /// The node of the value, if it has one.
        node: Option<u32>,
    },
}

impl Trail {
    #[inline(always)]
    fn collect(&mut self, node: u32, start: u64, end: u64) {
        if let Some(count) = self.counts.get_mut(node as usize) {
            *count += 1;
        } else {
            self.hits.push(TrailHit { node, start, end, line: self.lines });
        }
    }

    /// The stop at this index if no more values are to be collected.
    #[inline(always)]
    fn is_full(&self, at: usize) -> Option<TrailStop> {
        if self.hits.len() < MAX_HITS {
            return None;
        }
        if !self.in_lines {
            return Some(TrailStop::Full(at));
        }
        (self.hits.len() >= MAX_LINE_HITS).then_some(TrailStop::Between(at))
    }

    /// The number of containers that may be open in the innermost level.
    #[inline(always)]
    fn containers_left(&self) -> u64 {
        // The first level does not count among the containers in it, but a line has none.
        (self.limit + u64::from(!self.in_lines)).saturating_sub(self.levels.len() as u64)
    }

    /// Leaves the innermost level, which has ended before an index.
    #[inline(always)]
    fn leave_level(&mut self, nodes: &[TrailNode], end: usize) {
        self.is_first = false;
        if let Some(level) = self.levels.pop()
            && nodes[level.node as usize].marks_end
        {
            self.collect(level.node, level.start, self.base + end as u64);
        }
    }

    /// True if nothing more can be selected around the innermost level, and no level needs its end.
    #[inline(always)]
    fn is_decided_around(&self, nodes: &[TrailNode]) -> bool {
        let mut outer = self.levels.iter().rev().skip(1);
        let is_decided = |level: &TrailLevel| {
            let node = &nodes[level.node as usize];
            node.is_used_up(level, self.unique) && !node.marks_end
        };
        outer.all(is_decided) && self.is_decided_outside
    }
}
