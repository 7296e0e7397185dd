//! Faults that prevent a session from being resumed: tool calls without results, misplaced results,
//! and unanswered turns.

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::Serialize;

use crate::error::Result;
use crate::kind::MessageKind;
use crate::message::{Message, MessageLimits};
use crate::records::{Damage, Flow, Log, Record};
use crate::session::Session;
use crate::text::{is_zero, label};
use crate::turns::{MessagePosition, messages};
use crate::watch::Watch;

/// The faults of a transcript.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The session.
    pub session_id: String,
    /// `healthy`, `broken`, or `damaged` if all readable messages are valid but some records are
    /// unreadable.
    pub status: &'static str,
    /// Those of `missing_tool_results`, `ordering_violation`, `incomplete_assistant_turn`, and
    /// `unreadable_records` that occur.
    pub failure_modes: Vec<&'static str>,
    /// Tool calls without a result, at most 100.
    pub orphaned_tool_ids: Vec<String>,
    /// Tool calls whose results do not follow them, at most 100.
    pub misplaced_tool_ids: Vec<String>,
    /// Turns without a final answer, at most 100.
    pub incomplete_turns: Vec<IncompleteTurn>,
    /// The number of further IDs and turns that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// `none`; `repair`, for sessions of Amplifier only; or `restore` from a backup, as a repair
    /// cannot recover records.
    pub recommended_action: &'static str,
    /// The records that could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// A turn that ends without an answer from the assistant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct IncompleteTurn {
    /// The line of the turn's last message, from 1.
    pub after_line: Option<u64>,
    /// The index of the turn's last message, from 0.
    pub after_index: u64,
    /// The missing part: `assistant_response`.
    pub missing: &'static str,
}

/// The maximum number of IDs and turns listed.
const MAX_LISTED: usize = 100;

/// A tool call, and the message that made it.
#[derive(Clone, Debug)]
pub(crate) struct PendingCall {
    pub(crate) id: String,
    pub(crate) tool: String,
    /// The record of the assistant's message.
    pub(crate) record: u64,
}

/// The faults of a transcript, with the records that a repair needs.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) orphans: Vec<PendingCall>,
    /// Misplaced results by their record: where they are, and the record they belong after.
    pub(crate) misplaced: BTreeMap<u64, Misplaced>,
    /// Incomplete turns, by the record of their last message.
    pub(crate) incomplete: BTreeMap<u64, IncompleteTurn>,
    /// The end offsets of the records that a repair inserts lines after.
    pub(crate) ends: BTreeMap<u64, u64>,
}

/// A record with misplaced results.
#[derive(Debug)]
pub(crate) struct Misplaced {
    pub(crate) ids: Vec<String>,
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// The record of the message that made the call.
    pub(crate) belongs_after: u64,
}

impl Faults {
    pub(crate) fn is_none(&self) -> bool {
        self.orphans.is_empty() && self.misplaced.is_empty() && self.incomplete.is_empty()
    }
}

/// The state of one pass over a transcript.
#[derive(Debug, Default)]
struct Examination {
    faults: Faults,
    /// Calls of the last response, whose results may follow.
    open: Vec<PendingCall>,
    /// The ID of the last response.
    response: Option<String>,
    /// Calls without a result so far, by ID. A queue, as some programs reuse IDs.
    late: HashMap<String, VecDeque<PendingCall>>,
    /// Results that precede their calls, by ID.
    early: HashMap<String, Record>,
    /// Calls whose result shares a record with results of other calls, so that it cannot be moved.
    unmovable: Vec<PendingCall>,
    /// The last message of a turn that the assistant has not answered yet.
    unanswered: Option<MessagePosition>,
}

