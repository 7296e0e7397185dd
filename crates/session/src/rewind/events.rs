//! Selection of the events that a rewind removes: by turns if messages and events have the same
//! number of turns, else by time, and always by tool calls.

use jiff::Timestamp;

use super::cut::Cut;
use crate::error::Result;
use crate::event_types::current;
use crate::fields::{FieldPath, FieldValues};
use crate::layout::{EventMembers, Layout};
use crate::records::{Damage, Flow, Log, Record};
use crate::watch::Watch;

/// The selection of events that a rewind keeps.
#[derive(Debug, Default)]
pub(super) struct EventSelection {
    /// The byte ranges that are kept.
    pub(super) ranges: Vec<(u64, u64)>,
    pub(super) count: u64,
    pub(super) removed: u64,
    /// True if events could only be selected by their tool calls.
    pub(super) is_by_calls_alone: bool,
}

/// The maximum number of characters of an ID.
const MAX_ID_CHARS: usize = 300;

/// The data of an event that decides whether it is kept.
struct EventFacts {
    name: String,
    time: Option<Timestamp>,
    call: Option<String>,
}

fn each_event(
    log: &Log,
    layout: &Layout,
    watch: &Watch<'_>,
    mut visit: impl FnMut(EventFacts, Record) -> Result<Flow>,
) -> Result<Damage> {
    let more = [(FieldPath::from_names(layout.call.iter().copied()), MAX_ID_CHARS)];
    let known = EventMembers::with_extra(layout, &more);
    let mut found = FieldValues::default();
    log.each(
        watch,
        |cursor| {
            known.fields().read_all(cursor, &mut found)?;
            let name = current(&EventMembers::event(&found)).to_owned();
            let call = found.text(EventMembers::FIRST_EXTRA).map(std::borrow::Cow::into_owned);
            Ok(Some(EventFacts { name, time: EventMembers::time(&found), call }))
        },
        &mut visit,
    )
}

/// Selects the events to keep after a cut of the transcript.
pub(super) fn select(
    log: &Log,
    layout: &Layout,
    cut: &Cut,
    watch: &Watch<'_>,
) -> Result<(EventSelection, Damage)> {
    // Two passes over the log: the first finds the boundary, which may depend on the total number
    // of prompts; the second collects the ranges to keep.
    let mut finder = BoundaryFinder::new(cut);
    let damage = each_event(log, layout, watch, |seen, record| {
        finder.observe(&seen, record.number);
        Ok(Flow::Continue)
    })?;
    let nothing_goes = cut.removed == 0 && !cut.is_by_time;
    let boundary = if nothing_goes { u64::MAX } else { finder.boundary() };
    let mut kept = EventSelection {
        is_by_calls_alone: !nothing_goes && finder.has_no_time(),
        ..EventSelection::default()
    };
    let mut last_stays = true;
    let mut end = 0;
    each_event(log, layout, watch, |seen, record| {
        let stays = stays(cut, &seen, record.number < boundary);
        // Bytes between two records belong to the second one, and damaged records to the previous
        // record.
        match kept.ranges.last_mut() {
            Some((_, until)) if stays && last_stays => *until = record.span.end,
            _ if stays => {
                let is_first = kept.count + kept.removed == 0;
                kept.ranges.push((if is_first { 0 } else { record.span.start }, record.span.end));
            }
            _ => {}
        }
        if stays {
            kept.count += 1;
        } else {
            kept.removed += 1;
        }
        last_stays = stays;
        end = record.span.end;
        Ok(Flow::Continue)
    })?;
    kept.close(log, last_stays, end)?;
    Ok((kept, damage))
}

impl EventSelection {
    /// Extends each range to the end of its line.
    fn close(&mut self, log: &Log, last_stays: bool, end: u64) -> Result<()> {
        let last = self.ranges.len();
        for (index, (_, until)) in self.ranges.iter_mut().enumerate() {
            // If the last record is kept, so is everything after it, including damaged or
            // incomplete lines.
            let is_all = index + 1 == last && last_stays && *until == end;
            *until = if is_all { log.len() } else { log.line_end(*until)? };
        }
        Ok(())
    }
}

