//! The messages of a session, in turns: a turn is what a user said and everything until a user said
//! something again.

use serde::Serialize;

use crate::error::Result;
use crate::kind::MessageKind;
use crate::message::{Call, Keep, Message};
use crate::records::{Damage, Flow};
use crate::room::{ROWS, Room, beginning, check_limit, json_chars};
use crate::session::Session;
use crate::text::label;
use crate::time::spelt;
use crate::turns::{At, messages};
use crate::watch::Watch;

/// Which messages to show, and how much of each.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TranscriptQuery {
    /// Messages to pass over.
    pub offset: u64,
    /// Messages at most.
    pub limit: usize,
    /// Characters of a message at most. Memory follows the longest message that is shown.
    pub max_text: usize,
    /// Characters of the JSON of all messages of a page together. One that does not fit ends the
    /// page, and is the first of the next; a first one is cut to what fits, unless it is to be
    /// whole.
    pub max_chars: usize,
    /// Leave a first message that does not fit whole: it is the only one of its page.
    pub whole_messages: bool,
}

impl Default for TranscriptQuery {
    fn default() -> Self {
        Self { offset: 0, limit: 50, max_text: 1_000, max_chars: ROWS, whole_messages: false }
    }
}

/// Characters of a call's arguments at most.
const ARGUMENTS: usize = 500;

/// A page of messages.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Transcript {
    /// The messages.
    pub messages: Vec<MessageRow>,
    /// How many there are.
    pub total_count: u64,
    /// How many turns there are.
    pub turns: u64,
    /// Whether there are more behind these.
    pub has_more: bool,
    /// What could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// A message in a page.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct MessageRow {
    /// Its number, from 0.
    pub index: u64,
    /// Its turn, from 1; 0 before the first.
    pub turn: u64,
    /// The line it stands on, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Its role. The results of tools have the role `tool`, also where Claude Code writes them as
    /// the user's.
    pub role: String,
    /// Its kind, where it is neither a user's prompt nor an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<MessageKind>,
    /// Its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ts: Option<String>,
    /// Its text, or the beginning of it.
    pub content: String,
    /// How many characters it says, where not all of them are shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_chars: Option<u64>,
    /// Characters of its thinking, which is not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_chars: Option<u64>,
    /// The tools it calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<CallRow>,
    /// How many more tools it calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_tool_calls: Option<u64>,
    /// The calls it answers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<String>,
    /// The tool that answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// A call of a tool in a page.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct CallRow {
    /// Its id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// JSON of its arguments, or the beginning of it.
    pub arguments: String,
    /// Whether that is not all.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
}

/// Calls and answers shown of one message.
const SHOWN: usize = 20;

impl MessageRow {
    fn of(message: Message, at: At) -> Self {
        let (is_cut, kind) = (message.text.is_cut(), message.kind());
        let is_result = kind == Some(MessageKind::ToolResult);
        let more = message.calls.len().saturating_sub(SHOWN) as u64;
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
            ts: message.time.map(spelt),
            content_chars: is_cut.then_some(message.text.chars),
            content: if is_cut { message.text.text + "…" } else { message.text.text },
            thinking_chars: (message.thinking > 0).then_some(message.thinking),
            tool_calls: message.calls.into_iter().take(SHOWN).map(call).collect(),
            more_tool_calls: (more > 0).then_some(more),
            answers: message.results.into_iter().take(SHOWN).collect(),
            name: message.name,
            kind,
            role: if is_result { "tool".to_owned() } else { message.role },
        }
    }
}

/// Characters of a role that are shown where there is little room.
const ROLE: usize = 10;

impl MessageRow {
    /// Takes away what is too much for so many characters: of the content first.
    fn fit(&mut self, most: usize) {
        let over = |row: &Self| json_chars(row).saturating_sub(most);
        if over(self) > 0 {
            let chars = self.content.chars().count() as u64;
            self.content_chars.get_or_insert(chars);
            let kept = json_chars(&self.content).saturating_sub(over(self) + 3);
            self.content = format!("{}…", beginning(&self.content, kept));
        }
        while over(self) > 0 && self.tool_calls.pop().is_some() {
            *self.more_tool_calls.get_or_insert(0) += 1;
        }
        while over(self) > 0 && self.answers.pop().is_some() {}
        if over(self) > 0 {
            self.name = None;
            self.role = label(&self.role, ROLE);
        }
    }
}

impl Session {
    /// A page of its messages.
    pub fn messages(&self, query: &TranscriptQuery, watch: &Watch<'_>) -> Result<Transcript> {
        check_limit(query.limit)?;
        let mut room = Room::new(query.max_chars)?;
        let log = self.transcript(watch)?;
        let job = watch.job(log.len())?;
        let keep = self.keep(Keep::new(query.max_text.max(Keep::least().text), ARGUMENTS));
        let (mut rows, mut total, mut turns) = (Vec::new(), 0, 0);
        let damage = messages(&log, keep, watch, |mut message, at| {
            (total, turns) = (at.index + 1, at.turn);
            if at.index >= query.offset && rows.len() < query.limit && !room.is_full() {
                message.text.keep(query.max_text);
                let mut row = MessageRow::of(message, at);
                if room.is_empty() && query.whole_messages {
                    room.make(&row);
                } else if room.is_empty() {
                    row.fit(room.left());
                }
                rows.extend(room.take(&row).then_some(row));
            }
            Ok(Flow::On)
        })?;
        job.done();
        let has_more = query.offset + (rows.len() as u64) < total;
        Ok(Transcript { messages: rows, total_count: total, turns, has_more, damage })
    }
}
