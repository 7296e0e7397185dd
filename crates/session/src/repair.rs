//! Repair of transcripts: inserts placeholders for missing results, moves misplaced ones, and adds
//! answers to incomplete turns.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;

use serde::Serialize;

use crate::change::{self, Content, FileChange, REPAIR};
use crate::diagnose::{Diagnosis, Faults, examine, report};
use crate::error::{Change, Result};
use crate::format::{METADATA, TRANSCRIPT};
use crate::metadata::quoted;
use crate::records::Log;
use crate::rewind::change_description;
use crate::session::Session;
use crate::sessions::Sessions;
use crate::time::to_rfc3339;
use crate::watch::Watch;

/// The report of a repair or of its dry run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RepairReport {
    /// The faults of the transcript.
    pub diagnosis: Diagnosis,
    /// True if nothing was changed.
    pub dry_run: bool,
    /// The number of placeholder results.
    pub results_added: u64,
    /// The number of moved results.
    pub results_moved: u64,
    /// The number of turns completed with an answer.
    pub turns_closed: u64,
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
}

impl Sessions {
    /// Repairs a session's transcript, or reports what a repair would change.
    pub fn repair(&self, session: &Session, dry_run: bool, watch: &Watch<'_>) -> Result<RepairReport> {
        self.must_be_changeable(session, Change::Repair)?;
        let locked = if dry_run { None } else { Some(change::lock_session(session)?) };
        let log = session.transcript(watch)?;
        // The transcript is read for the diagnosis, read for its backup, and rewritten. The
        // description is read for its backup and rewritten.
        let job = watch.job(if dry_run { log.len() } else { 3 * log.len() + session.bytes(METADATA) })?;
        let (faults, damage) = examine(session, &log, watch)?;
        let mut repaired = RepairReport {
            diagnosis: report(session, &faults, damage),
            dry_run,
            results_added: faults.orphans.len() as u64,
            results_moved: faults.misplaced.len() as u64,
            turns_closed: faults.incomplete.len() as u64,
            backup_created: false,
            backups: Vec::new(),
            warnings: Vec::new(),
            note: (!faults.is_none()).then_some(change::stop_writers(dry_run)),
        };
        if let Some(locked) = locked
            && !faults.is_none()
        {
            let now = self.now().timestamp();
            let edits = Edits::new(&faults, &log, &to_rfc3339(now))?;
            let metadata = Log::open_if_any(&session.file(METADATA))?;
            let mut files = vec![edits.change(&log, watch)];
            if let Some(log) = &metadata {
                files.push(change_description(log, &[("updated", quoted(&to_rfc3339(now)))])?);
            }
            let plan = locked.change(REPAIR, now, files, watch)?;
            repaired.backups = plan.files.iter().map(|file| plan.note.backup(&file.name)).collect();
            repaired.backup_created = true;
            repaired.warnings = locked.late_write_warnings(&plan);
        }
        job.done();
        Ok(repaired)
    }
}

/// The lines to insert after a line.
#[derive(Debug, Default)]
struct Insertion {
    /// The byte ranges of lines moved there.
    moved: Vec<(u64, u64)>,
    /// Placeholder results.
    results: String,
    /// The answer that completes the turn, after all other lines.
    answer: String,
}

/// The edits of a transcript, by the offsets of line ends.
#[derive(Debug, Default)]
struct Edits {
    insertions: BTreeMap<u64, Insertion>,
    /// The byte ranges of lines that are moved elsewhere, by start.
    removed: BTreeMap<u64, u64>,
}

/// The content of a placeholder result.
const PLACEHOLDER_RESULT: &str = r#"{"error":{"type":"unknown_error","message":"The result of this call was lost: the session was interrupted."}}"#;

/// The content of an answer that completes a turn.
const PLACEHOLDER_ANSWER: &str = "The session was interrupted before this turn was answered.";

impl Edits {
    fn new(faults: &Faults, log: &Log, now: &str) -> Result<Self> {
        let mut edits = Self::default();
        let metadata = format!(r#"{{"synthetic":true,"timestamp":{}}}"#, quoted(now));
        for misplaced in faults.misplaced.values() {
            let (from, to) = (misplaced.start, log.line_end(misplaced.end)?);
            edits.removed.insert(from, to);
            edits.insertion_after(faults, log, misplaced.belongs_after)?.moved.push((from, to));
        }
        for caller in &faults.orphans {
            let (id, tool, content) = (quoted(&caller.id), quoted(&caller.tool), quoted(PLACEHOLDER_RESULT));
            // Writing to a string cannot fail.
            let _ = writeln!(
                edits.insertion_after(faults, log, caller.record)?.results,
                r#"{{"role":"tool","tool_call_id":{id},"name":{tool},"content":{content},"metadata":{metadata}}}"#
            );
        }
        for record in faults.incomplete.keys() {
            let content = quoted(PLACEHOLDER_ANSWER);
            edits.insertion_after(faults, log, *record)?.answer =
                format!("{{\"role\":\"assistant\",\"content\":{content},\"metadata\":{metadata}}}\n");
        }
        Ok(edits)
    }

    /// Returns the insertions after the line of a record.
    #[expect(
        clippy::expect_used,
        reason = "an examination keeps the ends of the records that its faults name"
    )]
    fn insertion_after(&mut self, faults: &Faults, log: &Log, record: u64) -> Result<&mut Insertion> {
        let end = faults.ends.get(&record).expect("a fault names a record whose end is kept");
        Ok(self.insertions.entry(log.line_end(*end)?).or_default())
    }

    fn change<'f>(self, log: &'f Log, watch: &'f Watch<'_>) -> FileChange<'f> {
        let fill = move |write: &mut dyn FnMut(&[u8]) -> Result<()>| self.write(log, watch, write);
        FileChange { name: TRANSCRIPT, original: log, content: Content::Written(Box::new(fill)) }
    }

    fn write(&self, log: &Log, watch: &Watch<'_>, write: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut at = 0;
        for (end, insertion) in &self.insertions {
            self.copy(log, at..*end, watch, write)?;
            at = *end;
            // A last line without a line end needs one before anything can follow it.
            if at == log.len() && !log.is_finished() {
                write(b"\n")?;
            }
            // Results come before the answer, so that the answer remains the last message of its
            // turn.
            for line in &insertion.moved {
                log.copy(line.0, line.1, watch, write)?;
                if line.1 == log.len() && !log.is_finished() {
                    write(b"\n")?;
                }
            }
            write(insertion.results.as_bytes())?;
            write(insertion.answer.as_bytes())?;
        }
        self.copy(log, at..log.len(), watch, write)
    }

    /// Copies a range, except for the lines that are moved elsewhere.
    fn copy(
        &self,
        log: &Log,
        range: Range<u64>,
        watch: &Watch<'_>,
        write: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut from = range.start;
        for (start, end) in self.removed.range(range.clone()) {
            log.copy(from, *start, watch, write)?;
            from = *end;
        }
        log.copy(from, range.end, watch, write)
    }
}
