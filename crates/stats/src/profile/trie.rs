//! The shape of JSON: a trie of paths that predicts the next name.

use super::bytes::PathBytes;
use super::row_sample::{self, SampledRows};
use super::words::Spelling;
use crate::figures::{KindSet, Kinds, Values};
use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use trommel_reader::Kind;

/// No node.
pub(crate) const NONE: u32 = u32::MAX;

/// All values of one path.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) parent: u32,
    pub(crate) label: Label,
    /// The depth of the node; the root is 1.
    pub(crate) depth: u32,
    pub(crate) kinds: Kinds,
    /// The offset of the first value.
    pub(crate) first: u64,
    /// The number of objects that have the name.
    pub(crate) present: u64,
    /// The number of the open object in which the name was last seen.
    pub(crate) seen_in: u64,
    /// The member that followed the last time the prediction failed.
    pub(crate) follower: u32,
    /// How the name is written, once it was looked up.
    pub(super) spelling: Spelling,
    pub(crate) arrays: Option<Box<Arrays>>,
    pub(crate) objects: Option<Box<Objects>>,
    pub(crate) values: Option<Box<Values>>,
    /// The formats that all strings so far have, one bit each.
    pub(crate) formats: u8,
    /// True if some number is written with a fraction or an exponent.
    pub(crate) has_fractions: bool,
    /// True for the elements of arrays, and all in them.
    pub(super) is_in_array: bool,
    /// True for the elements of arrays that are in no other array.
    pub(super) is_row: bool,
    /// The rows that are in the sample, if the values are rows.
    pub(super) rows: Option<Box<SampledRows>>,
    /// The last scalar that is not described yet, or [`NONE`].
    pub(super) deferred: u32,
}

/// The step from a parent to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    Root,
    /// A member's name: its offset and length in the trie's arena.
    Name(u32, u32),
    /// Any element of an array.
    Item,
    /// Any member without its own node.
    Fold,
}

/// The sizes of the containers of a path.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Sizes {
    pub(crate) count: u64,
    pub(crate) total: u64,
    pub(crate) min: u64,
    pub(crate) max: u64,
    /// The offset of the first container.
    pub(crate) first: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { count: 0, total: 0, min: u64::MAX, max: 0, first: u64::MAX }
    }
}

impl Sizes {
    fn observe(&mut self, size: u64) {
        self.count += 1;
        self.total = self.total.saturating_add(size);
        self.min = self.min.min(size);
        self.max = self.max.max(size);
    }

    fn merge(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.total = self.total.saturating_add(other.total);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.first = self.first.min(other.first);
    }
}

/// The arrays of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrays {
    pub(crate) sizes: Sizes,
    pub(crate) items: KindSet,
    pub(crate) item: u32,
}

/// The objects of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Objects {
    pub(crate) sizes: Sizes,
    /// The number of names that have a node.
    pub(crate) names: u32,
    /// The first member when the prediction last failed.
    pub(crate) head: u32,
    pub(crate) fold: u32,
    /// True if there were more names than may have a node.
    pub(crate) folded: bool,
    /// The number of members so far of objects that are open while the trie is rebuilt.
    pub(crate) open: u64,
}

impl Default for Arrays {
    fn default() -> Self {
        Self { sizes: Sizes::default(), items: KindSet::default(), item: NONE }
    }
}

impl Default for Objects {
    fn default() -> Self {
        Self { sizes: Sizes::default(), names: 0, head: NONE, fold: NONE, folded: false, open: 0 }
    }
}

impl Arrays {
    pub(crate) fn end(&mut self, length: u64, items: KindSet) {
        self.sizes.observe(length);
        self.items.extend(items);
    }
}

impl Objects {
    pub(crate) fn end(&mut self, members: u64) {
        self.sizes.observe(members);
    }
}

impl Node {
    pub(crate) fn new(parent: u32, label: Label, depth: u32) -> Self {
        Self {
            parent,
            label,
            depth,
            kinds: Kinds::default(),
            first: u64::MAX,
            present: 0,
            seen_in: 0,
            follower: NONE,
            spelling: Spelling::default(),
            arrays: None,
            objects: None,
            values: None,
            formats: u8::MAX,
            has_fractions: false,
            is_in_array: label == Label::Item,
            is_row: label == Label::Item,
            rows: None,
            deferred: NONE,
        }
    }