/// True if an event is kept. Events of a tool call follow the call; all others follow their
/// position or, if the cut is by time, their time.
fn stays(cut: &Cut, seen: &EventFacts, is_before: bool) -> bool {
    match &seen.call {
        Some(id) if cut.removes(id) => false,
        Some(id) if cut.keeps(id) => true,
        _ => is_before || cut.is_by_time && seen.time.zip(cut.time).is_some_and(|(time, cut)| time < cut),
    }
}

/// Finds the first event to remove.
struct BoundaryFinder<'c> {
    cut: &'c Cut,
    prompts: u64,
    /// The prompt that starts the first removed turn.
    turn: Option<u64>,
    /// The last prompt, until an event shows that work on it started.
    open_prompt: Option<u64>,
    /// The first event that is too late, while it may still belong to the previous turn.
    late: Option<u64>,
    found: Option<u64>,
    /// The first event of a removed call, and the position after the last event of a kept call.
    removed_call: Option<u64>,
    after_kept_call: u64,
    events: u64,
}

impl<'c> BoundaryFinder<'c> {
    fn new(cut: &'c Cut) -> Self {
        Self {
            cut,
            prompts: 0,
            turn: None,
            open_prompt: None,
            late: None,
            found: None,
            removed_call: None,
            after_kept_call: 0,
            events: 0,
        }
    }

    fn observe(&mut self, seen: &EventFacts, number: u64) {
        self.events = number + 1;
        let is_prompt = seen.name == "prompt:submit";
        if is_prompt {
            self.prompts += 1;
            if self.prompts == self.cut.turns + 1 {
                self.turn = Some(number);
            }
        }
        match &seen.call {
            Some(id) if self.cut.removes(id) => {
                self.removed_call.get_or_insert(number);
            }
            Some(id) if self.cut.keeps(id) => self.after_kept_call = number + 1,
            _ => {}
        }
        if self.found.is_none() {
            self.update_boundary(seen, number, is_prompt);
        }
    }

    /// Finds the boundary by time. Events and messages are written by different code, so at the
    /// start of a turn the prompt event may be slightly earlier than the cut, and the end of the
    /// previous turn slightly later.
    fn update_boundary(&mut self, seen: &EventFacts, number: u64, is_prompt: bool) {
        let at_turn = self.cut.is_at_turn && !self.cut.is_by_time;
        let ends = matches!(&*seen.name, "prompt:complete" | "orchestrator:complete" | "execution:end");
        if let Some(late) = self.late {
            match (is_prompt, ends) {
                (true, _) => self.found = Some(number),
                (false, false) => self.found = Some(late),
                (false, true) => {}
            }
            return;
        }
        if seen.time.zip(self.cut.time).is_none_or(|(time, cut)| time < cut) {
            self.open_prompt = match self.open_prompt {
                _ if is_prompt => Some(number),
                open if precedes_work(&seen.name) => open,
                _ => None,
            };
            return;
        }
        match self.open_prompt {
            Some(prompt) if at_turn && !is_prompt => self.found = Some(prompt),
            _ if at_turn && ends => self.late = Some(number),
            _ => self.found = Some(number),
        }
    }

    /// True if messages and events have the same number of turns.
    fn counts_alike(&self) -> bool {
        self.cut.is_at_turn && !self.cut.is_by_time && self.prompts == self.cut.all_turns
    }

    fn has_no_time(&self) -> bool {
        !self.counts_alike() && self.found.or(self.late).is_none() && self.cut.time.is_none()
    }

    /// Returns the first event to remove.
    fn boundary(&self) -> u64 {
        // The most reliable evidence first: the same turn in both logs, then time, then tool calls.
        let by_time = self.found.or(self.late);
        let boundary = match self.turn {
            Some(turn) if self.counts_alike() => Some(turn),
            _ if self.cut.time.is_some() => by_time,
            _ => self.removed_call.or(self.turn.filter(|turn| *turn >= self.after_kept_call)),
        };
        boundary.unwrap_or(self.events)
    }
}

/// True if an event of this type precedes the work on a prompt.
fn precedes_work(name: &str) -> bool {
    matches!(name, "execution:start" | "session:resume" | "session:start") || name.starts_with("plan:")
}
