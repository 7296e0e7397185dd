//! Rewinds of a session to a turn, a message, or a time. The transcript and the events are cut, and
//! can be restored with an undo.

mod cut;
mod events;

use jiff::Timestamp;
use serde::Serialize;
use trommel_base::commit;

use crate::change::{self, Content, FileChange, LockedSession, REWIND, UNDO};
use crate::error::{Change, Error, ErrorClass, ErrorKind, Missing, RequestFault, Result};
use crate::format::{EVENTS, METADATA, TRANSCRIPT};
use crate::metadata::{quoted, with_members};
use crate::records::{Damage, Log};
use crate::session::Session;
use crate::sessions::Sessions;
use crate::text::is_zero;
use crate::time::{parse_requested, to_rfc3339};
use crate::watch::Watch;

use cut::{Cut, Target};
use events::EventSelection;

/// The point to rewind to. Exactly one of the three targets must be set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RewindQuery {
    /// Keeps everything up to the end of this turn. Turns count from 1.
    pub to_turn: Option<u64>,
    /// Keeps everything up to this message. Messages count from 0, as in pages.
    pub to_message: Option<u64>,
    /// Keeps everything before this time.
    pub before_timestamp: Option<String>,
    /// Only reports what a rewind would remove.
    pub dry_run: bool,
}

impl Default for RewindQuery {
    fn default() -> Self {
        Self { to_turn: None, to_message: None, before_timestamp: None, dry_run: true }
    }
}

/// The report of a rewind or of its dry run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RewindReport {
    /// The session.
    pub session_id: String,
    /// True if nothing was changed.
    pub dry_run: bool,
    /// The number of removed messages and events.
    pub would_remove: RemovedCounts,
    /// The number of messages that are kept.
    pub messages_left: u64,
    /// The number of events that are kept.
    pub events_left: u64,
    /// The number of turns that are kept.
    pub new_turn_count: u64,
    /// True if the change can be undone.
    pub backup_created: bool,
    /// The names of the backups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<String>,
    /// Warnings about the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The effect on a program that is writing to the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// The records that could not be read. They are removed or kept together with adjacent records.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// The number of removed messages and events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RemovedCounts {
    /// Messages.
    pub messages: u64,
    /// Events.
    pub events: u64,
}

/// The report of an undo.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct UndoReport {
    /// The session.
    pub session_id: String,
    /// The change that was undone: `rewind` or `repair`.
    pub undone: String,
    /// The time of that change, as fourteen digits.
    pub made: String,
    /// The files that were restored.
    pub restored: Vec<String>,
    /// True if the files had been modified since the change.
    pub changed_since: bool,
    /// The number of lines that were appended to the backups by a program that still had the
    /// replaced files open. They are restored, too.
    #[serde(skip_serializing_if = "is_zero")]
    pub late_lines: u64,
    /// Backups of the files before the undo.
    pub backups: Vec<String>,
}

impl RewindQuery {
    fn target(&self, sessions: &Sessions) -> Result<Target> {
        let time = self.before_timestamp.as_deref();
        match (self.to_turn, self.to_message, time) {
            (Some(0), None, None) => Err(RequestFault::TurnZero.into()),
            (Some(turn), None, None) => Ok(Target::Turn(turn)),
            (None, Some(message), None) => Ok(Target::Message(message)),
            (None, None, Some(time)) => Ok(Target::Time(parse_requested(time, sessions.now().time_zone())?)),
            (None, None, None) => Err(RequestFault::NoTarget.into()),
            _ => Err(RequestFault::SeveralTargets.into()),
        }
    }
}

impl Sessions {
    /// Rewinds a session, or reports what a rewind would remove.
    pub fn rewind(&self, session: &Session, query: &RewindQuery, watch: &Watch<'_>) -> Result<RewindReport> {
        self.must_be_changeable(session, Change::Rewind)?;
        let target = query.target(self)?;
        // A dry run takes no lock, so it works without write permission.
        let locked = if query.dry_run { None } else { Some(change::lock_session(session)?) };
        let (messages, events) = (session.bytes(TRANSCRIPT), session.bytes(EVENTS));
        // The transcript is read once and the events twice; both are read again for their backups,
        // and rewritten. The description is read for its backup and rewritten.
        let copies = if query.dry_run { 0 } else { 2 * (messages + events) + session.bytes(METADATA) };
        let job = watch.job(messages + 2 * events + copies)?;
        let rewind = Rewind::plan(session, target, watch)?;
        let mut rewound = rewind.report(session, query.dry_run);
        rewound.note = rewind.changes_anything().then_some(change::stop_writers(query.dry_run));
        if let Some(locked) = locked
            && rewind.changes_anything()
        {
            let plan = rewind.apply(&locked, self.now().timestamp(), watch)?;
            rewound.backups = plan.files.iter().map(|file| plan.note.backup(&file.name)).collect();
            rewound.backup_created = true;
            rewound.warnings.extend(locked.late_write_warnings(&plan));
        }
        job.done();
        Ok(rewound)
    }

