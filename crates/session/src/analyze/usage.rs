//! What models and tools were used, each use counted once: across the events that repeat it, and
//! across parents, children and forks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use serde::Serialize;
use trommel::reader::Cursor;

use super::common::{Counts, each_event, paths};
use crate::error::{ErrorClass, Result};
use crate::format::{EVENTS, Kept};
use crate::layout::Known;
use crate::message::{Keep, Message};
use crate::metadata::Facts;
use crate::names::current;
use crate::project::Found;
use crate::records::{Damage, Flow, config};
use crate::session::Session;
use crate::sessions::Sessions;
use crate::text::label;
use crate::turns::messages;
use crate::usage::{Usage, look_at_usage};
use crate::watch::Watch;

/// What was used.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct UsageReport {
    /// How often a model answered.
    pub llm_requests: u64,
    /// Tokens that were sent, without those that came from the cache: see [`Usage`].
    pub total_input_tokens: u64,
    /// Tokens of the answers.
    pub total_output_tokens: u64,
    /// Tokens that were sent and came from the cache.
    pub cache_read_tokens: u64,
    /// Tokens that were written to the cache.
    pub cache_write_tokens: u64,
    /// The sum of these four.
    pub total_tokens: u64,
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
    /// True if there were more responses or calls than can be told apart, so that repetitions may
    /// be counted again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
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
const ENDS: &str = "ends of calls: each call is counted once, at tool:pre";
const OTHERS: &str = "they are another session's, and counted where that is asked for";
const COPIES: &str = "they are copies from before the fork, and counted in the parent";
const TWICE: &str = "a call of the same id was counted already";
const SEEN: &str = "the same response is in another session's log, where it is counted";
const WITHOUT: &str = "they say no usage: counted as requests, without tokens";
const PARTS: &str = "further parts of a response, which is counted once, by the largest figures";
const WRITTEN: &str = "messages of Claude Code itself, such as errors: no model was asked";
const MANY: &str =
    "there are more responses than can be told apart: counted as they come, the figures may be too large";

/// The fields that are read besides the known members, in the order of the places below.
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

/// IDs that are remembered at once.
const REMEMBERED: usize = 2_000_000;

/// Models that are told apart.
const MODELS: usize = 100;

/// Responses of Claude Code whose parts are merged: some 50 MiB at most.
const RESPONSES: usize = if cfg!(test) { 100 } else { 500_000 };

