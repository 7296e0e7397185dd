//! What keeps a transcript from being gone on with: calls of tools without results, results out of
//! place, turns without an answer.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::Serialize;

use crate::error::Result;
use crate::kind::MessageKind;
use crate::message::{Keep, Message};
use crate::records::{Damage, Flow, Log, Record};
use crate::session::Session;
use crate::text::{is_zero, label};
use crate::turns::{At, messages};
use crate::watch::Watch;

/// What a transcript suffers from.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The session.
    pub session_id: String,
    /// `healthy`, `broken`, or `damaged` where nothing is wrong with the messages that can be read,
    /// but some cannot.
    pub status: &'static str,
    /// Of `missing_tool_results`, `ordering_violation`, `incomplete_assistant_turn` and
    /// `unreadable_records` those that there are.
    pub failure_modes: Vec<&'static str>,
    /// Calls of tools without a result; at most a hundred of them.
    pub orphaned_tool_ids: Vec<String>,
    /// Calls whose results do not follow them; at most a hundred of them.
    pub misplaced_tool_ids: Vec<String>,
    /// Turns that were broken off; at most a hundred of them.
    pub incomplete_turns: Vec<IncompleteTurn>,
    /// How many more ids and turns there are than are told.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// `none`; `repair`, which changes sessions of Amplifier alone; `restore` from a backup, as no
    /// repair brings records back.
    pub recommended_action: &'static str,
    /// What could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// A turn that ends before the assistant said what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IncompleteTurn {
    /// The line of its last message, from 1.
    pub after_line: Option<u64>,
    /// The number of its last message, from 0.
    pub after_index: u64,
    /// What is missing: `assistant_response`.
    pub missing: &'static str,
}

/// Ids and turns that are told.
const TOLD: usize = 100;

/// A call and who made it.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    pub(crate) id: String,
    pub(crate) tool: String,
    /// The assistant's message.
    pub(crate) record: u64,
}

/// What is wrong, with the records it takes to put it right.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) orphans: Vec<Caller>,
    /// Results out of place, by their record: where they are, and the record that they belong
    /// behind.
    pub(crate) misplaced: BTreeMap<u64, Misplaced>,
    /// Turns that are broken off, by the record of their last message.
    pub(crate) incomplete: BTreeMap<u64, IncompleteTurn>,
    /// Where the records stand that something comes behind.
    pub(crate) ends: BTreeMap<u64, u64>,
}

/// Results out of place.
#[derive(Debug)]
pub(crate) struct Misplaced {
    pub(crate) ids: Vec<String>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The message that made the call.
    pub(crate) belongs_behind: u64,
}

impl Faults {
    pub(crate) fn is_none(&self) -> bool {
        self.orphans.is_empty() && self.misplaced.is_empty() && self.incomplete.is_empty()
    }
}

/// A transcript gone through once.
#[derive(Debug, Default)]
struct Examination {
    faults: Faults,
    /// Calls of the last response, whose results may follow.
    open: Vec<Caller>,
    /// The ID of that response.
    response: Option<String>,
    /// Calls whose results should have followed, by id, which some programs use again.
    late: HashMap<String, VecDeque<Caller>>,
    /// Results that no call had asked for, by id.
    early: HashMap<String, Record>,
    /// Calls whose result shares a record with results of other calls, and cannot be moved.
    unmovable: Vec<Caller>,
    /// The last message of a turn that an assistant has yet to say something to.
    unanswered: Option<At>,
}

impl Examination {
    fn take(&mut self, message: &Message, at: At) {
        if message.is_inner() {
            return;
        }
        if message.role == "assistant" {
            // Claude Code writes a record for each part of a response: parallel calls come before
            // the result of the first.
            let is_part = message.response.is_some() && message.response == self.response;
            if !is_part {
                self.close_calls();
            }
            self.response.clone_from(&message.response);
            if self.open.is_empty() {
                self.unanswered = None;
            }
            self.call(message, at, is_part);
        } else if message.results.is_empty() {
            self.close_calls();
            if message.is_users() {
                self.end_turn();
            }
        } else {
            self.results(message, at);
        }
        // The user ended the turn, and nothing is missing.
        if message.kind() == Some(MessageKind::Interruption) {
            self.unanswered = None;
        }
    }

    fn call(&mut self, message: &Message, at: At, is_part: bool) {
        for call in message.calls.iter().filter(|call| !call.id.is_empty()) {
            // A part may be written again, as in a session that was resumed.
            if is_part && self.open.iter().any(|caller| caller.id == call.id) {
                continue;
            }
            let caller = Caller { id: call.id.clone(), tool: call.tool.clone(), record: at.record.number };
            self.unanswered = Some(at);
            self.faults.ends.insert(at.record.number, at.record.span.end);
            self.open.push(caller);
        }
    }

