//! The matcher: its state, its steps, and what the consumer may ask of it.

use trommel_reader::{Cursor, Error, Event, Kind, Result, Span};

use super::memory::{Due, Region, Scratch};
use super::phase::{Phase, Stage};
use crate::eval::Operand;
use crate::location::Location;
use crate::options::{Order, QueryId};
use crate::plan::Plan;
use crate::program::Program;

/// One step of a matcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "consumers match on all of it")]
pub enum Step {
    /// A node of a query begins. It counts `times` in the query's node list (more than once only
    /// with [`Order::Any`] or [`Order::Document`]; in RFC order each is entered by itself).
    Enter {
        /// The query.
        query: QueryId,
        /// How often the node stands in its node list, at most `u64::MAX`.
        times: u64,
    },
    /// An event inside of at least one region whose events are wanted.
    Event(Event),
    /// A node ends.
    Leave {
        /// The query.
        query: QueryId,
        /// How often the node stands in its node list, at most `u64::MAX`.
        times: u64,
        /// Where the node stands.
        span: Span,
    },
    /// Whatever was left for this query so far comes before everything that is still to come: what
    /// was held back to be sorted by [`Matcher::key`] can be let go. Comes only after matches that
    /// had to be held.
    Settled(QueryId),
}

/// What the consumer wants of the matches.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Wants {
    /// For each query, true if the events inside its regions are wanted. Where no open region wants
    /// events, the inside is skipped. A query without an entry wants none.
    pub events: Vec<bool>,
    /// For each query, true if the node's bytes must be readable when it is left. A query without
    /// an entry does not need them.
    pub bytes: Vec<bool>,
    /// True if [`Matcher::location`] is used.
    pub location: bool,
    /// For each query, true if it needs [`Step::Enter`]. A query without an entry gets these steps.
    pub enter: Vec<bool>,
    /// For each query, true if it needs [`Step::Leave`]. A query without an entry gets these steps.
    /// Without them, [`Step::Enter`] may be reported after the node was skipped.
    pub leave: Vec<bool>,
    /// For each query, true if only the number of its nodes is wanted. Then many may be reported at
    /// once, and the matcher may be elsewhere by then.
    pub only_count: Vec<bool>,
    /// For each query, true if [`Step::Leave`] may be reported when the matcher is already further
    /// than the end of the node. The node's bytes can be read all the same.
    pub ahead: Vec<bool>,
}

impl Wants {
    /// Every step of every query, and nothing else.
    pub(super) const STEPS: &'static Self = &Self {
        events: Vec::new(),
        bytes: Vec::new(),
        location: false,
        enter: Vec::new(),
        leave: Vec::new(),
        only_count: Vec::new(),
        ahead: Vec::new(),
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

    /// True if nodes of a query are only reported when they are left, and may be when the matcher
    /// is already further.
    pub(super) fn allows_ahead(&self, query: QueryId) -> bool {
        let allowed = self.ahead.get(query.index()).copied().unwrap_or(false);
        allowed && self.leave_of(query) && !self.enter_of(query)
    }

    pub(super) fn enter_of(&self, query: QueryId) -> bool {
        self.enter.get(query.index()).copied().unwrap_or(true)
    }

    pub(super) fn leave_of(&self, query: QueryId) -> bool {
        self.leave.get(query.index()).copied().unwrap_or(true)
    }
}

/// Pulls the events of records and reports the queries whose regions they are in.
///
/// It forwards the cursor's events inside of the regions that want them, and skips everything in
/// which no query can select anything. Regions nest as the values do: of two open ones the later
/// entered is left first, or together with the other when both are the same node. After an error
/// every step returns it again, until [`next_record`](Self::next_record) continues where the
/// framing allows it.
///
/// A step takes time in proportion to the bytes passed and the states alive, and allocates nothing
/// once the scratch has grown to the depth of the input. Filters read their candidates again.
pub struct Matcher<'m, 'c> {
    pub(super) program: &'m Program,
    pub(super) scratch: &'m mut Scratch,
    pub(super) cursor: &'m mut Cursor<'c>,
    pub(super) wants: &'m Wants,
    /// The answers of the queries from `$`, when this is a query inside a filter.
    pub(super) answers: Option<&'m [Operand<'static>]>,
    pub(super) phase: Phase,
    /// The number of open regions that want events.
    pub(super) listening: u32,
    /// The region left last.
    pub(super) left: Option<Region>,
    pub(super) due: Due,
    /// The number of nodes of plain paths that were entered and not yet left.
    pub(super) open: usize,
    /// Kind, start and end of the current value.
    pub(super) kind: Option<Kind>,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) failure: Option<Error>,
}

