//! Open containers and open matches.

use super::ways::List;
use crate::options::QueryId;

/// An open container some of whose children may matter, where queries are states.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) start: u64,
    pub(crate) object: bool,
    /// Index of the next element; of the next member, where the last of a name is selected.
    pub(crate) index: u64,
    /// Number of elements, where a selector needs it.
    pub(crate) length: u64,
    /// First of its states in `Scratch::active`; they end where the next frame's begin.
    pub(crate) active: usize,
    pub(crate) found: usize,
    pub(crate) ways: usize,
    /// States that can still select something below.
    pub(crate) live: u32,
    /// In an array, the index at which a state is exhausted next.
    pub(crate) check_at: u64,
    /// True if a name was found since the states were inspected, or if they are inspected before
    /// each child.
    pub(crate) dirty: bool,
}

/// A state at a node, with all derivations of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Active {
    pub(crate) state: u32,
    /// Number of derivations, where they are not told apart.
    pub(crate) times: u64,
    /// The derivations, where they are.
    pub(crate) ways: List,
    /// First of its slots in `Scratch::found`, relative to the frame's.
    pub(crate) found: u32,
    /// Names not yet found, or one past the last index that can be selected.
    pub(crate) left: u64,
    /// Whether its own selectors can select nothing more in this container.
    pub(crate) exhausted: bool,
    pub(crate) blocking: bool,
}

/// A match that has been entered and not yet left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) query: QueryId,
    pub(crate) times: u64,
    pub(crate) ways: List,
    pub(crate) start: u64,
    /// Frames around the node.
    pub(crate) depth: usize,
    pub(crate) held: bool,
}

/// Regions of the current value that are being told of, one derivation after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Due {
    /// The first of them, the next one, and one past the last.
    pub(crate) first: usize,
    pub(crate) next: usize,
    pub(crate) end: usize,
    /// Whether a derivation of the next one was told of already.
    pub(crate) begun: bool,
    /// Whether they end with the value, rather than begin.
    pub(crate) leaving: bool,
    /// Whether one of them holds the value's bytes.
    pub(crate) held: bool,
}

impl Active {
    pub(crate) const fn new(state: u32, times: u64, ways: List) -> Self {
        Self { state, times, ways, found: 0, left: 0, exhausted: false, blocking: false }
    }

    /// Whether its own selectors have selected all that they can in the container of this frame.
    pub(crate) const fn is_used_up(&self, frame: &Frame) -> bool {
        if frame.object { self.left == 0 } else { frame.index >= self.left }
    }
}

/// An open container, where plain paths follow their tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    pub(crate) node: u32,
    pub(crate) start: u64,
    pub(crate) object: bool,
    /// The number of containers open around it.
    pub(crate) floor: u32,
    /// Index of the next element.
    pub(crate) index: u64,
    /// A bit for each of the node's names that was found.
    pub(crate) found: u64,
    pub(crate) held: bool,
}
