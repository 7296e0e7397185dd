//! Walks the events of one value through the trie.

use super::ProfileOptions;
use super::bytes::length_of;
use super::deferred::{Deferrable, Deferred};
use super::names::{NameList, Novelty, OpenNames};
use super::repeats::{Repeats, Sequences};
use super::trie::{Label, NONE, Node, Trie};
use crate::figures::{Batch, KindSet, Kinds, Values};
use crate::schema::format;
use trommel_reader::{Kind, Scalar, Tally, Text};

/// The open containers of one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Walk {
    pub(super) frames: Vec<Frame>,
    /// The number of open containers. Only used if paths are not tracked, when there are no frames.
    pub(super) depth: u64,
    pub(super) repeats: Repeats,
    /// The node of the last name, whose value follows.
    pub(super) pending: Option<u32>,
    /// True if another walk was open when this one began. It must not leave marks in the trie.
    pub(super) nested: bool,
}

/// An open container.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    items: KindSet,
    /// True if children have nodes.
    pub(super) deeper: bool,
    /// True if repeated names are found by marks in the trie; else by the list.
    pub(super) marks: bool,
    pub(super) node: u32,
    /// The node of the last member, or of the elements.
    pub(super) last: u32,
    count: u64,
    /// The offset of the container.
    pub(super) start: u64,
    /// The bytes of the children so far and of their names, if bytes are counted.
    pub(super) inner: u64,
    /// The object's number.
    pub(super) object: u64,
    pub(super) names: NameList,
}

impl Frame {
    /// Creates a frame that has counted nothing.
    pub(super) fn new(kind: Kind, node: u32, deeper: bool, object: u64) -> Self {
        let (items, names) = (KindSet::default(), NameList::new(object));
        let (last, count, start, inner) = (NONE, 0, 0, 0);
        Self { kind, items, deeper, marks: true, node, last, count, start, inner, object, names }
    }

    /// Creates a frame for the same container in another profile.
    pub(super) fn fork(&self, node: u32, object: u64) -> Self {
        Self::new(self.kind, node, self.deeper, object)
    }

    /// Counts an element.
    #[inline]
    pub(super) const fn element(&mut self, kind: Kind) {
        self.count += 1;
        self.items.insert(kind);
    }

    /// Counts a member, of which the node is known.
    #[inline]
    pub(super) const fn member(&mut self, node: u32) {
        self.count += 1;
        self.last = node;
    }

    /// The number of members or elements so far.
    pub(super) const fn members(&self) -> u64 {
        self.count
    }

    /// Adds the counts of another frame of the same container.
    pub(super) fn absorb(&mut self, other: &Self) {
        self.count += other.count;
        self.inner += other.inner;
        self.items.extend(other.items);
    }
}

/// Figures about everything, without paths.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Totals {
    pub(super) kinds: Kinds,
    pub(super) roots: KindSet,
    pub(super) records: u64,
    pub(super) keys: u64,
    pub(super) max_depth: u64,
    pub(super) duplicates: u64,
    /// True if repeated names may have been missed.
    pub(super) missed: bool,
}

impl Totals {
    pub(super) fn tally(&mut self, kind: Kind, tally: &Tally) {
        let counts = [
            (Kind::Object, tally.objects),
            (Kind::Array, tally.arrays),
            (Kind::String, tally.strings),
            (Kind::Number, tally.numbers),
            (Kind::Bool, tally.bools),
            (Kind::Null, tally.nulls),
        ];
        for (kind, count) in counts {
            self.kinds.add(kind, count);
        }
        self.roots.insert(kind);
        self.records = self.records.saturating_add(1);
        self.keys = self.keys.saturating_add(tally.names);
        self.max_depth = self.max_depth.max(tally.depth);
    }

    pub(super) fn merge(&mut self, other: Self) {
        crate::Accumulator::merge(&mut self.kinds, other.kinds);
        self.roots.extend(other.roots);
        self.records = self.records.saturating_add(other.records);
        self.keys = self.keys.saturating_add(other.keys);
        self.max_depth = self.max_depth.max(other.max_depth);
        self.duplicates = self.duplicates.saturating_add(other.duplicates);
        self.missed |= other.missed;
    }
}

