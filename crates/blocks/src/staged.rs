//! New contents of a session's files, which replace the old ones together or not at all.
//!
//! The protocol is [`trommel_base::commit`]'s: the contents are staged beside the files, a plan
//! beside the journal decides the commit, and the next process to open the journal applies a plan
//! that was decided but not applied. Lines are appended, so lines that an agent writes meanwhile
//! are never overwritten. A file is replaced by exchanging it, and content that another program put
//! there stays.

use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use trommel_base::commit::{Form, Mode, Plan, PlannedFile, Seal, Site, Staged, Stamp};
use trommel_base::files;
use trommel_session::{Cancel, Watch};

use crate::assemble::Lines;
use crate::error::{ErrorKind, Result};
use crate::folder::{Folder, Mark, name};
use crate::journal::Journal;
use crate::lines::{BLOCK, Print, Text};
use crate::lock::lock_folder;
use crate::rows::{FILES, Kind, Row};

/// The form of commits of session files.
const FORM: Form = Form {
    prefix: ".trommel-sync-",
    names: &["metadata.json", "transcript.jsonl", "events.jsonl"],
    version: 2,
};

/// The note in a plan: the plan is not in the folder that it changes.
#[derive(Serialize, Deserialize)]
struct PlanNote {
    folder: PathBuf,
}

/// New contents of a session's files. Dropping them removes the staged files.
pub(crate) struct StagedFiles<'a> {
    folder: &'a Folder,
    site: Site,
    cancel: Cancel,
    /// For the transcript and the events: the length in bytes of the part that stays.
    keep: [u64; 2],
    files: [Option<StagedContent>; FILES.len()],
    /// The index in [`FILES`] of the line that is being written, and its offset.
    open: Option<(usize, u64)>,
    /// True if logs that are replaced are kept as backups.
    has_backups: bool,
}

/// The new content of a file.
struct StagedContent {
    staged: Staged,
    /// The offset at which the content is appended; `None` if it replaces the file.
    after: Option<u64>,
    /// True if the file is to be removed.
    is_gone: bool,
}

/// The index of a kind in [`FILES`].
fn index_of(kind: Kind) -> usize {
    match kind {
        Kind::Message => 1,
        Kind::Event => 2,
        _ => 0,
    }
}

/// The plan beside a journal.
fn plan_of(journal: &Path) -> PathBuf {
    beside(journal, "plan")
}

/// The new journal beside the one that it replaces.
fn new_of(journal: &Path) -> PathBuf {
    beside(journal, "new")
}

fn beside(journal: &Path, ending: &str) -> PathBuf {
    let mut path = journal.as_os_str().to_owned();
    path.push(".");
    path.push(ending);
    PathBuf::from(path)
}

impl<'a> StagedFiles<'a> {
    /// Starts a commit to a folder with the journal at this path. The transcript and the events
    /// keep `keep` bytes.
    pub(crate) fn new(folder: &'a Folder, journal: &Path, keep: [u64; 2], watch: &Watch<'_>) -> Result<Self> {
        files::make_folder(folder.path())?;
        let site = Site::new(&FORM, folder.path(), plan_of(journal));
        let cancel = watch.flag().clone();
        let files = FILES.map(|_| None);
        Ok(Self { folder, site, cancel, keep, files, open: None, has_backups: false })
    }

    /// Keeps backups of replaced logs, as programs may still write to them.
    pub(crate) fn with_backups(self) -> Self {
        Self { has_backups: true, ..self }
    }

    /// The new content of the file at an index of [`FILES`]. It starts with the part of the old
    /// content that stays, unless it is appended to that.
    fn content(&mut self, at: usize) -> Result<&mut StagedContent> {
        let started = match self.files[at].take() {
            Some(content) => content,
            None => self.start(at)?,
        };
        Ok(self.files[at].insert(started))
    }

    fn start(&self, at: usize) -> Result<StagedContent> {
        let old = self.folder.file(FILES[at]);
        // The description, at index 0, has no part that stays.
        let keep = at.checked_sub(1).map(|at| self.keep[at]);
        let there = fs::metadata(&old).ok();
        let len = there.as_ref().map_or(0, fs::Metadata::len);
        let mut staged = self.site.stage(name(FILES[at]), there.is_some().then_some(&*old))?;
        // An append copies nothing, and keeps lines that an agent adds meanwhile. A file with
        // another length is rewritten.
        let after = keep.filter(|keep| *keep == len);
        if let Some(keep) = keep
            && after.is_none()
        {
            let from = Text::open(&old, &self.cancel)?;
            files::each_block(&mut from.part(0, keep), &old, BLOCK, |block| staged.write(block))?;
        }
        Ok(StagedContent { staged, after, is_gone: false })
    }

