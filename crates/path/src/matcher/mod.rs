//! Matching while pulling.
//!
//! A matcher walks down the containers in which some query can still select something and skips everything else. Each
//! container on the way is a `Frame`; the states of the automaton at its value are its `Active`s. A state whose query has no
//! segment left is a match, and becomes a `Region` for as long as its value lasts. There is no recursion: the frames are a
//! stack in the [`Scratch`], and `Phase` says what comes next.
//!
//! | module | what it does |
//! | --- | --- |
//! | `walk` | from child to child of a frame, and out of it |
//! | `select` | which states a child gets from those of its container |
//! | `region` | matches that begin and end |
//! | `ways` | the derivations of a node, where the order of the RFC tells them apart |
//! | `bound` | states that can select nothing that is still wanted |
//! | `trail` | all of it for plain paths, which need little of it |
//! | `descent` | its end in `..name` |
//! | `apart` | beginning in the middle of an array, and pausing there |
//! | `records` | filters on whole records |
//! | `scratch` | the memory of all that |

mod apart;
mod bound;
mod counted;
mod descent;
mod records;
mod region;
mod scratch;
mod select;
mod trail;
mod walk;
mod ways;

use trommel_reader::{Cursor, Error, Event, Kind, Listener, Result, Span};

use crate::eval::{Operand, answer_absolutes};
use crate::location::Location;
use crate::plan::{Order, Plan, QueryId};
pub use apart::Apart;
pub(crate) use counted::count_elements;
pub use records::RecordFilter;
pub use scratch::Scratch;
use scratch::{Due, Region};
use trail::Stage;

/// One step of a matcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "consumers match on all of it")]
pub enum Step {
    /// A node of a query begins. It counts `times` in the query's node list (more than once only with [`Order::Any`] or
    /// [`Order::Document`]; in RFC order each is entered by itself).
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
    /// Whatever was left for this query so far comes before everything that is still to come: what was held back to be
    /// sorted by [`Matcher::key`] can be let go. Comes only after matches that had to be held.
    Settled(QueryId),
}

/// What the consumer wants of the matches.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Wants {
    /// For each query, whether the events inside its regions are wanted. Where no open region wants events, the inside
    /// is skipped.
    pub events: Vec<bool>,
    /// For each query, whether the node's bytes must be readable when it is left.
    pub bytes: Vec<bool>,
    /// Whether [`Matcher::location`] is asked for.
    pub location: bool,
    /// For each query, whether it need not be told that its nodes are entered.
    pub no_enter: Vec<bool>,
    /// For each query, whether it need not be told that its nodes are left. Then it may be told that one is entered when it
    /// was passed.
    pub no_leave: Vec<bool>,
    /// For each query, whether nothing is wanted of its nodes but their number. Then it may be told of many at once, and where
    /// it is told the matcher may be elsewhere.
    pub only_count: Vec<bool>,
    /// For each query, whether the matcher may be further on than behind the node that it says was left. The node's bytes can be
    /// read all the same.
    pub ahead: Vec<bool>,
}

impl Wants {
    fn events_of(&self, query: QueryId) -> bool {
        self.events.get(query.index()).copied().unwrap_or(false)
    }

    fn bytes_of(&self, query: QueryId) -> bool {
        self.bytes.get(query.index()).copied().unwrap_or(false)
    }

    fn only_counts(&self, query: QueryId) -> bool {
        self.only_count.get(query.index()).copied().unwrap_or(false)
    }

    /// Whether nodes of a query are only told of when they are left, and may be when the matcher is further on.
    fn allows_ahead(&self, query: QueryId) -> bool {
        let allowed = self.ahead.get(query.index()).copied().unwrap_or(false);
        allowed && self.tells_leave_of(query) && !self.tells_enter_of(query)
    }

    fn tells_enter_of(&self, query: QueryId) -> bool {
        !self.no_enter.get(query.index()).copied().unwrap_or(false)
    }

    fn tells_leave_of(&self, query: QueryId) -> bool {
        !self.no_leave.get(query.index()).copied().unwrap_or(false)
    }
}

/// A match alone, for who wants no events.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Matched {
    Enter { times: u64 },
    Leave { span: Span },
}

/// Pulls the events of records and says which queries' regions they lie in.
///
/// It forwards the cursor's events inside of the regions that want them, and skips everything in which no query can
/// select anything. Regions nest as the values do: of two open ones the later entered is left first, or together with the
/// other when both are the same node. After an error every step returns it again, until
/// [`next_record`](Self::next_record) goes on where the framing allows to.
///
/// A step takes time in proportion to the bytes passed and the states alive, and allocates nothing once the scratch has
/// grown to the depth of the input; what filters look at is looked at again for each of them.
pub struct Matcher<'m, 'c> {
    plan: &'m Plan,
    scratch: &'m mut Scratch,
    cursor: &'m mut Cursor<'c>,
    wants: &'m Wants,
    /// The answers of the queries from `$`, when this is a query inside a filter.
    answers: Option<&'m [Operand<'static>]>,
    phase: Phase,
    /// Open regions that want events.
    listening: u32,
    /// The region left last.
    left: Option<Region>,
    due: Due,
    /// Nodes of plain paths that were entered and not yet left.
    open: usize,
    /// Kind, start and end of the value that is being looked at.
    kind: Option<Kind>,
    start: u64,
    end: u64,
    failure: Option<Error>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Down the tree of plain paths.
    Trail(Stage),
    /// `Scratch::next` holds the states of the value that comes next.
    Value,
    /// The regions of the value that comes next were entered.
    Inside,
    /// To the next child of the innermost frame.
    Walk,
    /// The events of a value in which no query can select anything, down to this depth.
    Forward(u32),
    /// The value that began at `start` has ended, at this offset.
    Close(u64),
    /// Before the next child of the innermost frame; others match it.
    Paused,
    /// There is no record, or it holds nothing more.
    Done,
}

