//! Several files of a session changed as one, each with a backup and all with a record, so that the
//! change can be undone.
//!
//! The steps are those of [`commit`]: new contents are staged, old files get second names as
//! backups, then the plan is decided, and whoever looks for the session next finds all old files or
//! all new ones. The plan that was applied is the record of the change.

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
use crate::time::{digits, undigits};
use crate::watch::Watch;

const FORM: Form = Form { prefix: ".trommel-new-", names: &[METADATA, TRANSCRIPT, EVENTS], version: 1 };

/// The beginning of the names of records of changes.
const RECORD: &str = ".trommel-made-";

/// How long another process may hold the lock of a session.
const PATIENCE: Duration = Duration::from_secs(20);

/// Why a session was changed; it names the backups.
pub(crate) const REWIND: &str = "pre-rewind";
pub(crate) const REPAIR: &str = "pre-repair";
pub(crate) const UNDO: &str = "pre-undo";

/// A change: decided, or made.
pub(crate) type Plan = commit::Plan<Note>;

/// Why and when a session was changed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) label: String,
    pub(crate) stamp: String,
}

impl Note {
    /// The name of a file's backup.
    pub(crate) fn backup(&self, name: &str) -> String {
        format!("{name}.bak-{}-{}", self.label, self.stamp)
    }

    fn record(&self) -> String {
        format!("{RECORD}{}-{}.json", self.stamp, self.label)
    }
}

/// Writes a file's new content.
pub(crate) type Fill<'f> = dyn FnMut(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + 'f;

/// A file to change: as it was when the change was planned, and its new content.
pub(crate) struct FileChange<'f> {
    pub(crate) name: &'static str,
    pub(crate) was: &'f Log,
    pub(crate) content: Content<'f>,
}

/// The new content of a file.
pub(crate) enum Content<'f> {
    /// As this writes it.
    Written(Box<Fill<'f>>),
    /// The file of this backup, so that a program that still writes to it writes to the session
    /// again.
    Backup(&'f Backup),
}

/// The backup of a file, verified.
pub(crate) struct Backup {
    log: Log,
    /// All of it, with lines that were appended after it became the backup.
    content: Digest,
    /// The number of these lines.
    pub(crate) late_lines: u64,
}

/// The right to change a session's files.
pub(crate) struct Held<'s> {
    session: &'s Session,
    site: Site,
    _lock: File,
}

/// What becomes of the lines of a program that keeps the session's files open, before a change and
/// after it.
pub(crate) fn stop_writers(is_dry_run: bool) -> &'static str {
    if is_dry_run {
        "stop the program that runs this session first: what it writes to a file it keeps open goes to the backup"
    } else {
        "a program that kept these files open writes to the backups now: restart it, or restore its lines with `undo`"
    }
}

/// Takes the right to change a session, of which nothing is left half done then.
pub(crate) fn hold(session: &Session) -> Result<Held<'_>> {
    let path = &session.path;
    let folder = files::attempt(Op::Open, path, || File::open(path))?;
    if !files::lock(&folder, path, PATIENCE)? {
        return Err(ErrorKind::Locked { path: path.clone(), waited: PATIENCE }.into());
    }
    let site = Site::new(&FORM, path, path.join(PLAN));
    let held = Held { session, site, _lock: folder };
    if let Some(plan) = held.read(PLAN)? {
        held.apply(&plan)?;
    }
    held.site.sweep()?;
    Ok(held)
}

/// Brings a change to its end that was decided and interrupted. A mirror is not ours to change.
pub(crate) fn recover(session: &Session) -> Result<()> {
    let is_ours = session.profile().is_changeable && session.source != Source::Cloud;
    if is_ours && session.path.join(PLAN).symlink_metadata().is_ok() {
        hold(session).map(drop)?;
    }
    Ok(())
}

