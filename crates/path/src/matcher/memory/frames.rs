//! Open containers and open matches of a running matcher.

use super::derivations::StepList;
use crate::options::QueryId;

/// An open container with children that may matter, for queries that run as states.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) start: u64,
    pub(crate) object: bool,
    /// The index of the next element. With [`Duplicates::Last`](crate::Duplicates), also that of
    /// the next member.
    pub(crate) index: u64,
    /// The number of elements, if a selector needs it.
    pub(crate) length: u64,
    /// The index of its first state in `Scratch::active`. Its states end where those of the next
    /// frame begin.
    pub(crate) active: usize,
    /// The index of its first slot in `Scratch::found`.
    pub(crate) found: usize,
    /// The number of derivation steps that belong to the frames around it.
    pub(crate) derivations: usize,
    /// The number of states that can still select something below.
    pub(crate) live: u32,
    /// In an array, the index at which the next state is exhausted.
    pub(crate) check_at: u64,
    /// In an array, the index of an element before which none matters, if that is known.
    pub(crate) skips_to: u64,
    /// True if a name was found since the states were last checked, or if they are checked before
    /// every child.
    pub(crate) dirty: bool,
}

/// A state at a node, with all derivations that lead to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    pub(crate) state: u32,
    /// The number of derivations, if they are not distinguished.
    pub(crate) times: u64,
    /// The derivations, if they are distinguished.
    pub(crate) derivations: StepList,
    /// The index of the first of its slots in `Scratch::found`, relative to that of the frame.
    pub(crate) found: u32,
    /// The number of names not yet found, or one past the last index that can be selected.
    pub(crate) left: u64,
    /// True if its own selectors can select nothing more in this container.
    pub(crate) exhausted: bool,
    /// True if it may still select a node that comes before those already found.
    pub(crate) blocking: bool,
}

/// A match that was entered and not yet left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) query: QueryId,
    pub(crate) times: u64,
    pub(crate) derivations: StepList,
    pub(crate) start: u64,
    /// The number of frames around the node.
    pub(crate) depth: usize,
    /// True if it holds the bytes of the node. Of the regions of one node, at most one does.
    pub(crate) held: bool,
}

/// The steps to report for the regions that begin or end with the current value, one derivation at
/// a time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PendingSteps {
    /// The index of the first region, of the next one, and one past the last.
    pub(crate) first: usize,
    pub(crate) next: usize,
    pub(crate) end: usize,
    /// True if a derivation of the next region was already reported.
    pub(crate) started: bool,
    /// True if the regions end with the value, false if they begin with it.
    pub(crate) leaving: bool,
    /// True if one of them holds the bytes of the value.
    pub(crate) held: bool,
}

impl Active {
    pub(crate) const fn new(state: u32, times: u64, derivations: StepList) -> Self {
        Self { state, times, derivations, found: 0, left: 0, exhausted: false, blocking: false }
    }

    /// True if its own selectors have selected everything they can in the container of this frame.
    pub(crate) const fn is_used_up(&self, frame: &Frame) -> bool {
        if frame.object { self.left == 0 } else { frame.index >= self.left }
    }
}

/// An open container, for plain paths that follow the tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    /// The tree node of the container.
    pub(crate) node: u32,
    pub(crate) start: u64,
    pub(crate) object: bool,
    /// The number of containers that are open around it.
    pub(crate) floor: u32,
    /// The index of the next element.
    pub(crate) index: u64,
    /// A bit mask of the node's names that were found.
    pub(crate) found: u64,
    /// True if a query holds the bytes of the container.
    pub(crate) held: bool,
}
