//! Usage of models and tools. Each use counts once, across events that repeat it and across
//! parents, children, and forks.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use jiff::Timestamp;
use serde::Serialize;
use trommel::reader::Cursor;

use super::common::{Counts, each_event, paths};
use super::totals::{self, Totals, UsageTotals};
use crate::error::{ErrorClass, Result};
use crate::event_types::current;
use crate::fields::FieldValues;
use crate::format::{EVENTS, PartLocation};
use crate::layout::EventMembers;
use crate::list::{ListQuery, SessionFilter, select};
use crate::message::{Message, MessageLimits};
use crate::metadata::SessionFacts;
use crate::records::{Damage, Flow, config};
use crate::session::Session;
use crate::sessions::Sessions;
use crate::text::label;
use crate::time::Days;
use crate::turns::messages;
use crate::usage::{Usage, read_usage};
use crate::watch::Watch;

/// The usage of one or more sessions.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct UsageReport {
    /// The number of model responses.
    pub llm_requests: u64,
    /// Tokens sent, without those read from the cache: see [`Usage`].
    pub total_input_tokens: u64,
    /// Tokens received.
    pub total_output_tokens: u64,
    /// Tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Tokens written to the cache.
    pub cache_write_tokens: u64,
    /// The sum of the four token counts.
    pub total_tokens: u64,
    /// The number of tool calls.
    pub tool_calls: u64,
    /// Usage by model, ordered by descending tokens.
    pub by_model: Vec<ModelUsage>,
    /// Calls by tool, ordered by descending calls.
    pub by_tool: Vec<ToolCalls>,
    /// Usage by session, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_session: Vec<SessionUsage>,
    /// The records that were excluded, with reasons.
    pub left_out: Vec<Exclusion>,
    /// True if there were too many responses or calls to track, so that repetitions may be counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
    /// The records that could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// The usage of one model.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct ModelUsage {
    /// The model.
    pub model: String,
    /// The provider, if known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub provider: String,
    /// The number of responses.
    pub requests: u64,
    /// Its tokens.
    #[serde(flatten)]
    pub usage: Usage,
}

/// The number of calls of one tool.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ToolCalls {
    /// The tool.
    pub tool: String,
    /// The number of calls.
    pub calls: u64,
}

/// The usage of one session.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionUsage {
    /// The session.
    pub session_id: String,
    /// The number of model responses.
    pub requests: u64,
    /// Its tokens.
    #[serde(flatten)]
    pub usage: Usage,
    /// The number of tool calls.
    pub tool_calls: u64,
}

/// Records that were excluded from the counts.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Exclusion {
    /// The kind of records.
    pub what: String,
    /// The number of records.
    pub count: u64,
    /// The reason.
    pub why: &'static str,
}

const REPEATS: &str = "they repeat the usage of llm:response, which is counted";
const CALL_ENDS: &str = "ends of calls: each call is counted once, at tool:pre";
const OTHER_SESSION: &str = "they belong to another session, where they are counted";
const COPIES: &str = "they were copied from before the fork, and are counted in the parent";
const REPEATED_ID: &str = "a call with the same id was already counted";
const REPEATED_RESPONSE: &str = "the same response is in another session's log, where it is counted";
const NO_USAGE: &str = "they have no usage: counted as requests without tokens";
const PARTS: &str = "further parts of a response, which counts once, with its largest figures";
const GENERATED: &str = "messages that Claude Code generated, such as errors: no model was called";
const OTHER_DAYS: &str = "they are of other days than requested";
const UNTRACKED: &str =
    "too many responses to track: repetitions are counted, so the figures may be too high";

/// The fields read in addition to the known members, in the order of the slots below.
pub(crate) const FIELDS: [(&str, usize); 6] = [
    ("session_id", 2_000),
    ("data.provider", 2_000),
    ("data.model", 2_000),
    ("data.tool_name", 2_000),
    ("data.tool_call_id", 2_000),
    ("data.usage", 2_000),
];

