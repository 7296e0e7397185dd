//! The cut through the transcript, before the first message to remove.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use jiff::Timestamp;

use crate::error::{ErrorKind, Missing, Result};
use crate::message::{Message, MessageLimits};
use crate::records::{Damage, Flow, Log};
use crate::turns::{MessagePosition, messages};
use crate::watch::Watch;

/// The point to rewind to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// After this turn, from 1.
    Turn(u64),
    /// After this message, from 0.
    Message(u64),
    /// Before this time.
    Time(Timestamp),
}

/// The maximum number of tool calls tracked.
const MAX_CALLS: usize = 2_000_000;

/// A cut through a transcript.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// The offset of the first removed byte.
    pub(super) offset: u64,
    pub(super) kept: u64,
    pub(super) removed: u64,
    /// The number of turns that are kept, and of all turns.
    pub(super) turns: u64,
    pub(super) all_turns: u64,
    /// The number of kept messages with the role `user`, which is what descriptions count.
    pub(super) user_messages: u64,
    /// The time of the first removed message that has one, or the requested time.
    pub(super) time: Option<Timestamp>,
    /// True if the cut is just before a user's prompt.
    pub(super) is_at_turn: bool,
    /// True if the cut was requested by time.
    pub(super) is_by_time: bool,
    /// The tool calls that are kept, and those that are removed.
    kept_calls: HashSet<u64>,
    removed_calls: HashSet<u64>,
    keys: RandomState,
    pub(super) warnings: Vec<String>,
}

impl Cut {
    pub(super) fn find(log: &Log, target: Target, watch: &Watch<'_>) -> Result<(Self, Damage)> {
        let mut cut = Self { offset: log.len(), ..Self::default() };
        cut.is_by_time = matches!(target, Target::Time(_));
        // A message without a time inherits that of the previous one.
        let (mut now, mut open) = (None, HashSet::new());
        let damage = messages(log, MessageLimits::least(), watch, |message, at| {
            now = message.time.or(now);
            // Once a message is removed, all later ones are, even if their times are earlier.
            let goes = cut.removed > 0
                || match target {
                    Target::Turn(turn) => at.turn > turn,
                    Target::Message(index) => at.index > index,
                    Target::Time(time) => now.is_some_and(|now| now >= time),
                };
            if goes {
                cut.remove(&message, at);
            } else {
                cut.keep(&message, at, &mut open);
            }
            cut.check_calls()?;
            cut.all_turns = at.turn;
            Ok(Flow::Continue)
        })?;
        cut.check(target, now)?;
        cut.finish(target, &open);
        Ok((cut, damage))
    }

    fn remove(&mut self, message: &Message, at: MessagePosition) {
        if self.removed == 0 {
            self.offset = at.record.span.start;
            self.is_at_turn = message.is_prompt();
        }
        self.time = self.time.or(message.time);
        self.removed += 1;
        for call in message.calls.iter().filter(|call| !call.id.is_empty()) {
            self.removed_calls.insert(self.keys.hash_one(&*call.id));
        }
    }

    fn keep(&mut self, message: &Message, at: MessagePosition, open: &mut HashSet<u64>) {
        self.kept += 1;
        self.turns = at.turn;
        self.user_messages += u64::from(message.role == "user");
        for call in message.calls.iter().filter(|call| !call.id.is_empty()) {
            let key = self.keys.hash_one(&*call.id);
            open.insert(key);
            self.kept_calls.insert(key);
        }
        for id in &message.results {
            open.remove(&self.keys.hash_one(&**id));
        }
    }

    /// True if a call is kept.
    pub(super) fn keeps(&self, id: &str) -> bool {
        self.kept_calls.contains(&self.keys.hash_one(id))
    }

    /// True if a call is removed.
    pub(super) fn removes(&self, id: &str) -> bool {
        self.removed_calls.contains(&self.keys.hash_one(id))
    }

    fn check_calls(&self) -> Result<()> {
        if self.kept_calls.len() + self.removed_calls.len() <= MAX_CALLS {
            return Ok(());
        }
        Err(ErrorKind::TooManyCalls { max: MAX_CALLS }.into())
    }

    fn check(&self, target: Target, last: Option<Timestamp>) -> Result<()> {
        let messages = self.kept + self.removed;
        match target {
            Target::Turn(turn) if turn > self.all_turns => {
                Err(Missing::Turn { turn, turns: self.all_turns }.into())
            }
            Target::Message(index) if index >= messages => Err(Missing::Message { index, messages }.into()),
            Target::Time(_) if last.is_none() && messages > 0 => Err(Missing::Times.into()),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, target: Target, open: &HashSet<u64>) {
        if let Target::Time(time) = target {
            self.time = Some(time);
        }
        if self.removed > 0 && !open.is_empty() {
            let calls = match open.len() {
                1 => "a tool call is left without its result".to_owned(),
                count => format!("{count} tool calls are left without their results"),
            };
            self.warnings.push(format!("{calls}: repair adds placeholders, or rewind to the end of a turn"));
        }
        // An ID on both sides of the cut counts as kept, so that none of its events are lost.
        self.removed_calls.retain(|id| !self.kept_calls.contains(id));
    }
}
