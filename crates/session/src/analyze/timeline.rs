//! The turns of a session: when each started, when it was answered, and its calls and errors.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use jiff::Timestamp;
use serde::Serialize;
use trommel::reader::Cursor;

use super::common::{Page, each_event};
use crate::error::{ErrorClass, Result};
use crate::event_types::current;
use crate::fields::FieldValues;
use crate::format::PartLocation;
use crate::layout::{EventMembers, Layout};
use crate::message::{Call, Message, MessageLimits};
use crate::records::{Damage, Flow, Log};
use crate::session::Session;
use crate::time::{milliseconds, to_rfc3339};
use crate::watch::Watch;

/// A page of turns.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// The turns.
    pub turns: Vec<Turn>,
    /// The total number of turns.
    pub total_count: u64,
    /// True if more turns follow this page.
    pub has_more: bool,
    /// The log that the turns were read from: `events` or `transcript`.
    pub from: &'static str,
    /// The records that could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// A turn.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Turn {
    /// Its number, from 1.
    pub turn_num: u64,
    /// The time of the user's prompt.
    pub user_ts: Option<String>,
    /// The time of the last answer.
    pub assistant_ts: Option<String>,
    /// The milliseconds from prompt to answer. None if the turn is unanswered or the clocks differ.
    pub duration_ms: Option<i64>,
    /// True if every answer has an earlier time than the prompt, because different clocks wrote
    /// them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clock_skew: bool,
    /// The number of tool calls.
    pub tool_calls: u64,
    /// The number of model responses.
    pub llm_responses: u64,
    /// The number of errors.
    pub errors: u64,
}

/// A turn that is still being read.
#[derive(Debug, Default)]
struct OpenTurn {
    number: u64,
    began: Option<Timestamp>,
    answered: Option<Timestamp>,
    tool_calls: u64,
    llm_responses: u64,
    errors: u64,
}

impl OpenTurn {
    fn close(&self) -> Turn {
        let duration = self.began.zip(self.answered).map(|(began, answered)| milliseconds(began, answered));
        Turn {
            turn_num: self.number,
            user_ts: self.began.map(to_rfc3339),
            assistant_ts: self.answered.map(to_rfc3339),
            duration_ms: duration.filter(|duration| *duration >= 0),
            clock_skew: duration.is_some_and(|duration| duration < 0),
            tool_calls: self.tool_calls,
            llm_responses: self.llm_responses,
            errors: self.errors,
        }
    }
}

/// Collects turns, and keeps those of one page.
struct Turns {
    page: Page,
    kept: Vec<Turn>,
    open: OpenTurn,
}

impl Turns {
    fn new(page: Page) -> Self {
        Self { page, kept: Vec::new(), open: OpenTurn::default() }
    }

    fn begin(&mut self, time: Option<Timestamp>) {
        self.push_open();
        self.open = OpenTurn { number: self.open.number + 1, began: time, ..OpenTurn::default() };
    }

    fn push_open(&mut self) {
        if let Some(before) = self.open.number.checked_sub(1)
            && self.page.takes(before, self.kept.len())
        {
            self.kept.push(self.open.close());
        }
    }

    fn answer(&mut self, time: Option<Timestamp>) {
        // Records are not necessarily written in chronological order.
        self.open.answered = self.open.answered.max(time);
    }

    fn end(mut self, from: &'static str, damage: Damage) -> Timeline {
        self.push_open();
        let total = self.open.number;
        let has_more = self.page.has_more(self.kept.len(), total);
        Timeline { turns: self.kept, total_count: total, has_more, from, damage }
    }
}

/// Reads turns from events. They start at prompts or, in sub-sessions, which have no prompts, at
/// executions.
fn by_events(log: &Log, layout: &Layout, page: Page, watch: &Watch<'_>) -> Result<Timeline> {
    let job = watch.job(log.len())?;
    // One pass collects both kinds of turns, as only its end shows whether there are prompts.
    let (mut prompts, mut executions) = (Turns::new(page), Turns::new(page));
    let damage = each_event(log, layout, &[], watch, |found, _| {
        let is_error = EventMembers::is_error(layout, found);
        prompts.add_event("prompt:submit", found, is_error);
        executions.add_event("execution:start", found, is_error);
        Ok(Flow::Continue)
    })?;
    job.done();
    let turns = if prompts.open.number > 0 { prompts } else { executions };
    Ok(turns.end("events", damage))
}

