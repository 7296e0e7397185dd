//! The matcher with its state and its steps, and the options of a consumer.

use trommel_reader::{Cursor, Error, Event, Kind, Result, Span};

use super::memory::{PendingSteps, Region, Scratch};
use super::phase::{Phase, Stage};
use super::trail::TrailMode;
use crate::eval::Operand;
use crate::location::Location;
use crate::options::{Order, QueryId};
use crate::plan::Plan;
use crate::program::Program;

/// One step of a matcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "consumers match on all steps")]
pub enum Step {
    /// A node of a query begins. `times` is its number of occurrences in the query's node list. It
    /// exceeds 1 only with [`Order::Any`] and [`Order::Document`]: in RFC order, each occurrence is
    /// entered on its own.
    Enter {
        /// The query.
        query: QueryId,
        /// The number of occurrences of the node in the node list, at most `u64::MAX`.
        times: u64,
    },
    /// An event inside at least one region whose events are requested.
    Event(Event),
    /// A node ends.
    Leave {
        /// The query.
        query: QueryId,
        /// The number of occurrences of the node in the node list, at most `u64::MAX`.
        times: u64,
        /// The span of the node.
        span: Span,
    },
    /// All nodes of this query that were left so far come before all later ones. Matches that were
    /// held back to be sorted by [`Matcher::key`] can be released. Reported only after matches that
    /// had to be held.
    Settled(QueryId),
}

/// The steps and data that the consumer needs.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Wants {
    /// For each query, true if the events inside its regions are needed. If no open region needs
    /// events, they are skipped. False for a query without an entry.
    pub events: Vec<bool>,
    /// For each query, true if the bytes of a node must be readable when it is left. False for a
    /// query without an entry.
    pub bytes: Vec<bool>,
    /// True if the consumer calls [`Matcher::location`].
    pub location: bool,
    /// For each query, true if it needs [`Step::Enter`]. True for a query without an entry.
    pub enter: Vec<bool>,
    /// For each query, true if it needs [`Step::Leave`]. True for a query without an entry. Without
    /// these steps, [`Step::Enter`] may be reported after the node was skipped.
    pub leave: Vec<bool>,
    /// For each query, true if only the number of its nodes is needed. Many nodes may then be
    /// reported at once, when the matcher has moved on.
    pub only_count: Vec<bool>,
    /// For each query, true if [`Step::Leave`] may be reported after the matcher has moved beyond
    /// the end of the node. The bytes of the node remain readable.
    pub late_leave: Vec<bool>,
}

impl Wants {
    /// All steps of all queries, and nothing else.
    pub(super) const STEPS: &'static Self = &Self {
        events: Vec::new(),
        bytes: Vec::new(),
        location: false,
        enter: Vec::new(),
        leave: Vec::new(),
        only_count: Vec::new(),
        late_leave: Vec::new(),
    };

    pub(super) fn events_of(&self, query: QueryId) -> bool {
        self.events.get(query.index()).copied().unwrap_or(false)
    }

    pub(super) fn bytes_of(&self, query: QueryId) -> bool {
        self.bytes.get(query.index()).copied().unwrap_or(false)
    }

    pub(super) fn only_counts(&self, query: QueryId) -> bool {
        self.only_count.get(query.index()).copied().unwrap_or(false)
    }

    /// True if the nodes of a query are only reported when they are left, and possibly after the
    /// matcher has moved on.
    pub(super) fn allows_late_leave(&self, query: QueryId) -> bool {
        let allowed = self.late_leave.get(query.index()).copied().unwrap_or(false);
        allowed && self.leave_of(query) && !self.enter_of(query)
    }

    pub(super) fn enter_of(&self, query: QueryId) -> bool {
        self.enter.get(query.index()).copied().unwrap_or(true)
    }

    pub(super) fn leave_of(&self, query: QueryId) -> bool {
        self.leave.get(query.index()).copied().unwrap_or(true)
    }
}

/// Pulls the events of records, and reports where the nodes of queries begin and end.
///
/// Inside regions that want events, the matcher forwards the events of the cursor. It skips all
/// values in which no query can select anything. Regions nest like values: of two open regions, the
/// one entered later is left first. If both are the same node, they are left together. After an
/// error, every step returns it again, until [`next_record`](Self::next_record) continues where the
/// framing allows that.
///
/// A step takes time proportional to the bytes read and the number of live states. It allocates
/// nothing once the scratch has grown to the depth of the input. Filters read their candidates
/// twice.
pub struct Matcher<'m, 'c> {
    pub(super) program: &'m Program,
    pub(super) scratch: &'m mut Scratch,
    pub(super) cursor: &'m mut Cursor<'c>,
    pub(super) wants: &'m Wants,
    /// The answers to the queries from `$`, if this matcher runs a query inside a filter.
    pub(super) answers: Option<&'m [Operand<'static>]>,
    pub(super) phase: Phase,
    /// The reports that allow to follow a trail.
    pub(super) trail_mode: TrailMode,
    /// The number of open regions that want events.
    pub(super) listening: u32,
    /// The region that was left last.
    pub(super) left: Option<Region>,
    pub(super) pending: PendingSteps,
    /// The number of nodes of plain paths that were entered and not yet left.
    pub(super) open: usize,
    /// The kind, start, and end of the current value.
    pub(super) kind: Option<Kind>,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) failure: Option<Error>,
}

impl Plan {
    /// Creates a matcher over the records of a cursor.
    pub fn matcher<'m, 'c>(
        &'m self,
        scratch: &'m mut Scratch,
        cursor: &'m mut Cursor<'c>,
        wants: &'m Wants,
    ) -> Matcher<'m, 'c> {
        scratch.location_base = 0;
        scratch.trail.begin();
        Matcher::new(&self.program, scratch, cursor, wants)
    }
}

