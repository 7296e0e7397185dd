//! Which events go with the messages that are cut off: by turns where both count the same, else by
//! time, and always by the calls of tools.

use jiff::Timestamp;

use super::cut::Cut;
use crate::error::Result;
use crate::layout::{Known, Layout};
use crate::names::current;
use crate::project::{FieldPath, Found};
use crate::records::{Damage, Flow, Log, Record};
use crate::watch::Watch;

/// What is left of a file of events.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// The bytes that stay.
    pub(super) ranges: Vec<(u64, u64)>,
    pub(super) count: u64,
    pub(super) removed: u64,
    /// Whether there was nothing else to go by.
    pub(super) is_by_calls_alone: bool,
}

/// Characters of an id.
const ID: usize = 300;

/// An event as far as it matters here.
struct Seen {
    name: String,
    time: Option<Timestamp>,
    call: Option<String>,
}

fn each(
    log: &Log,
    layout: &Layout,
    watch: &Watch<'_>,
    mut take: impl FnMut(Seen, Record) -> Result<Flow>,
) -> Result<Damage> {
    let more = [(FieldPath::of(layout.call.iter().copied()), ID)];
    let known = Known::and(layout, &more);
    let mut found = Found::default();
    log.each(
        watch,
        |cursor| {
            known.fields().look_at_all(cursor, &mut found)?;
            let name = current(&Known::event(&found)).to_owned();
            let call = found.text(Known::MORE).map(std::borrow::Cow::into_owned);
            Ok(Some(Seen { name, time: Known::time(&found), call }))
        },
        &mut take,
    )
}

/// What stays when the transcript is cut like that.
pub(super) fn kept(log: &Log, layout: &Layout, cut: &Cut, watch: &Watch<'_>) -> Result<(Kept, Damage)> {
    let mut finder = Finder::new(cut);
    let damage = each(log, layout, watch, |seen, record| {
        finder.take(&seen, record.number);
        Ok(Flow::On)
    })?;
    let nothing_goes = cut.removed == 0 && !cut.is_by_time;
    let place = if nothing_goes { u64::MAX } else { finder.place() };
    let mut kept = Kept { is_by_calls_alone: !nothing_goes && finder.is_blind(), ..Kept::default() };
    let mut last_stays = true;
    let mut end = 0;
    each(log, layout, watch, |seen, record| {
        let stays = stays(cut, &seen, record.number < place);
        // What stands between two records goes with the second, and what is damaged with the one
        // before.
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
        Ok(Flow::On)
    })?;
    kept.close(log, last_stays, end)?;
    Ok((kept, damage))
}

impl Kept {
    /// Each range ends with the line's end.
    fn close(&mut self, log: &Log, last_stays: bool, end: u64) -> Result<()> {
        let last = self.ranges.len();
        for (index, (_, until)) in self.ranges.iter_mut().enumerate() {
            let is_all = index + 1 == last && last_stays && *until == end;
            *until = if is_all { log.len() } else { log.line_end(*until)? };
        }
        Ok(())
    }
}

/// Whether an event stays: what is told of a call goes where the call goes, and the rest by where
/// it stands.
fn stays(cut: &Cut, seen: &Seen, is_before: bool) -> bool {
    match &seen.call {
        Some(id) if cut.removes(id) => false,
        Some(id) if cut.keeps(id) => true,
        _ => is_before || cut.is_by_time && seen.time.zip(cut.time).is_some_and(|(time, cut)| time < cut),
    }
}

/// Looks for the first event that goes.
struct Finder<'c> {
    cut: &'c Cut,
    prompts: u64,
    /// The prompt that begins the first turn that goes.
    turn: Option<u64>,
    /// The last prompt, while nothing was done for it yet.
    open_prompt: Option<u64>,
    /// The first event that is too late, while it may still belong to the turn before.
    late: Option<u64>,
    found: Option<u64>,
    /// The first event of a call that goes, and what follows the last one of a call that stays.
    removed_call: Option<u64>,
    after_kept_call: u64,
    events: u64,
}

impl<'c> Finder<'c> {
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

    fn take(&mut self, seen: &Seen, number: u64) {
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
            self.look(seen, number, is_prompt);
        }
    }

    /// By time. Where a turn begins, the prompt may stand a little before its message's time, and
    /// the end of the turn before a little behind it.
    fn look(&mut self, seen: &Seen, number: u64, is_prompt: bool) {
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
                open if begins(&seen.name) => open,
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

    /// Whether turns are counted alike in messages and events.
    fn counts_alike(&self) -> bool {
        self.cut.is_at_turn && !self.cut.is_by_time && self.prompts == self.cut.all_turns
    }

    fn is_blind(&self) -> bool {
        !self.counts_alike() && self.found.or(self.late).is_none() && self.cut.time.is_none()
    }

    /// The first event that goes.
    fn place(&self) -> u64 {
        let by_time = self.found.or(self.late);
        let place = match self.turn {
            Some(turn) if self.counts_alike() => Some(turn),
            _ if self.cut.time.is_some() => by_time,
            _ => self.removed_call.or(self.turn.filter(|turn| *turn >= self.after_kept_call)),
        };
        place.unwrap_or(self.events)
    }
}

/// Whether an event of this name comes before anything is done for a prompt.
fn begins(name: &str) -> bool {
    matches!(name, "execution:start" | "session:resume" | "session:start") || name.starts_with("plan:")
}