/// Slots after those of the known members.
const SESSION: usize = EventMembers::FIRST_EXTRA;
const PROVIDER: usize = EventMembers::FIRST_EXTRA + 1;
const MODEL: usize = EventMembers::FIRST_EXTRA + 2;
const TOOL: usize = EventMembers::FIRST_EXTRA + 3;
const CALL: usize = EventMembers::FIRST_EXTRA + 4;
const USAGE: usize = EventMembers::FIRST_EXTRA + 5;

/// The maximum number of IDs remembered at once.
const MAX_IDS: usize = 2_000_000;

/// The maximum number of models that are listed separately.
const MAX_MODELS: usize = 100;

/// The maximum number of Claude Code responses whose parts are merged: about 50 MiB.
const MAX_RESPONSES: usize = if cfg!(test) { 100 } else { 500_000 };

/// Counts the usage of one or more logs.
#[derive(Debug, Default)]
struct UsageCounter {
    report: UsageReport,
    models: BTreeMap<(String, String), ModelUsage>,
    tools: Counts,
    left_out: BTreeMap<(&'static str, String), u64>,
    keys: RandomState,
    calls: HashSet<u64>,
    /// Amplifier responses, each with the index of the log it was counted in.
    responses: HashMap<u64, usize>,
    parts: PartialResponses,
    /// The sessions whose logs were read. The last is the current one.
    sessions: Vec<SessionUsage>,
    /// The usage by day, project, and model, if it is requested.
    totals: Option<Totals>,
}

/// A model, with its provider if known.
struct Model {
    name: String,
    provider: String,
}

impl Model {
    fn named(name: String) -> Self {
        Self { name, provider: String::new() }
    }
}

/// Responses that are written in parts. Parts may be interleaved, and repeated in logs of other
/// sessions.
#[derive(Debug, Default)]
struct PartialResponses {
    responses: HashMap<u64, Response>,
    /// Model names, referenced by index.
    models: Vec<String>,
}

/// A response, merged from the parts read so far.
#[derive(Clone, Copy, Debug)]
struct Response {
    log: usize,
    model: usize,
    usage: Option<Usage>,
    time: Option<Timestamp>,
}

impl PartialResponses {
    /// Returns the index of a model's name.
    fn model(&mut self, name: String) -> usize {
        if let Some(known) = self.models.iter().position(|known| *known == name) {
            return known;
        }
        let max = MAX_MODELS - 1;
        if self.models.len() < max {
            self.models.push(name);
        } else if self.models.len() == max {
            self.models.push(OTHER_MODELS.to_owned());
        }
        self.models.len() - 1
    }
}

/// The name of the models beyond the limit.
const OTHER_MODELS: &str = "(others)";

/// Identifies the events of a log that belong to its session.
struct EventOwner {
    /// The IDs the session is known by. Empty if they are unknown.
    ids: Vec<String>,
    facts: SessionFacts,
}

impl EventOwner {
    fn new(session: &Session) -> Self {
        let facts = session.facts();
        let ids = match facts.problem {
            None => session.format().log().event_ids(session.session_ref()),
            Some(_) => Vec::new(),
        };
        Self { ids, facts }
    }

    /// Returns the reason to exclude an event, if it belongs to another session.
    fn exclusion_reason(&self, found: &FieldValues) -> Option<&'static str> {
        let other = found.text(SESSION).is_some_and(|id| !self.ids.iter().any(|own| *own == id));
        if other && !self.ids.is_empty() {
            return Some(OTHER_SESSION);
        }
        let copied =
            EventMembers::time(found).zip(self.facts.forked_at).is_some_and(|(time, forked)| time < forked);
        copied.then_some(COPIES)
    }
}

impl UsageCounter {
    fn leave_out(&mut self, what: &str, why: &'static str) {
        *self.left_out.entry((why, what.to_owned())).or_default() += 1;
    }

    fn add_event(&mut self, owner: &EventOwner, found: &FieldValues) {
        let event = EventMembers::event(found);
        let name = current(&event);
        match name {
            "llm:response" | "tool:pre" => {}
            "provider:response" | "content_block:end" => return self.leave_out(name, REPEATS),
            "tool:post" | "tool:error" => return self.leave_out(name, CALL_ENDS),
            _ => return,
        }
        if let Some(why) = owner.exclusion_reason(found) {
            return self.leave_out(name, why);
        }
        match name {
            "tool:pre" => {
                let tool = found.text(TOOL);
                let (id, tool) = (found.text(CALL), tool.as_deref().unwrap_or("unknown"));
                self.call("tool:pre", id.as_deref(), tool, EventMembers::time(found));
            }
            _ => self.response(found),
        }
    }