impl Examination {
    fn add(&mut self, message: &Message, at: MessagePosition) {
        if message.is_side_message() {
            return;
        }
        if message.role == "assistant" {
            // Claude Code writes a record for each part of a response: parallel calls precede the
            // result of the first.
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
            if message.is_prompt() {
                self.end_turn();
            }
        } else {
            self.results(message, at);
        }
        // After an interruption by the user, no answer is missing.
        if message.kind() == Some(MessageKind::Interruption) {
            self.unanswered = None;
        }
    }

    fn call(&mut self, message: &Message, at: MessagePosition, is_part: bool) {
        for call in message.calls.iter().filter(|call| !call.id.is_empty()) {
            // A part may be written again when a session is resumed.
            if is_part && self.open.iter().any(|caller| caller.id == call.id) {
                continue;
            }
            let caller =
                PendingCall { id: call.id.clone(), tool: call.tool.clone(), record: at.record.number };
            self.unanswered = Some(at);
            self.faults.ends.insert(at.record.number, at.record.span.end);
            self.open.push(caller);
        }
    }

    fn results(&mut self, message: &Message, at: MessagePosition) {
        // A record that answers any open call is in place, even if it also answers others.
        let follows = message.results.iter().any(|id| self.open.iter().any(|caller| caller.id == *id));
        for id in &message.results {
            if let Some(index) = self.open.iter().position(|caller| caller.id == *id) {
                let caller = self.open.remove(index);
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

    /// Marks a call as answered. The end of its message is kept if other faults still need it.
    fn forget(&mut self, caller: &PendingCall) {
        let needed = self.open.iter().any(|other| other.record == caller.record)
            || self.faults.misplaced.values().any(|other| other.belongs_after == caller.record);
        if !needed {
            self.faults.ends.remove(&caller.record);
        }
    }

    fn misplace(&mut self, caller: PendingCall, record: Record) {
        let (start, end) = (record.span.start, record.span.end);
        let new_entry = || Misplaced { ids: Vec::new(), start, end, belongs_after: caller.record };
        let misplaced = self.faults.misplaced.entry(record.number).or_insert_with(new_entry);
        // A record can be moved after one message only.
        if misplaced.belongs_after == caller.record {
            misplaced.ids.push(caller.id);
        } else {
            self.unmovable.push(caller);
        }
    }

    /// Closes the calls of the last response. Their results either came before them, or are still
    /// missing.
    fn close_calls(&mut self) {
        self.response = None;
        for caller in std::mem::take(&mut self.open) {
            match self.early.remove(&caller.id) {
                Some(record) => self.misplace(caller, record),
                None => self.late.entry(caller.id.clone()).or_default().push_back(caller),
            }
        }
    }

    /// Ends the turn, recording it as incomplete if it is unanswered.
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
    let damage = messages(log, session.message_limits(MessageLimits::least()), watch, |message, at| {
        examination.add(&message, at);
        Ok(Flow::Continue)
    })?;
    Ok((examination.end(), damage))
}

/// Converts the faults to a report.
pub(crate) fn report(session: &Session, faults: &Faults, damage: Damage) -> Diagnosis {
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
        orphaned_tool_ids: faults
            .orphans
            .iter()
            .take(MAX_LISTED)
            .map(|caller| label(&caller.id, 200))
            .collect(),
        misplaced_tool_ids: misplaced.take(MAX_LISTED).map(|id| label(id, 200)).collect(),
        incomplete_turns: faults.incomplete.values().take(MAX_LISTED).cloned().collect(),
        left_out: counts.map(|count| count.saturating_sub(MAX_LISTED) as u64).iter().sum(),
        recommended_action: match session.profile().is_changeable {
            true if is_broken => "repair",
            true if is_damaged => "restore",
            _ => "none",
        },
        damage,
    }
}

impl Session {
    /// Diagnoses the session's transcript.
    pub fn diagnose(&self, watch: &Watch<'_>) -> Result<Diagnosis> {
        let log = self.transcript(watch)?;
        let job = watch.job(log.len())?;
        let (faults, damage) = examine(self, &log, watch)?;
        job.done();
        Ok(report(self, &faults, damage))
    }
}
