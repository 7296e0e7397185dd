//! Structure, rows, schema and values of JSON from its events.

mod names;
mod options;
mod path;
mod plain;
mod regroup;
mod repeats;
#[cfg(feature = "serde")]
mod state;
mod summary;
mod trie;
mod walk;

pub use options::{ProfileLimits, ProfileOptions};
pub use summary::{ArrayRow, Capped, ObjectRow, RowsShown, Structure, Summary};

pub(crate) use regroup::Policy;
pub(crate) use trie::{NONE, Node, Trie};

use trie::Label;

use crate::Accumulator;
use names::{Novelty, OpenNames};
use repeats::Sequences;
use trommel_reader::{Event, Kind, Listener, Payload, Scalar, Tally, Text};
use walk::{Core, Frame, Totals, Walk};

/// When memory runs out, names are not folded further than this.
const FEWEST_NAMES: u32 = 16;

/// Counts everything about the values it is shown: structure and types, and by path the sizes of
/// arrays and objects, a schema, and figures about values.
///
/// Between [`begin`](Self::begin) and [`end`](Self::end) it is given the events of one or more
/// values. Where one observed value lies in another (`$..a`), both are open at once, and an event
/// counts for each of them.
///
/// The summary is a function of what was observed, not of the order in which parts are merged.
/// Where memory runs out and names are folded below
/// [`names_per_path`](ProfileLimits::names_per_path), *which* paths share a row may depend on how
/// the input was cut into parts; every figure shown is exact for its row all the same.
///
/// # Cost
/// A few comparisons an event and no allocation once the shape is known, except for escaped names;
/// twice the depth for [nested](Self::begin) values. Memory: [`ProfileLimits::bytes`],
/// [`ProfileLimits::open_names_bytes`], and about 80 bytes a level of depth.
#[derive(Clone, Debug)]
pub struct Profile {
    core: Core,
    /// Walks, of which the first `open` are in use.
    walks: Vec<Walk>,
    open: usize,
    /// The trie is settled when it takes more than this.
    settle_at: u64,
    /// Whether nothing was observed since it was settled.
    settled: bool,
}

impl Profile {
    /// An empty profile.
    pub fn new(options: ProfileOptions) -> Self {
        let (names_cap, depth_cap) = (options.limits.names_per_path.max(1), options.max_depth);
        let settle_at = trie_bytes(&options);
        let core = Core {
            options,
            totals: Totals::default(),
            trie: Trie::default(),
            names: OpenNames::new(),
            sequences: Sequences::default(),
            objects: 0,
            level: 0,
            names_cap,
            depth_cap,
        };
        Self { core, walks: Vec::new(), open: 0, settle_at, settled: true }
    }

    /// Begins to observe: the values whose events follow are roots. If another value is open, they
    /// are roots besides.
    pub fn begin(&mut self) {
        if self.open == self.walks.len() {
            self.walks.push(Walk::default());
        }
        self.walks[self.open].nested = self.open > 0;
        (self.settled, self.open) = (false, self.open + 1);
    }

    /// Observes an event; `at` is its offset in the input, which decides what appeared first.
    /// Between `begin` and `end` only.
    pub fn observe(&mut self, event: Event, payload: Payload<'_>, at: u64) {
        self.hear(event, payload, at);
    }

    #[inline]
    fn each(&mut self, mut step: impl FnMut(&mut Core, &mut Walk)) {
        match &mut self.walks[..self.open] {
            [walk] => step(&mut self.core, walk),
            walks => walks.iter_mut().for_each(|walk| step(&mut self.core, walk)),
        }
        if self.core.trie.charge > self.settle_at {
            self.settle_open();
        }
    }

    /// Observes a root of which only what it is made of is known, which is all that matters without
    /// paths and repeated names. Not between `begin` and `end`.
    pub fn observe_tally(&mut self, kind: Kind, tally: &Tally) {
        self.settled = false;
        self.core.totals.tally(kind, tally);
    }