    fn results(&mut self, message: &Message, at: At) {
        // A record that answers one of the open calls stays where it is, whatever else it answers.
        let follows = message.results.iter().any(|id| self.open.iter().any(|caller| caller.id == *id));
        for id in &message.results {
            if let Some(place) = self.open.iter().position(|caller| caller.id == *id) {
                let caller = self.open.remove(place);
                self.forget(&caller);
            } else if !follows {
                match self.late.get_mut(id).and_then(VecDeque::pop_front) {
                    Some(caller) => self.misplace(caller, at.record),
                    None => drop(self.early.insert(id.clone(), at.record)),
                }
            }
        }
        if follows {
            self.unanswered = Some(at);
        }
    }

    /// A call was answered: nothing needs to be put behind its message for it, unless for others.
    fn forget(&mut self, caller: &Caller) {
        let needed = self.open.iter().any(|other| other.record == caller.record)
            || self.faults.misplaced.values().any(|other| other.belongs_behind == caller.record);
        if !needed {
            self.faults.ends.remove(&caller.record);
        }
    }

    fn misplace(&mut self, caller: Caller, record: Record) {
        let (start, end) = (record.span.start, record.span.end);
        let fresh = || Misplaced { ids: Vec::new(), start, end, belongs_behind: caller.record };
        let misplaced = self.faults.misplaced.entry(record.number).or_insert_with(fresh);
        // A record can follow one message only.
        if misplaced.belongs_behind == caller.record {
            misplaced.ids.push(caller.id);
        } else {
            self.unmovable.push(caller);
        }
    }

    /// What follows is no result of the last calls: it came before them, or is yet to come.
    fn close_calls(&mut self) {
        self.response = None;
        for caller in std::mem::take(&mut self.open) {
            match self.early.remove(&caller.id) {
                Some(record) => self.misplace(caller, record),
                None => self.late.entry(caller.id.clone()).or_default().push_back(caller),
            }
        }
    }

    /// The turn is over, be it answered or not.
    fn end_turn(&mut self) {
        if let Some(at) = self.unanswered.take() {
            let turn = IncompleteTurn {
                after_line: at.record.line,
                after_index: at.index,
                missing: "assistant_response",
            };
            self.faults.incomplete.insert(at.record.number, turn);
            self.faults.ends.insert(at.record.number, at.record.span.end);
        }
    }

    fn end(mut self) -> Faults {
        self.end_turn();
        self.close_calls();
        let late = self.late.into_values().flatten();
        let mut orphans = late.chain(self.unmovable).collect::<Vec<_>>();
        orphans.sort_by(|a, b| a.record.cmp(&b.record).then_with(|| a.id.cmp(&b.id)));
        Faults { orphans, ..self.faults }
    }
}

/// Finds the faults of a transcript.
pub(crate) fn examine(session: &Session, log: &Log, watch: &Watch<'_>) -> Result<(Faults, Damage)> {
    let mut examination = Examination::default();
    let damage = messages(log, session.keep(Keep::least()), watch, |message, at| {
        examination.take(&message, at);
        Ok(Flow::On)
    })?;
    Ok((examination.end(), damage))
}

/// The faults in words.
pub(crate) fn told(session: &Session, faults: &Faults, damage: Damage) -> Diagnosis {
    let (is_broken, is_damaged) = (!faults.is_none(), damage.count > 0);
    let modes = [
        (!faults.orphans.is_empty(), "missing_tool_results"),
        (!faults.misplaced.is_empty(), "ordering_violation"),
        (!faults.incomplete.is_empty(), "incomplete_assistant_turn"),
        (is_damaged, "unreadable_records"),
    ];
    let misplaced = faults.misplaced.values().flat_map(|misplaced| &misplaced.ids);
    let counts = [faults.orphans.len(), misplaced.clone().count(), faults.incomplete.len()];
    Diagnosis {
        session_id: session.id.clone(),
        status: match (is_broken, is_damaged) {
            (true, _) => "broken",
            (false, true) => "damaged",
            (false, false) => "healthy",
        },
        failure_modes: modes.into_iter().filter(|(there, _)| *there).map(|(_, mode)| mode).collect(),
        orphaned_tool_ids: faults.orphans.iter().take(TOLD).map(|caller| label(&caller.id, 200)).collect(),
        misplaced_tool_ids: misplaced.take(TOLD).map(|id| label(id, 200)).collect(),
        incomplete_turns: faults.incomplete.values().take(TOLD).cloned().collect(),
        left_out: counts.map(|count| count.saturating_sub(TOLD) as u64).iter().sum(),
        recommended_action: match session.profile().is_changeable {
            true if is_broken => "repair",
            true if is_damaged => "restore",
            _ => "none",
        },
        damage,
    }
}

impl Session {
    /// Finds the faults of its transcript.
    pub fn diagnose(&self, watch: &Watch<'_>) -> Result<Diagnosis> {
        let log = self.transcript(watch)?;
        let job = watch.job(log.len())?;
        let (faults, damage) = examine(self, &log, watch)?;
        job.done();
        Ok(told(self, &faults, damage))
    }
}