/// Counts over one or more logs.
#[derive(Debug, Default)]
struct Count {
    report: UsageReport,
    models: BTreeMap<(String, String), ModelUsage>,
    tools: Counts,
    left_out: BTreeMap<(&'static str, String), u64>,
    keys: RandomState,
    calls: HashSet<u64>,
    /// Responses of Amplifier, each with the log it was counted in.
    responses: HashMap<u64, usize>,
    parts: Parts,
    /// The sessions whose logs were read, and the one whose log is being read.
    sessions: Vec<SessionUsage>,
}

/// A model, and who offers it where that is known.
struct Model {
    name: String,
    provider: String,
}

impl Model {
    fn named(name: String) -> Self {
        Self { name, provider: String::new() }
    }
}

/// Responses that are written in parts, which may come interleaved, and again in the logs of other
/// sessions.
#[derive(Debug, Default)]
struct Parts {
    responses: HashMap<u64, Response>,
    /// Names of models, which responses refer to.
    models: Vec<String>,
}

/// A response, as far as its parts were read.
#[derive(Clone, Copy, Debug)]
struct Response {
    log: usize,
    model: usize,
    usage: Option<Usage>,
}

impl Parts {
    /// The number of a model's name.
    fn model(&mut self, name: String) -> usize {
        if let Some(known) = self.models.iter().position(|known| *known == name) {
            return known;
        }
        let most = MODELS - 1;
        if self.models.len() < most {
            self.models.push(name);
        } else if self.models.len() == most {
            self.models.push(OTHER_MODELS.to_owned());
        }
        self.models.len() - 1
    }
}

/// The models beyond those that are told apart.
const OTHER_MODELS: &str = "(others)";

/// Which events of a log are a session's own.
struct Own {
    /// The ids it is known by; none where that is not known.
    ids: Vec<String>,
    facts: Facts,
}

impl Own {
    fn of(session: &Session) -> Self {
        let facts = session.facts();
        let ids = match facts.problem {
            None => session.format().log().event_ids(session.place()),
            Some(_) => Vec::new(),
        };
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
                let tool = found.text(TOOL);
                self.call("tool:pre", found.text(CALL).as_deref(), tool.as_deref().unwrap_or("unknown"));
            }
            _ => self.response(found),
        }
    }

    fn call(&mut self, what: &str, id: Option<&str>, tool: &str) {
        let known = id.map(|id| self.keys.hash_one(id));
        if known.is_some_and(|key| self.calls.contains(&key)) {
            return self.leave_out(what, TWICE);
        }
        if self.calls.len() < REMEMBERED {
            self.calls.extend(known);
        } else {
            self.report.approximate |= known.is_some();
        }
        let log = self.log();
        self.sessions[log].tool_calls += 1;
        self.tools.add(tool);
    }

    fn response(&mut self, found: &Found) {
        let json = found.get(USAGE).and_then(|value| value.json()).unwrap_or_default();
        let key = self.keys.hash_one((found.text(0), found.text(MODEL), json));
        let log = self.log();
        if self.responses.get(&key).is_some_and(|counted| *counted != log) {
            return self.leave_out("llm:response", SEEN);
        }
        if self.responses.len() < REMEMBERED {
            self.responses.insert(key, log);
        } else {
            self.report.approximate = true;
        }
        let usage = look_at_usage(&mut Cursor::new(json.as_bytes(), &config())).ok().flatten();
        let text = |place| found.text(place).map(|text| label(&text, 200)).unwrap_or_default();
        if usage.is_none() {
            self.leave_out("llm:response", WITHOUT);
        }
        self.add(log, Model { name: text(MODEL), provider: text(PROVIDER) }, usage);
    }

    /// The number of the log that is being read.
    fn log(&self) -> usize {
        self.sessions.len().saturating_sub(1)
    }

    /// Adds a response to the session of a log and to its model.
    fn add(&mut self, log: usize, model: Model, usage: Option<Usage>) {
        let session = &mut self.sessions[log];
        session.requests += 1;
        // A response that says no usage counts as a request without tokens.
        if let Some(usage) = usage {
            session.usage.add(usage);
        }
        let Model { name: model, provider } = model;
        if model.is_empty() && usage.is_none() {
            return;
        }
        let model = if model.is_empty() { "unknown".to_owned() } else { model };
        let many =
            self.models.len() >= MODELS && !self.models.contains_key(&(model.clone(), provider.clone()));
        let key = if many { (OTHER_MODELS.to_owned(), String::new()) } else { (model, provider) };
        let row = self.models.entry(key).or_default();
        row.requests += 1;
        if let Some(usage) = usage {
            row.usage.add(usage);
        }
    }

    /// Adds the responses whose parts were merged. Each counts in the log where it was met first.
    fn add_parts(&mut self) {
        let Parts { responses, models } = std::mem::take(&mut self.parts);
        for Response { log, model, usage } in responses.into_values() {
            if usage.is_none() {
                self.leave_out("messages", WITHOUT);
            }
            self.add(log, Model::named(models[model].clone()), usage);
        }
    }

    fn end(mut self) -> UsageReport {
        self.add_parts();
        let mut report = self.report;
        let mut usage = Usage::default();
        for session in &self.sessions {
            report.llm_requests += session.requests;
            report.tool_calls += session.tool_calls;
            usage.add(session.usage);
        }
        (report.total_input_tokens, report.total_output_tokens) = (usage.input, usage.output);
        (report.cache_read_tokens, report.cache_write_tokens) = (usage.cache_read, usage.cache_write);
        report.total_tokens = usage.total();
        report.by_session = self.sessions;
        let named =
            |((model, provider), row): ((String, String), ModelUsage)| ModelUsage { model, provider, ..row };
        report.by_model = self.models.into_iter().map(named).collect();
        report.by_model.sort_by_key(|row| Reverse(row.usage.total()));
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
        let session_id = session.id.clone();
        self.sessions.push(SessionUsage { session_id, requests: 0, usage: Usage::default(), tool_calls: 0 });
        let counted = self.count_log(session, watch);
        if counted.is_err() {
            self.sessions.pop();
        }
        counted
    }

    fn count_log(&mut self, session: &Session, watch: &Watch<'_>) -> Result<()> {
        let damage = if session.profile().events == Kept::InFile {
            self.count_events(session, watch)?
        } else {
            self.count_messages(session, watch)?
        };
        self.report.damage.add(damage);
        Ok(())
    }

    fn count_events(&mut self, session: &Session, watch: &Watch<'_>) -> Result<Damage> {
        let own = Own::of(session);
        each_event(&session.events(watch)?, session.layout(), &paths(&FIELDS), watch, |found, _| {
            self.take_event(&own, found);
            Ok(Flow::On)
        })
    }

    /// Messages hold their usage themselves, each part of a response that of all of it so far.
    fn count_messages(&mut self, session: &Session, watch: &Watch<'_>) -> Result<Damage> {
        let has_unique_calls = session.profile().has_unique_calls;
        messages(&session.transcript(watch)?, session.keep(Keep::least()), watch, |message, _| {
            if message.role == "assistant" {
                self.message(&message, has_unique_calls);
            }
            Ok(Flow::On)
        })
    }

    fn message(&mut self, message: &Message, has_unique_calls: bool) {
        for call in &message.calls {
            let is_unique = has_unique_calls && !call.id.is_empty();
            self.call("tool calls", is_unique.then_some(&*call.id), &call.tool);
        }
        if message.is_synthetic() {
            return self.leave_out("messages", WRITTEN);
        }
        let (log, model) = (self.log(), label(message.model.as_deref().unwrap_or_default(), 200));
        let key = message.response.as_ref().map(|id| self.keys.hash_one(id));
        if let Some(response) = key.and_then(|key| self.parts.responses.get_mut(&key)) {
            let both = response.usage.zip(message.usage).map(|(one, other)| one.most(other));
            response.usage = both.or(response.usage).or(message.usage);
            let why = if response.log == log { PARTS } else { SEEN };
            return self.leave_out("messages", why);
        }
        if let Some(key) = key
            && self.parts.responses.len() < RESPONSES
        {
            let model = self.parts.model(model);
            self.parts.responses.insert(key, Response { log, model, usage: message.usage });
            return;
        }
        if key.is_some() {
            self.report.approximate = true;
            self.leave_out("messages", MANY);
        } else if message.usage.is_none() {
            self.leave_out("messages", WITHOUT);
        }
        self.add(log, Model::named(model), message.usage);
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
    /// The usage of a session with all that it spawned. Forks are sessions of their own, and not a
    /// part of it.
    pub fn usage(&self, session: &Session, watch: &Watch<'_>) -> Result<UsageReport> {
        let (children, unreadable) = self.spawned(session)?;
        let bytes = children.iter().map(|child| child.bytes(EVENTS)).sum::<u64>();
        let job = watch.job(session.bytes(EVENTS) + bytes)?;
        let mut count = Count::default();
        count.count(session, watch)?;
        for _ in 0..unreadable {
            count.leave_out("sub-agents", "their logs cannot be read, nor whose they are");
        }
        for child in children {
            match count.count(&child, watch) {
                Err(error) if error.class() == ErrorClass::NotFound => {
                    count.leave_out("sub-sessions", "they have no log");
                }
                counted => counted?,
            }
        }
        job.done();
        Ok(count.end())
    }

    /// The sessions that one spawned, and those that they spawned: sub-sessions of Amplifier,
    /// sub-agents of Claude Code.
    pub fn children(&self, session: &Session) -> Result<Vec<Session>> {
        self.spawned(session).map(|(children, _)| children)
    }

    /// The same, and how many logs of sub-agents cannot be read, so that it is not known who
    /// spawned them.
    fn spawned(&self, session: &Session) -> Result<(Vec<Session>, u64)> {
        let (mut all, mut unreadable) = (Vec::new(), 0);
        self.each(Some(&session.project), &mut |other| {
            if other.format == session.format && !other.is_top_level() && other.id != session.id {
                let parent = other.format.log().parent(other.place()).unwrap_or_else(|_| {
                    unreadable += 1;
                    None
                });
                all.extend(parent.map(|parent| (parent, other)));
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
        Ok((found, unreadable))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_when_there_are_too_many_responses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.jsonl");
        let usage = |responses: usize| {
            let part = |id: usize| {
                format!(
                    "{{\"type\":\"assistant\",\"message\":{{\"id\":\"m{id}\",\"role\":\"assistant\",\"model\":\"m\",\"usage\":{{\"output_tokens\":2}}}}}}\n"
                )
            };
            let lines = (0..responses).flat_map(|id| [part(id), part(id)]).collect::<String>();
            std::fs::write(&path, lines).unwrap();
            Session::open(&path).unwrap().usage(&Watch::new()).unwrap()
        };
        let all = usage(RESPONSES);
        assert_eq!((all.approximate, all.llm_requests, all.total_output_tokens), (false, 100, 200));
        let more = usage(RESPONSES + 1);
        assert_eq!((more.approximate, more.llm_requests), (true, 102), "both parts of the last one count");
        assert!(more.left_out.iter().any(|row| row.why == MANY && row.count == 2));
    }
}
