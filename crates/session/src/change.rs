//! Atomic changes of several session files, each with a backup and all with a record, so that a
//! change can be undone.
//!
//! The steps are those of [`commit`]: stage new contents, link old files as backups, write the
//! plan, then rename. The plan is the point of commitment: without it, all files stay old; once it
//! exists, the next lookup of the session completes the change. The applied plan becomes the record
//! of the change.

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use trommel::reader;
use trommel_base::commit::{self, Digest, Digester, Form, PlannedFile, Seal, Site, StagedFile};
use trommel_base::files::{self, Op};

use crate::error::{Error, ErrorKind, RequestFault, Result};
use crate::format::{EVENTS, METADATA, PLAN, TRANSCRIPT};
use crate::records::Log;
use crate::session::{Session, Source};
use crate::time::{compact_timestamp, parse_compact_timestamp};
use crate::watch::Watch;

const FORM: Form = Form { prefix: ".trommel-new-", names: &[METADATA, TRANSCRIPT, EVENTS], version: 1 };

/// The name prefix of records of changes.
const RECORD_PREFIX: &str = ".trommel-made-";

/// The maximum time to wait for another process to release a session's lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

/// Labels of changes, which name the backups.
pub(crate) const REWIND: &str = "pre-rewind";
pub(crate) const REPAIR: &str = "pre-repair";
pub(crate) const UNDO: &str = "pre-undo";

/// A change that is decided or applied.
pub(crate) type Plan = commit::Plan<ChangeNote>;

/// The label and time of a change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ChangeNote {
    pub(crate) label: String,
    pub(crate) stamp: String,
}

impl ChangeNote {
    /// Returns the name of a file's backup.
    pub(crate) fn backup(&self, name: &str) -> String {
        format!("{name}.bak-{}-{}", self.label, self.stamp)
    }

    fn record(&self) -> String {
        format!("{RECORD_PREFIX}{}-{}.json", self.stamp, self.label)
    }
}

/// Writes a file's new content to a callback.
pub(crate) type ContentWriter<'f> = dyn FnMut(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + 'f;

/// A file to change: its state when the change was planned, and its new content.
pub(crate) struct FileChange<'f> {
    pub(crate) name: &'static str,
    pub(crate) original: &'f Log,
    pub(crate) content: Content<'f>,
}

/// The new content of a file.
pub(crate) enum Content<'f> {
    /// Content written by a callback.
    Written(Box<ContentWriter<'f>>),
    /// The backup file itself, not a copy. A program that still has it open then writes to the
    /// session again.
    Backup(&'f Backup),
}

/// A verified backup of a file.
pub(crate) struct Backup {
    log: Log,
    /// The digest of the whole file, including lines appended after it became the backup.
    content: Digest,
    /// The number of these lines.
    pub(crate) late_lines: u64,
}

/// A session locked for a change.
pub(crate) struct LockedSession<'s> {
    session: &'s Session,
    site: Site,
    _lock: File,
}

/// Returns a note on the fate of lines that a running program writes, before a change or after it.
pub(crate) fn stop_writers(is_dry_run: bool) -> &'static str {
    if is_dry_run {
        "stop the program that runs this session first: its later writes to open files go to the backup"
    } else {
        "a program with these files open now writes to the backups: restart it, or restore its lines with `undo`"
    }
}

/// Locks a session for a change, and completes any interrupted one.
pub(crate) fn lock_session(session: &Session) -> Result<LockedSession<'_>> {
    let path = &session.path;
    // The lock is on the folder, as the files in it are replaced by the change.
    let folder = files::attempt(Op::Open, path, || File::open(path))?;
    if !files::lock(&folder, path, LOCK_TIMEOUT)? {
        return Err(ErrorKind::Locked { path: path.clone(), waited: LOCK_TIMEOUT }.into());
    }
    let site = Site::new(&FORM, path, path.join(PLAN));
    let locked = LockedSession { session, site, _lock: folder };
    if let Some(plan) = locked.read(PLAN)? {
        locked.apply(&plan)?;
    }
    // With the lock held and no plan left, staged files belong to a change that was never decided.
    locked.site.sweep()?;
    Ok(locked)
}

/// Completes a change that was decided and interrupted. Mirrors are never changed.
pub(crate) fn recover(session: &Session) -> Result<()> {
    let is_ours = session.profile().is_changeable && session.source != Source::Cloud;
    if is_ours && session.path.join(PLAN).symlink_metadata().is_ok() {
        lock_session(session).map(drop)?;
    }
    Ok(())
}