    #[inline]
    pub(crate) fn observe(&mut self, kind: Kind, at: u64) {
        self.kinds.observe(kind);
        self.first = self.first.min(at);
        self.observe_container(kind, at);
    }

    /// Notes the offset of a container, if it is one.
    #[inline]
    pub(super) fn observe_container(&mut self, kind: Kind, at: u64) {
        let sizes = match kind {
            Kind::Array => &mut self.arrays.get_or_insert_default().sizes,
            Kind::Object => &mut self.objects.get_or_insert_default().sizes,
            _ => return,
        };
        sizes.first = sizes.first.min(at);
    }

    /// Returns the node without counts, and with empty figures about values.
    fn emptied(&self) -> Self {
        let arrays = |arrays: &Arrays| Box::new(Arrays { item: arrays.item, ..Arrays::default() });
        let objects = |objects: &Objects| {
            let Objects { names, head, fold, folded, .. } = *objects;
            Box::new(Objects { names, head, fold, folded, ..Objects::default() })
        };
        Self {
            follower: self.follower,
            spelling: self.spelling,
            arrays: self.arrays.as_deref().map(arrays),
            objects: self.objects.as_deref().map(objects),
            values: self.values.as_deref().map(|values| Box::new(values.emptied())),
            ..Self::new(self.parent, self.label, self.depth)
        }
    }

    /// Adds the counts of another node, without figures about values and without changing the
    /// position in the trie.
    pub(crate) fn merge(&mut self, other: &Self) {
        crate::Accumulator::merge(&mut self.kinds, other.kinds);
        self.first = self.first.min(other.first);
        self.present = self.present.saturating_add(other.present);
        self.formats &= other.formats;
        self.has_fractions |= other.has_fractions;
        if let Some(other) = &other.rows {
            self.rows.get_or_insert_default().merge(other);
        }
        if let Some(other) = &other.arrays {
            let arrays = self.arrays.get_or_insert_default();
            arrays.sizes.merge(other.sizes);
            arrays.items.extend(other.items);
        }
        if let Some(other) = &other.objects {
            let objects = self.objects.get_or_insert_default();
            objects.sizes.merge(other.sizes);
            objects.folded |= other.folded;
            objects.open = objects.open.saturating_add(other.open);
        }
    }

    pub(crate) fn merge_values(&mut self, other: Option<Box<Values>>) {
        match (&mut self.values, other) {
            (Some(values), Some(other)) => values.merge(*other),
            (values @ None, other) => *values = other,
            (Some(_), None) => {}
        }
    }

    /// Bytes to account for the figures about values and for the sample of rows.
    pub(crate) fn charge_of_figures(&self) -> u64 {
        let rows = if self.rows.is_some() { row_sample::CHARGE } else { 0 };
        rows + self.values.as_ref().map_or(0, |values| values.charge())
    }

    /// Drops everything that only scalars contribute: the figures about values, and what a schema
    /// says about them.
    pub(crate) fn forget_description(&mut self) {
        (self.values, self.formats, self.has_fractions) = (None, u8::MAX, false);
    }

    /// Bytes to account for, without name and values. Nodes count twice, because rebuilding the
    /// trie holds both copies. The rest covers the table, spare capacity, and the memory for
    /// rebuilding.
    pub(crate) const fn charge() -> u64 {
        (2 * (size_of::<Self>() + size_of::<Objects>() + 16) + size_of::<Self>() / 8 + 64) as u64
    }
}

/// All paths. Node ids are valid until the trie is regrouped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trie {
    pub(crate) nodes: Vec<Node>,
    pub(super) names: Vec<u8>,
    /// Nodes by parent and name; rebuilt on demand.
    table: Option<HashTable<u32>>,
    keys: RandomState,
    /// True if the bytes of values are counted.
    pub(super) counts_bytes: bool,
    /// The bytes of each node's values, if they are counted.
    pub(super) bytes: Vec<PathBytes>,
    /// Bytes accounted for.
    pub(crate) charge: u64,
}