impl Plan {
    /// A matcher over the records of a cursor.
    pub fn matcher<'m, 'c>(
        &'m self,
        scratch: &'m mut Scratch,
        cursor: &'m mut Cursor<'c>,
        wants: &'m Wants,
    ) -> Matcher<'m, 'c> {
        Matcher::new(self, scratch, cursor, wants)
    }

    /// A matcher over the value that comes next, for a query inside a filter.
    pub(crate) fn matcher_within<'m, 'c>(
        &'m self,
        scratch: &'m mut Scratch,
        cursor: &'m mut Cursor<'c>,
        answers: &'m [Operand<'static>],
    ) -> Matcher<'m, 'c> {
        const NOTHING: &Wants = &Wants {
            events: Vec::new(),
            bytes: Vec::new(),
            location: false,
            no_enter: Vec::new(),
            no_leave: Vec::new(),
            only_count: Vec::new(),
            ahead: Vec::new(),
        };
        let mut matcher = Matcher::new(self, scratch, cursor, NOTHING);
        matcher.answers = Some(answers);
        matcher.begin();
        matcher
    }
}

impl<'m, 'c> Matcher<'m, 'c> {
    fn new(plan: &'m Plan, scratch: &'m mut Scratch, cursor: &'m mut Cursor<'c>, wants: &'m Wants) -> Self {
        Self {
            plan,
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

    /// Goes to the next record; `false` when there is none. A record that was not matched to its end is left.
    pub fn next_record(&mut self) -> Result<bool> {
        self.phase = Phase::Done;
        if let Some(failure) = &self.failure
            && !self.cursor.can_recover()
        {
            return Err(failure.clone());
        }
        self.failure = None;
        if !self.cursor.next_record()? {
            return Ok(false);
        }
        self.this_record()?;
        Ok(true)
    }

    /// Begins with the record before whose value the cursor stands.
    pub fn this_record(&mut self) -> Result<()> {
        self.listening = 0;
        self.left = None;
        self.due = Due::default();
        self.failure = None;
        self.phase = Phase::Done;
        self.scratch.memory.forget();
        if !self.plan.absolutes.is_empty() {
            // The nodes found are compared with later: the whole record stays readable.
            self.cursor.hold();
            let Scratch { memory, answers, .. } = &mut *self.scratch;
            let answered = answer_absolutes(&self.plan.absolutes, self.cursor, memory, answers);
            self.noted(answered)?;
        }
        self.begin();
        Ok(())
    }

    /// Forgets the last value, and begins with the one that comes next.
    fn begin(&mut self) {
        self.open = 0;
        if self.trails_wanted() {
            self.scratch.restart_on_trail(self.plan);
            self.phase = Phase::Trail(Stage::Value { node: 0 });
        } else {
            self.scratch.restart(self.plan);
            self.phase = Phase::Value;
        }
    }

    /// The first node that a query selects when it starts at the value that was just entered; the cursor stays. Its bytes
    /// can be read until the next step. Queries from `$` inside of its filters find nothing.
    pub fn look(&mut self, query: &Plan, scratch: &mut Scratch) -> Result<Option<Span>> {
        let mark = self.cursor.hold();
        scratch.memory.forget();
        let first = query.matcher_within(scratch, self.cursor, &[]).first_node();
        let first = self.noted(first)?;
        self.cursor.rewind(&mark);
        self.cursor.release();
        Ok(first)
    }

    fn first_node(mut self) -> Result<Option<Span>> {
        while let Some(matched) = self.next_match()? {
            if let Matched::Leave { span } = matched {
                return Ok(Some(span));
            }
        }
        Ok(None)
    }

    /// The next step, or `None` when the record can add nothing more.
    pub fn advance(&mut self) -> Result<Option<Step>> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let stepped = self.step();
        self.noted(stepped)
    }

    /// Hands on, one after the other, the events up to the end of a value in which no query can select anything, where the
    /// matcher is inside of one; elsewhere none. They are the same that [`advance`](Self::advance) gives, for less.
    pub fn forward(&mut self, listener: &mut impl Listener) -> Result<()> {
        self.forward_until(0, u64::MAX, listener)
    }

    /// The same until no more than `depth` containers are open, or an offset is reached.
    pub fn forward_until(&mut self, depth: u32, offset: u64, listener: &mut impl Listener) -> Result<()> {
        if let Phase::Forward(floor) = self.phase {
            let told = self.cursor.listen(depth.max(floor), offset, listener);
            self.noted(told)?;
            if self.cursor.depth() == floor {
                self.phase = Phase::Close(self.cursor.offset());
            }
        }
        Ok(())
    }

    /// Whether the matcher is inside of a value in which no query can select anything.
    pub fn is_forwarding(&self) -> bool {
        matches!(self.phase, Phase::Forward(_))
    }

    fn step(&mut self) -> Result<Option<Step>> {
        let plan = self.plan;
        if let (Phase::Trail(stage), Some(trails)) = (self.phase, &plan.trails) {
            return self.follow(trails, stage);
        }
        loop {
            if let Some(step) = self.next_due() {
                return Ok(Some(step));
            }
            let event = match self.phase {
                Phase::Value => self.enter_regions().map(|()| None)?,
                Phase::Inside => self.enter_value()?,
                Phase::Walk => self.walk()?,
                Phase::Forward(floor) => Some(self.forward_one(floor)?),
                Phase::Close(end) => {
                    self.leave_regions(end);
                    None
                }
                Phase::Trail(_) | Phase::Paused | Phase::Done => return Ok(None),
            };
            if let Some(event) = event {
                return Ok(Some(Step::Event(event)));
            }
        }
    }

    /// Notes an error, so that it is final for the record even where the cursor could go on.
    fn noted<T>(&mut self, outcome: Result<T>) -> Result<T> {
        if let Err(error) = &outcome {
            self.failure = Some(error.clone());
        }
        outcome
    }

    /// The next match that begins or ends.
    pub(crate) fn next_match(&mut self) -> Result<Option<Matched>> {
        while let Some(step) = self.advance()? {
            match step {
                Step::Enter { times, .. } => return Ok(Some(Matched::Enter { times })),
                Step::Leave { span, .. } => return Ok(Some(Matched::Leave { span })),
                Step::Event(_) | Step::Settled(_) => {}
            }
        }
        Ok(None)
    }

    /// The cursor, for the payload of an event and the bytes of a span.
    pub fn cursor(&self) -> &Cursor<'c> {
        self.cursor
    }

