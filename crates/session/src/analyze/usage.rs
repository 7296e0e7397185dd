//! What models and tools were used, each use counted once: across the events that repeat it, and across parents, children and
//! forks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use serde::Serialize;
use trommel::reader::Cursor;

use super::{Counts, each_event, paths};
use crate::error::Result;
use crate::events::Known;
use crate::message::{Keep, Message};
use crate::metadata::Facts;
use crate::names::current;
use crate::project::Found;
use crate::records::{Damage, Flow, config};
use crate::session::{EVENTS, Format, Session};
use crate::sessions::Sessions;
use crate::text::shown;
use crate::transcript::messages;
use crate::usage::{Usage, look_at_usage};
use crate::watch::Watch;

/// What was used.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct UsageReport {
    /// How often a model answered.
    pub llm_requests: u64,
    /// Tokens sent.
    pub total_input_tokens: u64,
    /// Tokens answered.
    pub total_output_tokens: u64,
    /// Tokens that came from the cache.
    pub cache_read_tokens: u64,
    /// Tokens put into the cache.
    pub cache_write_tokens: u64,
    /// How many tools were called.
    pub tool_calls: u64,
    /// The same by model, the one with most tokens first.
    pub by_model: Vec<ModelUsage>,
    /// Calls by tool, the one called most first.
    pub by_tool: Vec<ToolCalls>,
    /// The same by session, where there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_session: Vec<SessionUsage>,
    /// What was not counted, and why.
    pub left_out: Vec<LeftOut>,
    /// What could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// What was used of a model.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ModelUsage {
    /// The model.
    pub model: String,
    /// Who offers it, where known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// How often it answered.
    pub requests: u64,
    /// Its tokens.
    #[serde(flatten)]
    pub usage: Usage,
}

/// How often a tool was called.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ToolCalls {
    /// The tool.
    pub tool: String,
    /// How often.
    pub calls: u64,
}

/// What a session used.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionUsage {
    /// The session.
    pub session_id: String,
    /// How often a model answered.
    pub requests: u64,
    /// Its tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// How many tools were called.
    pub tool_calls: u64,
}

/// What was not counted.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct LeftOut {
    /// What it is.
    pub what: String,
    /// How many.
    pub count: u64,
    /// Why.
    pub why: &'static str,
}

const REPEATS: &str = "they repeat the usage of llm:response, which is counted";
const ENDS: &str = "they tell of the end of calls, which are counted at tool:pre";
const OTHERS: &str = "they are another session's, and counted where that is asked for";
const COPIES: &str = "they are copies from before the fork, and counted in the parent";
const TWICE: &str = "a call of the same id was counted already";
const SEEN: &str = "the same response stands in another session's log, where it is counted";
const WITHOUT: &str = "they say no usage: counted as requests, without tokens";
const PARTS: &str = "they are further parts of a response that is counted";

/// What is looked at besides the known members, in the order of the places below.
pub(crate) const FIELDS: [(&str, usize); 6] = [
    ("session_id", 2_000),
    ("data.provider", 2_000),
    ("data.model", 2_000),
    ("data.tool_name", 2_000),
    ("data.tool_call_id", 2_000),
    ("data.usage", 2_000),
];

/// Places behind the known ones.
const SESSION: usize = Known::MORE;
const PROVIDER: usize = Known::MORE + 1;
const MODEL: usize = Known::MORE + 2;
const TOOL: usize = Known::MORE + 3;
const CALL: usize = Known::MORE + 4;
const USAGE: usize = Known::MORE + 5;

/// Ids that are remembered at once.
const REMEMBERED: usize = 2_000_000;

/// Models that are told apart.
const MODELS: usize = 100;

/// Counts over one or more logs.
#[derive(Debug, Default)]
struct Count {
    report: UsageReport,
    models: BTreeMap<(String, String), ModelUsage>,
    tools: Counts,
    left_out: BTreeMap<(&'static str, String), u64>,
    keys: RandomState,
    calls: HashSet<u64>,
    /// Responses, each with the log it was counted in.
    responses: HashMap<u64, usize>,
    log: usize,
    requests: u64,
    usage: Usage,
    tool_calls: u64,
}

/// Which events of a log are a session's own.
struct Own {
    /// The ids it is known by; none where that is not known.
    ids: Vec<String>,
    facts: Facts,
}

impl Own {
    fn of(session: &Session) -> Self {
        let facts = Facts::of(session);
        let known = facts.problem.is_none() && session.format == Format::Amplifier;
        let said = crate::metadata::session_id(session).filter(|_| known);
        let ids = said.into_iter().chain(known.then(|| session.id.clone())).collect();
        Self { ids, facts }
    }

