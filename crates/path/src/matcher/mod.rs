//! Matching while pulling.

mod scratch;
mod select;

use trommel_reader::{Cursor, Event, Kind, Result, Span};

use crate::eval::{Operand, answer_absolutes};
use crate::location::Location;
use crate::plan::{Order, Plan, QueryId};
pub use scratch::Scratch;
use scratch::{Frame, Key, Region};

/// One step of a matcher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "consumers match on all of it")]
pub enum Step {
    /// A node of a query begins. It counts `times` in the query's node list (more than once only with [`Order::Any`] or
    /// [`Order::Document`]; in RFC order each is entered by itself).
    Enter {
        /// The query.
        query: QueryId,
        /// How often the node stands in its node list.
        times: u64,
    },
    /// An event inside of at least one region whose events are wanted.
    Event(Event),
    /// A node ends.
    Leave {
        /// The query.
        query: QueryId,
        /// How often the node stands in its node list.
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
/// select anything. After an error every step returns it again, until [`next_record`](Self::next_record) goes on.
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
    /// The region left last, and the holds that end with those left.
    left: Option<Region>,
    releases: u32,
    /// Kind and start of the value that is being looked at.
    kind: Option<Kind>,
    start: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Before a record.
    Record,
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
    /// The record holds nothing more.
    Done,
}

/// Elements of the array that the cursor has just entered; the cursor stays.
pub(crate) fn remaining_elements(cursor: &mut Cursor<'_>) -> Result<u64> {
    let mark = cursor.hold();
    let mut count = 0;
    while cursor.next_element()? {
        cursor.skip_value()?;
        count += 1;
    }
    cursor.rewind(&mark);
    cursor.release();
    Ok(count)
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
        const NOTHING: &Wants = &Wants { events: Vec::new(), bytes: Vec::new(), location: false };
        scratch.restart(self);
        let mut matcher = Matcher::new(self, scratch, cursor, NOTHING);
        matcher.answers = Some(answers);
        matcher.phase = Phase::Value;
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
            phase: Phase::Record,
            listening: 0,
            left: None,
            releases: 0,
            kind: None,
            start: 0,
        }
    }

    /// Goes to the next record; `false` when there is none. A record that was not matched to its end is left.
    pub fn next_record(&mut self) -> Result<bool> {
        self.phase = Phase::Done;
        if !self.cursor.next_record()? {
            return Ok(false);
        }
        self.this_record()?;
        Ok(true)
    }

    /// Begins with the record before whose value the cursor stands.
    pub fn this_record(&mut self) -> Result<()> {
        self.listening = 0;
        self.releases = 0;
        self.left = None;
        self.scratch.restart(self.plan);
        if !self.plan.absolutes.is_empty() {
            // The nodes found are compared with later: the whole record stays readable.
            self.cursor.hold();
            let Scratch { memory, answers, .. } = &mut *self.scratch;
            answer_absolutes(&self.plan.absolutes, self.cursor, memory, answers)?;
        }
        self.phase = Phase::Value;
        Ok(())
    }

    /// The first node that a query selects when it starts at the value that was just entered; the cursor stays. Its bytes
    /// can be read until the next step. Queries from `$` inside of its filters find nothing.
    pub fn look(&mut self, query: &Plan, scratch: &mut Scratch) -> Result<Option<Span>> {
        let mark = self.cursor.hold();
        let mut matcher = query.matcher_within(scratch, self.cursor, &[]);
        let mut found = None;
        while found.is_none() {
            match matcher.next_match()? {
                Some(Matched::Leave { span }) => found = Some(span),
                Some(Matched::Enter { .. }) => {}
                None => break,
            }
        }
        self.cursor.rewind(&mark);
        self.cursor.release();
        Ok(found)
    }

    /// The next step, or `None` when the record can add nothing more.
    pub fn advance(&mut self) -> Result<Option<Step>> {
        loop {
            if let Some(step) = self.next_pending() {
                return Ok(Some(step));
            }
            let event = match self.phase {
                Phase::Value => self.enter_regions().map(|()| None)?,
                Phase::Inside => self.enter_value()?,
                Phase::Walk => self.walk()?,
                Phase::Forward(floor) => Some(self.forward(floor)?),
                Phase::Close(end) => {
                    self.leave_regions(end);
                    None
                }
                Phase::Record | Phase::Done => return Ok(None),
            };
            if let Some(event) = event {
                return Ok(Some(Step::Event(event)));
            }
        }
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

    /// Where the node stands that was just entered or left.
    pub fn location(&self) -> &Location {
        &self.scratch.location
    }

    /// What the node that was just left is sorted by among the nodes of its query: keys compare word by word. Empty when
    /// the query's nodes come in the order wanted.
    pub fn key(&self) -> &[u64] {
        let Some(left) = &self.left else { return &[] };
        match self.plan.order_of(left.query) {
            Order::Rfc => self.scratch.words.get(left.key.start..left.key.end).unwrap_or_default(),
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

    /// Regions that were entered and not yet left.
    pub fn open_regions(&self) -> usize {
        self.scratch.regions.len()
    }

    /// Whether nothing that is still to come can stand before the node that was just left.
    pub fn is_settled(&self, query: QueryId) -> bool {
        self.scratch.blockers.get(query.index()).is_none_or(|blockers| *blockers == 0)
    }

    fn next_pending(&mut self) -> Option<Step> {
        let step = self.scratch.pending.get(self.scratch.pending_at).copied();
        match step {
            Some(step) => {
                self.scratch.pending_at += 1;
                if let Step::Leave { .. } = step {
                    let region = self.scratch.regions.remove(self.first_region());
                    self.releases += u32::from(region.held);
                    self.left = Some(region);
                }
                Some(step)
            }
            None => {
                self.scratch.pending.clear();
                self.scratch.pending_at = 0;
                self.left = None;
                for _ in 0..std::mem::take(&mut self.releases) {
                    self.cursor.release();
                }
                None
            }
        }
    }

    /// The first of the regions of the innermost node that has any.
    fn first_region(&self) -> usize {
        let regions = &self.scratch.regions;
        let depth = regions.last().map_or(0, |region| region.depth);
        regions.iter().rposition(|region| region.depth < depth).map_or(0, |before| before + 1)
    }

    /// Enters the regions of the value that comes next, and keeps the states that are no matches.
    fn enter_regions(&mut self) -> Result<()> {
        self.kind = self.cursor.peek()?;
        self.start = self.cursor.offset();
        if !self.plan.conditions.is_empty() {
            self.drop_conditioned()?;
        }
        let mut next = std::mem::take(&mut self.scratch.next);
        let mut held = false;
        next.retain(|active| {
            if self.plan.segment_of(active.state).is_some() {
                return true;
            }
            let query = self.plan.query_of(active.state);
            let wanted = |wants: &[bool]| wants.get(query.index()).copied().unwrap_or(false);
            self.listening += u32::from(wanted(&self.wants.events));
            let hold = wanted(&self.wants.bytes) && !held;
            held |= hold;
            self.enter(query, active.times, active.key, hold);
            false
        });
        self.scratch.next = next;
        if held {
            self.cursor.hold();
        }
        self.phase = Phase::Inside;
        Ok(())
    }

    /// Drops the matches that do not pass their query's condition.
    fn drop_conditioned(&mut self) -> Result<()> {
        self.scratch.tested.clear();
        let mut at = 0;
        while let Some(active) = self.scratch.next.get(at) {
            let matched = self.plan.segment_of(active.state).is_none();
            let query = self.plan.query_of(active.state);
            let condition = self.plan.conditions.get(query.index()).copied().flatten().filter(|_| matched);
            match condition {
                Some(condition) if !self.passes(condition)? => {
                    self.scratch.next.swap_remove(at);
                }
                _ => at += 1,
            }
        }
        Ok(())
    }

    fn enter(&mut self, query: QueryId, times: u64, key: Key, held: bool) {
        let depth = self.scratch.frames.len();
        self.scratch.regions.push(Region { query, times, key, start: self.start, depth, held });
        self.scratch.pending.push(Step::Enter { query, times });
        if self.plan.order_of(query) == Order::Document {
            self.scratch.block(query);
        }
    }

    /// Enters, forwards or skips the value whose regions were entered.
    fn enter_value(&mut self) -> Result<Option<Event>> {
        let object = match self.kind {
            Some(Kind::Object) => Some(true),
            Some(Kind::Array) => Some(false),
            _ => None,
        };
        if let Some(object) = object
            && self.scratch.next.iter().any(|active| {
                self.plan
                    .segment_of(active.state)
                    .is_some_and(|segment| segment.descendant || segment.selects_in(object))
            })
        {
            let event = self.cursor.begin_value()?;
            self.push_frame(object)?;
            self.phase = Phase::Walk;
            return Ok((self.listening > 0).then_some(event));
        }
        if self.listening > 0 {
            let event = self.cursor.begin_value()?;
            self.phase = match event {
                Event::Begin(_) => Phase::Forward(self.cursor.depth() - 1),
                _ => Phase::Close(self.cursor.span().end),
            };
            return Ok(Some(event));
        }
        let span = self.cursor.skip_value()?;
        self.phase = Phase::Close(span.end);
        Ok(None)
    }

    fn push_frame(&mut self, object: bool) -> Result<()> {
        let counted =
            !object
                && self.scratch.next.iter().any(|active| {
                    self.plan.segment_of(active.state).is_some_and(|segment| segment.needs_length)
                });
        let length = if counted { remaining_elements(self.cursor)? } else { 0 };
        let mut frame = Frame {
            start: self.start,
            object,
            index: 0,
            length,
            active: self.scratch.active.len(),
            found: self.scratch.found.len(),
            words: self.scratch.words.len(),
            live: 0,
            check_at: u64::MAX,
            dirty: false,
        };
        self.scratch.adopt(self.plan, &mut frame);
        self.scratch.frames.push(frame);
        Ok(())
    }

    /// To the next child of the innermost frame that matters, or out of the frame.
    fn walk(&mut self) -> Result<Option<Event>> {
        let Some(mut frame) = self.scratch.frames.pop() else {
            self.phase = Phase::Done;
            return Ok(None);
        };
        let stepped = self.walk_in(&mut frame);
        match stepped {
            Ok(Walked::Child(event)) => {
                self.scratch.frames.push(frame);
                self.phase = Phase::Value;
                Ok(event)
            }
            Ok(Walked::Out) => {
                self.start = frame.start;
                self.drop_frame(&frame);
                self.phase = Phase::Close(self.cursor.offset());
                let end = Event::End(if frame.object { Kind::Object } else { Kind::Array });
                Ok((self.listening > 0).then_some(end))
            }
            Ok(Walked::Decided) => {
                self.phase = Phase::Done;
                Ok(None)
            }
            Err(error) => {
                self.scratch.frames.push(frame);
                Err(error)
            }
        }
    }

    fn walk_in(&mut self, frame: &mut Frame) -> Result<Walked> {
        loop {
            self.scratch.words.truncate(frame.words);
            if frame.dirty || frame.index >= frame.check_at {
                self.refresh(frame);
            }
            if frame.live == 0 && self.listening == 0 {
                if self.scratch.regions.is_empty() && self.scratch.frames.iter().all(|outer| outer.live == 0)
                {
                    return Ok(Walked::Decided);
                }
                self.cursor.leave()?;
                return Ok(Walked::Out);
            }
            let more = if frame.object { self.cursor.next_member()? } else { self.cursor.next_element()? };
            if !more {
                return Ok(Walked::Out);
            }
            if frame.object {
                self.select_member(frame)?;
            } else {
                self.select_element(frame)?;
                frame.index += 1;
            }
            if !self.scratch.next.is_empty() || self.listening > 0 {
                self.note_location(frame);
                return Ok(Walked::Child((frame.object && self.listening > 0).then_some(Event::Name)));
            }
        }
    }

    /// Looks again at which states can still select something.
    fn refresh(&mut self, frame: &mut Frame) {
        frame.dirty = false;
        frame.check_at = u64::MAX;
        for at in self.scratch.states_of(frame) {
            let active = self.scratch.active[at];
            if active.exhausted {
                continue;
            }
            let exhausted = if frame.object { active.left == 0 } else { frame.index >= active.left };
            if !exhausted {
                if !frame.object {
                    frame.check_at = frame.check_at.min(active.left);
                }
                continue;
            }
            self.scratch.active[at].exhausted = true;
            if active.blocking {
                self.scratch.active[at].blocking = false;
                self.scratch.unblock(self.plan.query_of(active.state));
            }
            if self.plan.segment_of(active.state).is_some_and(|segment| !segment.descendant) {
                frame.live -= 1;
            }
        }
    }

    fn drop_frame(&mut self, frame: &Frame) {
        for at in self.scratch.states_of(frame) {
            let active = self.scratch.active[at];
            if active.blocking {
                self.scratch.unblock(self.plan.query_of(active.state));
            }
        }
        self.scratch.active.truncate(frame.active);
        self.scratch.found.truncate(frame.found);
        self.scratch.words.truncate(frame.words);
    }

    fn note_location(&mut self, frame: &Frame) {
        if !self.wants.location {
            return;
        }
        self.scratch.location.truncate(self.scratch.frames.len());
        if frame.object {
            if let Some(name) = self.cursor.name() {
                self.scratch.location.push_name(&name.decode());
            }
        } else {
            self.scratch.location.push_index(frame.index - 1);
        }
    }

    fn forward(&mut self, floor: u32) -> Result<Event> {
        // Inside of a container there always is a next event, or an error.
        let event = self.cursor.advance()?.unwrap_or(Event::Scalar(Kind::Null));
        if self.cursor.depth() == floor {
            self.phase = Phase::Close(self.cursor.offset());
        }
        Ok(event)
    }

    /// Leaves the regions of the value that has just ended.
    fn leave_regions(&mut self, end: u64) {
        let depth = self.scratch.frames.len();
        self.phase = if depth == 0 { Phase::Done } else { Phase::Walk };
        if self.wants.location {
            self.scratch.location.truncate(depth);
        }
        let first = self
            .scratch
            .regions
            .iter()
            .rposition(|region| region.depth < depth)
            .map_or(0, |before| before + 1);
        for at in first..self.scratch.regions.len() {
            let Region { query, times, start, .. } = self.scratch.regions[at];
            let wants = self.wants.events.get(query.index()).copied().unwrap_or(false);
            self.listening -= u32::from(wants);
            self.scratch.pending.push(Step::Leave { query, times, span: Span::new(start, end) });
            let order = self.plan.order_of(query);
            let blocked = self.scratch.blockers.get(query.index()).is_some_and(|blockers| *blockers > 0);
            if blocked && order != Order::Any {
                self.scratch.unsettled[query.index()] = true;
            }
            if order == Order::Document {
                self.scratch.unblock(query);
            }
        }
    }
}

enum Walked {
    /// The value that comes next matters.
    Child(Option<Event>),
    /// The frame's container was left.
    Out,
    /// Nothing that follows in the record can matter.
    Decided,
}