impl Plan {
    /// A matcher over the records of a cursor.
    pub fn matcher<'m, 'c>(
        &'m self,
        scratch: &'m mut Scratch,
        cursor: &'m mut Cursor<'c>,
        wants: &'m Wants,
    ) -> Matcher<'m, 'c> {
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
        Self {
            program,
            scratch,
            cursor,
            wants,
            answers: None,
            phase: Phase::Done,
            listening: 0,
            left: None,
            due: Due::default(),
            open: 0,
            kind: None,
            start: 0,
            end: 0,
            failure: None,
        }
    }

    /// Notes an error, so that it is final for the record even where the cursor could continue.
    pub(super) fn noted<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if let Err(error) = &outcome {
            self.failure = Some(error.clone());
        }
        outcome
    }

    /// The cursor, for the payload of an event and the bytes of a span.
    pub fn cursor(&self) -> &Cursor<'c> {
        self.cursor
    }

    /// The cursor, for what needs it moved: only between records, or to where it stood.
    pub fn cursor_mut(&mut self) -> &mut Cursor<'c> {
        self.cursor
    }

    /// Where the node stands that was just entered or left; empty unless [`Wants::location`] asks
    /// for it.
    pub fn location(&self) -> &Location {
        &self.scratch.location
    }

    /// What the node that was just left is sorted by among the nodes of its query: keys compare
    /// word by word, and all of a query are of one length. Empty when the query's nodes come in the
    /// order wanted. Changes with the next step.
    pub fn key(&self) -> &[u64] {
        let Some(left) = &self.left else { return &[] };
        match self.program.order_of(left.query) {
            Order::Rfc if matches!(self.phase, Phase::Tree(_)) => self.scratch.search.key(),
            Order::Rfc => self.scratch.ways.key(),
            Order::Document => std::slice::from_ref(&left.start),
            Order::Any => &[],
        }
    }

    /// Type of the value that was just entered; `None` when it is none, which the next step
    /// reports.
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Absolute offset of the value that was just entered.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Whether the node that was just left lies in one whose bytes are wanted, or is to be left for
    /// another query that wants them.
    pub fn is_within_wanted(&self) -> bool {
        let Scratch { levels, regions, .. } = &*self.scratch;
        if let Phase::Tree(stage) = self.phase {
            let others = match (stage, &self.program.tree) {
                (Stage::LeavingQueries { node, query, .. }, Some(tree)) => &tree.queries(node)[query..],
                _ => &[],
            };
            return others.iter().any(|&query| self.wants.bytes_of(query))
                || self.open > 0 && levels.iter().any(|level| level.held);
        }
        let Due { first, next, end, .. } = self.due;
        regions[..first].iter().any(|region| region.held)
            || regions[next..end].iter().any(|region| self.wants.bytes_of(region.query))
    }

    /// Regions that were entered and not yet left. A node that a query selects in several ways is
    /// one region.
    pub fn open_regions(&self) -> usize {
        let Due { first, next, end, begun, leaving, .. } = self.due;
        if matches!(self.phase, Phase::Tree(_)) {
            return self.open;
        }
        let not_open = if leaving { next - first } else { end - next - usize::from(begun) };
        self.scratch.regions.len() - not_open
    }

    /// Whether nothing that is still to come can stand before the node that was just left. Where
    /// earlier ones of its query are still held, it belongs among them all the same.
    pub fn is_settled(&self, query: QueryId) -> bool {
        if matches!(self.phase, Phase::Tree(_)) {
            return self.scratch.search.is_settled();
        }
        self.scratch.blockers.get(query.index()).is_none_or(|blockers| *blockers == 0)
    }
}
