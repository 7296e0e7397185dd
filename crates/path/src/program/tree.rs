//! Plain paths, joined into one tree of names and indices.
//!
//! In a plan whose queries only name members and elements or take all of them, each child of a
//! container leads to at most one node of this tree, or is skipped. That node replaces the states
//! that the general matcher keeps at every container. A path may end with `..name`: below its node,
//! members of that name are searched at any depth.

use trommel_reader::{Names, TrailNode};

use crate::options::{Duplicates, QueryId};

/// The tree. Its root is the first node.
#[derive(Debug)]
pub(crate) struct PathTree {
    pub(crate) nodes: Vec<TreeNode>,
    /// The name that is searched at any depth. All queries with such a search share it.
    pub(crate) search_name: Option<Box<str>>,
    /// The nodes as the reader follows them by masks. Empty if there is a name to search.
    pub(crate) trail: Vec<TrailNode>,
}

/// A node of the tree, with the nodes of its children.
#[derive(Debug, Default)]
pub(crate) struct TreeNode {
    /// The queries that select the values of this node.
    pub(crate) queries: Vec<QueryId>,
    /// True if only the ends of its values are reported, so that they are not open nodes.
    pub(crate) marks_end: bool,
    /// The child nodes of members, by name.
    pub(crate) names: Vec<(Box<str>, u32)>,
    /// The same names, compiled for the search in the input.
    pub(crate) name_set: Names,
    /// A bit mask with a bit for each name.
    pub(crate) all: u64,
    /// The child nodes of elements, by index in ascending order.
    pub(crate) indices: Vec<(u64, u32)>,
    /// The child node of every member.
    pub(crate) members: Option<u32>,
    /// The child node of every element.
    pub(crate) elements: Option<u32>,
    /// The node of the members with the searched name, at any depth. The search continues inside of
    /// them.
    pub(crate) search_node: Option<u32>,
}

impl PathTree {
    /// Returns a node by its number.
    pub(crate) fn node(&self, at: u32) -> &TreeNode {
        &self.nodes[at as usize]
    }

    /// Returns the queries that select the values of a node.
    pub(crate) fn queries(&self, at: u32) -> &[QueryId] {
        &self.node(at).queries
    }
}

impl TreeNode {
    /// The node as the reader follows it by masks.
    pub(crate) fn on_trail(&self) -> TrailNode {
        let node = TrailNode::new(!self.queries.is_empty(), self.name_set.clone())
            .with_elements(self.elements, self.indices.clone());
        let node = if self.marks_end { node.marking_ends() } else { node };
        match self.members {
            Some(_) => node.with_members_apart(),
            None => node.with_members(self.names.iter().map(|(_, child)| *child).collect()),
        }
    }

    /// True if something below a container of this kind can be selected.
    pub(crate) fn leads_into(&self, object: bool) -> bool {
        if self.search_node.is_some() {
            true
        } else if object {
            self.members.is_some() || !self.names.is_empty()
        } else {
            self.elements.is_some() || !self.indices.is_empty()
        }
    }

    /// The number of elements from `index` on before the next one that leads to a node.
    pub(crate) fn unselected(&self, index: u64) -> u64 {
        let next = self.indices.partition_point(|(known, _)| *known < index);
        match self.indices.get(next) {
            Some((next, _)) if self.elements.is_none() => next - index,
            _ => 0,
        }
    }

    /// True if nothing more in a container matters, not even its end.
    pub(crate) fn is_decided(&self, object: bool, found: u64, index: u64, duplicates: Duplicates) -> bool {
        !self.marks_end && self.is_used_up(object, found, index, duplicates)
    }

    /// True if nothing more in a container can be selected, after these names were found and
    /// `index` elements were read.
    pub(crate) fn is_used_up(&self, object: bool, found: u64, index: u64, duplicates: Duplicates) -> bool {
        if self.search_node.is_some() {
            false
        } else if object {
            self.members.is_none() && found == self.all && duplicates == Duplicates::First
        } else {
            let last = self.indices.last().map_or(0, |(last, _)| last.saturating_add(1));
            self.elements.is_none() && index >= last
        }
    }
}
