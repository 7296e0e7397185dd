//! The stored form of profiles. It is canonical: equal observations give equal bytes.
//!
//! Reading validates the structure, so a damaged state is an error. It cannot verify that the
//! counts are true.

use super::bytes::PathBytes;
use super::deferred::Deferred;
use super::names::OpenNames;
use super::repeats::Sequences;
use super::row_sample::SampledRows;
use super::trie::{Arrays, Label, NONE, Node, Objects, Sizes, Trie};
use super::walk::{Core, Totals};
use super::{Profile, ProfileOptions, trie_bytes};
use crate::figures::{KindSet, Kinds, Values};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;

#[derive(Serialize, Deserialize)]
struct State<'a> {
    options: Cow<'a, ProfileOptions>,
    totals: Totals,
    level: u32,
    names_cap: u32,
    depth_cap: u32,
    nodes: Vec<NodeState<'a>>,
}

#[derive(Serialize, Deserialize)]
struct NodeState<'a> {
    /// The index of an earlier node.
    parent: Option<u32>,
    label: LabelState<'a>,
    kinds: Kinds,
    first: u64,
    present: u64,
    arrays: Option<(Sizes, KindSet)>,
    objects: Option<(Sizes, bool)>,
    values: Option<Cow<'a, Values>>,
    formats: u8,
    has_fractions: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    bytes: Option<PathBytes>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rows: Option<Cow<'a, SampledRows>>,
}

#[derive(Serialize, Deserialize)]
enum LabelState<'a> {
    Root,
    Name(Cow<'a, str>),
    /// A name that is not valid UTF-8, which structural reading accepts.
    Bytes(Cow<'a, [u8]>),
    Item,
    Fold,
}

impl<'a> State<'a> {
    fn of(core: &'a Core) -> Self {
        let trie = &core.trie;
        Self {
            options: Cow::Borrowed(&core.options),
            totals: core.totals,
            level: core.level,
            names_cap: core.names_cap,
            depth_cap: core.depth_cap,
            nodes: (0..).zip(&trie.nodes).map(|(id, node)| NodeState::of(trie, id, node)).collect(),
        }
    }

    fn into_core(self) -> Result<Core, &'static str> {
        let mut trie = Trie::new(self.options.bytes && self.options.per_path);
        for state in self.nodes {
            let depth = match (state.parent, trie.nodes.is_empty()) {
                (None, true) => 1,
                (Some(parent), false) => {
                    trie.nodes.get(parent as usize).ok_or("a parent must precede its children")?.depth + 1
                }
                _ => return Err("exactly the first node must be the root"),
            };
            let bytes = state.bytes;
            let node = state.into_node(&mut trie, depth);
            trie.push(node);
            if let (Some(last), Some(bytes)) = (trie.bytes.last_mut(), bytes) {
                *last = bytes;
            }
        }
        let options = self.options.into_owned();
        let (in_sample, outside_rows) = options.observed();
        let mut core = Core {
            options,
            totals: self.totals,
            trie,
            names: OpenNames::new(),
            sequences: Sequences::default(),
            objects: 0,
            level: self.level,
            names_cap: self.names_cap.max(1),
            depth_cap: self.depth_cap,
            in_sample,
            outside_rows,
            deferred: Deferred::default(),
        };
        // A damaged state may exceed its own caps; normalizing enforces them before anything is
        // added.
        core.lower_caps();
        core.normalize();
        Ok(core)
    }
}

impl<'a> NodeState<'a> {
    fn of(trie: &'a Trie, id: u32, node: &'a Node) -> Self {
        let label = match node.label {
            Label::Root => LabelState::Root,
            Label::Item => LabelState::Item,
            Label::Fold => LabelState::Fold,
            Label::Name(..) => match str::from_utf8(trie.name(node)) {
                Ok(name) => LabelState::Name(name.into()),
                Err(_) => LabelState::Bytes(trie.name(node).into()),
            },
        };
        Self {
            parent: Some(node.parent).filter(|&parent| parent != NONE),
            label,
            kinds: node.kinds,
            first: node.first,
            present: node.present,
            arrays: node.arrays.as_ref().map(|arrays| (arrays.sizes, arrays.items)),
            objects: node.objects.as_ref().map(|objects| (objects.sizes, objects.folded)),
            values: node.values.as_deref().map(Cow::Borrowed),
            formats: node.formats,
            has_fractions: node.has_fractions,
            bytes: trie.bytes_of(id),
            rows: node.rows.as_deref().map(Cow::Borrowed),
        }
    }

    fn into_node(self, trie: &mut Trie, depth: u32) -> Node {
        let label = match self.label {
            LabelState::Root => Label::Root,
            LabelState::Item => Label::Item,
            LabelState::Fold => Label::Fold,
            LabelState::Name(name) => trie.keep_name(name.as_bytes()),
            LabelState::Bytes(name) => trie.keep_name(&name),
        };
        let arrays = self.arrays.map(|(sizes, items)| Box::new(Arrays { sizes, items, ..Arrays::default() }));
        let objects =
            self.objects.map(|(sizes, folded)| Box::new(Objects { sizes, folded, ..Objects::default() }));
        Node {
            kinds: self.kinds,
            first: self.first,
            present: self.present,
            arrays,
            objects,
            values: self.values.map(|values| Box::new(values.into_owned())),
            formats: self.formats,
            has_fractions: self.has_fractions,
            rows: self.rows.map(|rows| Box::new(rows.into_owned())),
            ..Node::new(self.parent.unwrap_or(NONE), label, depth)
        }
    }
}

impl Serialize for Profile {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.normalized {
            return State::of(&self.core).serialize(serializer);
        }
        let mut normalized = self.clone();
        normalized.normalize();
        State::of(&normalized.core).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Profile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let core = State::deserialize(deserializer)?.into_core().map_err(de::Error::custom)?;
        let normalize_at = trie_bytes(&core.options);
        Ok(Self { core, walks: Vec::new(), open: 0, normalize_at, normalized: true })
    }
}