    /// Truncates a file to the part that stays, without adding content.
    pub(crate) fn cut(&mut self, kind: Kind) -> Result<()> {
        self.content(index_of(kind)).map(drop)
    }

    /// Commits the contents together with the journal. Fails if the folder has changed since `was`.
    pub(crate) fn commit(mut self, journal: &Journal, was: &Mark, watch: &Watch<'_>) -> Result<()> {
        let mut draft = self.site.draft();
        for file in self.planned(was)? {
            draft.add(file);
        }
        // The new journal is on the disk before the decision, because recovery renames it.
        let new = new_of(journal.path());
        journal.write_to(&new)?;
        // Locked only now: a download may take minutes, and a rewind needs the same lock.
        let _lock = lock_folder(self.folder.path(), watch)?;
        if self.folder.mark() != *was {
            return Err(ErrorKind::BeingWritten { folder: self.folder.path().to_owned() }.into());
        }
        // The plan is the point of no return: a crash before it leaves the old files, and a crash
        // after it leaves a plan that `recover` applies.
        let plan = draft.decide(PlanNote { folder: self.folder.path().to_owned() })?;
        // `apply` returns false if another program changed a file. That file and the old journal
        // stay, so the next comparison finds the difference.
        self.site.apply(&plan, Seal::Remove(Some((&new, journal.path()))))?;
        Ok(())
    }

    /// Syncs the new contents to disk and plans the mode of each.
    fn planned(&mut self, was: &Mark) -> Result<Vec<PlannedFile>> {
        let stamp = Timestamp::now().strftime("%Y%m%d%H%M%S").to_string();
        let mut planned = Vec::new();
        for (at, content) in self.files.iter_mut().enumerate() {
            let Some(StagedContent { staged, after, is_gone }) = content.take() else { continue };
            let (kind, had) = (FILES[at], was.seen(at));
            let path = staged.path().to_owned();
            let staged = staged.finish()?;
            // Lines that an agent appends to a log before the exchange are carried over. A
            // description has no lines: if another program replaced it, the next sync sends it as a
            // newer one.
            let is_log = kind != Kind::Metadata;
            let mode = match after {
                _ if is_gone => Mode::Remove { had },
                Some(at) => Mode::Append { at },
                None => {
                    let ours = Stamp::of(&path).ok_or(ErrorKind::ChangedFile { path })?;
                    Mode::ReplaceSeen { had, ours, carries_late: is_log }
                }
            };
            let is_replaced = matches!(mode, Mode::ReplaceSeen { .. }) && had.is_some();
            let file = PlannedFile::with_mode(name(kind), staged, mode);
            planned.push(if self.has_backups && is_log && is_replaced {
                file.backed_up_as(format!("{}.bak-pre-sync-{stamp}", name(kind)))
            } else {
                file
            });
        }
        Ok(planned)
    }
}

impl Lines for StagedFiles<'_> {
    fn begin(&mut self, kind: Kind) -> Result<()> {
        let at = index_of(kind);
        let content = self.content(at)?;
        if kind == Kind::Metadata {
            // Only the last description counts.
            content.staged.truncate(0)?;
        }
        let started = content.staged.bytes();
        self.open = Some((at, started));
        Ok(())
    }

    fn add(&mut self, part: &[u8]) -> Result<()> {
        let Some((at, _)) = self.open else { return Ok(()) };
        Ok(self.content(at)?.staged.write(part)?)
    }

    fn end(&mut self, row: &Row) -> Result<()> {
        self.open = None;
        if row.kind == Kind::Metadata {
            self.content(index_of(row.kind))?.is_gone = row.print == Print::default();
        }
        Ok(())
    }

    fn discard(&mut self) -> Result<()> {
        match self.open.take() {
            Some((at, started)) => Ok(self.content(at)?.staged.truncate(started)?),
            None => Ok(()),
        }
    }
}

/// Applies a plan that was decided but not applied.
pub(crate) fn recover(journal: &Path, watch: &Watch<'_>) -> Result<()> {
    let path = plan_of(journal);
    let Some(plan): Option<Plan<PlanNote>> = FORM.read(&path)? else { return Ok(()) };
    let folder = &plan.note.folder;
    // The files matched when the plan was decided. `apply` checks each target again.
    let _lock = lock_folder(folder, watch)?;
    Site::new(&FORM, folder, &path).apply(&plan, Seal::Remove(Some((&new_of(journal), journal))))?;
    Ok(())
}