impl Trie {
    /// Creates an empty trie, which counts bytes or not.
    pub(crate) fn new(counts_bytes: bool) -> Self {
        Self { counts_bytes, ..Self::default() }
    }

    /// Creates an empty trie with capacity for as many nodes as another has.
    pub(crate) fn with_room_for(other: &Self) -> Self {
        Self { nodes: Vec::with_capacity(other.nodes.len()), ..Self::new(other.counts_bytes) }
    }

    /// Returns the trie without counts: the same nodes by the same ids, with empty figures.
    pub(crate) fn emptied(&self) -> Self {
        let mut emptied = Self {
            nodes: Vec::with_capacity(self.nodes.len()),
            names: self.names.clone(),
            table: self.table.clone(),
            keys: self.keys.clone(),
            counts_bytes: self.counts_bytes,
            bytes: Vec::new(),
            charge: 2 * self.names.len() as u64,
        };
        for node in &self.nodes {
            emptied.push(node.emptied());
        }
        emptied
    }

    /// Returns the node of all roots, the first of the trie.
    pub(crate) fn root(&mut self) -> u32 {
        if self.nodes.is_empty() { self.push(Node::new(NONE, Label::Root, 1)) } else { 0 }
    }

    pub(crate) fn push(&mut self, mut node: Node) -> u32 {
        if self.nodes.get(node.parent as usize).is_some_and(|parent| parent.is_in_array) {
            (node.is_in_array, node.is_row) = (true, false);
        }
        self.charge += Node::charge() + node.charge_of_figures();
        if self.nodes.len() == self.nodes.capacity() {
            // Doubling would exceed the memory accounted for.
            self.nodes.reserve_exact(self.nodes.len() / 8 + 16);
        }
        self.nodes.push(node);
        if self.counts_bytes {
            self.bytes.push(PathBytes::default());
            // Like nodes, for both copies and spare capacity.
            self.charge += 3 * size_of::<PathBytes>() as u64;
        }
        self.nodes.len() as u32 - 1
    }

    /// Copies a name into the arena.
    pub(crate) fn keep_name(&mut self, name: &[u8]) -> Label {
        let start = self.names.len() as u32;
        self.names.extend_from_slice(name);
        self.charge += 2 * name.len() as u64;
        Label::Name(start, name.len() as u32)
    }

    /// Returns the name that leads to a node; empty if it is not a member.
    pub(crate) fn name(&self, node: &Node) -> &[u8] {
        match node.label {
            Label::Name(start, length) => {
                &self.names[Range { start: start as usize, end: (start + length) as usize }]
            }
            Label::Root | Label::Item | Label::Fold => &[],
        }
    }

    /// Returns the node of the elements of an array's node.
    #[inline]
    pub(crate) fn item(&mut self, parent: u32) -> u32 {
        let node = &self.nodes[parent as usize];
        let (depth, item) = (node.depth + 1, node.arrays.as_ref().map_or(NONE, |arrays| arrays.item));
        if item != NONE {
            return item;
        }
        let item = self.push(Node::new(parent, Label::Item, depth));
        self.nodes[parent as usize].arrays.get_or_insert_default().item = item;
        item
    }

    /// Returns the node of a member. `last` is the previous member, or `NONE` at the start of an
    /// object. Up to `cap` names get their own node.
    ///
    /// Tries the member that followed last time, then the one after it (an optional member may be
    /// missing), by comparing bytes. The name is hashed only if both fail.
    pub(crate) fn member(&mut self, parent: u32, last: u32, name: &[u8], cap: u32) -> u32 {
        let mut next = match self.nodes.get(last as usize) {
            Some(last) => last.follower,
            None => self.nodes[parent as usize].objects.as_ref().map_or(NONE, |objects| objects.head),
        };
        for _ in 0..2 {
            let Some(node) = self.nodes.get(next as usize) else { break };
            if self.is_member(node, parent, name) {
                self.learn_spelling(next, name);
                return next;
            }
            next = node.follower;
        }
        let found = self.find(parent, name).unwrap_or_else(|| self.add_member(parent, name, cap));
        // Record the new successor even if it is rare: records that alternate cost one lookup each
        // time, but a permanent change of order is learned at once.
        match self.nodes.get_mut(last as usize) {
            Some(last) => last.follower = found,
            None => self.nodes[parent as usize].objects.get_or_insert_default().head = found,
        }
        self.learn_spelling(found, name);
        found
    }

