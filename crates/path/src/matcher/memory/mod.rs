//! The memory of a running matcher: kept by the caller, reused from record to record.
//!
//! | module | contents |
//! | --- | --- |
//! | this one | the [`Scratch`], with the states at the value that comes next |
//! | `frames` | open containers and matches |
//! | `ways` | the derivations of a node, where the order of the RFC distinguishes them |
//! | `search` | the state of a search for `..name` |
//! | `pause` | when to pause between the elements of an array |
//! | `memo` | outcomes of filters inside of filters |

mod frames;
mod memo;
mod pause;
mod search;
mod ways;

use trommel_query::RegexCache;

use crate::eval::Operand;
use crate::location::Location;
use crate::options::{Duplicates, QueryId};
use crate::program::Program;
pub(super) use frames::{Active, Due, Frame, Level, Region};
use memo::Memo;
pub(super) use pause::Pause;
pub(super) use search::Search;
pub(super) use ways::{List, Way, Ways};

/// The mutable memory of a matcher. One a thread; any plan can use it, one after the other.
///
/// Its size follows the depth of the document and the number of queries, never the length of the
/// document.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The open containers, where plain paths follow their tree.
    pub(crate) levels: Vec<Level>,
    pub(crate) search: Search,
    pub(crate) pause: Pause,
    pub(crate) frames: Vec<Frame>,
    /// The states at each frame, frame after frame.
    pub(crate) active: Vec<Active>,
    /// The states at the value that comes next.
    pub(crate) next: Vec<Active>,
    /// For each state of the plan, where in `next` it stands, if the round is the current one.
    places: Vec<(u64, u32)>,
    round: u64,
    /// Which name selectors have found their member, for each active state of each frame.
    pub(crate) found: Vec<bool>,
    /// For the same, the number of the last member of that name, where that is the one to be
    /// selected.
    pub(crate) last: Vec<u64>,
    pub(crate) ways: Ways,
    pub(crate) regions: Vec<Region>,
    /// For each query, the open frames that may still put something before what was already found.
    pub(crate) blockers: Vec<u32>,
    /// Queries with matches that were left while something blocked.
    pub(crate) unsettled: Vec<bool>,
    /// Queries that have settled and were not yet told of, the last first.
    pub(crate) settled: Vec<QueryId>,
    /// For each query the key that its nodes must be below to be wanted; empty where all are.
    bounds: Vec<Vec<u64>>,
    /// True if there is a bound.
    pub(crate) bounded: bool,
    /// Outcomes of filters on the current child.
    pub(crate) tested: Vec<(u32, bool)>,
    pub(crate) location: Location,
    pub(crate) filters: FilterMemory,
    pub(crate) answers: Vec<Operand<'static>>,
    /// Answers of the queries from `$` in a filter on whole records.
    pub(crate) record_answers: Vec<Operand<'static>>,
}

/// The memory of the filters of a matcher.
#[derive(Debug, Default)]
pub(crate) struct FilterMemory {
    /// The scratch of the queries that run inside filters; that of filters inside of these is its
    /// own. In a box, so that a level of nesting takes little stack.
    pub(crate) inner: Option<Box<Scratch>>,
    pub(crate) patterns: RegexCache,
    /// The outcomes of the filters of a query inside a filter.
    pub(crate) memo: Memo,
}

impl FilterMemory {
    /// Forgets the outcomes of the last record.
    pub(crate) fn forget(&mut self) {
        let mut next = Some(self);
        while let Some(filters) = next {
            filters.memo.forget();
            next = filters.inner.as_mut().map(|inner| &mut inner.filters);
        }
    }
}

impl Scratch {
    /// Empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets the last record, for a matcher that goes down the tree of plain paths.
    pub(crate) fn restart_on_tree(&mut self, program: &Program) {
        self.levels.clear();
        self.search.restart(program);
        self.pause = Pause::default();
        self.blockers.clear();
        self.unsettled.clear();
        self.unsettled.resize(program.starts.len(), false);
        self.regions.clear();
        self.location.truncate(0);
    }

    /// Forgets the last record.
    pub(crate) fn restart(&mut self, program: &Program) {
        self.pause = Pause::default();
        self.frames.clear();
        self.active.clear();
        self.found.clear();
        self.last.clear();
        self.ways.truncate(0);
        self.regions.clear();
        self.settled.clear();
        self.blockers.clear();
        self.blockers.resize(program.starts.len(), 0);
        self.unsettled.clear();
        self.unsettled.resize(program.starts.len(), false);
        self.location.truncate(0);
        if self.bounded {
            self.bounded = false;
            self.bounds.iter_mut().for_each(Vec::clear);
        }
        self.places.resize(program.states.len(), (0, 0));
        self.clear_next();
        self.next.extend(program.starts.iter().map(|&state| Active::new(state, 1, List::NONE)));
    }

    /// Nodes of a query are wanted only if their key is below this one.
    pub(crate) fn bound(&mut self, query: QueryId, key: &[u64]) {
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

    pub(crate) fn bound_of(&self, query: QueryId) -> Option<&[u64]> {
        self.bounds.get(query.index()).map(Vec::as_slice).filter(|bound| !bound.is_empty())
    }

    /// Forgets the states at the value that was to come next.
    pub(crate) fn clear_next(&mut self) {
        self.next.clear();
        self.round += 1;
    }

    pub(crate) fn states_of(&self, frame: &Frame) -> std::ops::Range<usize> {
        frame.active..self.active.len()
    }

    /// Adds a state at the value that comes next, which has it from its container.
    pub(crate) fn inherit(&mut self, active: Active) {
        self.note_place(active.state);
        self.next.push(Active::new(active.state, active.times, active.ways));
    }

    /// Adds a state at the value that comes next, or one more derivation of it: a state at the
    /// container selects it.
    pub(crate) fn reach(&mut self, from: Active, way: Option<Way>) {
        let state = from.state + 1;
        let (round, place) = self.places[state as usize];
        let same = if round == self.round { self.next.get_mut(place as usize) } else { None };
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
        self.places[state as usize] = (self.round, self.next.len() as u32);
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

    /// States of the new innermost frame, from those of the value it belongs to.
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
