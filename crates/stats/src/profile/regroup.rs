//! Rebuilds the trie: to merge tries, to fold names, and to bring nodes into canonical order.
//!
//! The nodes of the old trie that become one node of the new trie are a group. Groups are formed
//! from the root down: the children of a group's nodes form one group for each name, or a single
//! group where names are folded. The decision to fold considers the whole group. The result
//! therefore depends only on the observations, not on parts or order.

use super::trie::{Label, NONE, Node, Objects, Trie};
use crate::figures::Values;
use std::ops::Range;

/// The condition for folding names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Policy {
    /// Fold where there are more names than `names`, and drop everything below `depth`. Names that
    /// every object has are not folded, unless some objects are so large that these names cannot be
    /// known for all parts of the input. Of the nodes at `depth`, only the names are of interest.
    Cap { names: u32, depth: u32 },
    /// Fold where objects are [maps](Regrouping::is_map).
    Maps,
}

impl Policy {
    const fn depth(self) -> u32 {
        match self {
            Self::Cap { depth, .. } => depth,
            Self::Maps => u32::MAX,
        }
    }
}

/// Returns the number of objects that must have a name for it to stay below a cap on names; `None`
/// if all names stay.
fn quorum(objects: &Objects, names: usize, cap: u32) -> Option<u64> {
    let folds = objects.folded || names > cap as usize;
    // If every object has at most half the cap, a part of the input that begins with any object
    // knows all of its names before the cap is reached. No part then folds a name that every object
    // has.
    let is_small = objects.sizes.max.max(objects.open) <= u64::from(cap / 2);
    folds.then_some(if is_small { objects.sizes.count.max(1) } else { u64::MAX })
}

/// Nodes of the same name below a group.
pub(super) struct Named {
    pub(super) nodes: Range<usize>,
    /// The number of objects that have the name.
    pub(super) present: u64,
}

/// Nodes that become one.
struct Group {
    first: u64,
    label: Label,
    /// Their range in the pool of old nodes.
    nodes: Range<usize>,
}

/// The children of each node.
pub(super) struct Children {
    starts: Vec<u32>,
    ids: Vec<u32>,
}

impl Children {
    fn of(nodes: &[Node]) -> Self {
        // Two passes, as in a counting sort: count the children of each parent, then distribute
        // them. The offset by two lets the second pass advance each start without a copy.
        let mut starts = vec![0; nodes.len() + 2];
        let parents = || nodes.iter().filter(|node| node.parent != NONE).map(|node| node.parent as usize);
        parents().for_each(|parent| starts[parent + 2] += 1);
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut ids = vec![NONE; parents().count()];
        for (id, node) in (0..).zip(nodes) {
            if node.parent != NONE {
                let place = &mut starts[node.parent as usize + 1];
                ids[*place as usize] = id;
                *place += 1;
            }
        }
        Self { starts, ids }
    }

    pub(super) fn get(&self, id: u32) -> &[u32] {
        &self.ids[self.starts[id as usize] as usize..self.starts[id as usize + 1] as usize]
    }
}

pub(super) struct Regrouping<'a> {
    pub(super) old: &'a Trie,
    /// Figures about the values of the old nodes, by id.
    values: Vec<Option<Box<Values>>>,
    pub(super) children: Children,
    policy: Policy,
    pub(super) new: Trie,
    /// Old nodes, with those of each group adjacent.
    pub(super) pool: Vec<u32>,
    /// The group's range in the pool, by new id.
    pub(super) groups: Vec<Range<usize>>,
    /// The new id, by old id.
    new_ids: Vec<u32>,
}

impl Trie {
    /// Rebuilds the trie in canonical order: breadth first, siblings by first appearance, then by
    /// name. Several roots become one. Returns the new id of each old node, [`NONE`] for a dropped
    /// one.
    ///
    /// Takes time linear in the nodes (and logarithmic in the names of one path), and twice the
    /// memory.
    pub(crate) fn regroup(&mut self, policy: Policy) -> Vec<u32> {
        let values = self.nodes.iter_mut().map(|node| node.values.take()).collect();
        let Regrouping { new, new_ids, .. } = Regrouping::run(self, values, policy);
        *self = new;
        new_ids
    }
}

impl<'a> Regrouping<'a> {
    pub(super) fn run(old: &'a Trie, values: Vec<Option<Box<Values>>>, policy: Policy) -> Self {
        let mut regrouping = Self {
            old,
            values,
            children: Children::of(&old.nodes),
            policy,
            new: Trie::with_room_for(old),
            pool: Vec::with_capacity(old.nodes.len()),
            groups: Vec::with_capacity(old.nodes.len()),
            new_ids: vec![NONE; old.nodes.len()],
        };
        regrouping.build();
        regrouping
    }

    fn build(&mut self) {
        let roots = (0..).zip(&self.old.nodes).filter(|(_, node)| node.parent == NONE).map(|(id, _)| id);
        self.pool.extend(roots);
        if !self.pool.is_empty() {
            let nodes = 0..self.pool.len();
            self.add_node(NONE, 1, &Group { first: 0, label: Label::Root, nodes });
        }
        // `groups` grows while it is processed. Processing it in order makes the trie breadth
        // first.
        let mut id = 0;
        while let Some(nodes) = self.groups.get(id).cloned() {
            self.fill(id, nodes.clone());
            if self.new.nodes[id].depth < self.policy.depth() {
                let mut groups = self.split(id, nodes);
                groups.sort_by_key(|group| group.first);
                self.add_children(id, &groups);
            }
            id += 1;
        }
    }

