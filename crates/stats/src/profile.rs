//! Structure, rows, schema, and values of JSON, computed from its events.

mod bytes;
mod classes;
mod deferred;
mod maps;
mod names;
mod options;
mod path;
mod plain;
mod regroup;
mod repeats;
mod row_sample;
mod rows;
mod shape;
#[cfg(feature = "serde")]
mod state;
mod summary;
mod trie;
mod walk;
mod words;

pub use options::{ProfileLimits, ProfileOptions};
pub use row_sample::RowSample;
pub use summary::{
    ArrayRow, BytesRow, Capped, FieldRow, ObjectRow, RowCounts, SampleRow, Structure, Summary,
};

pub(crate) use trie::{NONE, Node, Trie};

use trie::{Label, Objects};

use crate::Accumulator;
use deferred::Deferred;
use names::{Novelty, OpenNames};
use regroup::Policy;
use repeats::Sequences;
use trommel_reader::{Event, Kind, Listener, NameTokens, Payload, Scalar, Tally, Text, Tokens};
use walk::{Core, Frame, Totals, Walk};

/// When memory runs out, figures become coarser once the cap on names is as low as this.
const FIRST_NAMES_CAP: u32 = 4096;
/// The lower bound of the cap on names when memory runs out.
const MIN_NAMES_CAP: u32 = 16;

/// Counts everything about the observed values: structure and types, and by path the sizes of
/// arrays and objects, a schema, and figures about values.
///
/// Between [`begin`](Self::begin) and [`end`](Self::end), it observes the events of one or more
/// values. If one observed value contains another (`$..a`), both are open at once, and an event
/// counts for each of them.
///
/// The summary depends only on the observations, not on the order in which parts are merged. There
/// is one exception: when memory runs out and names are folded below
/// [`names_per_path`](ProfileLimits::names_per_path), the set of paths that share a row may depend
/// on how the input was split. Every figure is still exact for its row.
///
/// # Cost
/// A few comparisons an event and no allocation once the shape is known, except for escaped names;
/// twice the depth for [nested](Self::begin) values. Memory: [`ProfileLimits::bytes`],
/// [`ProfileLimits::open_names_bytes`], about 80 bytes a level of depth, and up to 3 MB for known
/// sequences of names if paths are not counted.
#[derive(Clone, Debug)]
pub struct Profile {
    core: Core,
    /// The pool of walks. The first `open` are in use.
    walks: Vec<Walk>,
    open: usize,
    /// The trie is normalized when it exceeds this number of bytes.
    normalize_at: u64,
    /// True if nothing was observed since the trie was normalized.
    normalized: bool,
}

impl Profile {
    /// Creates an empty profile.
    pub fn new(mut options: ProfileOptions) -> Self {
        options.row_sample = if options.values { options.row_sample } else { None };
        let (names_cap, depth_cap) = (options.limits.names_per_path.max(1), options.max_depth);
        let normalize_at = trie_bytes(&options);
        let (in_sample, outside_rows) = options.observed();
        let core = Core {
            trie: Trie::new(options.bytes && options.per_path),
            options,
            totals: Totals::default(),
            names: OpenNames::new(),
            sequences: Sequences::default(),
            objects: 0,
            level: 0,
            names_cap,
            depth_cap,
            in_sample,
            outside_rows,
            deferred: Deferred::default(),
        };
        Self { core, walks: Vec::new(), open: 0, normalize_at, normalized: true }
    }

    /// Starts an observation: the values whose events follow are roots. If another value is open,
    /// they are roots in addition to being part of it.
    pub fn begin(&mut self) {
        if self.open == self.walks.len() {
            self.walks.push(Walk::default());
        }
        self.walks[self.open].nested = self.open > 0;
        (self.normalized, self.open) = (false, self.open + 1);
    }

    /// Observes an event at the offset `at` of the input. Offsets determine the order of first
    /// appearance. Must be called between `begin` and `end`.
    pub fn observe(&mut self, event: Event, payload: Payload<'_>, at: u64) {
        self.receive(event, payload, at);
    }

