//! A transcript put right: results that are missing are made up and say so, those out of place are
//! moved, and turns that were broken off get an end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use serde::Serialize;

use crate::change::{self, Content, FileChange, REPAIR};
use crate::diagnose::{Diagnosis, Faults, examine, told};
use crate::error::{Change, Result};
use crate::format::{METADATA, TRANSCRIPT};
use crate::metadata::quoted;
use crate::records::Log;
use crate::rewind::described;
use crate::session::Session;
use crate::sessions::Sessions;
use crate::time::spelt;
use crate::watch::Watch;

/// What a repair did, or would do.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Repaired {
    /// What was wrong.
    pub diagnosis: Diagnosis,
    /// Whether nothing was changed.
    pub dry_run: bool,
    /// Results that are made up.
    pub results_added: u64,
    /// Results that are moved.
    pub results_moved: u64,
    /// Turns that get an end.
    pub turns_closed: u64,
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
}

impl Sessions {
    /// Puts a session's transcript right, or tells what that would change.
    pub fn repair(&self, session: &Session, dry_run: bool, watch: &Watch<'_>) -> Result<Repaired> {
        self.must_be_changeable(session, Change::Repair)?;
        let held = if dry_run { None } else { Some(change::hold(session)?) };
        let log = session.transcript(watch)?;
        // Read once; read again for its backup, and rewritten. The description is read for its
        // backup and rewritten.
        let job = watch.job(if dry_run { log.len() } else { 3 * log.len() + session.bytes(METADATA) })?;
        let (faults, damage) = examine(session, &log, watch)?;
        let mut repaired = Repaired {
            diagnosis: told(session, &faults, damage),
            dry_run,
            results_added: faults.orphans.len() as u64,
            results_moved: faults.misplaced.len() as u64,
            turns_closed: faults.incomplete.len() as u64,
            backup_created: false,
            backups: Vec::new(),
            warnings: Vec::new(),
            note: (!faults.is_none()).then_some(change::stop_writers(dry_run)),
        };
        if let Some(held) = held
            && !faults.is_none()
        {
            let now = self.now().timestamp();
            let edits = Edits::of(&faults, &log, &spelt(now))?;
            let metadata = Log::open_if_any(&session.file(METADATA))?;
            let mut files = vec![edits.change(&log, watch)];
            if let Some(log) = &metadata {
                files.push(described(log, &[("updated", quoted(&spelt(now)))])?);
            }
            let plan = held.change(REPAIR, now, files, watch)?;
            repaired.backups = plan.files.iter().map(|file| plan.note.backup(&file.name)).collect();
            repaired.backup_created = true;
            repaired.warnings = held.late(&plan);
        }
        job.done();
        Ok(repaired)
    }
}

/// What comes behind a line.
#[derive(Debug, Default)]
struct Behind {
    /// Lines that are moved there.
    moved: Vec<(u64, u64)>,
    /// Lines that are made up.
    fresh: String,
    /// The end of a turn, behind all others.
    close: String,
}

/// A transcript's changes, by the offsets of lines' ends.
#[derive(Debug, Default)]
struct Edits {
    behind: BTreeMap<u64, Behind>,
    /// Lines that are moved away, from their beginnings to their ends.
    gone: BTreeMap<u64, u64>,
}

/// What is said for a result that never came.
const RESULT: &str = r#"{"error":{"type":"unknown_error","message":"The result of this call was lost: the session was interrupted."}}"#;

/// What is said where an answer never came.
const ANSWER: &str = "The session was interrupted before this turn was answered.";

impl Edits {
    fn of(faults: &Faults, log: &Log, now: &str) -> Result<Self> {
        let mut edits = Self::default();
        let metadata = format!(r#"{{"synthetic":true,"timestamp":{}}}"#, quoted(now));
        for misplaced in faults.misplaced.values() {
            let (from, to) = (misplaced.start, log.line_end(misplaced.end)?);
            edits.gone.insert(from, to);
            edits.behind(faults, log, misplaced.belongs_behind)?.moved.push((from, to));
        }
        for caller in &faults.orphans {
            let (id, tool, content) = (quoted(&caller.id), quoted(&caller.tool), quoted(RESULT));
            // Writing to a string cannot fail.
            let _ = writeln!(
                edits.behind(faults, log, caller.record)?.fresh,
                r#"{{"role":"tool","tool_call_id":{id},"name":{tool},"content":{content},"metadata":{metadata}}}"#
            );
        }
        for record in faults.incomplete.keys() {
            let content = quoted(ANSWER);
            edits.behind(faults, log, *record)?.close =
                format!("{{\"role\":\"assistant\",\"content\":{content},\"metadata\":{metadata}}}\n");
        }
        Ok(edits)
    }

    /// What comes after the line of a record that something is missing after.
    #[expect(
        clippy::expect_used,
        reason = "an examination keeps the ends of the records that its faults name"
    )]
    fn behind(&mut self, faults: &Faults, log: &Log, record: u64) -> Result<&mut Behind> {
        let end = faults.ends.get(&record).expect("a fault names a record whose end is kept");
        Ok(self.behind.entry(log.line_end(*end)?).or_default())
    }

    fn change<'f>(self, log: &'f Log, watch: &'f Watch<'_>) -> FileChange<'f> {
        let fill = move |write: &mut dyn FnMut(&[u8]) -> Result<()>| self.write(log, watch, write);
        FileChange { name: TRANSCRIPT, was: log, content: Content::Written(Box::new(fill)) }
    }

    fn write(&self, log: &Log, watch: &Watch<'_>, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut at = 0;
        for (place, behind) in &self.behind {
            self.copy(log, at..*place, watch, write)?;
            at = *place;
            if at == log.len() && !log.is_finished() {
                write(b"\n")?;
            }
            for line in &behind.moved {
                log.copy(line.0, line.1, watch, write)?;
                if line.1 == log.len() && !log.is_finished() {
                    write(b"\n")?;
                }
            }
            write(behind.fresh.as_bytes())?;
            write(behind.close.as_bytes())?;
        }
        self.copy(log, at..log.len(), watch, write)
    }

    /// What stands between two places and is not moved away.
    fn copy(
        &self,
        log: &Log,
        range: Range<u64>,
        watch: &Watch<'_>,
        write: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut from = range.start;
        for (start, end) in self.gone.range(range.clone()) {
            log.copy(from, *start, watch, write)?;
            from = *end;
        }
        log.copy(from, range.end, watch, write)
    }
}