    /// Undoes the last rewind or repair that was not undone. The current files are kept as backups.
    ///
    /// The backups themselves become the session's files again, including lines that a program
    /// appended to them.
    pub fn undo(&self, session: &Session, watch: &Watch<'_>) -> Result<UndoReport> {
        self.must_be_changeable(session, Change::Undo)?;
        let locked = change::lock_session(session)?;
        let last = locked.last_change()?.ok_or_else(|| Missing::Change { session: session.id.clone() })?;
        let job = watch.job(locked.bytes_to_undo(&last))?;
        // The backups are verified before anything is changed. One that was modified other than by
        // appending is refused.
        let backups = locked.backups(&last, watch)?;
        let changed_since = locked.changed_since(&last, watch)?;
        let now = open_all(session, &last)?;
        let files = now.iter().zip(&backups).map(|((name, original), backup)| FileChange {
            name,
            original,
            content: Content::Backup(backup),
        });
        // The undo is itself a change with backups. The record of the undone change is removed
        // last: if the process ends before, the undo can be repeated.
        let plan = locked.change(UNDO, self.now().timestamp(), files.collect(), watch)?;
        locked.discard(&last)?;
        job.done();
        Ok(UndoReport {
            session_id: session.id.clone(),
            undone: last.note.label.trim_start_matches("pre-").to_owned(),
            made: last.note.stamp.clone(),
            restored: last.files.iter().map(|file| file.name.clone()).collect(),
            changed_since,
            late_lines: backups.iter().map(|backup| backup.late_lines).sum(),
            backups: plan.files.iter().map(|file| plan.note.backup(&file.name)).collect(),
        })
    }
}

/// Opens the files of a change in their current state.
fn open_all(session: &Session, plan: &change::Plan) -> Result<Vec<(&'static str, Log)>> {
    let name = |file: &commit::PlannedFile| {
        [METADATA, TRANSCRIPT, EVENTS].into_iter().find(|name| *name == file.name)
    };
    let names = plan.files.iter().filter_map(name);
    names.map(|name| Ok((name, Log::open(&session.path.join(name))?))).collect()
}

/// A planned rewind.
struct Rewind {
    transcript: Log,
    cut: Cut,
    events: Option<(Log, EventSelection)>,
    metadata: Option<Log>,
    damage: Damage,
}

impl Rewind {
    fn plan(session: &Session, target: Target, watch: &Watch<'_>) -> Result<Self> {
        let transcript = session.transcript(watch)?;
        let (cut, mut damage) = Cut::find(&transcript, target, watch)?;
        let events = match session.events(watch) {
            Ok(log) => {
                let (kept, damaged) = events::select(&log, session.layout(), &cut, watch)?;
                damage.add(damaged);
                Some((log, kept))
            }
            Err(error) if error.class() == ErrorClass::NotFound => None,
            Err(error) => return Err(error),
        };
        let metadata = Log::open_if_any(&session.file(METADATA))?;
        Ok(Self { transcript, cut, events, metadata, damage })
    }

    fn removed(&self) -> RemovedCounts {
        let events = self.events.as_ref().map_or(0, |(_, kept)| kept.removed);
        RemovedCounts { messages: self.cut.removed, events }
    }

    fn changes_anything(&self) -> bool {
        self.removed() != RemovedCounts::default()
    }

    fn report(&self, session: &Session, dry_run: bool) -> RewindReport {
        let mut warnings = self.cut.warnings.clone();
        if self.events.as_ref().is_some_and(|(_, kept)| kept.is_by_calls_alone) {
            warnings.push(
                "neither messages nor events have a time at the cut: events were cut by their tool calls"
                    .to_owned(),
            );
        }
        RewindReport {
            session_id: session.id.clone(),
            dry_run,
            would_remove: self.removed(),
            messages_left: self.cut.kept,
            events_left: self.events.as_ref().map_or(0, |(_, kept)| kept.count),
            new_turn_count: self.cut.turns,
            backup_created: false,
            backups: Vec::new(),
            warnings,
            note: None,
            damage: self.damage.clone(),
        }
    }

    fn apply(&self, locked: &LockedSession<'_>, now: Timestamp, watch: &Watch<'_>) -> Result<change::Plan> {
        // All files of the session are changed in one commit, so that a crash cannot leave a cut
        // transcript with uncut events.
        let mut files = vec![ranges(TRANSCRIPT, &self.transcript, vec![(0, self.cut.offset)], watch)];
        if let Some((log, kept)) = &self.events {
            files.push(ranges(EVENTS, log, kept.ranges.clone(), watch));
        }
        if let Some(log) = &self.metadata {
            let events = self.events.as_ref().map(|(_, kept)| kept.count);
            let mut members = vec![
                ("turn_count", self.cut.user_messages.to_string()),
                ("message_count", self.cut.kept.to_string()),
                ("updated", quoted(&to_rfc3339(now))),
            ];
            members.extend(events.map(|events| ("event_count", events.to_string())));
            files.push(change_description(log, &members)?);
        }
        locked.change(REWIND, now, files, watch)
    }
}

/// The maximum size of a description in bytes.
const MAX_DESCRIPTION_BYTES: u64 = 16 << 20;

/// Plans a change of some members of a description.
pub(crate) fn change_description<'f>(log: &'f Log, members: &[(&str, String)]) -> Result<FileChange<'f>> {
    if log.len() > MAX_DESCRIPTION_BYTES {
        return Err(ErrorKind::LongDescription { path: log.path().to_owned(), bytes: log.len() }.into());
    }
    let mut json = Vec::new();
    log.each_block(&Watch::new(), |block| {
        json.extend_from_slice(block);
        Ok(())
    })?;
    let changed = with_members(&json, members).map_err(|error| Error::read(log.path(), error))?;
    let fill = move |write: &mut dyn FnMut(&[u8]) -> Result<()>| write(&changed);
    Ok(FileChange { name: METADATA, original: log, content: Content::Written(Box::new(fill)) })
}

/// Plans a change that keeps only some byte ranges of a file.
fn ranges<'f>(
    name: &'static str,
    log: &'f Log,
    ranges: Vec<(u64, u64)>,
    watch: &'f Watch<'_>,
) -> FileChange<'f> {
    let fill = move |write: &mut dyn FnMut(&[u8]) -> Result<()>| {
        for (from, to) in &ranges {
            log.copy(*from, *to, watch, write)?;
        }
        Ok(())
    };
    FileChange { name, original: log, content: Content::Written(Box::new(fill)) }
}
