//! The state of a search for the members with one name.

use trommel_scan::{Carry, Hit, Hits, Needle, PassedBrackets, PlainMembers, SearchStop, Stack};

/// Bytes without leaving an array after which it counts as long, at first.
const FIRST_WATCH: u64 = 64 << 10;

/// A search for a name at any depth with [`Cursor::seek_name`](crate::Cursor::seek_name), and the
/// offsets of the open containers.
#[derive(Clone, Debug)]
pub struct Seek {
    pub(crate) needle: Needle,
    /// Absolute offsets of the open containers, outermost first. The caller reports those that
    /// other moves have entered.
    pub(crate) opened: Vec<u64>,
    /// Brackets that were passed while a kernel runs.
    pub(crate) passed: PassedBrackets,
    /// Opened objects minus closed objects, except those that are open.
    pub(crate) surplus: i64,
    /// The smallest depth since the last `mark`, or since the watch for a long array started.
    pub(crate) lowest: u32,
    before: u32,
    /// The smallest depth since the watch for a long array started.
    fewest: u32,
    /// The offset at which an array that was not left counts as long; the next check follows after
    /// `step` bytes.
    watch: u64,
    step: u64,
    /// The offset of a long array in which the search does not pause again.
    done: u64,
    /// The depth of the array between whose elements to pause; zero for no pause.
    pub(crate) pause_depth: u32,
    /// The offset before which not to pause there.
    pub(crate) pause_from: u64,
    pub(crate) hits: Hits,
    /// The handling of members with plain values.
    pub(crate) plain: PlainMembers,
    /// At this depth or less, the search stops if members have been collected.
    pub(crate) flush_depth: u32,
    /// The result to return after the collected members have been read.
    pub(crate) pending: Option<(SearchStop, Carry)>,
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a search must handle every case")]
pub enum SeekStep {
    /// A member with the name: the cursor is before its value.
    Member,
    /// Containers were left until the requested depth.
    Left,
    /// Between two elements of a long array, where the search [pauses](Seek::watch).
    Between,
    /// Members were [collected](Seek::handle_plain). Read them before the search continues, and do
    /// not move the cursor otherwise.
    Collected,
}

impl Seek {
    /// Prepares a search for members with this name, with or without escapes.
    pub fn new(name: &str) -> Self {
        let never = u64::MAX;
        Self {
            needle: Needle::new(name),
            opened: Vec::new(),
            passed: PassedBrackets::default(),
            surplus: 0,
            lowest: 0,
            before: 0,
            fewest: 0,
            watch: never,
            step: FIRST_WATCH,
            done: never,
            pause_depth: 0,
            pause_from: 0,
            hits: Hits::default(),
            plain: PlainMembers::Stop,
            flush_depth: 0,
            pending: None,
        }
    }

    /// Starts again in a container that another move has entered at this depth and offset.
    pub fn begin(&mut self, depth: u32, start: u64) {
        self.surplus = 0;
        self.hits.clear();
        self.pending = None;
        self.enter(depth, start);
        self.mark(depth);
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.needle.name()
    }

    /// Chooses the handling of members with plain scalar values: [returned](SeekStep::Member),
    /// [counted](Self::take_counted), or [collected](SeekStep::Collected). With `unique`, only the
    /// first of each object is counted or collected. Other members are always returned.
    pub fn handle_plain(&mut self, plain: PlainMembers, unique: bool) {
        (self.plain, self.hits.unique) = (plain, unique);
    }

    /// Stops after a container has ended at this depth or less, if members are collected or others
    /// are `waiting`.
    pub fn flush_at(&mut self, depth: u32, waiting: bool) {
        (self.flush_depth, self.hits.waiting) = (depth, waiting);
    }

    /// One of the collected members by its number. They are dropped when the search continues.
    #[inline]
    pub fn collected(&self, number: usize) -> Option<Hit> {
        self.hits.collected.get(number).copied()
    }

    /// Returns the number of members counted since the last call.
    pub fn take_counted(&mut self) -> u64 {
        std::mem::take(&mut self.hits.counted)
    }

    /// Records a returned member of the object at this depth. Returns false if the object already
    /// had one.
    pub fn record(&mut self, depth: u32) -> bool {
        let start = self.start_of(depth);
        self.hits.record(depth, start)
    }

    /// True if a member was found in the open object at this depth.
    pub fn has_found(&self, depth: u32) -> bool {
        self.hits.has_found(depth, self.start_of(depth))
    }

    /// Reports a container that another move has entered at this depth and offset.
    pub fn enter(&mut self, depth: u32, start: u64) {
        let Some(level) = (depth as usize).checked_sub(1) else { return };
        if self.opened.len() <= level {
            self.opened.resize(level + 1, 0);
        }
        self.opened[level] = start;
        self.lowest = self.lowest.min(depth);
    }

    /// Absolute offset of the open container at this depth; the outermost one has depth 1.
    pub fn start_of(&self, depth: u32) -> u64 {
        self.opened[depth as usize - 1]
    }

    /// The smallest depth since [`mark`](Self::mark).
    pub fn lowest(&self) -> u32 {
        self.lowest.min(self.before)
    }

    /// Restarts the minimum of the depth, which is `depth` now.
    pub fn mark(&mut self, depth: u32) {
        // The kernel updates one minimum, `lowest`. The marks and the watch restart at different
        // times, so each keeps its minimum up to the other's restart in a field of its own.
        self.fewest = self.fewest.min(self.lowest);
        (self.lowest, self.before) = (depth, depth);
    }

    /// From now on, pauses between two elements of an array that is not left for some bytes after
    /// this offset.
    pub fn watch(&mut self, depth: u32, offset: u64) {
        self.start_watch(depth);
        (self.watch, self.step, self.pause_depth) = (offset.saturating_add(FIRST_WATCH), FIRST_WATCH, 0);
    }

    /// Continues after a pause at this depth, and does not pause again in the innermost array.
    pub fn resume(&mut self, depth: u32, offset: u64) {
        self.done = self.start_of(depth);
        self.watch(depth, offset);
    }

    /// From now on, pauses between two elements of the array at this depth, at or after this
    /// offset.
    pub fn pause_between(&mut self, depth: u32, offset: u64) {
        (self.pause_depth, self.pause_from, self.watch) = (depth, offset, u64::MAX);
    }

    fn start_watch(&mut self, depth: u32) {
        self.before = self.before.min(self.lowest);
        (self.fewest, self.lowest) = (depth, depth);
    }

    /// Checks if an array counts as long: one above `floor` that is open and was not left.
    #[inline]
    pub(crate) fn check_long_array(&mut self, offset: u64, stack: &Stack, floor: u32) {
        if offset >= self.watch {
            self.choose(offset, stack, floor);
        }
    }

    #[cold]
    fn choose(&mut self, offset: u64, stack: &Stack, floor: u32) {
        let depth = self.fewest.min(self.lowest);
        let is_array = depth > floor && depth < stack.depth() && stack.object_at(depth) == Some(false);
        if is_array && self.start_of(depth) != self.done {
            self.pause_between(depth, 0);
        } else {
            // Without a long array so far, one becomes less likely with every byte.
            self.step = (2 * self.step).min(FIRST_WATCH << 8);
            self.watch = offset.saturating_add(self.step);
            self.start_watch(stack.depth());
        }
    }
}
