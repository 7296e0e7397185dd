//! Joins the states of plain paths into one tree.

use trommel_query::Slice;
use trommel_reader::Names;

use crate::options::QueryId;
use crate::program::{PathTree, Select, State, TreeNode};

/// The maximum number of names in a node: one bit of a word for each.
const MAX_NAMES: usize = 64;

/// Returns the tree of the queries, in this order. Returns `None` if they are not plain paths.
pub(super) fn path_tree(states: &[State], starts: &[u32]) -> Option<PathTree> {
    let mut tree = PathTree { nodes: vec![TreeNode::default()], search_name: None, trail: Vec::new() };
    for (query, &start) in (0..).zip(starts) {
        let mut at = 0;
        for state in &states[start as usize..] {
            let Some(segment) = &state.segment else {
                tree.nodes[at as usize].queries.push(QueryId(query));
                break;
            };
            let [select] = segment.selectors.as_slice() else { return None };
            if tree.node(at).search_node == Some(at) {
                // A search can only be the end of a path.
                return None;
            }
            at = match select {
                Select::Name(name) if segment.descendant => tree.search_child(at, name)?,
                _ if segment.descendant || segment.keyed => return None,
                _ => tree.child(at, select)?,
            };
        }
    }
    for node in &mut tree.nodes {
        node.name_set = Names::new(node.names.iter().map(|(name, _)| name.as_ref()));
        node.all = (0..node.names.len()).fold(0, |all, _| all << 1 | 1);
    }
    if tree.search_name.is_none() {
        tree.trail = tree.nodes.iter().map(TreeNode::on_trail).collect();
    }
    tree.is_plain().then_some(tree)
}

impl PathTree {
    /// Returns the node of the members with this name at any depth below a node. Returns `None` if
    /// another query already searches for a different name.
    fn search_child(&mut self, at: u32, name: &str) -> Option<u32> {
        if self.search_name.get_or_insert_with(|| name.into()).as_ref() != name {
            return None;
        }
        let new = self.nodes.len() as u32;
        let child = *self.nodes[at as usize].search_node.get_or_insert(new);
        if child == new {
            // The search continues inside of a member that it has found, so the node leads to
            // itself.
            self.nodes.push(TreeNode { search_node: Some(new), ..TreeNode::default() });
        }
        Some(child)
    }

    /// Returns the node to which a selector leads from a node.
    fn child(&mut self, at: u32, select: &Select) -> Option<u32> {
        let new = self.nodes.len() as u32;
        let node = &mut self.nodes[at as usize];
        let child = match select {
            Select::Name(name) => {
                let known = node.names.iter().find(|(known, _)| known == name).map(|(_, child)| *child);
                known.unwrap_or_else(|| {
                    node.names.push((name.clone(), new));
                    new
                })
            }
            Select::Index(index) => {
                let index = u64::try_from(*index).ok()?;
                match node.indices.binary_search_by_key(&index, |(known, _)| *known) {
                    Ok(found) => node.indices[found].1,
                    Err(free) => {
                        node.indices.insert(free, (index, new));
                        new
                    }
                }
            }
            // A wildcard takes members and elements alike. Where `[:]` took only elements before,
            // the two would need different nodes.
            Select::All if node.members == node.elements => {
                node.elements = node.elements.or(Some(new));
                *node.members.get_or_insert(new)
            }
            Select::Slice(slice) if *slice == Slice::ALL && node.members.is_none() => {
                *node.elements.get_or_insert(new)
            }
            Select::All | Select::Slice(_) | Select::Filter(_) => return None,
        };
        if child == new {
            self.nodes.push(TreeNode::default());
        }
        Some(child)
    }

    /// True if every child of a container leads to at most one node.
    fn is_plain(&self) -> bool {
        self.nodes.iter().all(|node| {
            let members = node.members.is_none() || node.names.is_empty();
            let elements = node.elements.is_none() || node.indices.is_empty();
            let alone = node.search_node.is_none() || !node.leads_to_children();
            members && elements && alone && node.names.len() <= MAX_NAMES
        })
    }
}

impl TreeNode {
    fn leads_to_children(&self) -> bool {
        let members = self.members.is_some() || !self.names.is_empty();
        members || self.elements.is_some() || !self.indices.is_empty()
    }
}