    fn call(&mut self, what: &str, id: Option<&str>, tool: &str, time: Option<Timestamp>) {
        if self.is_outside(time) {
            return self.leave_out(what, OTHER_DAYS);
        }
        let known = id.map(|id| self.keys.hash_one(id));
        if known.is_some_and(|key| self.calls.contains(&key)) {
            return self.leave_out(what, REPEATED_ID);
        }
        if self.calls.len() < MAX_IDS {
            self.calls.extend(known);
        } else {
            self.report.approximate |= known.is_some();
        }
        let log = self.log();
        self.sessions[log].tool_calls += 1;
        self.tools.add(tool);
    }

    fn response(&mut self, found: &FieldValues) {
        let time = EventMembers::time(found);
        if self.is_outside(time) {
            return self.leave_out("llm:response", OTHER_DAYS);
        }
        let json = found.get(USAGE).and_then(|value| value.json()).unwrap_or_default();
        // Amplifier's responses have no ID, so time, model, and usage identify one. Only a log of
        // another session can repeat it: within one log, equal responses are distinct.
        let key = self.keys.hash_one((found.text(0), found.text(MODEL), json));
        let log = self.log();
        if self.responses.get(&key).is_some_and(|counted| *counted != log) {
            return self.leave_out("llm:response", REPEATED_RESPONSE);
        }
        if self.responses.len() < MAX_IDS {
            self.responses.insert(key, log);
        } else {
            self.report.approximate = true;
        }
        let usage = read_usage(&mut Cursor::new(json.as_bytes(), &config())).ok().flatten();
        let text = |slot| found.text(slot).map(|text| label(&text, 200)).unwrap_or_default();
        if usage.is_none() {
            self.leave_out("llm:response", NO_USAGE);
        }
        self.add(log, Model { name: text(MODEL), provider: text(PROVIDER) }, usage, time);
    }

    /// The index of the current log.
    fn log(&self) -> usize {
        self.sessions.len().saturating_sub(1)
    }

    /// True if a time is outside of the requested days.
    fn is_outside(&self, time: Option<Timestamp>) -> bool {
        self.totals.as_ref().is_some_and(|totals| totals.is_outside(time))
    }

    /// Adds a response to a log's session and to its model.
    fn add(&mut self, log: usize, model: Model, usage: Option<Usage>, time: Option<Timestamp>) {
        let session = &mut self.sessions[log];
        session.requests += 1;
        // A response without usage counts as a request without tokens.
        if let Some(usage) = usage {
            session.usage.add(usage);
        }
        let Model { name: model, provider } = model;
        if model.is_empty() && usage.is_none() {
            return;
        }
        let model = if model.is_empty() { "unknown".to_owned() } else { model };
        let many =
            self.models.len() >= MAX_MODELS && !self.models.contains_key(&(model.clone(), provider.clone()));
        let key = if many { (OTHER_MODELS.to_owned(), String::new()) } else { (model, provider) };
        if let Some(totals) = &mut self.totals {
            totals.add(&totals::Response { log, model: &key.0, provider: &key.1, time }, usage);
        }
        let row = self.models.entry(key).or_default();
        row.requests += 1;
        if let Some(usage) = usage {
            row.usage.add(usage);
        }
    }

    /// Adds the merged responses. Each counts in the log where it first appeared.
    fn add_parts(&mut self) {
        let PartialResponses { responses, models } = std::mem::take(&mut self.parts);
        for Response { log, model, usage, time } in responses.into_values() {
            if usage.is_none() {
                self.leave_out("messages", NO_USAGE);
            }
            self.add(log, Model::named(models[model].clone()), usage, time);
        }
    }