    /// Notes how a name is written, unless it is folded.
    fn learn_spelling(&mut self, node: u32, name: &[u8]) {
        let node = &mut self.nodes[node as usize];
        if !node.spelling.is_known() && matches!(node.label, Label::Name(..)) {
            node.spelling = Spelling::of(name);
        }
    }

    fn is_member(&self, node: &Node, parent: u32, name: &[u8]) -> bool {
        node.parent == parent && matches!(node.label, Label::Name(..)) && self.name(node) == name
    }

    fn find(&mut self, parent: u32, name: &[u8]) -> Option<u32> {
        // Taken out of `self`, because `index` and `is_member` borrow the trie.
        let slot = slot(&self.keys, parent, name);
        let table = self.table.take().unwrap_or_else(|| self.index());
        let found = table.find(slot, |&id| self.is_member(&self.nodes[id as usize], parent, name));
        let found = found.copied();
        self.table = Some(table);
        found
    }

    fn index(&self) -> HashTable<u32> {
        let mut table = HashTable::with_capacity(self.nodes.len());
        for (id, node) in (0..).zip(&self.nodes) {
            if matches!(node.label, Label::Name(..)) {
                let hash_of = |id: &u32| self.slot_of(*id);
                table.insert_unique(slot(&self.keys, node.parent, self.name(node)), id, hash_of);
            }
        }
        table
    }

    fn slot_of(&self, id: u32) -> u64 {
        let node = &self.nodes[id as usize];
        slot(&self.keys, node.parent, self.name(node))
    }

    /// Adds a node for a new name; once there are `cap` names, returns the shared node of all
    /// others.
    fn add_member(&mut self, parent: u32, name: &[u8], cap: u32) -> u32 {
        let depth = self.nodes[parent as usize].depth + 1;
        let objects = self.nodes[parent as usize].objects.get_or_insert_default();
        if objects.names < cap && !objects.folded {
            objects.names += 1;
            let label = self.keep_name(name);
            let id = self.push(Node::new(parent, label, depth));
            if let Some(mut table) = self.table.take() {
                table.insert_unique(slot(&self.keys, parent, name), id, |&id| self.slot_of(id));
                self.table = Some(table);
            }
            return id;
        }
        objects.folded = true;
        if objects.fold != NONE {
            return objects.fold;
        }
        let fold = self.push(Node::new(parent, Label::Fold, depth));
        self.nodes[parent as usize].objects.get_or_insert_default().fold = fold;
        fold
    }

    /// Returns the child of `parent` that corresponds to a node of another trie; `None` if that
    /// node is folded.
    pub(crate) fn same_child(&mut self, parent: u32, other: &Self, node: u32) -> Option<u32> {
        let Some(node) = other.nodes.get(node as usize) else { return Some(NONE) };
        Some(match node.label {
            Label::Root => self.root(),
            Label::Item => self.item(parent),
            Label::Name(..) => self.member(parent, NONE, other.name(node), u32::MAX),
            Label::Fold => return None,
        })
    }

    /// Adds another trie. If it has the same nodes by the same ids, such as one that was
    /// [emptied](Self::emptied), adds its counts and returns true. Else appends its nodes, to be
    /// regrouped.
    pub(crate) fn add(&mut self, other: Self) -> bool {
        let step = |node: &Node| (node.parent, node.label);
        let (own, theirs) = (self.nodes.iter().map(step), other.nodes.iter().map(step));
        if self.names != other.names || !own.eq(theirs) {
            self.append(other);
            return false;
        }
        for (own, theirs) in self.nodes.iter_mut().zip(other.nodes) {
            let before = own.charge_of_figures();
            own.merge(&theirs);
            own.merge_values(theirs.values);
            self.charge = (self.charge + own.charge_of_figures()).saturating_sub(before);
        }
        self.bytes.iter_mut().zip(other.bytes).for_each(|(own, theirs)| own.merge(theirs));
        true
    }