    /// Why an event is not counted here.
    fn foreign(&self, found: &Found) -> Option<&'static str> {
        let other = found.text(SESSION).is_some_and(|id| !self.ids.iter().any(|own| *own == id));
        if other && !self.ids.is_empty() {
            return Some(OTHERS);
        }
        let copied = Known::time(found).zip(self.facts.forked_at).is_some_and(|(time, forked)| time < forked);
        copied.then_some(COPIES)
    }
}

impl Count {
    fn leave_out(&mut self, what: &str, why: &'static str) {
        *self.left_out.entry((why, what.to_owned())).or_default() += 1;
    }

    fn take_event(&mut self, own: &Own, found: &Found) {
        let event = Known::event(found);
        let name = current(&event);
        match name {
            "llm:response" | "tool:pre" => {}
            "provider:response" | "content_block:end" => return self.leave_out(name, REPEATS),
            "tool:post" | "tool:error" => return self.leave_out(name, ENDS),
            _ => return,
        }
        if let Some(why) = own.foreign(found) {
            return self.leave_out(name, why);
        }
        match name {
            "tool:pre" => {
                self.call(found.text(CALL).as_deref(), found.text(TOOL).as_deref().unwrap_or("unknown"));
            }
            _ => self.response(found),
        }
    }

    fn call(&mut self, id: Option<&str>, tool: &str) {
        let known = id.map(|id| self.keys.hash_one(id));
        if known.is_some_and(|key| self.calls.contains(&key)) {
            return self.leave_out("tool:pre", TWICE);
        }
        if self.calls.len() < REMEMBERED {
            self.calls.extend(known);
        }
        self.tool_calls += 1;
        self.tools.add(tool);
    }

    fn response(&mut self, found: &Found) {
        let json = found.get(USAGE).and_then(|value| value.json()).unwrap_or_default();
        let key = self.keys.hash_one((found.text(0), found.text(MODEL), json));
        if self.responses.get(&key).is_some_and(|log| *log != self.log) {
            return self.leave_out("llm:response", SEEN);
        }
        if self.responses.len() < REMEMBERED {
            self.responses.insert(key, self.log);
        }
        let usage = look_at_usage(&mut Cursor::new(json.as_bytes(), &config())).ok().flatten();
        let text = |place| found.text(place).map(|text| shown(&text, 200)).unwrap_or_default();
        self.add(text(MODEL), text(PROVIDER), usage);
    }

    fn add(&mut self, model: String, provider: String, usage: Option<Usage>) {
        self.requests += 1;
        if usage.is_none() {
            self.leave_out("llm:response", WITHOUT);
        }
        let usage = usage.unwrap_or_default();
        self.usage.add(usage);
        let many =
            self.models.len() >= MODELS && !self.models.contains_key(&(model.clone(), provider.clone()));
        let key = if many { ("(others)".to_owned(), String::new()) } else { (model, provider) };
        let row = self.models.entry(key).or_default();
        row.requests += 1;
        row.usage.add(usage);
    }

    /// Closes the books of a session.
    fn end_session(&mut self, session: &Session) {
        let (requests, tool_calls) =
            (std::mem::take(&mut self.requests), std::mem::take(&mut self.tool_calls));
        let usage = std::mem::take(&mut self.usage);
        let report = &mut self.report;
        report.llm_requests += requests;
        report.tool_calls += tool_calls;
        report.total_input_tokens = report.total_input_tokens.saturating_add(usage.input);
        report.total_output_tokens = report.total_output_tokens.saturating_add(usage.output);
        report.cache_read_tokens = report.cache_read_tokens.saturating_add(usage.cache_read);
        report.cache_write_tokens = report.cache_write_tokens.saturating_add(usage.cache_write);
        let session_id = session.id.clone();
        report.by_session.push(SessionUsage { session_id, requests, usage, tool_calls });
        self.log += 1;
    }