    /// Ends the count of this many sessions, with rows.
    fn end_with_rows(mut self, sessions: u64) -> UsageTotals {
        self.add_parts();
        let rows = self.totals.take().map_or_else(Vec::new, Totals::into_rows);
        UsageTotals { sessions, rows, report: self.end() }
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
        let left_out = |((why, what), count)| Exclusion { what, count, why };
        report.left_out = self.left_out.into_iter().map(left_out).collect();
        if report.by_session.len() < 2 {
            report.by_session.clear();
        }
        report
    }

    fn count(&mut self, session: &Session, watch: &Watch<'_>) -> Result<()> {
        let session_id = session.id.clone();
        self.sessions.push(SessionUsage { session_id, requests: 0, usage: Usage::default(), tool_calls: 0 });
        if let Some(totals) = &mut self.totals {
            totals.begin_log(&session.project);
        }
        let counted = self.count_log(session, watch);
        if counted.is_err() {
            self.sessions.pop();
            self.totals.iter_mut().for_each(Totals::drop_log);
        }
        counted
    }

    fn count_log(&mut self, session: &Session, watch: &Watch<'_>) -> Result<()> {
        let damage = if session.profile().events == PartLocation::InFile {
            self.count_events(session, watch)?
        } else {
            self.count_messages(session, watch)?
        };
        self.report.damage.add(damage);
        Ok(())
    }

    fn count_events(&mut self, session: &Session, watch: &Watch<'_>) -> Result<Damage> {
        let owner = EventOwner::new(session);
        each_event(&session.events(watch)?, session.layout(), &paths(&FIELDS), watch, |found, _| {
            self.add_event(&owner, found);
            Ok(Flow::Continue)
        })
    }

    /// Counts the usage in messages. Each part of a response repeats the usage of the response so
    /// far.
    fn count_messages(&mut self, session: &Session, watch: &Watch<'_>) -> Result<Damage> {
        let has_unique_calls = session.profile().has_unique_calls;
        messages(
            &session.transcript(watch)?,
            session.message_limits(MessageLimits::least()),
            watch,
            |message, _| {
                if message.role == "assistant" {
                    self.message(&message, has_unique_calls);
                }
                Ok(Flow::Continue)
            },
        )
    }

    fn message(&mut self, message: &Message, has_unique_calls: bool) {
        for call in &message.calls {
            let is_unique = has_unique_calls && !call.id.is_empty();
            self.call("tool calls", is_unique.then_some(&*call.id), &call.tool, message.time);
        }
        if message.is_synthetic() {
            return self.leave_out("messages", GENERATED);
        }
        if self.is_outside(message.time) {
            return self.leave_out("messages", OTHER_DAYS);
        }
        let (log, model) = (self.log(), label(message.model.as_deref().unwrap_or_default(), 200));
        let key = message.response.as_ref().map(|id| self.keys.hash_one(id));
        if let Some(response) = key.and_then(|key| self.parts.responses.get_mut(&key)) {
            // Usage grows from part to part, so the maximum is the usage of the whole response.
            let both = response.usage.zip(message.usage).map(|(one, other)| one.max_counts(other));
            response.usage = both.or(response.usage).or(message.usage);
            let why = if response.log == log { PARTS } else { REPEATED_RESPONSE };
            return self.leave_out("messages", why);
        }
        if let Some(key) = key
            && self.parts.responses.len() < MAX_RESPONSES
        {
            let model = self.parts.model(model);
            let response = Response { log, model, usage: message.usage, time: message.time };
            self.parts.responses.insert(key, response);
            return;
        }
        if key.is_some() {
            self.report.approximate = true;
            self.leave_out("messages", UNTRACKED);
        } else if message.usage.is_none() {
            self.leave_out("messages", NO_USAGE);
        }
        self.add(log, Model::named(model), message.usage, message.time);
    }
}

impl Session {
    /// Returns the usage of this session alone.
    pub fn usage(&self, watch: &Watch<'_>) -> Result<UsageReport> {
        let job = watch.job(self.bytes(EVENTS))?;
        let mut count = UsageCounter::default();
        count.count(self, watch)?;
        job.done();
        Ok(count.end())
    }
}