impl Held<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.site.path(name)
    }

    fn names(&self) -> Result<Vec<String>> {
        Ok(files::names(self.site.folder())?)
    }

    /// Changes files, all or none. Returns how it was done.
    pub(crate) fn change(
        &self,
        label: &str,
        now: Timestamp,
        files: Vec<FileChange<'_>>,
        watch: &Watch<'_>,
    ) -> Result<Plan> {
        let note = Note { label: label.to_owned(), stamp: self.stamp(now)? };
        let plan = self.decide(note, files, watch)?;
        // Whatever fails from here on is done by whoever looks for the session next.
        self.apply(&plan).map_err(|error| ErrorKind::Unfinished(Box::new(error)))?;
        Ok(plan)
    }

    /// A time after that of every change that was made, whatever the clock says: changes are undone
    /// in their order.
    fn stamp(&self, now: Timestamp) -> Result<String> {
        let names = self.names()?;
        let made = names.iter().filter_map(|name| undigits(name.strip_prefix(RECORD)?.split('-').next()?));
        let second = SignedDuration::from_secs(1);
        let next = |time: Timestamp| time.checked_add(second).map_err(|_end| RequestFault::Clock);
        let mut time = match made.max() {
            Some(last) => next(last)?.max(now),
            None => now,
        };
        while names.iter().any(|name| name.contains(&digits(time))) {
            time = next(time)?;
        }
        Ok(digits(time))
    }

    /// Stages new contents, makes backups, and decides the change.
    fn decide(&self, note: Note, mut files: Vec<FileChange<'_>>, watch: &Watch<'_>) -> Result<Plan> {
        let mut draft = self.site.draft();
        for file in &mut files {
            let before = digest(file.was, watch)?;
            let staged = self.stage(file, watch)?;
            let planned = PlannedFile::replace(file.name, staged).instead_of(before);
            draft.add(planned.backed_up_as(note.backup(file.name)));
        }
        for file in &files {
            // First, as the second name changes what is compared. What a program writes later is in
            // the backup.
            unchanged(file.was)?;
            draft.back_up(file.name, file.was.file(), &note.backup(file.name))?;
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
                self.write(file.name, file.was, &mut |write| log.each_block(watch, |block| write(block)))
            }
            Content::Written(written) => self.write(file.name, file.was, written),
        }
    }

    /// Stages a new content with the permissions of the old file.
    fn write(&self, name: &str, was: &Log, fill: &mut Fill<'_>) -> Result<StagedFile> {
        let mut staged = self.site.stage(name, Some(was.path()))?;
        let mut digester = Digester::default();
        fill(&mut |part| {
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
        let Some(mut plan) = FORM.read::<Note>(&path)? else { return Ok(None) };
        if !commit::is_bare(&plan.note.label) || !commit::is_bare(&plan.note.stamp) {
            return Err(commit::Error::Foreign { path }.into());
        }
        for file in &mut plan.files {
            // Plans of earlier releases name no backups.
            file.backup = Some(plan.note.backup(&file.name));
        }
        Ok(Some(plan))
    }

    /// The last change that was made and not undone.
    pub(crate) fn last(&self) -> Result<Option<Plan>> {
        for name in self.names()?.iter().rev().filter(|name| name.starts_with(RECORD)) {
            let Some(plan) = self.read(name)? else { continue };
            if plan.note.label != UNDO {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }

    /// Bytes that pass when a change is undone: backups are read, and copied where there are no
    /// links; the files there are now are read twice.
    pub(crate) fn bytes_to_undo(&self, plan: &Plan) -> u64 {
        let bytes = |name: &str| self.session.bytes(name);
        let of = |file: &PlannedFile| 2 * bytes(&plan.note.backup(&file.name)) + 2 * bytes(&file.name);
        plan.files.iter().map(of).sum()
    }

    /// The backups of a change; an error when one does not begin with what was backed up.
    pub(crate) fn backups(&self, plan: &Plan, watch: &Watch<'_>) -> Result<Vec<Backup>> {
        let open = |file: &PlannedFile| Backup::open(self.path(&plan.note.backup(&file.name)), file, watch);
        plan.files.iter().map(open).collect()
    }

    /// Warnings about files that were written to while they were changed.
    pub(crate) fn late(&self, plan: &Plan) -> Vec<String> {
        let mut warnings = Vec::new();
        for file in &plan.files {
            let (name, backup) = (&file.name, plan.note.backup(&file.name));
            if file.before.as_ref().is_some_and(|before| self.session.bytes(&backup) > before.bytes) {
                warnings.push(format!(
                    "{name} was written to during the change: what was added is in {backup}, and `undo` restores it"
                ));
            }
        }
        warnings
    }

    /// True if a file is not what a change made of it any more.
    pub(crate) fn changed_since(&self, plan: &Plan, watch: &Watch<'_>) -> Result<bool> {
        for file in &plan.files {
            let now = digest(&Log::open(&self.path(&file.name))?, watch)?;
            if file.after.as_ref() != Some(&now) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Forgets a change that was undone. Its backups are the session's files again, and lose their
    /// second names; one that had to be copied is kept, as a program may still write to it.
    pub(crate) fn forget(&self, plan: &Plan) -> Result<()> {
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

/// An error when another program wrote to a file since it was opened.
fn unchanged(log: &Log) -> Result<()> {
    log.input().verify(false).map_err(|error| match error.kind() {
        reader::ErrorKind::SourceChanged => ErrorKind::BeingWritten { path: log.path().to_owned() }.into(),
        _ => Error::read(log.path(), error),
    })
}

/// The digest of a file as it was when it was opened.
fn digest(log: &Log, watch: &Watch<'_>) -> Result<Digest> {
    let mut digester = Digester::default();
    log.each_block(watch, |block| {
        digester.add(block);
        Ok(())
    })?;
    Ok(digester.digest())
}
