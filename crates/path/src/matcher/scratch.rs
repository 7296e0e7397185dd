//! What changes while matching: kept by the caller, reused from record to record.

use crate::eval::{Memory, Operand};
use crate::location::Location;
use crate::plan::{Duplicates, Plan, QueryId};

use super::apart::Pause;
use super::descent::Descent;
use super::trail::Level;
use super::ways::{List, Way, Ways};

/// The mutable memory of a matcher. One a thread; any plan can use it, one after the other.
///
/// Its size follows the depth of the document and the number of queries, never the length of the document.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The containers around the place in the tree of plain paths.
    pub(super) levels: Vec<Level>,
    pub(super) descent: Descent,
    pub(super) pause: Pause,
    pub(super) frames: Vec<Frame>,
    /// The states at each frame, frame after frame.
    pub(super) active: Vec<Active>,
    /// The states at the value that comes next.
    pub(super) next: Vec<Active>,
    /// For each state of the plan, where in `next` it stands, if the round is the current one.
    places: Vec<(u64, u32)>,
    round: u64,
    /// Which name selectors have found their member, for each active state of each frame.
    pub(super) found: Vec<bool>,
    /// For the same, the number of the last member of that name, where that is the one to be selected.
    pub(super) last: Vec<u64>,
    pub(super) ways: Ways,
    pub(super) regions: Vec<Region>,
    /// For each query, the open frames that may still put something before what was already found.
    pub(super) blockers: Vec<u32>,
    /// Queries with matches that were left while something blocked.
    pub(super) unsettled: Vec<bool>,
    /// Queries that have settled and were not yet told of, the last first.
    pub(super) settled: Vec<QueryId>,
    /// For each query the key that its nodes must be below to be wanted; empty where all are.
    bounds: Vec<Vec<u64>>,
    /// True if there is a bound.
    pub(super) bounded: bool,
    /// Outcomes of filters on the current child.
    pub(super) tested: Vec<(u32, bool)>,
    pub(super) location: Location,
    pub(crate) memory: Memory,
    pub(super) answers: Vec<Operand<'static>>,
    /// Answers of the queries from `$` in a filter on whole records.
    pub(super) record_answers: Vec<Operand<'static>>,
}

/// A container on the way down, some of whose children may matter.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) start: u64,
    pub(super) object: bool,
    /// Index of the next element; of the next member, where the last of a name is selected.
    pub(super) index: u64,
    /// Number of elements, where a selector needs it.
    pub(super) length: u64,
    /// First of its states in `Scratch::active`; they end where the next frame's begin.
    pub(super) active: usize,
    pub(super) found: usize,
    pub(super) ways: usize,
    /// States that can still select something below.
    pub(super) live: u32,
    /// In an array, the index at which a state is exhausted next.
    pub(super) check_at: u64,
    /// True if a name was found since the states were inspected, or if they are inspected before each child.
    pub(super) dirty: bool,
}

/// A state at a node, with all derivations of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Active {
    pub(super) state: u32,
    /// Number of derivations, where they are not told apart.
    pub(super) times: u64,
    /// The derivations, where they are.
    pub(super) ways: List,
    /// First of its slots in `Scratch::found`, relative to the frame's.
    pub(super) found: u32,
    /// Names not yet found, or one past the last index that can be selected.
    pub(super) left: u64,
    /// Whether its own selectors can select nothing more in this container.
    pub(super) exhausted: bool,
    pub(super) blocking: bool,
}

/// A match that has been entered and not yet left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    pub(super) query: QueryId,
    pub(super) times: u64,
    pub(super) ways: List,
    pub(super) start: u64,
    /// Frames around the node.
    pub(super) depth: usize,
    pub(super) held: bool,
}

/// Regions of the current value that are being told of, one derivation after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Due {
    /// The first of them, the next one, and one past the last.
    pub(super) first: usize,
    pub(super) next: usize,
    pub(super) end: usize,
    /// Whether a derivation of the next one was told of already.
    pub(super) begun: bool,
    /// Whether they end with the value, rather than begin.
    pub(super) leaving: bool,
    /// Whether one of them holds the value's bytes.
    pub(super) held: bool,
}

impl Active {
    pub(super) const fn new(state: u32, times: u64, ways: List) -> Self {
        Self { state, times, ways, found: 0, left: 0, exhausted: false, blocking: false }
    }

    /// Whether its own selectors have selected all that they can in the container of this frame.
    pub(super) const fn is_used_up(&self, frame: &Frame) -> bool {
        if frame.object { self.left == 0 } else { frame.index >= self.left }
    }
}

impl Scratch {
    /// Empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the last record, for a matcher that goes down the tree of plain paths.
    pub(super) fn restart_on_trail(&mut self, plan: &Plan) {
        self.levels.clear();
        self.descent.restart(plan);
        self.pause = Pause::default();
        self.blockers.clear();
        self.unsettled.clear();
        self.unsettled.resize(plan.starts.len(), false);
        self.regions.clear();
        self.location.truncate(0);
    }