impl Sessions {
    /// Returns the usage of a session and all sessions it spawned. Forks are separate sessions and
    /// not included.
    pub fn usage(&self, session: &Session, watch: &Watch<'_>) -> Result<UsageReport> {
        let (_, count) = self.count_family(session, UsageCounter::default(), watch)?;
        Ok(count.end())
    }

    /// Like [`usage`](Self::usage), with rows by day, project, and model.
    pub fn usage_rows(&self, session: &Session, watch: &Watch<'_>) -> Result<UsageTotals> {
        let totals = Some(Totals::new(self.now().time_zone().clone(), None));
        let count = UsageCounter { totals, ..UsageCounter::default() };
        let (sessions, count) = self.count_family(session, count, watch)?;
        Ok(count.end_with_rows(sessions))
    }

    /// Counts a session and all sessions it spawned. Returns their number.
    fn count_family(
        &self,
        session: &Session,
        mut count: UsageCounter,
        watch: &Watch<'_>,
    ) -> Result<(u64, UsageCounter)> {
        let (children, unreadable) = self.spawned(session)?;
        let bytes = children.iter().map(|child| child.bytes(EVENTS)).sum::<u64>();
        let job = watch.job(session.bytes(EVENTS) + bytes)?;
        count.count(session, watch)?;
        for _ in 0..unreadable {
            count.leave_out("sub-agents", "their logs cannot be read, so their parents are unknown");
        }
        let sessions = 1 + children.len() as u64;
        for child in children {
            match count.count(&child, watch) {
                Err(error) if error.class() == ErrorClass::NotFound => {
                    count.leave_out("sub-sessions", "they have no log");
                }
                counted => counted?,
            }
        }
        job.done();
        Ok((sessions, count))
    }

    /// Returns the usage of the sessions that a project and a range of days select, sub-sessions
    /// included. Only responses and calls on these days count. `limit` and `offset` do not apply.
    pub fn usage_totals(&self, query: &ListQuery, watch: &Watch<'_>) -> Result<UsageTotals> {
        let filter = SessionFilter {
            project: query.project.as_deref(),
            date_range: query.date_range.as_deref(),
            include_cloud: query.include_cloud,
            top_level_only: false,
        };
        let sessions = select(self, filter, watch)?;
        let job = watch.job(sessions.iter().map(|(session, _)| session.bytes(EVENTS)).sum())?;
        let now = self.now();
        let days = query.date_range.as_deref().map(|text| Days::parse(text, &now)).transpose()?;
        let totals = Some(Totals::new(now.time_zone().clone(), days));
        let mut count = UsageCounter { totals, ..UsageCounter::default() };
        for (session, _) in &sessions {
            match count.count(session, watch) {
                Err(error) if error.class() == ErrorClass::NotFound => {
                    count.leave_out("sessions", "they have no log");
                }
                counted => counted?,
            }
        }
        job.done();
        Ok(count.end_with_rows(sessions.len() as u64))
    }

    /// Returns the sessions that a session spawned, directly or indirectly: sub-sessions of
    /// Amplifier, sub-agents of Claude Code.
    pub fn children(&self, session: &Session) -> Result<Vec<Session>> {
        self.spawned(session).map(|(children, _)| children)
    }

    /// Like [`children`](Self::children), with the number of unreadable sub-agent logs, whose
    /// parents are unknown.
    fn spawned(&self, session: &Session) -> Result<(Vec<Session>, u64)> {
        let (mut all, mut unreadable) = (Vec::new(), 0);
        self.each(Some(&session.project), &mut |other| {
            if other.format == session.format && !other.is_top_level() && other.id != session.id {
                let parent = other.format.log().parent(other.session_ref()).unwrap_or_else(|_| {
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
    fn marks_usage_of_too_many_responses_as_approximate() {
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
        let all = usage(MAX_RESPONSES);
        assert_eq!((all.approximate, all.llm_requests, all.total_output_tokens), (false, 100, 200));
        let more = usage(MAX_RESPONSES + 1);
        assert_eq!((more.approximate, more.llm_requests), (true, 102), "both parts of the last one count");
        assert!(more.left_out.iter().any(|row| row.why == UNTRACKED && row.count == 2));
    }
}