/// The state that all walks share.
#[derive(Clone, Debug)]
pub(super) struct Core {
    pub(super) options: ProfileOptions,
    pub(super) totals: Totals,
    pub(super) trie: Trie,
    pub(super) names: OpenNames,
    pub(super) sequences: Sequences,
    /// The number of containers so far.
    pub(super) objects: u64,
    /// The number of times the caps of values were halved.
    pub(super) level: u32,
    /// The maximum number of names with a node in the objects of one path.
    pub(super) names_cap: u32,
    /// The maximum depth of rows and schema. Nodes are up to one level deeper.
    pub(super) depth_cap: u32,
    /// True where values are observed: in a row of the sample, and everywhere without a sample.
    pub(super) in_sample: bool,
    /// True if values are also observed outside of arrays, whose elements are the rows.
    pub(super) outside_rows: bool,
    /// Scalars that are not described yet.
    pub(super) deferred: Deferred,
}

impl Core {
    /// Counts a value and returns its node.
    fn value(&mut self, walk: &mut Walk, kind: Kind, at: u64) -> u32 {
        self.totals.kinds.observe(kind);
        self.totals.max_depth = self.totals.max_depth.max(walk.frames.len() as u64 + 1);
        let node = match walk.frames.last_mut() {
            Some(frame) if frame.kind == Kind::Object => walk.pending.take().unwrap_or(NONE),
            Some(frame) => {
                frame.count += 1;
                frame.items.insert(kind);
                if frame.deeper { self.trie.item(frame.node) } else { NONE }
            }
            None => {
                self.totals.records += 1;
                self.totals.roots.insert(kind);
                self.trie.root()
            }
        };
        if let Some(node) = self.trie.nodes.get_mut(node as usize) {
            node.observe(kind, at);
        }
        self.begin_row(node, at);
        node
    }

    /// Notes if a row that begins is in the sample, if there is one.
    #[inline]
    pub(super) fn begin_row(&mut self, node: u32, at: u64) {
        if let Some(sample) = self.options.row_sample
            && let Some(node) = self.trie.nodes.get_mut(node as usize)
            && node.is_row_of(&sample)
        {
            self.in_sample = node.begin_row(&sample, at, &mut self.trie.charge);
        }
    }

    #[inline]
    pub(super) fn begin(&mut self, walk: &mut Walk, kind: Kind, at: u64) {
        if self.options.per_path { self.begin_frame(walk, kind, at) } else { self.begin_plain(walk, kind) }
    }

    fn begin_frame(&mut self, walk: &mut Walk, kind: Kind, at: u64) {
        let node = self.value(walk, kind, at);
        self.objects += 1;
        // A mark holds one object number a node. Two walks that pass the same node at once would
        // overwrite each other's marks, so nested walks use lists.
        let new = Frame::new(kind, node, self.goes_deeper(node), self.objects);
        walk.frames.push(Frame { marks: !walk.nested, start: at, ..new });
    }

    #[inline]
    pub(super) fn end(&mut self, walk: &mut Walk, kind: Kind, at: u64) {
        if self.options.per_path { self.end_frame(walk, Some(at + 1)) } else { self.end_plain(walk, kind) }
    }

    /// Ends the innermost container. Without its end, its bytes do not count.
    fn end_frame(&mut self, walk: &mut Walk, end: Option<u64>) {
        let Some(frame) = walk.frames.pop() else { return };
        walk.pending = None;
        let counts_bytes = self.options.bytes;
        if counts_bytes && let Some(end) = end {
            self.add_container(&frame, walk.frames.last_mut(), end);
        }
        self.end_of(&frame);
    }

    /// Counts the end of a container.
    pub(super) fn end_of(&mut self, frame: &Frame) {
        self.names.release(frame.names);
        let Some(node) = self.trie.nodes.get_mut(frame.node as usize) else { return };
        if frame.kind == Kind::Object {
            node.objects.get_or_insert_default().end(frame.count);
        } else {
            node.arrays.get_or_insert_default().end(frame.count, frame.items);
        }
    }

    /// Closes a walk, regardless of its open containers.
    pub(super) fn close(&mut self, walk: &mut Walk) {
        self.close_plain(walk);
        while !walk.frames.is_empty() {
            self.end_frame(walk, None);
        }
    }

    #[inline]
    pub(super) fn name(&mut self, walk: &mut Walk, name: &Text<'_>) {
        // The quotes and the colon.
        let length = name.raw().len() as u64 + 3;
        if name.is_escaped() {
            self.name_escaped(walk, name, length);
        } else {
            self.name_raw(walk, name.raw(), length);
        }
    }

    #[cold]
    fn name_escaped(&mut self, walk: &mut Walk, name: &Text<'_>, length: u64) {
        self.name_raw(walk, name.decode().as_bytes(), length);
    }

