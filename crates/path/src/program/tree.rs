//! Queries that are plain paths, as one tree of names and indices.
//!
//! Where all queries of a plan only name members and elements or take all of them, each child of a
//! container goes one way at most, or is skipped. Instead of the states that the general matcher
//! keeps at every container, one node of this tree is enough. A path may end with `..name`: below
//! its node, members of that name are searched at any depth.

use trommel_reader::Names;

use crate::options::{Duplicates, QueryId};

/// The tree; its root is the first node.
#[derive(Debug)]
pub(crate) struct PathTree {
    pub(crate) nodes: Vec<TreeNode>,
    /// The name that is searched at any depth, the same for all queries that do.
    pub(crate) sought: Option<Box<str>>,
}

/// Where the values at one place of the tree lead.
#[derive(Debug, Default)]
pub(crate) struct TreeNode {
    /// The queries that select the value itself.
    pub(crate) queries: Vec<QueryId>,
    /// The nodes of members, by name.
    pub(crate) names: Vec<(Box<str>, u32)>,
    /// The same names, prepared for finding them in the input.
    pub(crate) named: Names,
    /// A bit for each of the names.
    pub(crate) all: u64,
    /// The nodes of elements, by index, ascending.
    pub(crate) indices: Vec<(u64, u32)>,
    /// The node of every member.
    pub(crate) members: Option<u32>,
    /// The node of every element.
    pub(crate) elements: Option<u32>,
    /// The node of the members of the name that is searched, at any depth. From there the search
    /// goes deeper.
    pub(crate) sought: Option<u32>,
}

impl PathTree {
    /// A node by its number.
    pub(crate) fn node(&self, at: u32) -> &TreeNode {
        &self.nodes[at as usize]
    }

    /// The queries that select the values of a node.
    pub(crate) fn queries(&self, at: u32) -> &[QueryId] {
        &self.node(at).queries
    }
}

impl TreeNode {
    /// True if something below a container of this kind can be selected.
    pub(crate) fn leads_into(&self, object: bool) -> bool {
        if self.sought.is_some() {
            true
        } else if object {
            self.members.is_some() || !self.names.is_empty()
        } else {
            self.elements.is_some() || !self.indices.is_empty()
        }
    }

    /// True if everything that can be selected in a container was selected, when these names were
    /// found and `index` elements passed.
    pub(crate) fn is_used_up(&self, object: bool, found: u64, index: u64, duplicates: Duplicates) -> bool {
        if self.sought.is_some() {
            false
        } else if object {
            self.members.is_none() && found == self.all && duplicates == Duplicates::First
        } else {
            let last = self.indices.last().map_or(0, |(last, _)| last.saturating_add(1));
            self.elements.is_none() && index >= last
        }
    }
}
