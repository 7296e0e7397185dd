//! The turns of a session: when each began, when it was answered, and what it took.

use jiff::Timestamp;
use serde::Serialize;

use super::{Page, each_event};
use crate::error::{ErrorKind, Result};
use crate::events::Known;
use crate::message::{Keep, Message};
use crate::names::current;
use crate::project::Found;
use crate::records::{Damage, Flow, Log};
use crate::session::{Format, Session};
use crate::time::{milliseconds, spelt};
use crate::transcript::messages;
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
    /// When the user said something.
    pub user_ts: Option<String>,
    /// When it was answered last.
    pub assistant_ts: Option<String>,
    /// From the one to the other.
    pub duration_ms: Option<i64>,
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
        let duration = |(began, answered)| milliseconds(began, answered);
        Turn {
            turn_num: self.number,
            user_ts: self.began.map(spelt),
            assistant_ts: self.answered.map(spelt),
            duration_ms: self.began.zip(self.answered).map(duration),
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
        self.open.answered = time.or(self.open.answered);
    }

    fn end(mut self, from: &'static str, damage: Damage) -> Timeline {
        self.keep();
        let total = self.open.number;
        let has_more = self.page.has_more(self.kept.len(), total);
        Timeline { turns: self.kept, total_count: total, has_more, from, damage }
    }
}

/// Turns by events: they begin with prompts, and where there are none, which are sub-sessions, with executions.
fn by_events(log: &Log, page: Page, watch: &Watch<'_>) -> Result<Timeline> {
    let job = watch.job(log.len())?;
    let (mut prompts, mut executions) = (Turns::new(page), Turns::new(page));
    let damage = each_event(log, Format::Amplifier, &[], watch, |found, _| {
        take_event(&mut prompts, "prompt:submit", found);
        take_event(&mut executions, "execution:start", found);
        Ok(Flow::On)
    })?;
    job.done();
    let turns = if prompts.open.number > 0 { prompts } else { executions };
    Ok(turns.end("events", damage))
}

/// What an event does to the turns, which begin at events of this name.
fn take_event(turns: &mut Turns, begins: &str, found: &Found) {
    let time = Known::time(found);
    let event = Known::event(found);
    let name = current(&event);
    if name == begins {
        turns.begin(time);
    }
    match name {
        "tool:pre" => turns.open.tool_calls += 1,
        "llm:response" => {
            turns.open.llm_responses += 1;
            turns.answer(time);
        }
        "prompt:complete" | "execution:end" => turns.answer(time),
        _ => {}
    }
    turns.open.errors += u64::from(Known::is_error(found));
}

fn take_message(turns: &mut Turns, message: &Message, responses: &mut Responses) {
    if message.is_users() {
        turns.begin(message.time);
    } else if message.role == "assistant" {
        turns.open.tool_calls += message.calls.len() as u64;
        turns.open.llm_responses += u64::from(responses.is_new(message));
        if !message.is_inner() {
            turns.answer(message.time);
        }
    }
    turns.open.errors += u64::from(message.is_error);
}

/// Tells records of one response, which follow each other, from those of the next.
#[derive(Debug, Default)]
struct Responses(Option<String>);

impl Responses {
    fn is_new(&mut self, message: &Message) -> bool {
        let same = message.response.is_some() && self.0 == message.response;
        self.0.clone_from(&message.response);
        !same
    }
}

impl Session {
    /// A page of its turns: by its events, where there are any, else by its messages.
    pub fn timeline(&self, page: Page, watch: &Watch<'_>) -> Result<Timeline> {
        let page = page.check()?;
        if self.format == Format::Amplifier {
            match self.events(watch) {
                Ok(log) => return by_events(&log, page, watch),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        let log = self.transcript(watch)?;
        let job = watch.job(log.len())?;
        let (mut turns, mut responses) = (Turns::new(page), Responses::default());
        let damage = messages(&log, Keep::least(), watch, |message, _| {
            take_message(&mut turns, &message, &mut responses);
            Ok(Flow::On)
        })?;
        job.done();
        Ok(turns.end("transcript", damage))
    }
}