    fn end(self) -> UsageReport {
        let mut report = self.report;
        let named =
            |((model, provider), row): ((String, String), ModelUsage)| ModelUsage { model, provider, ..row };
        report.by_model = self.models.into_iter().map(named).collect();
        let tokens = |row: &ModelUsage| row.usage.input.saturating_add(row.usage.output);
        report.by_model.sort_by_key(|row| Reverse(tokens(row)));
        report.by_tool =
            self.tools.names.into_iter().map(|(tool, calls)| ToolCalls { tool, calls }).collect();
        report.by_tool.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.tool.cmp(&b.tool)));
        let left_out = |((why, what), count)| LeftOut { what, count, why };
        report.left_out = self.left_out.into_iter().map(left_out).collect();
        if report.by_session.len() < 2 {
            report.by_session.clear();
        }
        report
    }

    fn count(&mut self, session: &Session, watch: &Watch<'_>) -> Result<()> {
        let damage = match session.format {
            Format::Amplifier => self.count_events(session, watch)?,
            Format::ClaudeCode | Format::Chat => self.count_messages(session, watch)?,
        };
        self.report.damage.add(damage);
        self.end_session(session);
        Ok(())
    }

    fn count_events(&mut self, session: &Session, watch: &Watch<'_>) -> Result<Damage> {
        let own = Own::of(session);
        each_event(&session.events(watch)?, session.format, &paths(&FIELDS), watch, |found, _| {
            self.take_event(&own, found);
            Ok(Flow::On)
        })
    }

    /// Messages say their usage themselves, each part of a response that of all of it.
    fn count_messages(&mut self, session: &Session, watch: &Watch<'_>) -> Result<Damage> {
        let mut open: Option<Response> = None;
        let mut done = HashSet::new();
        let damage = messages(&session.transcript(watch)?, Keep::least(), watch, |message, _| {
            if message.role != "assistant" {
                return Ok(Flow::On);
            }
            for call in &message.calls {
                // Ids of chats are anybody's, and some are used again.
                let is_own = session.format == Format::ClaudeCode && !call.id.is_empty();
                self.call(is_own.then_some(&*call.id), &call.tool);
            }
            let key = message.response.as_ref().map(|id| self.keys.hash_one(id));
            match &mut open {
                Some(response) if key.is_some() && response.key == key => {
                    response.usage = response
                        .usage
                        .map(|usage| usage.most(message.usage.unwrap_or(usage)))
                        .or(message.usage);
                    self.leave_out("messages", PARTS);
                }
                _ if key.is_some_and(|key| done.contains(&key)) => self.leave_out("messages", PARTS),
                _ => {
                    self.close(open.replace(Response::of(&message, key)));
                    if done.len() < REMEMBERED {
                        done.extend(key);
                    }
                }
            }
            Ok(Flow::On)
        })?;
        self.close(open);
        Ok(damage)
    }

    fn close(&mut self, response: Option<Response>) {
        if let Some(Response { model, usage, .. }) = response {
            self.add(model, String::new(), usage);
        }
    }
}

/// A response whose parts may not all have come.
struct Response {
    key: Option<u64>,
    model: String,
    usage: Option<Usage>,
}

impl Response {
    fn of(message: &Message, key: Option<u64>) -> Self {
        let model = shown(message.model.as_deref().unwrap_or_default(), 200);
        Self { key, model, usage: message.usage }
    }
}

impl Session {
    /// What it used itself.
    pub fn usage(&self, watch: &Watch<'_>) -> Result<UsageReport> {
        let job = watch.job(self.bytes(EVENTS))?;
        let mut count = Count::default();
        count.count(self, watch)?;
        job.done();
        Ok(count.end())
    }
}

impl Sessions {
    /// What a session used with all that it spawned. Forks are sessions of their own, and no part of it.
    pub fn usage(&self, session: &Session, watch: &Watch<'_>) -> Result<UsageReport> {
        let children = self.children(session)?;
        let bytes = children.iter().map(|child| child.bytes(EVENTS)).sum::<u64>();
        let job = watch.job(session.bytes(EVENTS) + bytes)?;
        let mut count = Count::default();
        count.count(session, watch)?;
        for child in children {
            match count.count(&child, watch) {
                Err(error) if error.kind() == crate::ErrorKind::NotFound => {
                    count.leave_out("sub-sessions", "they have no events");
                }
                counted => counted?,
            }
        }
        job.done();
        Ok(count.end())
    }

    /// The sessions that one spawned, and those that they spawned.
    pub fn children(&self, session: &Session) -> Result<Vec<Session>> {
        let mut all = Vec::new();
        self.each(Some(&session.project), &mut |other| {
            if other.format == Format::Amplifier && !other.is_top_level() && other.id != session.id {
                let facts = Facts::of(&other);
                if let Some(parent) = facts.parent_id.filter(|_| !facts.is_fork) {
                    all.push((parent, other));
                }
            }
            Ok(())
        })?;
        let (mut found, mut parents) = (Vec::new(), vec![session.id.clone()]);
        while let Some(parent) = parents.pop() {
            let (children, others) = all.into_iter().partition::<Vec<_>, _>(|(of, _)| *of == parent);
            all = others;
            parents.extend(children.iter().map(|(_, child)| child.id.clone()));
            found.extend(children.into_iter().map(|(_, child)| child));
        }
        found.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(found)
    }
}