    /// Adds the empty node of a group.
    fn add_node(&mut self, parent: u32, depth: u32, group: &Group) -> u32 {
        let label = match group.label {
            Label::Name(..) => {
                let node = &self.old.nodes[self.pool[group.nodes.start] as usize];
                self.new.keep_name(self.old.name(node))
            }
            label => label,
        };
        self.groups.push(group.nodes.clone());
        self.new.push(Node::new(parent, label, depth))
    }

    /// Sums the counts of a group's nodes.
    fn fill(&mut self, id: usize, nodes: Range<usize>) {
        let node = &mut self.new.nodes[id];
        for &old in &self.pool[nodes] {
            self.new_ids[old as usize] = id as u32;
            node.merge(&self.old.nodes[old as usize]);
            node.merge_values(self.values.get_mut(old as usize).and_then(Option::take));
            if let (Some(new), Some(old)) = (self.new.bytes.get_mut(id), self.old.bytes.get(old as usize)) {
                new.merge(*old);
            }
        }
        if node.depth == self.policy.depth() {
            // These nodes were described as long as the limit of the depth was higher, which
            // depends on the order of the input.
            node.forget_description();
        }
        self.new.charge += node.charge_of_figures();
    }

    /// Returns the groups below a group. Names come in lexicographic order.
    fn split(&mut self, id: usize, nodes: Range<usize>) -> Vec<Group> {
        let (mut named, mut items, mut folds) = (Vec::new(), Vec::new(), Vec::new());
        for &old in &self.pool[nodes] {
            for &child in self.children.get(old) {
                match self.old.nodes[child as usize].label {
                    Label::Name(..) => named.push(child),
                    Label::Fold => folds.push(child),
                    Label::Item | Label::Root => items.push(child),
                }
            }
        }
        let mut groups = self.split_names(id, named, &mut folds);
        for (label, nodes) in [(Label::Item, items), (Label::Fold, folds)] {
            if !nodes.is_empty() {
                groups.push(self.group(label, &nodes));
            }
        }
        groups
    }

    /// Groups nodes by name. Folded nodes are appended to `folds`.
    fn split_names(&mut self, id: usize, mut named: Vec<u32>, folds: &mut Vec<u32>) -> Vec<Group> {
        let name_of = |id: &u32| self.old.name(&self.old.nodes[*id as usize]);
        named.sort_by(|left, right| name_of(left).cmp(name_of(right)));
        let mut start = 0;
        let runs: Vec<Named> = named
            .chunk_by(|left, right| name_of(left) == name_of(right))
            .map(|run| {
                let nodes = start..start + run.len();
                start = nodes.end;
                Named { nodes, present: run.iter().map(|&id| self.old.nodes[id as usize].present).sum() }
            })
            .collect();
        let Some(objects) = self.new.nodes[id].objects.as_deref() else { return Vec::new() };
        let quorum = match self.policy {
            Policy::Cap { names: cap, .. } => quorum(objects, runs.len(), cap),
            Policy::Maps => self.is_map(objects, &runs, &named).then_some(u64::MAX),
        };
        let Some(objects) = self.new.nodes[id].objects.as_deref_mut() else { return Vec::new() };
        objects.folded |= quorum.is_some();
        let (kept, folded): (Vec<_>, Vec<_>) =
            runs.into_iter().partition(|run| quorum.is_none_or(|quorum| run.present >= quorum));
        objects.names = kept.len() as u32;
        for run in folded {
            folds.extend_from_slice(&named[run.nodes]);
        }
        kept.into_iter().map(|run| self.group(Label::Name(0, 0), &named[run.nodes])).collect()
    }

    // The name is set when the node is added; only the kind of label matters here.
    fn group(&mut self, label: Label, nodes: &[u32]) -> Group {
        let start = self.pool.len();
        self.pool.extend_from_slice(nodes);
        let first = nodes.iter().map(|&id| self.old.nodes[id as usize].first).min();
        Group { first: first.unwrap_or(u64::MAX), label, nodes: start..self.pool.len() }
    }

    /// Adds the nodes of all groups below one, and predicts that names follow each other in this
    /// order.
    fn add_children(&mut self, parent: usize, groups: &[Group]) {
        let depth = self.new.nodes[parent].depth + 1;
        let mut last = NONE;
        for group in groups {
            let id = self.add_node(parent as u32, depth, group);
            let (arrays, objects) = {
                let node = &mut self.new.nodes[parent];
                (node.arrays.as_deref_mut(), node.objects.as_deref_mut())
            };
            match (group.label, arrays, objects) {
                (Label::Item, Some(arrays), _) => arrays.item = id,
                (Label::Fold, _, Some(objects)) => objects.fold = id,
                (Label::Name(..), _, Some(objects)) => {
                    if last == NONE {
                        objects.head = id;
                    } else {
                        self.new.nodes[last as usize].follower = id;
                    }
                    last = id;
                }
                _ => {}
            }
        }
    }
}
