//! The turns of a session: when each began, when it was answered, and what it took.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use jiff::Timestamp;
use serde::Serialize;
use trommel::reader::Cursor;

use super::common::{Page, each_event};
use crate::error::{ErrorClass, Result};
use crate::format::Kept;
use crate::layout::{Known, Layout};
use crate::message::{Call, Keep, Message};
use crate::names::current;
use crate::project::Found;
use crate::records::{Damage, Flow, Log};
use crate::session::Session;
use crate::time::{milliseconds, spelt};
use crate::watch::Watch;

/// A page of turns.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Timeline {
    /// The turns.
    pub turns: Vec<Turn>,
    /// How many there are.
    pub total_count: u64,
    /// Whether there are more behind these.
    pub has_more: bool,
    /// What they were told by: `events` or `transcript`.
    pub from: &'static str,
    /// What could not be read.
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
    /// From the one to the other; none where it was not answered, and where the times contradict
    /// each other.
    pub duration_ms: Option<i64>,
    /// True if every answer has an earlier time than the prompt: the clocks that wrote them differ.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub clock_skew: bool,
    /// How many tools were called.
    pub tool_calls: u64,
    /// How often a model answered.
    pub llm_responses: u64,
    /// How many errors there were.
    pub errors: u64,
}

/// A turn that is not over.
#[derive(Debug, Default)]
struct Open {
    number: u64,
    began: Option<Timestamp>,
    answered: Option<Timestamp>,
    tool_calls: u64,
    llm_responses: u64,
    errors: u64,
}

impl Open {
    fn close(&self) -> Turn {
        let duration = self.began.zip(self.answered).map(|(began, answered)| milliseconds(began, answered));
        Turn {
            turn_num: self.number,
            user_ts: self.began.map(spelt),
            assistant_ts: self.answered.map(spelt),
            duration_ms: duration.filter(|duration| *duration >= 0),
            clock_skew: duration.is_some_and(|duration| duration < 0),
            tool_calls: self.tool_calls,
            llm_responses: self.llm_responses,
            errors: self.errors,
        }
    }
}

/// Turns as they come by, of which one page is kept.
struct Turns {
    page: Page,
    kept: Vec<Turn>,
    open: Open,
}

impl Turns {
    fn new(page: Page) -> Self {
        Self { page, kept: Vec::new(), open: Open::default() }
    }

    fn begin(&mut self, time: Option<Timestamp>) {
        self.keep();
        self.open = Open { number: self.open.number + 1, began: time, ..Open::default() };
    }

    fn keep(&mut self) {
        if let Some(before) = self.open.number.checked_sub(1)
            && self.page.takes(before, self.kept.len())
        {
            self.kept.push(self.open.close());
        }
    }

    fn answer(&mut self, time: Option<Timestamp>) {
        // Records may be written in another order than that of their times.
        self.open.answered = self.open.answered.max(time);
    }

    fn end(mut self, from: &'static str, damage: Damage) -> Timeline {
        self.keep();
        let total = self.open.number;
        let has_more = self.page.has_more(self.kept.len(), total);
        Timeline { turns: self.kept, total_count: total, has_more, from, damage }
    }
}

/// Turns by events: they begin with prompts, and where there are none, which are sub-sessions, with
/// executions.
fn by_events(log: &Log, layout: &Layout, page: Page, watch: &Watch<'_>) -> Result<Timeline> {
    let job = watch.job(log.len())?;
    let (mut prompts, mut executions) = (Turns::new(page), Turns::new(page));
    let damage = each_event(log, layout, &[], watch, |found, _| {
        let is_error = Known::is_error(layout, found);
        prompts.take_event("prompt:submit", found, is_error);
        executions.take_event("execution:start", found, is_error);
        Ok(Flow::On)
    })?;
    job.done();
    let turns = if prompts.open.number > 0 { prompts } else { executions };
    Ok(turns.end("events", damage))
}

impl Turns {
    /// Takes an event, where turns begin at events of this name.
    fn take_event(&mut self, begins: &str, found: &Found, is_error: bool) {
        let time = Known::time(found);
        let event = Known::event(found);
        let name = current(&event);
        if name == begins {
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

/// IDs that are remembered at once: some 36 MiB.
const MOST: usize = 2_000_000;

/// A set of IDs. Of one that is full only the last ID is remembered.
#[derive(Debug, Default)]
struct Seen {
    keys: RandomState,
    ids: HashSet<u64>,
    last: Option<u64>,
}

impl Seen {
    /// True the first time that it is given an ID.
    fn is_new(&mut self, id: &str) -> bool {
        let key = self.keys.hash_one(id);
        let is_last = self.last.replace(key) == Some(key);
        if self.ids.len() < MOST { self.ids.insert(key) } else { !is_last && !self.ids.contains(&key) }
    }
}

/// IDs of responses and of calls, each counted in the turn where it appears first.
#[derive(Default)]
struct KnownIds {
    responses: Seen,
    /// None where programs use IDs of calls again.
    calls: Option<Seen>,
}

fn take_message(turns: &mut Turns, message: &Message, ids: &mut KnownIds) {
    if message.is_users() {
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
        if !message.is_inner() {
            turns.answer(message.time);
        }
    }
    turns.open.errors += u64::from(message.is_error);
}

impl Session {
    /// A page of its turns: by its events, where there are any, else by its messages.
    pub fn timeline(&self, page: Page, watch: &Watch<'_>) -> Result<Timeline> {
        let page = page.check()?;
        if self.profile().events == Kept::InFile {
            match self.events(watch) {
                Ok(log) => return by_events(&log, self.layout(), page, watch),
                Err(error) if error.class() == ErrorClass::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        let log = self.transcript(watch)?;
        let job = watch.job(log.len())?;
        let calls = self.profile().has_unique_calls.then(Seen::default);
        let (mut turns, mut ids) = (Turns::new(page), KnownIds { calls, ..KnownIds::default() });
        let keep = self.keep(Keep::least());
        // Also records without a message, which may be of errors.
        let look = |cursor: &mut Cursor<'_>| keep.read(cursor).map(Some);
        let damage = log.each(watch, look, |message, _| {
            take_message(&mut turns, &message, &mut ids);
            Ok(Flow::On)
        })?;
        job.done();
        Ok(turns.end("transcript", damage))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_new_once() {
        let mut seen = Seen::default();
        let new = ["a", "b", "a", "b", "c", "c"].map(|id| seen.is_new(id));
        assert_eq!(new, [true, true, false, false, true, false]);
    }
}
