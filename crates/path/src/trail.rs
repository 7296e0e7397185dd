//! Queries that are plain paths, as one tree of names and indices.
//!
//! Where all queries of a plan only name members and elements or take all of them, each child of a container goes one way at
//! most, or is passed over. What the general matcher keeps for every state at every container is then one place in this tree.
//! A path may end with `..name`: below its place in the tree members of that name are looked for, at whatever depth.

use trommel_query::Slice;
use trommel_reader::Names;

use crate::plan::{Duplicates, QueryId, Select, State};

/// Names that can be told apart by the bits of a word.
const MOST_NAMES: usize = 64;

/// Nodes of the tree; the root is the first.
#[derive(Debug)]
pub(crate) struct Trails {
    nodes: Vec<Node>,
    /// The name that is looked for at any depth, the same for all queries that do.
    sought: Option<Box<str>>,
}

/// What the values at one place of the tree are for.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// The queries that select the value itself.
    pub(crate) queries: Vec<QueryId>,
    /// Members that lead on, by name.
    pub(crate) names: Vec<(Box<str>, u32)>,
    /// The same names, for looking for them.
    pub(crate) named: Names,
    /// A bit for each of them.
    all: u64,
    /// Elements that lead on, by index, ascending.
    pub(crate) indices: Vec<(u64, u32)>,
    /// Where every member leads.
    pub(crate) members: Option<u32>,
    /// Where every element leads.
    pub(crate) elements: Option<u32>,
    /// Where the members of the name that is looked for lead, at whatever depth. From there the search goes on.
    pub(crate) sought: Option<u32>,
}

impl Trails {
    /// The tree of queries in this order, if they are plain paths.
    pub(crate) fn new(states: &[State], starts: &[u32]) -> Option<Self> {
        let mut trails = Self { nodes: vec![Node::default()], sought: None };
        for (query, &start) in (0..).zip(starts) {
            let mut at = 0;
            for state in states.get(start as usize..)? {
                let Some(segment) = &state.segment else {
                    trails.nodes.get_mut(at as usize)?.queries.push(QueryId(query));
                    break;
                };
                let [select] = segment.selectors.as_slice() else { return None };
                if trails.node(at)?.sought == Some(at) {
                    // What is found at any depth leads no further.
                    return None;
                }
                at = match select {
                    Select::Name(name) if segment.descendant => trails.found(at, name)?,
                    _ if segment.descendant || segment.keyed => return None,
                    _ => trails.child(at, select)?,
                };
            }
        }
        for node in &mut trails.nodes {
            node.named = Names::new(node.names.iter().map(|(name, _)| name.as_ref()));
            node.all = (0..node.names.len()).fold(0, |all, _| all << 1 | 1);
        }
        Some(trails).filter(Self::is_plain)
    }

    pub(crate) fn node(&self, at: u32) -> Option<&Node> {
        self.nodes.get(at as usize)
    }

    /// The queries that select the values of a node.
    pub(crate) fn queries(&self, at: u32) -> &[QueryId] {
        self.node(at).map_or(&[], |node| &node.queries)
    }

    /// The name that is looked for at any depth.
    pub(crate) fn sought(&self) -> Option<&str> {
        self.sought.as_deref()
    }

    /// Where the members of a name lead that stand anywhere below a node.
    fn found(&mut self, at: u32, name: &str) -> Option<u32> {
        if self.sought.get_or_insert_with(|| name.into()).as_ref() != name {
            return None;
        }
        let new = self.nodes.len() as u32;
        let child = *self.nodes.get_mut(at as usize)?.sought.get_or_insert(new);
        if child == new {
            // Within what was found there may be more of them.
            self.nodes.push(Node { sought: Some(new), ..Node::default() });
        }
        Some(child)
    }

    /// Where a selector leads from a node.
    fn child(&mut self, at: u32, select: &Select) -> Option<u32> {
        let new = self.nodes.len() as u32;
        let node = self.nodes.get_mut(at as usize)?;
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
                    Ok(found) => node.indices.get(found)?.1,
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
            self.nodes.push(Node::default());
        }
        Some(child)
    }

    /// Whether no child of a container can go two ways.
    fn is_plain(&self) -> bool {
        self.nodes.iter().all(|node| {
            let members = node.members.is_none() || node.names.is_empty();
            let elements = node.elements.is_none() || node.indices.is_empty();
            let alone = node.sought.is_none() || !node.leads_to_children();
            members && elements && alone && node.names.len() <= MOST_NAMES
        })
    }
}

impl Node {
    fn leads_to_children(&self) -> bool {
        let members = self.members.is_some() || !self.names.is_empty();
        members || self.elements.is_some() || !self.indices.is_empty()
    }

    /// Whether something below a container of this kind can be selected.
    pub(crate) fn leads_into(&self, object: bool) -> bool {
        if self.sought.is_some() {
            true
        } else if object {
            self.members.is_some() || !self.names.is_empty()
        } else {
            self.elements.is_some() || !self.indices.is_empty()
        }
    }

    /// Whether all that can be selected in a container was, when these names were found and so many elements passed.
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