    /// Ends what began last. Containers that are still open then count as if they ended here.
    pub fn end(&mut self) {
        if let Some(walk) = self.open.checked_sub(1).and_then(|last| self.walks.get_mut(last)) {
            self.core.close(walk);
            self.open -= 1;
        }
    }

    /// A profile for more elements of the array that is innermost open, to be [joined](Self::join):
    /// as if it had observed the beginnings of the open containers, and counted nothing. Where more
    /// than one value is open, or paths were folded, there is none.
    pub fn apart(&self) -> Option<Self> {
        let [walk] = self.walks.get(..self.open)? else { return None };
        let core = &self.core;
        let mut apart = Self::new(core.options.clone());
        (apart.core.names_cap, apart.core.depth_cap) = (core.names_cap, core.depth_cap);
        apart.core.level = core.level;
        apart.begin();
        apart.walks.first_mut()?.depth = walk.depth;
        if walk.frames.last().is_some_and(|frame| frame.kind == Kind::Object) {
            return None;
        }
        let mut parent = NONE;
        for frame in &walk.frames {
            parent = apart.core.trie.same_child(parent, &core.trie, frame.node)?;
            apart.core.objects += 1;
            let frame = frame.apart(parent, apart.core.objects);
            apart.walks.first_mut()?.frames.push(frame);
        }
        Some(apart)
    }

    /// Adds what a profile that was made [apart](Self::apart) has observed of the same array. What
    /// is open stays so.
    ///
    /// Takes time in proportion to the paths of both, and the logarithm of the names of one path.
    pub fn join(&mut self, apart: Self) {
        let theirs = apart.walks.first().and_then(|walk| walk.frames.last());
        let own = self.walks.first_mut().and_then(|walk| walk.frames.last_mut());
        if let (Some(own), Some(theirs)) = (own, theirs) {
            own.take_in(theirs);
        }
        self.settled = false;
        self.add(apart.core);
        self.settle_open();
    }

    /// Adds what another profile has counted; the trie is then to be settled.
    fn add(&mut self, other: Core) {
        let core = &mut self.core;
        core.options.restrict(&other.options);
        core.totals.merge(other.totals);
        core.names_cap = core.names_cap.min(other.names_cap);
        core.depth_cap = core.depth_cap.min(other.depth_cap);
        core.level = core.level.max(other.level);
        core.trie.append(other.trie);
        core.lower_caps();
    }

    /// Ends what is open and brings everything into its one form, as a function of what was
    /// observed. Merging does so by itself.
    pub fn settle(&mut self) {
        while self.open > 0 {
            self.end();
        }
        if !std::mem::replace(&mut self.settled, true) {
            self.core.settle();
        }
    }

    /// Settles while values are open: their place in the trie moves with it.
    fn settle_open(&mut self) {
        let open = &mut self.walks[..self.open];
        for walk in open.iter_mut() {
            self.core.unmark(walk);
        }
        let new_ids = self.core.settle();
        let new_id = |id: u32| new_ids.get(id as usize).copied().unwrap_or(NONE);
        for walk in open {
            walk.pending = walk.pending.map(new_id);
            for frame in &mut walk.frames {
                frame.node = new_id(frame.node);
                frame.last = new_id(frame.last);
                frame.deeper = self.core.goes_deeper(frame.node);
            }
        }
        // Room to grow, so that rebuilding costs little for each new path.
        let limit = trie_bytes(&self.core.options);
        self.settle_at = limit.max(self.core.trie.charge + limit / 8);
    }
}

/// Events one after the other, as [`observe`](Profile::observe) takes them.
impl Listener for Profile {
    fn wants_scalars(&self) -> bool {
        self.core.options.per_path || self.core.options.counts
    }

    #[inline]
    fn begin(&mut self, kind: Kind, at: u64) {
        self.each(|core, walk| core.begin(walk, kind, at));
    }

    #[inline]
    fn end(&mut self, kind: Kind, _: u64) {
        self.each(|core, walk| core.end(walk, kind));
    }