    #[inline]
    fn each(&mut self, mut step: impl FnMut(&mut Core, &mut Walk)) {
        match &mut self.walks[..self.open] {
            [walk] => step(&mut self.core, walk),
            walks => walks.iter_mut().for_each(|walk| step(&mut self.core, walk)),
        }
        if self.core.trie.charge > self.normalize_at {
            self.normalize_open();
        }
    }

    /// Observes a token outside of containers.
    #[cold]
    fn root_token(&mut self, tokens: &Tokens<'_>, number: usize) {
        let start = tokens.starts()[number];
        let at = tokens.base() + u64::from(start);
        match tokens.scalar(number) {
            Some(scalar) => self.scalar(scalar, at),
            None if tokens.bytes()[usize::from(start)] == b'{' => Listener::begin(self, Kind::Object, at),
            None => Listener::begin(self, Kind::Array, at),
        }
    }

    /// Observes a root of which only the tally is known. That is enough when neither paths nor
    /// repeated names are counted. Must not be called between `begin` and `end`.
    pub fn observe_tally(&mut self, kind: Kind, tally: &Tally) {
        self.normalized = false;
        self.core.totals.tally(kind, tally);
    }

    /// Ends the observation that began last. Containers that are still open count as if they ended
    /// here.
    pub fn end(&mut self) {
        if let Some(walk) = self.open.checked_sub(1).and_then(|last| self.walks.get_mut(last)) {
            self.core.close(walk);
            self.open -= 1;
        }
    }

    /// Creates a profile for more elements of the innermost open array, to be [joined](Self::join)
    /// later, or, if no value is open, for further roots, to be merged. It behaves as if it had
    /// observed the start of the open containers, but has counted nothing.
    ///
    /// It starts with the paths of this profile, so that it does not learn them again, unless
    /// memory ran out. Takes time linear in them.
    ///
    /// Returns `None` if several values are open, if paths above the array were folded, or, for
    /// roots, if memory ran out.
    pub fn fork(&mut self) -> Option<Self> {
        self.core.describe_deferred();
        let deferred = std::mem::take(&mut self.core.deferred);
        let core = &self.core;
        let mut fork = Self::new(core.options.clone());
        fork.core.deferred = deferred;
        (fork.core.names_cap, fork.core.depth_cap) = (core.names_cap, core.depth_cap);
        (fork.core.level, fork.core.in_sample) = (core.level, core.in_sample);
        let knows_paths = core.has_all_paths();
        if knows_paths {
            fork.core.trie = core.trie.emptied();
        }
        let walk = match &self.walks[..self.open] {
            [] => return knows_paths.then_some(fork),
            [walk] => walk,
            _ => return None,
        };
        fork.begin();
        fork.walks.first_mut()?.depth = walk.depth;
        // Only elements can be split off: the names of an open object must be checked for repeats
        // in one place.
        if walk.frames.last().is_some_and(|frame| frame.kind == Kind::Object) {
            return None;
        }
        let mut parent = NONE;
        for frame in &walk.frames {
            parent = if knows_paths {
                frame.node
            } else {
                fork.core.trie.same_child(parent, &core.trie, frame.node)?
            };
            fork.core.objects += 1;
            let frame = frame.fork(parent, fork.core.objects);
            fork.walks.first_mut()?.frames.push(frame);
        }
        Some(fork)
    }

    /// The number of paths so far, to which the cost of a [fork](Self::fork) is proportional.
    pub const fn paths(&self) -> usize {
        self.core.trie.nodes.len()
    }

