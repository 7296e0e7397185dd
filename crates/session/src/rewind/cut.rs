//! Where the transcript is cut: before the first message that is too late.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use jiff::Timestamp;

use crate::error::{ErrorKind, Missing, Result};
use crate::message::{Keep, Message};
use crate::records::{Damage, Flow, Log};
use crate::turns::{At, messages};
use crate::watch::Watch;

/// Where to go back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// To after this turn, from 1.
    Turn(u64),
    /// To after this message, from 0.
    Message(u64),
    /// To before this time.
    Time(Timestamp),
}

/// Calls of tools that are remembered at once.
const CALLS: usize = 2_000_000;

/// A cut through a transcript.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// Where the first byte stands that goes.
    pub(super) offset: u64,
    pub(super) kept: u64,
    pub(super) removed: u64,
    /// Turns that are left, and that there are.
    pub(super) turns: u64,
    pub(super) all_turns: u64,
    /// Messages left whose role is user, which is what descriptions count.
    pub(super) user_messages: u64,
    /// When what goes begins, where that is known.
    pub(super) time: Option<Timestamp>,
    /// Whether it lies before a user's message.
    pub(super) is_at_turn: bool,
    /// Whether it was asked for by time.
    pub(super) is_by_time: bool,
    /// Calls of tools that stay, and that go.
    kept_calls: HashSet<u64>,
    removed_calls: HashSet<u64>,
    keys: RandomState,
    pub(super) warnings: Vec<String>,
}

impl Cut {
    pub(super) fn find(log: &Log, target: Target, watch: &Watch<'_>) -> Result<(Self, Damage)> {
        let mut cut = Self { offset: log.len(), ..Self::default() };
        cut.is_by_time = matches!(target, Target::Time(_));
        // A message without a time has that of the one before.
        let (mut now, mut open) = (None, HashSet::new());
        let damage = messages(log, Keep::least(), watch, |message, at| {
            now = message.time.or(now);
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
            Ok(Flow::On)
        })?;
        cut.check(target, now)?;
        cut.finish(target, &open);
        Ok((cut, damage))
    }

    fn remove(&mut self, message: &Message, at: At) {
        if self.removed == 0 {
            self.offset = at.record.span.start;
            self.is_at_turn = message.is_users();
        }
        self.time = self.time.or(message.time);
        self.removed += 1;
        for call in message.calls.iter().filter(|call| !call.id.is_empty()) {
            self.removed_calls.insert(self.keys.hash_one(&*call.id));
        }
    }

    fn keep(&mut self, message: &Message, at: At, open: &mut HashSet<u64>) {
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

    /// Whether a call stays.
    pub(super) fn keeps(&self, id: &str) -> bool {
        self.kept_calls.contains(&self.keys.hash_one(id))
    }

    /// Whether a call goes.
    pub(super) fn removes(&self, id: &str) -> bool {
        self.removed_calls.contains(&self.keys.hash_one(id))
    }

    fn check_calls(&self) -> Result<()> {
        if self.kept_calls.len() + self.removed_calls.len() <= CALLS {
            return Ok(());
        }
        Err(ErrorKind::TooManyCalls { max: CALLS }.into())
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
                1 => "a call of a tool is left without its result".to_owned(),
                count => format!("{count} calls of tools are left without their results"),
            };
            self.warnings.push(format!("{calls}: repair adds some, or rewind to the end of a turn"));
        }
        // A call that is told of on both sides stays.
        self.removed_calls.retain(|id| !self.kept_calls.contains(id));
    }
}