    /// The cursor, for what needs it moved: only between records, or to where it stood.
    pub fn cursor_mut(&mut self) -> &mut Cursor<'c> {
        self.cursor
    }

    /// Where the node stands that was just entered or left; empty unless [`Wants::location`] asks for it.
    pub fn location(&self) -> &Location {
        &self.scratch.location
    }

    /// What the node that was just left is sorted by among the nodes of its query: keys compare word by word, and all of
    /// a query are of one length. Empty when the query's nodes come in the order wanted. Changes with the next step.
    pub fn key(&self) -> &[u64] {
        let Some(left) = &self.left else { return &[] };
        match self.plan.order_of(left.query) {
            Order::Rfc if matches!(self.phase, Phase::Trail(_)) => self.scratch.descent.key(),
            Order::Rfc => self.scratch.ways.key(),
            Order::Document => std::slice::from_ref(&left.start),
            Order::Any => &[],
        }
    }

    /// Type of the value that was just entered; `None` when it is none, which the next step reports.
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// Absolute offset of the value that was just entered.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Whether the node that was just left lies in one whose bytes are wanted, or is to be left for another query that wants
    /// them.
    pub fn is_within_wanted(&self) -> bool {
        let Scratch { levels, regions, .. } = &*self.scratch;
        if let Phase::Trail(stage) = self.phase {
            let others = match (stage, &self.plan.trails) {
                (Stage::Leave { node, query, .. }, Some(trails)) => trails.queries(node).get(query..),
                _ => None,
            };
            return others.unwrap_or_default().iter().any(|&query| self.wants.bytes_of(query))
                || self.open > 0 && levels.iter().any(|level| level.held);
        }
        let Due { first, next, end, .. } = self.due;
        let (around, others) = (regions.get(..first), regions.get(next..end));
        around.unwrap_or_default().iter().any(|region| region.held)
            || others.unwrap_or_default().iter().any(|region| self.wants.bytes_of(region.query))
    }

    /// Regions that were entered and not yet left. A node that a query selects in several ways is one region.
    pub fn open_regions(&self) -> usize {
        let Due { first, next, end, begun, leaving, .. } = self.due;
        if matches!(self.phase, Phase::Trail(_)) {
            return self.open;
        }
        let not_open = if leaving { next - first } else { end - next - usize::from(begun) };
        self.scratch.regions.len() - not_open
    }

    /// Whether nothing that is still to come can stand before the node that was just left. Where earlier ones of its
    /// query are still held, it belongs among them all the same.
    pub fn is_settled(&self, query: QueryId) -> bool {
        if matches!(self.phase, Phase::Trail(_)) {
            return self.scratch.descent.is_settled();
        }
        self.scratch.blockers.get(query.index()).is_none_or(|blockers| *blockers == 0)
    }
}
