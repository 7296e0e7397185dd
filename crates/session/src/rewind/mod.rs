//! Back to a turn, a message or a time: what came later is cut off the transcript and the events,
//! and can be brought back.

mod cut;
mod events;

use jiff::Timestamp;
use serde::Serialize;
use trommel_base::commit;

use crate::change::{self, Content, FileChange, Held, REWIND, UNDO};
use crate::error::{Change, Error, ErrorClass, ErrorKind, Missing, RequestFault, Result};
use crate::format::{EVENTS, METADATA, TRANSCRIPT};
use crate::metadata::{quoted, with_members};
use crate::records::{Damage, Log};
use crate::session::Session;
use crate::sessions::Sessions;
use crate::text::is_zero;
use crate::time::{asked, spelt};
use crate::watch::Watch;

use cut::{Cut, Target};
use events::Kept;

/// Where to go back to: one of the three.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RewindQuery {
    /// To after this turn; turns count from 1.
    pub to_turn: Option<u64>,
    /// To after this message; messages count from 0, as they are shown.
    pub to_message: Option<u64>,
    /// To before this time.
    pub before_timestamp: Option<String>,
    /// Only tell what would be done.
    pub dry_run: bool,
}

impl Default for RewindQuery {
    fn default() -> Self {
        Self { to_turn: None, to_message: None, before_timestamp: None, dry_run: true }
    }
}

/// What a rewind did, or would do.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Rewound {
    /// The session.
    pub session_id: String,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// What is cut off.
    pub would_remove: Removed,
    /// How many messages are left.
    pub messages_left: u64,
    /// How many events are left.
    pub events_left: u64,
    /// How many turns are left.
    pub new_turn_count: u64,
    /// Whether what was there before can be brought back.
    pub backup_created: bool,
    /// The names of the backups.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub backups: Vec<String>,
    /// What should be known about the result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What becomes of the lines of a program that keeps writing to the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// What could not be read; it is cut off with what stands around it.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// How much is cut off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Removed {
    /// Messages.
    pub messages: u64,
    /// Events.
    pub events: u64,
}

/// What an undo did.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Undone {
    /// The session.
    pub session_id: String,
    /// What was undone: `rewind` or `repair`.
    pub undone: String,
    /// When that was, as fourteen digits.
    pub made: String,
    /// The files that are again what they were.
    pub restored: Vec<String>,
    /// Whether the files had been changed since.
    pub changed_since: bool,
    /// Lines that a program added to the backups, because it still had the files open that were
    /// replaced. They are restored, too.
    #[serde(skip_serializing_if = "is_zero")]
    pub late_lines: u64,
    /// Backups of what was there until now.
    pub backups: Vec<String>,
}

impl RewindQuery {
    fn target(&self, sessions: &Sessions) -> Result<Target> {
        let time = self.before_timestamp.as_deref();
        match (self.to_turn, self.to_message, time) {
            (Some(0), None, None) => Err(RequestFault::TurnZero.into()),
            (Some(turn), None, None) => Ok(Target::Turn(turn)),
            (None, Some(message), None) => Ok(Target::Message(message)),
            (None, None, Some(time)) => Ok(Target::Time(asked(time, sessions.now().time_zone())?)),
            (None, None, None) => Err(RequestFault::NoTarget.into()),
            _ => Err(RequestFault::SeveralTargets.into()),
        }
    }
}

impl Sessions {
    /// Cuts a session back, or tells what that would cut off.
    pub fn rewind(&self, session: &Session, query: &RewindQuery, watch: &Watch<'_>) -> Result<Rewound> {
        self.must_be_changeable(session, Change::Rewind)?;
        let target = query.target(self)?;
        // Who only asks needs no right to write.
        let held = if query.dry_run { None } else { Some(change::hold(session)?) };
        let (messages, events) = (session.bytes(TRANSCRIPT), session.bytes(EVENTS));
        // Read once, events twice; read again for their backups, and rewritten. The description is
        // read for its backup and rewritten.
        let copies = if query.dry_run { 0 } else { 2 * (messages + events) + session.bytes(METADATA) };
        let job = watch.job(messages + 2 * events + copies)?;
        let rewind = Rewind::of(session, target, watch)?;
        let mut rewound = rewind.told(session, query.dry_run);
        rewound.note = rewind.changes_anything().then_some(change::stop_writers(query.dry_run));
        if let Some(held) = held
            && rewind.changes_anything()
        {
            let plan = rewind.make(&held, self.now().timestamp(), watch)?;
            rewound.backups = plan.files.iter().map(|file| plan.note.backup(&file.name)).collect();
            rewound.backup_created = true;
            rewound.warnings.extend(held.late(&plan));
        }
        job.done();
        Ok(rewound)
    }