    /// Forgets the last record.
    pub(super) fn restart(&mut self, plan: &Plan) {
        self.pause = Pause::default();
        self.frames.clear();
        self.active.clear();
        self.found.clear();
        self.last.clear();
        self.ways.truncate(0);
        self.regions.clear();
        self.settled.clear();
        self.blockers.clear();
        self.blockers.resize(plan.starts.len(), 0);
        self.unsettled.clear();
        self.unsettled.resize(plan.starts.len(), false);
        self.location.truncate(0);
        if self.bounded {
            self.bounded = false;
            self.bounds.iter_mut().for_each(Vec::clear);
        }
        self.places.resize(plan.states.len(), (0, 0));
        self.clear_next();
        self.next.extend(plan.starts.iter().map(|&state| Active::new(state, 1, List::NONE)));
    }

    /// Nodes of a query are wanted only if their key is below this one.
    pub(super) fn bound(&mut self, query: QueryId, key: &[u64]) {
        if self.bounds.len() <= query.index() {
            self.bounds.resize(query.index() + 1, Vec::new());
        }
        let bound = &mut self.bounds[query.index()];
        bound.clear();
        bound.extend_from_slice(key);
        if !self.bounded {
            self.bounded = true;
            self.frames.iter_mut().for_each(|frame| frame.dirty = true);
        }
    }

    pub(super) fn bound_of(&self, query: QueryId) -> Option<&[u64]> {
        self.bounds.get(query.index()).map(Vec::as_slice).filter(|bound| !bound.is_empty())
    }

    /// Forgets the states at the value that was to come next.
    pub(super) fn clear_next(&mut self) {
        self.next.clear();
        self.round += 1;
    }

    pub(super) fn states_of(&self, frame: &Frame) -> std::ops::Range<usize> {
        frame.active..self.active.len()
    }

    /// Adds a state at the value that comes next, which has it from its container.
    pub(super) fn inherit(&mut self, active: Active) {
        self.note_place(active.state);
        self.next.push(Active::new(active.state, active.times, active.ways));
    }

    /// Adds a state at the value that comes next, or one more derivation of it: a state at the container selects it.
    pub(super) fn reach(&mut self, from: Active, way: Option<Way>) {
        let state = from.state + 1;
        let place = self.places.get(state as usize).filter(|place| place.0 == self.round);
        let same = place.and_then(|place| self.next.get_mut(place.1 as usize));
        let others = same.as_ref().map_or(List::NONE, |same| same.ways);
        let ways = way.map_or(List::NONE, |way| self.ways.push(Way { others, ..way }));
        if let Some(same) = same {
            same.ways = ways;
            // Each of those that are told apart counts for itself.
            same.times = if way.is_some() { 1 } else { same.times.saturating_add(from.times) };
        } else {
            self.note_place(state);
            self.next.push(Active::new(state, from.times, ways));
        }
    }

    fn note_place(&mut self, state: u32) {
        if let Some(place) = self.places.get_mut(state as usize) {
            *place = (self.round, self.next.len() as u32);
        }
    }

    pub(super) fn unblock(&mut self, query: QueryId) {
        if let Some(blockers) = self.blockers.get_mut(query.index()) {
            *blockers -= 1;
            if *blockers == 0 && self.unsettled.get(query.index()).copied().unwrap_or(false) {
                self.unsettled[query.index()] = false;
                self.settled.push(query);
            }
        }
    }

    pub(super) fn block(&mut self, query: QueryId) {
        if let Some(blockers) = self.blockers.get_mut(query.index()) {
            *blockers += 1;
        }
    }

    /// States of the new innermost frame, from those of the value it belongs to.
    pub(super) fn adopt(&mut self, plan: &Plan, frame: &mut Frame) {
        let unique = plan.options.duplicates == Duplicates::First;
        frame.check_at = u64::MAX;
        for at in 0..self.next.len() {
            let mut active = self.next[at];
            let Some(segment) = plan.segment_of(active.state) else { continue };
            let selects = segment.selects_in(frame.object);
            if !selects && !segment.descendant {
                continue;
            }
            active.left = match (frame.object, segment.only_names) {
                (true, Some(names)) if unique => u64::from(names),
                (true, _) => u64::MAX,
                (false, _) => {
                    segment.selectors.iter().map(|select| select.end(frame.length)).max().unwrap_or(0)
                }
            };
            active.exhausted = !selects || active.left == 0;
            active.found = (self.found.len() - frame.found) as u32;
            if frame.object && plan.options.duplicates != Duplicates::All {
                self.found.resize(self.found.len() + segment.selectors.len(), false);
            }
            active.blocking = segment.keyed && segment.reorders && !active.exhausted;
            if active.blocking {
                self.block(plan.query_of(active.state));
            }
            if !active.exhausted || segment.descendant {
                frame.live += 1;
            }
            if !frame.object && !active.exhausted {
                frame.check_at = frame.check_at.min(active.left);
            }
            self.active.push(active);
        }
    }
}
