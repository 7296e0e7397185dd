//! Folds maps: objects whose names are data, such as IDs, get one path for all of their members.
//!
//! A profile keeps every name, because only all parts of the input together show which objects are
//! maps. The rule is applied to the finished shape, when a summary is made.

use super::regroup::{Named, Policy, Regrouping};
use super::trie::{Label, Node, Objects, Trie};
use crate::figures::{KindSet, Values};
use std::borrow::Cow;
use std::ops::Range;
use trommel_reader::Kind;

/// Objects with more distinct names can be maps.
const MAP_NAMES: usize = 100;

/// A normalized trie in which the members of maps are folded.
pub(crate) struct FoldedTrie<'a> {
    whole: &'a Trie,
    /// The rebuilt trie; `None` if there are no maps.
    folded: Option<Rebuilt>,
}

/// A trie without figures about values.
struct Rebuilt {
    trie: Trie,
    /// Nodes of the whole trie, with those of each group adjacent.
    pool: Vec<u32>,
    /// The group's range in the pool, by id in the rebuilt trie.
    groups: Vec<Range<usize>>,
}

impl<'a> FoldedTrie<'a> {
    /// Folds the maps of a normalized trie.
    ///
    /// Copies the trie if objects of some path have enough names to be maps. That takes time linear
    /// in the nodes, and logarithmic in the names of one path.
    pub(crate) fn new(whole: &'a Trie) -> Self {
        let has_candidates = whole
            .nodes
            .iter()
            .any(|node| node.objects.as_ref().is_some_and(|objects| objects.names as usize > MAP_NAMES));
        let folded = has_candidates.then(|| {
            let Regrouping { new: trie, pool, groups, .. } = Regrouping::run(whole, Vec::new(), Policy::Maps);
            Rebuilt { trie, pool, groups }
        });
        Self { whole, folded }
    }

    /// The trie, with maps folded.
    pub(crate) fn trie(&self) -> &Trie {
        self.folded.as_ref().map_or(self.whole, |folded| &folded.trie)
    }

    /// Returns the figures about the scalars of a node, if there are any. Those of folded nodes are
    /// merged here, one node at a time, so that they are never all in memory twice.
    pub(crate) fn values(&self, id: u32) -> Option<Cow<'_, Values>> {
        let own = |id: &u32| self.whole.nodes.get(*id as usize)?.values.as_deref();
        let Some(Rebuilt { pool, groups, .. }) = &self.folded else { return own(&id).map(Cow::Borrowed) };
        let nodes = pool.get(groups.get(id as usize)?.clone())?;
        nodes.iter().filter_map(own).map(Cow::Borrowed).reduce(|merged, other| {
            let mut merged = merged.into_owned();
            merged.merge(other.into_owned());
            Cow::Owned(merged)
        })
    }

    /// Returns true if a node has figures about scalars.
    pub(crate) fn has_values(&self, id: u32) -> bool {
        let own = |id: &u32| self.whole.nodes.get(*id as usize).is_some_and(|node| node.values.is_some());
        let Some(Rebuilt { pool, groups, .. }) = &self.folded else { return own(&id) };
        let nodes = groups.get(id as usize).and_then(|nodes| pool.get(nodes.clone()));
        nodes.is_some_and(|nodes| nodes.iter().any(own))
    }
}

impl Regrouping<'_> {
    /// Returns true if objects are maps: they have over 100 distinct names, and either no name is
    /// in half of the objects, or there is one object, whose members have the same shape. `members`
    /// are the nodes of all names.
    pub(super) fn is_map(&self, objects: &Objects, names: &[Named], members: &[u32]) -> bool {
        let count = objects.sizes.count;
        let is_rare = |name: &Named| name.present < count.div_ceil(2);
        names.len() > MAP_NAMES && (names.iter().all(is_rare) || count == 1 && self.are_alike(members))
    }

    /// Returns true if members have the same shape: one type, and if they are objects, four fifths
    /// of their names in common.
    fn are_alike(&self, members: &[u32]) -> bool {
        let mut kinds = KindSet::default();
        self.nodes(members).for_each(|node| kinds.extend(node.kinds.set()));
        match kinds.only() {
            Some(Kind::Object) => self.share_names(members),
            Some(_) => true,
            None => false,
        }
    }

    /// Returns true if two of the objects have, on average, four fifths of their names in common: a
    /// name of one object is in another one with a probability of at least 80 %.
    fn share_names(&self, members: &[u32]) -> bool {
        let objects = || self.nodes(members).filter_map(|node| node.objects.as_deref());
        let count = objects().fold(0_u64, |count, objects| count.saturating_add(objects.sizes.count));
        let all_empty = objects().all(|objects| objects.sizes.total == 0);
        let mut names: Vec<u32> =
            members.iter().flat_map(|&member| self.children.get(member)).copied().collect();
        let name_of = |id: &u32| {
            let node = &self.old.nodes[*id as usize];
            (matches!(node.label, Label::Name(..)), self.old.name(node))
        };
        names.sort_unstable_by(|left, right| name_of(left).cmp(&name_of(right)));
        let (mut shared, mut pairs) = (0_u128, 0_u128);
        for same in names.chunk_by(|left, right| name_of(left) == name_of(right)) {
            // Stored counts may have any value, so the products saturate.
            let present = self.nodes(same).fold(0_u128, |sum, node| sum + u128::from(node.present));
            let others = u128::from(count.saturating_sub(1));
            pairs = pairs.saturating_add(present.saturating_mul(others));
            // Names without a node of their own may differ.
            if same.first().is_some_and(|id| name_of(id).0) {
                shared = shared.saturating_add(present.saturating_mul(present.saturating_sub(1)));
            }
        }
        // Without any names, either the objects are empty, or their names were not kept.
        if pairs == 0 { all_empty } else { shared.saturating_mul(5) >= pairs.saturating_mul(4) }
    }

    fn nodes(&self, ids: &[u32]) -> impl Iterator<Item = &Node> {
        ids.iter().map(|&id| &self.old.nodes[id as usize])
    }
}
