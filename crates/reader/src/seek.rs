//! What a search for the members of one name knows.

use trommel_scan::{Carry, Hit, Hits, Needle, Passed, Sought, Stack, Taken};

/// Bytes in which an array shows that it is long, at first.
const WATCHED: u64 = 64 << 10;

/// A name to be looked for at any depth with [`Cursor::seek_name`](crate::Cursor::seek_name), and
/// where the containers that are open began.
#[derive(Clone, Debug)]
pub struct Seek {
    pub(crate) needle: Needle,
    /// Absolute offsets of the open containers, outermost first. Those that were entered by other
    /// moves are told of.
    pub(crate) opened: Vec<u64>,
    /// Brackets that were passed, while a kernel works.
    pub(crate) passed: Passed,
    /// Objects opened less objects closed, those that are open aside.
    pub(crate) surplus: i64,
    /// The fewest containers that were open at once since it was marked, or begun to look for a
    /// long array; and before that, since it was marked.
    pub(crate) lowest: u32,
    before: u32,
    /// The fewest containers that were open at once since it was begun to look for a long array.
    fewest: u32,
    /// From this offset on it shows which array is long; the next time so many bytes later.
    watch: u64,
    step: u64,
    /// Where a long array begins in which there is no stop any more.
    done: u64,
    /// Containers open in the array between whose elements to stop; none if there is none.
    pub(crate) turn: u32,
    /// Not to stop there before this offset.
    pub(crate) until: u64,
    pub(crate) hits: Hits,
    /// What is done with members that take no closer look.
    pub(crate) taken: Taken,
    /// The search stops where no more containers are open than so many, when members were kept.
    pub(crate) ebb: u32,
    /// What is to be done when those that were kept have been told of.
    pub(crate) pending: Option<(Sought, Carry)>,
}

/// What a search has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever searches must treat every case")]
pub enum SeekStep {
    /// A member of the name: the cursor stands before its value.
    Member,
    /// So many containers were left as was asked for.
    Left,
    /// Between two elements of a long array, where it was [asked](Seek::watch) to stop.
    Between,
    /// Members were [kept](Seek::take). They are to be read before the search goes on, and the
    /// cursor is not to be moved otherwise.
    Kept,
}

impl Seek {
    /// A search for members of this name, in whatever way it is spelt.
    pub fn new(name: &str) -> Self {
        let never = u64::MAX;
        Self {
            needle: Needle::new(name),
            opened: Vec::new(),
            passed: Passed::default(),
            surplus: 0,
            lowest: 0,
            before: 0,
            fewest: 0,
            watch: never,
            step: WATCHED,
            done: never,
            turn: 0,
            until: 0,
            hits: Hits::default(),
            taken: Taken::Alone,
            ebb: 0,
            pending: None,
        }
    }

    /// Begins anew, with a container that was entered by another move, and made so many open.
    pub fn begin(&mut self, depth: u32, start: u64) {
        self.surplus = 0;
        self.hits.clear();
        self.pending = None;
        self.entered(depth, start);
        self.mark(depth);
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.needle.name()
    }

    /// From now on, members whose values are scalars are [told of](SeekStep::Member),
    /// [counted](Self::take_counted) or [kept](SeekStep::Kept), wherever that takes no closer look;
    /// of each object only the first, if they are `unique` and not told of. All others are told of.
    pub fn take(&mut self, taken: Taken, unique: bool) {
        (self.taken, self.hits.unique) = (taken, unique);
    }

    /// Does not go on with members kept, or with others `waiting`, where a container has ended and
    /// so many are open, or fewer.
    pub fn stop_at_ebb(&mut self, depth: u32, waiting: bool) {
        (self.ebb, self.hits.waiting) = (depth, waiting);
    }

    /// One of the members that were kept, by its number; they are forgotten when the search goes
    /// on.
    #[inline]
    pub fn kept(&self, number: usize) -> Option<Hit> {
        self.hits.kept.get(number).copied()
    }

    /// How many members were counted since this was asked last.
    pub fn take_counted(&mut self) -> u64 {
        std::mem::take(&mut self.hits.counted)
    }

    /// Notes a member that was told of, in the object in which so many containers are open; `false`
    /// if it is not the first there.
    pub fn note(&mut self, depth: u32) -> bool {
        let start = self.start_of(depth);
        self.hits.note(depth, start)
    }

    /// Whether a member was found in the open object that is so many deep.
    pub fn has_found(&self, depth: u32) -> bool {
        self.hits.has_found(depth, self.start_of(depth))
    }

    /// Tells where the container begins that was entered by another move, and made so many open.
    pub fn entered(&mut self, depth: u32, start: u64) {
        let Some(level) = (depth as usize).checked_sub(1) else { return };
        if self.opened.len() <= level {
            self.opened.resize(level + 1, 0);
        }
        self.opened[level] = start;
        self.lowest = self.lowest.min(depth);
    }

    /// Absolute offset of the opening bracket of the open container that is so many deep, the
    /// outermost one being 1.
    pub fn start_of(&self, depth: u32) -> u64 {
        self.opened[depth as usize - 1]
    }

    /// The fewest containers that were open at once since [`mark`](Self::mark).
    pub fn lowest(&self) -> u32 {
        self.lowest.min(self.before)
    }

    /// Begins anew to look for the fewest open containers, of which there are now so many.
    pub fn mark(&mut self, depth: u32) {
        self.fewest = self.fewest.min(self.lowest);
        (self.lowest, self.before) = (depth, depth);
    }

    /// From now on, when an array is not left for some time from this offset on, where so many
    /// containers are open, stops between two elements of it.
    pub fn watch(&mut self, depth: u32, offset: u64) {
        self.begin_to_look(depth);
        (self.watch, self.step, self.turn) = (offset.saturating_add(WATCHED), WATCHED, 0);
    }

    /// Goes on where it has stopped, with so many containers open: not to stop again in the
    /// innermost of them.
    pub fn go_on(&mut self, depth: u32, offset: u64) {
        self.done = self.start_of(depth);
        self.watch(depth, offset);
    }

    /// From now on stops between two elements of the array in which so many containers are open, at
    /// this offset or behind it.
    pub fn stop_between(&mut self, depth: u32, offset: u64) {
        (self.turn, self.until, self.watch) = (depth, offset, u64::MAX);
    }

    fn begin_to_look(&mut self, depth: u32) {
        self.before = self.before.min(self.lowest);
        (self.fewest, self.lowest) = (depth, depth);
    }

    /// Looks, at an offset, which array is long: where so many containers are open, and more than
    /// `floor` in it.
    #[inline]
    pub(crate) fn look(&mut self, offset: u64, stack: &Stack, floor: u32) {
        if offset >= self.watch {
            self.choose(offset, stack, floor);
        }
    }

    #[cold]
    fn choose(&mut self, offset: u64, stack: &Stack, floor: u32) {
        let depth = self.fewest.min(self.lowest);
        let is_array = depth > floor && depth < stack.depth() && stack.object_at(depth) == Some(false);
        if is_array && self.start_of(depth) != self.done {
            self.stop_between(depth, 0);
        } else {
            // The longer there is none, the less likely one becomes.
            self.step = (2 * self.step).min(WATCHED << 8);
            self.watch = offset.saturating_add(self.step);
            self.begin_to_look(stack.depth());
        }
    }
}