    /// Appends all nodes of another trie, whose root becomes a second root.
    fn append(&mut self, other: Self) {
        let (nodes, names) = (self.nodes.len() as u32, self.names.len() as u32);
        self.names.extend_from_slice(&other.names);
        self.charge += other.charge;
        self.table = None;
        self.bytes.extend_from_slice(&other.bytes);
        self.nodes.extend(other.nodes.into_iter().map(|mut node| {
            if node.parent != NONE {
                node.parent += nodes;
            }
            if let Label::Name(start, length) = node.label {
                node.label = Label::Name(start + names, length);
            }
            node
        }));
    }
}

/// Uses a random key, so that collisions cannot be crafted.
fn slot(keys: &RandomState, parent: u32, name: &[u8]) -> u64 {
    keys.hash_one((parent, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trie_with(names: &[&str], cap: u32) -> (Trie, Vec<u32>) {
        let mut trie = Trie::default();
        let root = trie.root();
        let mut last = NONE;
        let ids = names.iter().map(|name| {
            last = trie.member(root, last, name.as_bytes(), cap);
            last
        });
        let ids = ids.collect();
        (trie, ids)
    }

    #[test]
    fn known_names_are_predicted_without_hashing() {
        let (mut trie, ids) = trie_with(&["a", "b", "c", "d"], 10);
        assert!(trie.table.take().is_some());
        let mut follow = |last: u32, name: &str| trie.member(0, last, name.as_bytes(), 10);
        // In order, and with an optional member left out.
        assert_eq!([follow(NONE, "a"), follow(ids[0], "b"), follow(ids[1], "d")], [ids[0], ids[1], ids[3]]);
        assert!(trie.table.is_none(), "nothing was looked up");
        assert_eq!(trie.member(0, ids[3], b"a", 10), ids[0]);
        assert!(trie.table.is_some());
        trie.table = None;
        assert_eq!(
            trie.member(0, ids[3], b"a", 10),
            ids[0],
            "what followed once is predicted to follow again"
        );
        assert!(trie.table.is_none());
    }

    #[test]
    fn names_beyond_the_cap_share_a_node() {
        let (trie, ids) = trie_with(&["a", "b", "c", "d", "a", "c"], 2);
        assert_eq!((ids[2], ids[3], ids[4], ids[5]), (ids[3], ids[3], ids[0], ids[2]));
        assert_eq!(trie.nodes[ids[2] as usize].label, Label::Fold);
        assert_eq!(trie.nodes.len(), 4);
    }

    #[test]
    fn tries_with_the_same_nodes_are_added_in_one_step() {
        let (mut trie, ids) = trie_with(&["a", "b"], 10);
        let fresh = |node: &mut Node| {
            node.observe(Kind::Number, 5);
            node.values = Some(Box::new(Values::new(0, false)));
        };
        fresh(&mut trie.nodes[ids[1] as usize]);
        let mut same = trie.emptied();
        same.nodes[ids[1] as usize].observe(Kind::String, 3);
        fresh(&mut same.nodes[ids[0] as usize]);
        let mut other = trie.emptied();
        other.member(0, ids[1], b"c", 10);
        let count = trie.nodes.len();
        let (before, grown) = (trie.charge, Values::new(0, false).charge());
        assert!(trie.add(same));
        assert_eq!((trie.nodes.len(), trie.charge), (count, before + grown));
        let node = &trie.nodes[ids[1] as usize];
        assert_eq!((node.kinds.get(Kind::Number), node.kinds.get(Kind::String), node.first), (1, 1, 3));
        assert!(!trie.add(other));
        assert_eq!(trie.nodes.len(), 2 * count + 1, "appended, to be regrouped");
    }

    /// R12: names that collide under one key spread out under another, and every trie has its own
    /// key.
    #[test]
    fn collisions_cannot_be_prepared() {
        let (ours, theirs) = (Trie::default(), Trie::default());
        let place = |trie: &Trie, name: u32| slot(&trie.keys, 0, &name.to_le_bytes()) % 1024;
        let colliding: Vec<u32> = (0..).filter(|&name| place(&theirs, name) == 0).take(1024).collect();
        let places: std::collections::BTreeSet<u64> =
            colliding.iter().map(|&name| place(&ours, name)).collect();
        // Of 1,024 random places about 647 are different.
        assert!(places.len() > 500, "{}", places.len());
    }
}