impl<'m, 'c> Matcher<'m, 'c> {
    pub(super) fn new(
        program: &'m Program,
        scratch: &'m mut Scratch,
        cursor: &'m mut Cursor<'c>,
        wants: &'m Wants,
    ) -> Self {
        let mut matcher = Self {
            program,
            scratch,
            cursor,
            wants,
            answers: None,
            phase: Phase::Done,
            trail_mode: TrailMode::Off,
            listening: 0,
            left: None,
            pending: PendingSteps::default(),
            open: 0,
            kind: None,
            start: 0,
            end: 0,
            failure: None,
        };
        matcher.trail_mode = matcher.trail_mode();
        matcher
    }

    /// Records an error, which is then final for the record, even if the cursor could continue.
    pub(super) fn record_failure<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if let Err(error) = &outcome {
            self.failure = Some(error.clone());
        }
        outcome
    }

    /// Returns the cursor, to read the payload of an event or the bytes of a span.
    pub fn cursor(&self) -> &Cursor<'c> {
        self.cursor
    }

    /// Returns the cursor mutably. It may be moved between records. Otherwise it must be moved back
    /// before the next step.
    pub fn cursor_mut(&mut self) -> &mut Cursor<'c> {
        self.cursor
    }

    /// True if a query can select something within the node that was just entered.
    pub fn selects_within(&self) -> bool {
        match (self.phase, &self.program.tree) {
            (Phase::Tree(Stage::EnteringQueries { node, .. }), Some(tree)) => {
                self.container(tree, node).is_some()
            }
            _ => match self.kind {
                Some(Kind::Object) => self.can_select_in(true),
                Some(Kind::Array) => self.can_select_in(false),
                _ => false,
            },
        }
    }

    /// Creates a matcher of another plan over the node that was just entered: in its queries, `$`
    /// is that node, and its locations begin with that of the node. It starts with
    /// [`begin_record`](Self::begin_record).
    ///
    /// Before the next step of this matcher, the cursor must be moved back to the start of the
    /// node, or to its end, followed by [`skip_entered`](Self::skip_entered).
    pub fn on_node<'n>(
        &'n mut self,
        plan: &'n Plan,
        scratch: &'n mut Scratch,
        wants: &'n Wants,
    ) -> Matcher<'n, 'c> {
        scratch.location_base = 0;
        if wants.location {
            scratch.begin_location(&self.scratch.location);
        }
        Matcher::new(&plan.program, scratch, self.cursor, wants)
    }

    /// Continues after the node that was just entered, to whose end the consumer has moved the
    /// cursor. No query may [select](Self::selects_within) anything within it, and no events may be
    /// wanted.
    pub fn skip_entered(&mut self) {
        debug_assert!(self.listening == 0 && !self.selects_within(), "the node is of no further interest");
        self.end = self.cursor.offset();
        self.phase = match self.phase {
            Phase::Tree(Stage::EnteringQueries { node, held, .. }) => {
                Phase::Tree(Stage::LeavingQueries { node, query: 0, held })
            }
            _ => Phase::AfterValue(self.end),
        };
    }

    /// Returns the location of the node that was just entered or left. Empty unless
    /// [`Wants::location`] is set.
    pub fn location(&self) -> &Location {
        &self.scratch.location
    }

    /// Returns the sort key of the node that was just left, among the nodes of its query. Keys
    /// compare word by word, and all keys of a query have the same length. Empty if the nodes of
    /// the query come in the requested order. Valid until the next step.
    pub fn key(&self) -> &[u64] {
        let Some(left) = &self.left else { return &[] };
        match self.program.order_of(left.query) {
            Order::Rfc if matches!(self.phase, Phase::Tree(_)) => self.scratch.search.key(),
            Order::Rfc => self.scratch.derivations.key(),
            Order::Document => std::slice::from_ref(&left.start),
            Order::Any => &[],
        }
    }

    /// Returns the type of the value that was just entered, or `None` if it is malformed, which the
    /// next step reports.
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Returns the absolute offset of the value that was just entered.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// True if the bytes of the node that was just left are needed beyond it: by an open node
    /// around it, or by another query for which it will be left.
    pub fn bytes_still_needed(&self) -> bool {
        let Scratch { levels, regions, .. } = &*self.scratch;
        if let Phase::Tree(stage) = self.phase {
            let others = match (stage, &self.program.tree) {
                (Stage::LeavingQueries { node, query, .. }, Some(tree)) => &tree.queries(node)[query..],
                _ => &[],
            };
            return others.iter().any(|&query| self.wants.bytes_of(query))
                || self.open > 0 && levels.iter().any(|level| level.held);
        }
        let PendingSteps { first, next, end, .. } = self.pending;
        regions[..first].iter().any(|region| region.held)
            || regions[next..end].iter().any(|region| self.wants.bytes_of(region.query))
    }

    /// Returns the number of regions that were entered and not yet left. A node that a query
    /// selects several times is one region.
    pub fn open_regions(&self) -> usize {
        let PendingSteps { first, next, end, started, leaving, .. } = self.pending;
        if matches!(self.phase, Phase::Tree(_)) {
            return self.open;
        }
        let not_open = if leaving { next - first } else { end - next - usize::from(started) };
        self.scratch.regions.len() - not_open
    }

    /// True if no later node can come before the node that was just left. If earlier nodes of its
    /// query are still held, it has to be sorted among them.
    pub fn is_settled(&self, query: QueryId) -> bool {
        if matches!(self.phase, Phase::Tree(_)) {
            return self.scratch.search.is_settled();
        }
        self.scratch.blockers.get(query.index()).is_none_or(|blockers| *blockers == 0)
    }
}