    /// Brings back what the last rewind or repair changed that was not undone. What is there now is
    /// kept as backups.
    ///
    /// The backups become the session's files again, with lines that a program added to them since.
    pub fn undo(&self, session: &Session, watch: &Watch<'_>) -> Result<Undone> {
        self.must_be_changeable(session, Change::Undo)?;
        let held = change::hold(session)?;
        let last = held.last()?.ok_or_else(|| Missing::Change { session: session.id.clone() })?;
        let job = watch.job(held.bytes_to_undo(&last))?;
        let backups = held.backups(&last, watch)?;
        let changed_since = held.changed_since(&last, watch)?;
        let now = open_all(session, &last)?;
        let files = now.iter().zip(&backups).map(|((name, was), backup)| FileChange {
            name,
            was,
            content: Content::Backup(backup),
        });
        let plan = held.change(UNDO, self.now().timestamp(), files.collect(), watch)?;
        held.forget(&last)?;
        job.done();
        Ok(Undone {
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

/// The files that a change made, as they are now.
fn open_all(session: &Session, plan: &change::Plan) -> Result<Vec<(&'static str, Log)>> {
    let name = |file: &commit::PlannedFile| {
        [METADATA, TRANSCRIPT, EVENTS].into_iter().find(|name| *name == file.name)
    };
    let names = plan.files.iter().filter_map(name);
    names.map(|name| Ok((name, Log::open(&session.path.join(name))?))).collect()
}

/// A rewind that was thought through.
struct Rewind {
    transcript: Log,
    cut: Cut,
    events: Option<(Log, Kept)>,
    metadata: Option<Log>,
    damage: Damage,
}

impl Rewind {
    fn of(session: &Session, target: Target, watch: &Watch<'_>) -> Result<Self> {
        let transcript = session.transcript(watch)?;
        let (cut, mut damage) = Cut::find(&transcript, target, watch)?;
        let events = match session.events(watch) {
            Ok(log) => {
                let (kept, damaged) = events::kept(&log, session.layout(), &cut, watch)?;
                damage.add(damaged);
                Some((log, kept))
            }
            Err(error) if error.class() == ErrorClass::NotFound => None,
            Err(error) => return Err(error),
        };
        let metadata = Log::open_if_any(&session.file(METADATA))?;
        Ok(Self { transcript, cut, events, metadata, damage })
    }

    fn removed(&self) -> Removed {
        let events = self.events.as_ref().map_or(0, |(_, kept)| kept.removed);
        Removed { messages: self.cut.removed, events }
    }

    fn changes_anything(&self) -> bool {
        self.removed() != Removed::default()
    }

    fn told(&self, session: &Session, dry_run: bool) -> Rewound {
        let mut warnings = self.cut.warnings.clone();
        if self.events.as_ref().is_some_and(|(_, kept)| kept.is_by_calls_alone) {
            warnings.push("neither messages nor events say where the cut is in time: events were cut by their calls of tools".to_owned());
        }
        Rewound {
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

    fn make(&self, held: &Held<'_>, now: Timestamp, watch: &Watch<'_>) -> Result<change::Plan> {
        let mut files = vec![ranges(TRANSCRIPT, &self.transcript, vec![(0, self.cut.offset)], watch)];
        if let Some((log, kept)) = &self.events {
            files.push(ranges(EVENTS, log, kept.ranges.clone(), watch));
        }
        if let Some(log) = &self.metadata {
            let events = self.events.as_ref().map(|(_, kept)| kept.count);
            let mut members = vec![
                ("turn_count", self.cut.user_messages.to_string()),
                ("message_count", self.cut.kept.to_string()),
                ("updated", quoted(&spelt(now))),
            ];
            members.extend(events.map(|events| ("event_count", events.to_string())));
            files.push(described(log, &members)?);
        }
        held.change(REWIND, now, files, watch)
    }
}

/// A description that is longer than that is none.
const DESCRIPTION: u64 = 16 << 20;

/// A description with members set anew.
pub(crate) fn described<'f>(log: &'f Log, members: &[(&str, String)]) -> Result<FileChange<'f>> {
    if log.len() > DESCRIPTION {
        return Err(ErrorKind::LongDescription { path: log.path().to_owned(), bytes: log.len() }.into());
    }
    let mut json = Vec::new();
    log.each_block(&Watch::new(), |block| {
        json.extend_from_slice(block);
        Ok(())
    })?;
    let changed = with_members(&json, members).map_err(|error| Error::read(log.path(), error))?;
    let fill = move |write: &mut dyn FnMut(&[u8]) -> Result<()>| write(&changed);
    Ok(FileChange { name: METADATA, was: log, content: Content::Written(Box::new(fill)) })
}

/// Some ranges of a file.
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
    FileChange { name, was: log, content: Content::Written(Box::new(fill)) }
}
