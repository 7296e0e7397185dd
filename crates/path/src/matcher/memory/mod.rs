//! The memory of a running matcher. The caller owns it, and it is reused from record to record.
//!
//! | module | contents |
//! | --- | --- |
//! | this one | the [`Scratch`], with the states of the next value |
//! | `frames` | open containers and matches |
//! | `derivations` | the derivations of a node, if RFC order distinguishes them |
//! | `search` | the state of a search for `..name` |
//! | `trail` | the state of a search along plain paths |
//! | `pause` | the conditions of a pause between elements |
//! | `memo` | a cache of the outcomes of filters inside filters |

mod derivations;
mod frames;
mod memo;
mod pause;
mod search;
mod trail;

use trommel_query::RegexCache;

use crate::eval::Operand;
use crate::location::Location;
use crate::options::{Duplicates, QueryId};
use crate::program::Program;
pub(super) use derivations::{DerivationStep, Derivations, StepList};
pub(super) use frames::{Active, Frame, Level, PendingSteps, Region};
use memo::Memo;
pub(super) use pause::Pause;
pub(super) use search::Search;
pub(super) use trail::TrailMemory;

/// The mutable memory of a matcher. Use one per thread; different plans can use it one after
/// another.
///
/// Its size depends on the depth of the document and the number of queries, never on the length of
/// the document.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The open containers, for plain paths that follow the tree.
    pub(crate) levels: Vec<Level>,
    pub(crate) search: Search,
    pub(crate) trail: TrailMemory,
    pub(crate) pause: Pause,
    pub(crate) frames: Vec<Frame>,
    /// The states of each frame, frame after frame.
    pub(crate) active: Vec<Active>,
    /// The states of the next value.
    pub(crate) next: Vec<Active>,
    /// For each state of the plan, its index in `next`. Valid if the round is the current one.
    next_indices: Vec<(u64, u32)>,
    round: u64,
    /// For each name selector of each active state, true if it has found its member.
    pub(crate) found: Vec<bool>,
    /// For the same selectors, the number of the last member of that name. Used with
    /// [`Duplicates::Last`].
    pub(crate) last: Vec<u64>,
    pub(crate) derivations: Derivations,
    pub(crate) regions: Vec<Region>,
    /// For each query, the number of open frames that may still produce a node before those already
    /// found.
    pub(crate) blockers: Vec<u32>,
    /// For each query, true if it has matches that were left while a frame was blocking.
    pub(crate) unsettled: Vec<bool>,
    /// The queries that have settled and were not reported yet, the next one last.
    pub(crate) settled: Vec<QueryId>,
    /// For each query, the key that its nodes must be below. Empty without a bound.
    bounds: Vec<Vec<u64>>,
    /// True if any query has a bound.
    pub(crate) bounded: bool,
    /// The outcomes of filters for the current child.
    pub(crate) tested: Vec<(u32, bool)>,
    pub(crate) location: Location,
    /// The number of steps of the location that lead to the record, if it is within a document.
    pub(crate) location_base: usize,
    pub(crate) filters: FilterMemory,
    pub(crate) answers: Vec<Operand<'static>>,
    /// The answers to the queries from `$` in a record filter.
    pub(crate) record_answers: Vec<Operand<'static>>,
}

/// The memory for evaluating the filters of a matcher.
#[derive(Debug, Default)]
pub(crate) struct FilterMemory {
    /// The scratch of the queries inside filters, which in turn owns that of the next level. Boxed,
    /// so that a level of nesting takes little stack.
    pub(crate) inner: Option<Box<Scratch>>,
    pub(crate) patterns: RegexCache,
    /// The outcomes of the filters of a query inside a filter.
    pub(crate) memo: Memo,
}

impl FilterMemory {
    /// Invalidates the outcomes of the last record, at every level of nesting.
    pub(crate) fn forget(&mut self) {
        let mut next = Some(self);
        while let Some(filters) = next {
            filters.memo.forget();
            next = filters.inner.as_mut().map(|inner| &mut inner.filters);
        }
    }
}

impl Scratch {
    /// Creates an empty scratch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Resets the state of the last record, for a matcher that follows the tree of plain paths.
    pub(crate) fn restart_on_tree(&mut self, program: &Program) {
        self.levels.clear();
        self.search.restart(program);
        self.pause = Pause::default();
        self.blockers.clear();
        self.unsettled.clear();
        self.unsettled.resize(program.starts.len(), false);
        self.regions.clear();
        self.truncate_location(0);
    }