    /// Adds the observations of a [forked](Self::fork) profile of the same array. Open containers
    /// stay open.
    ///
    /// Takes time linear in the paths of both, and logarithmic in the names of one path unless both
    /// have the same paths.
    pub fn join(&mut self, fork: Self) {
        let theirs = fork.walks.first().and_then(|walk| walk.frames.last());
        let own = self.walks.first_mut().and_then(|walk| walk.frames.last_mut());
        if let (Some(own), Some(theirs)) = (own, theirs) {
            own.absorb(theirs);
        }
        if self.add(fork.core) {
            self.normalize_open();
        }
    }

    /// Adds the counts of another profile. Returns true if the trie must be normalized before it
    /// observes more values.
    fn add(&mut self, mut other: Core) -> bool {
        self.normalized = false;
        let core = &mut self.core;
        core.describe_deferred();
        other.describe_deferred();
        // The next fork uses its memory again.
        core.deferred = other.deferred;
        core.options.restrict(&other.options);
        let (mut theirs, bytes) = (other.trie, core.options.bytes);
        core.trie.restrict_bytes(bytes);
        theirs.restrict_bytes(bytes);
        core.totals.merge(other.totals);
        let caps = (core.names_cap, core.depth_cap);
        core.names_cap = core.names_cap.min(other.names_cap);
        core.depth_cap = core.depth_cap.min(other.depth_cap);
        core.level = core.level.max(other.level);
        let is_same = core.trie.add(theirs);
        core.lower_caps();
        !is_same || caps != (core.names_cap, core.depth_cap) || core.trie.charge > self.normalize_at
    }

    /// Ends all open values and brings the state into its canonical form, which depends only on the
    /// observations.
    pub fn normalize(&mut self) {
        self.end_all();
        if !std::mem::replace(&mut self.normalized, true) {
            self.core.describe_deferred();
            // Often nothing more is observed.
            self.core.deferred = Deferred::default();
            self.core.normalize();
        }
    }

    fn end_all(&mut self) {
        while self.open > 0 {
            self.end();
        }
    }

    /// Normalizes the trie while values are open, and updates the node ids that the open frames
    /// hold.
    fn normalize_open(&mut self) {
        self.core.describe_deferred();
        let open = &mut self.walks[..self.open];
        // The marks refer to nodes that are about to be renumbered or folded.
        for walk in open.iter_mut() {
            self.core.unmark(walk);
            self.core.for_open(walk, |objects, count| objects.open += count);
        }
        let new_ids = self.core.normalize();
        let new_id = |id: u32| new_ids.get(id as usize).copied().unwrap_or(NONE);
        for walk in open {
            walk.pending = walk.pending.map(new_id);
            for frame in &mut walk.frames {
                frame.node = new_id(frame.node);
                frame.last = new_id(frame.last);
                frame.deeper = self.core.goes_deeper(frame.node);
            }
            self.core.for_open(walk, |objects, _| objects.open = 0);
        }
        // Leave space to grow, so that not every new path triggers another rebuild.
        let limit = trie_bytes(&self.core.options);
        self.normalize_at = limit.max(self.core.trie.charge + limit / 8);
    }
}

/// Receives events one by one, like [`observe`](Profile::observe).
impl Listener for Profile {
    fn wants_scalars(&self) -> bool {
        self.core.options.per_path || self.core.options.counts
    }

    fn names(&mut self, names: &NameTokens<'_>) -> bool {
        if self.open != 1 || self.wants_scalars() {
            return false;
        }
        self.core.names_alone(&mut self.walks[0], names);
        true
    }

    fn tokens(&mut self, tokens: &Tokens<'_>) -> bool {
        let options = &self.core.options;
        if !options.per_path || self.open != 1 {
            return false;
        }
        let shape = match (options.schema || options.values, options.bytes) {
            (false, false) => Core::shape::<false, false>,
            (true, false) => Core::shape::<true, false>,
            (false, true) => Core::shape::<false, true>,
            (true, true) => Core::shape::<true, true>,
        };
        let mut number = 0;
        while number < tokens.starts().len() {
            let next = shape(&mut self.core, &mut self.walks[0], tokens, number, self.normalize_at);
            if next == number {
                // No container is open: the token starts a value.
                self.root_token(tokens, number);
            }
            number = next.max(number + 1);
            if self.core.trie.charge > self.normalize_at {
                self.normalize_open();
            }
        }
        true
    }

