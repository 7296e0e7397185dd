//! From the states of plain paths to one tree.

use trommel_query::Slice;
use trommel_reader::Names;

use crate::options::QueryId;
use crate::program::{PathTree, Select, State, TreeNode};

/// Names that can be told apart by the bits of a word.
const MOST_NAMES: usize = 64;

/// The tree of queries in this order. Returns `None` if they are not plain paths.
pub(super) fn path_tree(states: &[State], starts: &[u32]) -> Option<PathTree> {
    let mut tree = PathTree { nodes: vec![TreeNode::default()], sought: None };
    for (query, &start) in (0..).zip(starts) {
        let mut at = 0;
        for state in &states[start as usize..] {
            let Some(segment) = &state.segment else {
                tree.nodes[at as usize].queries.push(QueryId(query));
                break;
            };
            let [select] = segment.selectors.as_slice() else { return None };
            if tree.node(at).sought == Some(at) {
                // A member found at any depth leads no further.
                return None;
            }
            at = match select {
                Select::Name(name) if segment.descendant => tree.found(at, name)?,
                _ if segment.descendant || segment.keyed => return None,
                _ => tree.child(at, select)?,
            };
        }
    }
    for node in &mut tree.nodes {
        node.named = Names::new(node.names.iter().map(|(name, _)| name.as_ref()));
        node.all = (0..node.names.len()).fold(0, |all, _| all << 1 | 1);
    }
    tree.is_plain().then_some(tree)
}

impl PathTree {
    /// The node of the members of a name anywhere below a node.
    fn found(&mut self, at: u32, name: &str) -> Option<u32> {
        if self.sought.get_or_insert_with(|| name.into()).as_ref() != name {
            return None;
        }
        let new = self.nodes.len() as u32;
        let child = *self.nodes[at as usize].sought.get_or_insert(new);
        if child == new {
            // A member that was found may have more of them in it.
            self.nodes.push(TreeNode { sought: Some(new), ..TreeNode::default() });
        }
        Some(child)
    }

    /// The node that a selector leads to from a node.
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

    /// True if no child of a container can go two ways.
    fn is_plain(&self) -> bool {
        self.nodes.iter().all(|node| {
            let members = node.members.is_none() || node.names.is_empty();
            let elements = node.elements.is_none() || node.indices.is_empty();
            let alone = node.sought.is_none() || !node.leads_to_children();
            members && elements && alone && node.names.len() <= MOST_NAMES
        })
    }
}

impl TreeNode {
    fn leads_to_children(&self) -> bool {
        let members = self.members.is_some() || !self.names.is_empty();
        members || self.elements.is_some() || !self.indices.is_empty()
    }
}