impl Turns {
    /// Adds an event. Events named `start_event` start a turn.
    fn add_event(&mut self, start_event: &str, found: &FieldValues, is_error: bool) {
        let time = EventMembers::time(found);
        let event = EventMembers::event(found);
        let name = current(&event);
        if name == start_event {
            self.begin(time);
        }
        match name {
            "tool:pre" => self.open.tool_calls += 1,
            "llm:response" => {
                self.open.llm_responses += 1;
                self.answer(time);
            }
            "prompt:complete" | "execution:end" => self.answer(time),
            _ => {}
        }
        self.open.errors += u64::from(is_error);
    }
}

/// The maximum number of IDs remembered at once: about 36 MiB.
const MAX_IDS: usize = 2_000_000;

/// A bounded set of IDs. When it is full, only the last ID is still recognized.
#[derive(Debug, Default)]
struct IdSet {
    keys: RandomState,
    ids: HashSet<u64>,
    last: Option<u64>,
}

impl IdSet {
    /// True if the ID was not seen before.
    fn is_new(&mut self, id: &str) -> bool {
        let key = self.keys.hash_one(id);
        let is_last = self.last.replace(key) == Some(key);
        if self.ids.len() < MAX_IDS { self.ids.insert(key) } else { !is_last && !self.ids.contains(&key) }
    }
}

/// IDs of responses and of calls. Each counts in the turn where it first appears.
#[derive(Default)]
struct KnownIds {
    responses: IdSet,
    /// None for formats that reuse call IDs.
    calls: Option<IdSet>,
}

fn add_message(turns: &mut Turns, message: &Message, ids: &mut KnownIds) {
    if message.is_prompt() {
        turns.begin(message.time);
    } else if message.role == "assistant" {
        let mut is_new = |call: &Call| match &mut ids.calls {
            Some(seen) if !call.id.is_empty() => seen.is_new(&call.id),
            _ => true,
        };
        turns.open.tool_calls += message.calls.iter().filter(|call| is_new(call)).count() as u64;
        let is_new =
            !message.is_synthetic() && message.response.as_ref().is_none_or(|id| ids.responses.is_new(id));
        turns.open.llm_responses += u64::from(is_new);
        if !message.is_side_message() {
            turns.answer(message.time);
        }
    }
    turns.open.errors += u64::from(message.is_error);
}

impl Session {
    /// Returns a page of the session's turns, read from its events or, without events, from its
    /// messages.
    pub fn timeline(&self, page: Page, watch: &Watch<'_>) -> Result<Timeline> {
        let page = page.check()?;
        if self.profile().events == PartLocation::InFile {
            match self.events(watch) {
                Ok(log) => return by_events(&log, self.layout(), page, watch),
                Err(error) if error.class() == ErrorClass::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        let log = self.transcript(watch)?;
        let job = watch.job(log.len())?;
        let calls = self.profile().has_unique_calls.then(IdSet::default);
        let (mut turns, mut ids) = (Turns::new(page), KnownIds { calls, ..KnownIds::default() });
        let limits = self.message_limits(MessageLimits::least());
        // Records without a message are included, as they may report errors.
        let read = |cursor: &mut Cursor<'_>| limits.read(cursor).map(Some);
        let damage = log.each(watch, read, |message, _| {
            add_message(&mut turns, &message, &mut ids);
            Ok(Flow::Continue)
        })?;
        job.done();
        Ok(turns.end("transcript", damage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_is_new_once() {
        let mut seen = IdSet::default();
        let new = ["a", "b", "a", "b", "c", "c"].map(|id| seen.is_new(id));
        assert_eq!(new, [true, true, false, false, true, false]);
    }
}