    #[inline]
    fn name_raw(&mut self, walk: &mut Walk, name: &[u8], length: u64) {
        if self.options.per_path {
            self.name_on_path(walk, name, length);
        } else {
            self.name_plain(walk, name);
        }
    }

    fn name_on_path(&mut self, walk: &mut Walk, name: &[u8], length: u64) {
        let Some(frame) = walk.frames.last_mut() else { return };
        self.totals.keys += 1;
        let node = self.member(frame, name);
        walk.pending = Some(node);
        if self.options.bytes {
            self.add_child(frame, node, length, 0);
        }
    }

    /// Counts a name, and returns the node of its value.
    pub(super) fn member(&mut self, frame: &mut Frame, name: &[u8]) -> u32 {
        frame.count += 1;
        let node = if frame.deeper {
            frame.last = self.trie.member(frame.node, frame.last, name, self.names_cap);
            frame.last
        } else {
            NONE
        };
        let mut found = self.trie.nodes.get_mut(node as usize);
        let novelty = match &mut found {
            // The node stores the object in which its name was last seen, so a repeat costs one
            // comparison.
            Some(node) if frame.marks && matches!(node.label, Label::Name(..)) => {
                let before = std::mem::replace(&mut node.seen_in, frame.object);
                if before == frame.object { Novelty::Repeated } else { Novelty::New }
            }
            _ => self.names.insert(&mut frame.names, name, self.options.limits.open_names_bytes),
        };
        match (novelty, found) {
            (Novelty::New, Some(node)) => node.present += 1,
            (Novelty::New, None) => {}
            (Novelty::Repeated, _) => self.totals.duplicates += 1,
            (Novelty::Unknown, _) => self.totals.missed = true,
        }
        node
    }

    pub(super) fn scalar(&mut self, walk: &mut Walk, scalar: &Scalar<'_>, at: u64) {
        if !self.options.per_path {
            return self.count_plain(walk, scalar.kind());
        }
        self.scalar_of_path(walk, scalar, at);
    }

    /// Records a scalar by its path. Apart, so that counting without paths saves fewer registers.
    #[inline(never)]
    fn scalar_of_path(&mut self, walk: &mut Walk, scalar: &Scalar<'_>, at: u64) {
        let node = self.value(walk, scalar.kind(), at);
        if self.options.bytes {
            self.add_value(walk.frames.last_mut(), node, length_of(scalar));
        }
        if self.options.schema || self.options.values {
            self.describe(node, scalar, at);
        }
    }

    /// Records a scalar for the schema and for figures about values.
    fn describe(&mut self, node: u32, scalar: &Scalar<'_>, at: u64) {
        let is_observed = self.trie.nodes.get(node as usize).is_some_and(|node| self.observes_values(node));
        if is_observed && let Some(short) = Deferrable::new(scalar) {
            return self.defer(node, short, at);
        }
        self.describe_schema(node, scalar);
        if is_observed {
            self.observe_values(node, &Batch::of(*scalar, at));
        }
    }

    /// True if figures about the scalars of a node are computed in this row, unless it is too deep.
    #[inline]
    pub(super) fn observes_values(&self, node: &Node) -> bool {
        self.in_sample || self.outside_rows && !node.is_in_array
    }

    /// Records a scalar for the schema.
    pub(super) fn describe_schema(&mut self, node: u32, scalar: &Scalar<'_>) {
        if !self.options.schema {
            return;
        }
        let Some(node) = self.trie.nodes.get_mut(node as usize) else { return };
        if node.depth > self.depth_cap {
            return;
        }
        match scalar {
            Scalar::Number(number) => node.has_fractions = node.has_fractions || !number.is_integer(),
            Scalar::String(text) if node.formats != 0 => {
                node.formats &= format::matching(text, node.formats);
            }
            _ => {}
        }
    }

    /// Adds scalars of a node to the figures about values.
    pub(super) fn observe_values(&mut self, node: u32, batch: &Batch<'_>) {
        let node = self.trie.nodes.get_mut(node as usize);
        let Some(node) = node.filter(|node| node.depth <= self.depth_cap) else { return };
        let charge = &mut self.trie.charge;
        let values = node.values.get_or_insert_with(|| {
            let new = Box::new(Values::new(self.level, self.options.histograms));
            *charge += new.charge();
            new
        });
        values.observe(batch);
        *charge += values.growth();
    }
}