impl LockedSession<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.site.path(name)
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(files::names(self.site.folder())?)
    }

    /// Changes files atomically, and returns the applied plan.
    pub(crate) fn change(
        &self,
        label: &str,
        now: Timestamp,
        files: Vec<FileChange<'_>>,
        watch: &Watch<'_>,
    ) -> Result<Plan> {
        let note = ChangeNote { label: label.to_owned(), stamp: self.stamp(now)? };
        let plan = self.decide(note, files, watch)?;
        // The change is decided: a failure from here on is completed by the next lookup of the
        // session.
        self.apply(&plan).map_err(|error| ErrorKind::Unfinished(Box::new(error)))?;
        Ok(plan)
    }

    /// Returns a time after that of every recorded change, even if the clock went back. Changes are
    /// undone in the order of their names.
    fn stamp(&self, now: Timestamp) -> Result<String> {
        let names = self.names()?;
        let stamps = names
            .iter()
            .filter_map(|name| parse_compact_timestamp(name.strip_prefix(RECORD_PREFIX)?.split('-').next()?));
        let second = SignedDuration::from_secs(1);
        let next = |time: Timestamp| time.checked_add(second).map_err(|_end| RequestFault::Clock);
        let mut time = match stamps.max() {
            Some(last) => next(last)?.max(now),
            None => now,
        };
        while names.iter().any(|name| name.contains(&compact_timestamp(time))) {
            time = next(time)?;
        }
        Ok(compact_timestamp(time))
    }

    /// Stages new contents, creates backups, and decides the change.
    fn decide(&self, note: ChangeNote, mut files: Vec<FileChange<'_>>, watch: &Watch<'_>) -> Result<Plan> {
        let mut draft = self.site.draft();
        for file in &mut files {
            let before = digest(file.original, watch)?;
            let staged = self.stage(file, watch)?;
            let planned = PlannedFile::replace(file.name, staged).instead_of(before);
            draft.add(planned.backed_up_as(note.backup(file.name)));
        }
        for file in &files {
            // Check before linking: a second name changes the file's status, which the check
            // compares. Lines that a program appends after the link end up in the backup.
            check_unchanged(file.original)?;
            draft.back_up(file.name, file.original.file(), &note.backup(file.name))?;
        }
        watch.check()?;
        Ok(draft.decide(note)?)
    }

    fn stage(&self, file: &mut FileChange<'_>, watch: &Watch<'_>) -> Result<StagedFile> {
        match &mut file.content {
            Content::Backup(backup) => {
                let log = &backup.log;
                if let Some(staged) = self.site.stage_link(file.name, log.path(), backup.content.clone())? {
                    return Ok(staged);
                }
                self.write(file.name, file.original, &mut |write| log.each_block(watch, |block| write(block)))
            }
            Content::Written(written) => self.write(file.name, file.original, written),
        }
    }

    /// Stages new content with the permissions of the old file.
    fn write(&self, name: &str, original: &Log, content: &mut ContentWriter<'_>) -> Result<StagedFile> {
        let mut staged = self.site.stage(name, Some(original.path()))?;
        let mut digester = Digester::default();
        content(&mut |part| {
            digester.add(part);
            Ok(staged.write(part)?)
        })?;
        Ok(staged.finish_with(digester.digest())?)
    }

    fn apply(&self, plan: &Plan) -> Result<()> {
        let record = self.path(&plan.note.record());
        self.site.apply(plan, Seal::Record(&record))?;
        Ok(())
    }

    /// Reads a plan or a record.
    fn read(&self, name: &str) -> Result<Option<Plan>> {
        let path = self.path(name);
        let Some(mut plan) = FORM.read::<ChangeNote>(&path)? else { return Ok(None) };
        // Both parts of the note form file names. A slash would let a crafted plan write outside
        // the folder.
        if !commit::is_bare(&plan.note.label) || !commit::is_bare(&plan.note.stamp) {
            return Err(commit::Error::Foreign { path }.into());
        }
        for file in &mut plan.files {
            // Plans of earlier releases do not name the backups.
            file.backup = Some(plan.note.backup(&file.name));
        }
        Ok(Some(plan))
    }

    /// Returns the last change that was not undone.
    pub(crate) fn last_change(&self) -> Result<Option<Plan>> {
        // Undoing a change removes its record, so the last remaining one that is not itself an undo
        // is next.
        for name in self.names()?.iter().rev().filter(|name| name.starts_with(RECORD_PREFIX)) {
            let Some(plan) = self.read(name)? else { continue };
            if plan.note.label != UNDO {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }

    /// The bytes that an undo reads and writes: backups are read, and copied without links; the
    /// current files are read twice.
    pub(crate) fn bytes_to_undo(&self, plan: &Plan) -> u64 {
        let bytes = |name: &str| self.session.bytes(name);
        let of = |file: &PlannedFile| 2 * bytes(&plan.note.backup(&file.name)) + 2 * bytes(&file.name);
        plan.files.iter().map(of).sum()
    }

    /// Opens the backups of a change. Fails if one does not start with the original content.
    pub(crate) fn backups(&self, plan: &Plan, watch: &Watch<'_>) -> Result<Vec<Backup>> {
        let open = |file: &PlannedFile| Backup::open(self.path(&plan.note.backup(&file.name)), file, watch);
        plan.files.iter().map(open).collect()
    }

    /// Returns warnings about files that were written to during the change.
    pub(crate) fn late_write_warnings(&self, plan: &Plan) -> Vec<String> {
        let mut warnings = Vec::new();
        for file in &plan.files {
            let (name, backup) = (&file.name, plan.note.backup(&file.name));
            if file.before.as_ref().is_some_and(|before| self.session.bytes(&backup) > before.bytes) {
                warnings.push(format!(
                    "{name} was written to during the change: the added lines are in {backup}, and `undo` restores them"
                ));
            }
        }
        warnings
    }

    /// True if a file differs from the content that a change gave it.
    pub(crate) fn changed_since(&self, plan: &Plan, watch: &Watch<'_>) -> Result<bool> {
        for file in &plan.files {
            let now = digest(&Log::open(&self.path(&file.name))?, watch)?;
            if file.after.as_ref() != Some(&now) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Deletes the record of an undone change, and the backups that are the session's files again.
    /// A backup that had to be copied stays, as a program may still write to it.
    pub(crate) fn discard(&self, plan: &Plan) -> Result<()> {
        files::remove(&self.path(&plan.note.record()))?;
        for file in &plan.files {
            let backup = self.path(&plan.note.backup(&file.name));
            if files::is_same(&backup, &self.path(&file.name)) {
                files::remove(&backup)?;
            }
        }
        Ok(files::sync_folder(self.site.folder())?)
    }
}

impl Backup {
    fn open(path: PathBuf, file: &PlannedFile, watch: &Watch<'_>) -> Result<Self> {
        let log = Log::open(&path)?;
        let old_bytes = file.before.as_ref().map_or(0, |before| before.bytes);
        let (mut digester, mut before, mut late_lines, mut last) = (Digester::default(), None, 0, b'\n');
        log.each_block(watch, |block| {
            // Digests the original length first, then the rest. A writer that kept the file open
            // only appends, so the prefix must match the digest taken before the change.
            let left = old_bytes.saturating_sub(digester.bytes());
            let old = usize::try_from(left).map_or(block.len(), |left| left.min(block.len()));
            let (old, late) = block.split_at(old);
            digester.add(old);
            if let Some(end) = late.last() {
                before.get_or_insert_with(|| digester.digest());
                digester.add(late);
                late_lines += late.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
                last = *end;
            }
            Ok(())
        })?;
        let content = digester.digest();
        if file.before.as_ref() != Some(before.as_ref().unwrap_or(&content)) {
            return Err(ErrorKind::ChangedBackup { path, name: file.name.clone() }.into());
        }
        late_lines += u64::from(last != b'\n');
        Ok(Self { log, content, late_lines })
    }
}

/// Fails if another program wrote to a file since it was opened.
fn check_unchanged(log: &Log) -> Result<()> {
    log.input().verify(false).map_err(|error| match error.kind() {
        reader::ErrorKind::SourceChanged => ErrorKind::BeingWritten { path: log.path().to_owned() }.into(),
        _ => Error::read(log.path(), error),
    })
}

/// Returns the digest of a file as of when it was opened.
fn digest(log: &Log, watch: &Watch<'_>) -> Result<Digest> {
    let mut digester = Digester::default();
    log.each_block(watch, |block| {
        digester.add(block);
        Ok(())
    })?;
    Ok(digester.digest())
}