    #[inline]
    fn begin(&mut self, kind: Kind, at: u64) {
        self.each(|core, walk| core.begin(walk, kind, at));
    }

    #[inline]
    fn end(&mut self, kind: Kind, at: u64) {
        self.each(|core, walk| core.end(walk, kind, at));
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

/// Returns the bytes for paths and values: the limit, less the growth allowed between two
/// normalizations.
fn trie_bytes(options: &ProfileOptions) -> u64 {
    options.limits.bytes.min(1 << 31) / 8 * 7
}

impl Core {
    /// True if the rows of the result do not depend on how the input is split: memory did not run
    /// out, or only made figures coarser.
    const fn has_all_paths(&self) -> bool {
        self.names_cap >= FIRST_NAMES_CAP && self.depth_cap == self.options.max_depth
    }

    /// Folds names and lowers caps until everything fits. Returns the new id of each node.
    fn normalize(&mut self) -> Vec<u32> {
        let limit = trie_bytes(&self.options);
        // Regroup before comparing with the limit: merged tries hold duplicate nodes, and counting
        // these would lower caps for no reason.
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
        // The trie is one level deeper than the rows: the names of the deepest objects decide
        // whether these have the same shape.
        self.trie.regroup(Policy::Cap { names: self.names_cap, depth: self.depth_cap.saturating_add(1) })
    }

    /// Takes the next step to save memory. Returns false if there is none left.
    fn tighten(&mut self) -> bool {
        // The order of the steps follows the loss of information: first the names of huge objects,
        // which are maps, then coarser figures, then fewer names, then fewer levels.
        if self.names_cap > FIRST_NAMES_CAP {
            self.names_cap = (self.names_cap / 2).max(FIRST_NAMES_CAP);
        } else if self.options.values && self.level < crate::figures::LEVELS {
            self.level += 1;
            self.lower_caps();
        } else if self.names_cap > MIN_NAMES_CAP {
            self.names_cap = (self.names_cap / 2).max(MIN_NAMES_CAP);
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
            values.restrict_histograms(self.options.histograms);
        }
        if !self.options.values {
            self.trie.nodes.iter_mut().for_each(|node| node.values = None);
        }
    }

    #[inline]
    pub(super) fn goes_deeper(&self, node: u32) -> bool {
        self.trie.nodes.get(node as usize).is_some_and(|node| node.depth <= self.depth_cap)
    }

    /// Calls `change` for the node of each open object, with the number of its members so far.
    fn for_open(&mut self, walk: &Walk, change: impl Fn(&mut Objects, u64)) {
        for frame in walk.frames.iter().filter(|frame| frame.kind == Kind::Object) {
            let node = self.trie.nodes.get_mut(frame.node as usize);
            if let Some(objects) = node.and_then(|node| node.objects.as_deref_mut()) {
                change(objects, frame.members());
            }
        }
    }

    /// Copies the names of open objects from the marks of the trie to their lists, because the trie
    /// is about to be rebuilt.
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

    /// Adds the observations of another profile. The result has only the options that both have.
    /// Ends the open values of both.
    ///
    /// Takes time linear in the paths of both, and logarithmic in the names of one path.
    fn merge(&mut self, mut other: Self) {
        self.end_all();
        other.end_all();
        if self.add(other.core) {
            self.normalize();
        }
    }

    /// Returns the figures over everything observed so far, as if the open values ended here. Call
    /// [`normalize`](Self::normalize) first to avoid copying the state.
    ///
    /// Takes time linear in the paths, and logarithmic in the rows.
    fn summary(&self) -> Summary {
        if self.normalized {
            return Summary::of(&self.core);
        }
        let mut normalized = self.clone();
        normalized.normalize();
        Summary::of(&normalized.core)
    }
}