    #[inline]
    fn name(&mut self, name: Text<'_>, _: u64) {
        self.each(|core, walk| core.name(walk, &name));
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar<'_>, at: u64) {
        self.each(|core, walk| core.scalar(walk, &scalar, at));
    }
}

/// Bytes for paths and values: the limit, less what they may grow between two times of settling.
fn trie_bytes(options: &ProfileOptions) -> u64 {
    options.limits.bytes.min(1 << 31) / 8 * 7
}

impl Core {
    /// Folds and cuts until everything fits. Gives the new id of each node.
    fn settle(&mut self) -> Vec<u32> {
        let limit = trie_bytes(&self.options);
        let mut new_ids = self.regroup();
        while self.trie.charge > limit && self.tighten() {
            let newer = self.regroup();
            for id in &mut new_ids {
                *id = newer.get(*id as usize).copied().unwrap_or(NONE);
            }
        }
        new_ids
    }

    fn regroup(&mut self) -> Vec<u32> {
        self.trie.regroup(Policy::Cap { names: self.names_cap, depth: self.depth_cap })
    }

    /// Takes the next measure against too much memory; false when there is none left.
    fn tighten(&mut self) -> bool {
        if self.options.values && self.level < crate::figures::LEVELS {
            self.level += 1;
            self.lower_caps();
        } else if self.names_cap > FEWEST_NAMES {
            self.names_cap = (self.names_cap / 2).max(FEWEST_NAMES);
        } else if self.depth_cap > 1 {
            let deepest = self.trie.nodes.iter().map(|node| node.depth).max();
            self.depth_cap = (self.depth_cap.min(deepest.unwrap_or(1)) / 2).max(1);
        } else {
            return false;
        }
        true
    }

    fn lower_caps(&mut self) {
        for values in self.trie.nodes.iter_mut().filter_map(|node| node.values.as_mut()) {
            values.lower_caps(self.level);
        }
        if !self.options.values {
            self.trie.nodes.iter_mut().for_each(|node| node.values = None);
        }
    }

    #[inline]
    pub(super) fn goes_deeper(&self, node: u32) -> bool {
        self.trie.nodes.get(node as usize).is_some_and(|node| node.depth < self.depth_cap)
    }

    /// Writes down the names of open objects, which until now the trie's marks have told: it is
    /// about to be rebuilt.
    fn unmark(&mut self, walk: &mut Walk) {
        let mut open: Vec<u32> = vec![NONE; self.trie.nodes.len()];
        for (place, frame) in (0..).zip(&mut walk.frames) {
            if std::mem::take(&mut frame.marks)
                && let Some(open) = open.get_mut(frame.node as usize)
            {
                *open = place;
            }
        }
        let limit = self.options.limits.open_names_bytes;
        for node in &self.trie.nodes {
            let place = open.get(node.parent as usize).copied().unwrap_or(NONE);
            if let Some(Frame { object, names, .. }) = walk.frames.get_mut(place as usize)
                && matches!(node.label, Label::Name(..))
                && node.seen_in == *object
            {
                let novelty = self.names.insert(names, self.trie.name(node), limit);
                self.totals.missed |= novelty == Novelty::Unknown;
            }
        }
    }
}

impl Accumulator for Profile {
    type Summary = Summary;

    /// Adds what another profile has observed, with what both have been asked for. Ends what is
    /// open in either.
    ///
    /// Takes time in proportion to the paths of both, and the logarithm of the names of one path.
    fn merge(&mut self, mut other: Self) {
        self.settle();
        other.settle();
        self.add(other.core);
        self.core.settle();
    }

    /// The figures over everything observed so far, as if what is open ended here.
    /// [Settle](Self::settle) first to spare a copy of everything.
    ///
    /// Takes time in proportion to the paths, and the logarithm of the rows.
    fn summary(&self) -> Summary {
        if self.settled {
            return Summary::of(&self.core);
        }
        let mut settled = self.clone();
        settled.settle();
        Summary::of(&settled.core)
    }
}
