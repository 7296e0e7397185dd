//! The messages of a session, in turns. A turn is a user's prompt and everything up to the next
//! prompt.

use serde::Serialize;

use crate::budget::{CharBudget, DEFAULT_MAX_CHARS, check_limit, json_chars, prefix};
use crate::error::Result;
use crate::kind::MessageKind;
use crate::message::{Call, Message, MessageLimits};
use crate::records::{Damage, Flow};
use crate::session::Session;
use crate::text::label;
use crate::time::to_rfc3339;
use crate::turns::{MessagePosition, messages};
use crate::watch::Watch;

/// The messages to return, and their maximum lengths.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TranscriptQuery {
    /// The number of messages to skip.
    pub offset: u64,
    /// The maximum number of messages.
    pub limit: usize,
    /// The maximum number of characters of a message. Memory grows with the longest message
    /// returned.
    pub max_text: usize,
    /// The maximum number of characters of all messages of a page, as JSON. A message that does not
    /// fit ends the page and starts the next one. A first message that does not fit is truncated,
    /// unless `whole_messages` is set.
    pub max_chars: usize,
    /// Returns a first message that does not fit untruncated, as the only one of its page.
    pub whole_messages: bool,
}

impl Default for TranscriptQuery {
    fn default() -> Self {
        Self { offset: 0, limit: 50, max_text: 1_000, max_chars: DEFAULT_MAX_CHARS, whole_messages: false }
    }
}

/// The maximum number of characters of a call's arguments.
const MAX_ARGUMENT_CHARS: usize = 500;

/// A page of messages.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Transcript {
    /// The messages.
    pub messages: Vec<MessageRow>,
    /// The total number of messages.
    pub total_count: u64,
    /// The total number of turns.
    pub turns: u64,
    /// True if more messages follow this page.
    pub has_more: bool,
    /// The records that could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// A message in a page.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MessageRow {
    /// Its index, from 0.
    pub index: u64,
    /// Its turn, from 1; 0 before the first.
    pub turn: u64,
    /// The line it is on, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Its role. Tool results have the role `tool`, even if Claude Code writes them with the role
    /// `user`.
    pub role: String,
    /// Its kind, if it is neither a user's prompt nor an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<MessageKind>,
    /// Its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
    /// Its text, possibly truncated.
    pub content: String,
    /// The number of characters of its text, if it is truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_chars: Option<u64>,
    /// The number of characters of its thinking, which is not returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_chars: Option<u64>,
    /// The tool calls it makes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CallRow>,
    /// The number of further tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_tool_calls: Option<u64>,
    /// The IDs of the calls it answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// The tool whose result it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A call of a tool in a page.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CallRow {
    /// The call's ID.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The JSON of its arguments, possibly truncated.
    pub arguments: String,
    /// True if the arguments are truncated.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// The maximum number of calls and answers returned of one message.
const MAX_LISTED: usize = 20;

impl MessageRow {
    fn new(message: Message, at: MessagePosition) -> Self {
        let (is_cut, kind) = (message.text.is_cut(), message.kind());
        let is_result = kind == Some(MessageKind::ToolResult);
        let more = message.calls.len().saturating_sub(MAX_LISTED) as u64;
        let call = |call: Call| CallRow {
            id: call.id,
            tool: call.tool,
            arguments: call.arguments,
            truncated: call.arguments_cut,
        };
        Self {
            index: at.index,
            turn: at.turn,
            line: at.record.line,
            ts: message.time.map(to_rfc3339),
            content_chars: is_cut.then_some(message.text.chars),
            content: if is_cut { message.text.text + "…" } else { message.text.text },
            thinking_chars: (message.thinking > 0).then_some(message.thinking),
            tool_calls: message.calls.into_iter().take(MAX_LISTED).map(call).collect(),
            more_tool_calls: (more > 0).then_some(more),
            answers: message.results.into_iter().take(MAX_LISTED).collect(),
            name: message.name,
            kind,
            role: if is_result { "tool".to_owned() } else { message.role },
        }
    }
}

/// The maximum number of characters of a role in a truncated row.
const MAX_ROLE_CHARS: usize = 10;

impl MessageRow {
    /// Truncates a row to at most `max` characters of JSON, starting with its content.
    fn fit(&mut self, max_chars: usize) {
        let over = |row: &Self| json_chars(row).saturating_sub(max_chars);
        if over(self) > 0 {
            let chars = self.content.chars().count() as u64;
            self.content_chars.get_or_insert(chars);
            let kept = json_chars(&self.content).saturating_sub(over(self) + 3);
            self.content = format!("{}…", prefix(&self.content, kept));
        }
        while over(self) > 0 && self.tool_calls.pop().is_some() {
            *self.more_tool_calls.get_or_insert(0) += 1;
        }
        while over(self) > 0 && self.answers.pop().is_some() {}
        if over(self) > 0 {
            self.name = None;
            self.role = label(&self.role, MAX_ROLE_CHARS);
        }
    }
}

impl Session {
    /// Returns a page of the session's messages.
    pub fn messages(&self, query: &TranscriptQuery, watch: &Watch<'_>) -> Result<Transcript> {
        check_limit(query.limit)?;
        let mut budget = CharBudget::new(query.max_chars)?;
        let log = self.transcript(watch)?;
        let job = watch.job(log.len())?;
        let limits = self.message_limits(MessageLimits::new(
            query.max_text.max(MessageLimits::least().text),
            MAX_ARGUMENT_CHARS,
        ));
        let (mut rows, mut total, mut turns) = (Vec::new(), 0, 0);
        let damage = messages(&log, limits, watch, |mut message, at| {
            // All messages are read, even after the page is full, for the totals.
            (total, turns) = (at.index + 1, at.turn);
            if at.index >= query.offset && rows.len() < query.limit && !budget.is_full() {
                message.text.truncate(query.max_text);
                let mut row = MessageRow::new(message, at);
                if budget.is_empty() && query.whole_messages {
                    budget.raise_to_fit(&row);
                } else if budget.is_empty() {
                    row.fit(budget.remaining());
                }
                rows.extend(budget.try_add(&row).then_some(row));
            }
            Ok(Flow::Continue)
        })?;
        job.done();
        let has_more = query.offset + (rows.len() as u64) < total;
        Ok(Transcript { messages: rows, total_count: total, turns, has_more, damage })
    }
}