    /// Resets the state of the last record.
    pub(crate) fn restart(&mut self, program: &Program) {
        self.pause = Pause::default();
        self.frames.clear();
        self.active.clear();
        self.found.clear();
        self.last.clear();
        self.derivations.truncate(0);
        self.regions.clear();
        self.settled.clear();
        self.blockers.clear();
        self.blockers.resize(program.starts.len(), 0);
        self.unsettled.clear();
        self.unsettled.resize(program.starts.len(), false);
        self.truncate_location(0);
        if self.bounded {
            self.bounded = false;
            self.bounds.iter_mut().for_each(Vec::clear);
        }
        self.next_indices.resize(program.states.len(), (0, 0));
        self.clear_next();
        self.next.extend(program.starts.iter().map(|&state| Active::new(state, 1, StepList::NONE)));
    }

    /// Keeps the location of the record, and as many steps from there.
    pub(crate) fn truncate_location(&mut self, steps: usize) {
        self.location.truncate(self.location_base + steps);
    }

    /// Sets the location of the record. It may be within a document.
    pub(crate) fn begin_location(&mut self, location: &Location) {
        self.location.clone_from(location);
        self.location_base = location.depth();
    }

    /// Sets the key that the nodes of a query must be below.
    pub(crate) fn bound(&mut self, query: QueryId, key: &[u64]) {
        if self.bounds.len() <= query.index() {
            self.bounds.resize(query.index() + 1, Vec::new());
        }
        let bound = &mut self.bounds[query.index()];
        bound.clear();
        bound.extend_from_slice(key);
        // From now on, frames that are already open check their states before each child.
        if !self.bounded {
            self.bounded = true;
            self.frames.iter_mut().for_each(|frame| frame.dirty = true);
        }
    }

    pub(crate) fn bound_of(&self, query: QueryId) -> Option<&[u64]> {
        self.bounds.get(query.index()).map(Vec::as_slice).filter(|bound| !bound.is_empty())
    }

    /// Removes the states of the next value.
    pub(crate) fn clear_next(&mut self) {
        self.next.clear();
        // A new round invalidates the indices of all states at once.
        self.round += 1;
    }

    pub(crate) fn states_of(&self, frame: &Frame) -> std::ops::Range<usize> {
        frame.active..self.active.len()
    }

    /// Adds a state to the next value, which inherits it from its container.
    pub(crate) fn inherit(&mut self, active: Active) {
        self.record_next_index(active.state);
        self.next.push(Active::new(active.state, active.times, active.derivations));
    }

    /// Adds a state to the next value, because a state of the container selects it. If the value
    /// already has the state, adds one more derivation.
    pub(crate) fn reach(&mut self, from: Active, step: Option<DerivationStep>) {
        let state = from.state + 1;
        let (round, index) = self.next_indices[state as usize];
        let same = if round == self.round { self.next.get_mut(index as usize) } else { None };
        let others = same.as_ref().map_or(StepList::NONE, |same| same.derivations);
        let derivations =
            step.map_or(StepList::NONE, |step| self.derivations.push(DerivationStep { others, ..step }));
        if let Some(same) = same {
            same.derivations = derivations;
            // Distinguished derivations are reported one by one, each with a count of 1.
            same.times = if step.is_some() { 1 } else { same.times.saturating_add(from.times) };
        } else {
            self.record_next_index(state);
            self.next.push(Active::new(state, from.times, derivations));
        }
    }

    fn record_next_index(&mut self, state: u32) {
        self.next_indices[state as usize] = (self.round, self.next.len() as u32);
    }

    pub(crate) fn unblock(&mut self, query: QueryId) {
        let blockers = &mut self.blockers[query.index()];
        *blockers -= 1;
        if *blockers == 0 && self.unsettled[query.index()] {
            self.unsettled[query.index()] = false;
            self.settled.push(query);
        }
    }

    pub(crate) fn block(&mut self, query: QueryId) {
        self.blockers[query.index()] += 1;
    }

    /// Creates the states of the new innermost frame from those of its value.
    pub(crate) fn adopt(&mut self, program: &Program, frame: &mut Frame) {
        let unique = program.options.duplicates == Duplicates::First;
        frame.check_at = u64::MAX;
        for at in 0..self.next.len() {
            let mut active = self.next[at];
            let Some(segment) = program.segment_of(active.state) else { continue };
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
            if frame.object && program.options.duplicates != Duplicates::All {
                self.found.resize(self.found.len() + segment.selectors.len(), false);
            }
            active.blocking = segment.keyed && segment.reorders && !active.exhausted;
            if active.blocking {
                self.block(program.query_of(active.state));
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
