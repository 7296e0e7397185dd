//! New contents of a session's files, which replace the old ones all or none.
//!
//! The protocol is [`trommel_base::commit`]'s: the contents are staged beside the files, a plan
//! beside the journal decides that they count, and whoever comes next applies a plan that was
//! decided and not applied. Lines are appended, so that those of an agent that writes meanwhile are
//! never written over; a file is replaced by exchanging it, and what another program put there
//! stays.

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

/// The commits of sessions' files.
const FORM: Form = Form {
    prefix: ".trommel-sync-",
    names: &["metadata.json", "transcript.jsonl", "events.jsonl"],
    version: 2,
};

/// What a plan notes: it is not in the folder that it changes.
#[derive(Serialize, Deserialize)]
struct Note {
    folder: PathBuf,
}

/// New contents of a session's files. Dropping them removes what was staged.
pub(crate) struct StagedFiles<'a> {
    folder: &'a Folder,
    site: Site,
    cancel: Cancel,
    /// Of the transcript and the events, the number of bytes that stay.
    keep: [u64; 2],
    files: [Option<StagedContent>; FILES.len()],
    /// The place in [`FILES`] of the line that is being written, and its offset.
    open: Option<(usize, u64)>,
    /// True if logs that are replaced are kept as backups.
    has_backups: bool,
}

/// The new content of a file.
struct StagedContent {
    staged: Staged,
    /// It is appended after this number of bytes, or replaces the file.
    after: Option<u64>,
    /// True if there is to be no such file.
    is_gone: bool,
}

/// The place of a kind in [`FILES`].
fn place(kind: Kind) -> usize {
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
    /// Of a folder, with the journal at this path, whose transcript and events keep so many bytes.
    pub(crate) fn new(folder: &'a Folder, journal: &Path, keep: [u64; 2], watch: &Watch<'_>) -> Result<Self> {
        files::make_folder(folder.path())?;
        let site = Site::new(&FORM, folder.path(), plan_of(journal));
        let cancel = watch.flag().clone();
        let files = FILES.map(|_| None);
        Ok(Self { folder, site, cancel, keep, files, open: None, has_backups: false })
    }

    /// Logs that are replaced are kept as backups, as programs may still write to them.
    pub(crate) fn with_backups(self) -> Self {
        Self { has_backups: true, ..self }
    }

    /// The new content at a place of [`FILES`], which begins with the part that stays of the old
    /// one unless it is appended to that.
    fn content(&mut self, at: usize) -> Result<&mut StagedContent> {
        let begun = match self.files[at].take() {
            Some(content) => content,
            None => self.start(at)?,
        };
        Ok(self.files[at].insert(begun))
    }

    fn start(&self, at: usize) -> Result<StagedContent> {
        let old = self.folder.file(FILES[at]);
        let keep = at.checked_sub(1).map(|at| self.keep[at]);
        let there = fs::metadata(&old).ok();
        let len = there.as_ref().map_or(0, fs::Metadata::len);
        let mut staged = self.site.stage(name(FILES[at]), there.is_some().then_some(&*old))?;
        let after = keep.filter(|keep| *keep == len);
        if let Some(keep) = keep
            && after.is_none()
        {
            let from = Text::open(&old, &self.cancel)?;
            files::each_block(&mut from.part(0, keep), &old, BLOCK, |block| staged.write(block))?;
        }
        Ok(StagedContent { staged, after, is_gone: false })
    }

    /// Truncates a file to the part that stays, though nothing is added to it.
    pub(crate) fn cut(&mut self, kind: Kind) -> Result<()> {
        self.content(place(kind)).map(drop)
    }

    /// Puts everything in its place, with the journal that belongs to it. The folder must be what
    /// it was by this mark.
    pub(crate) fn commit(mut self, journal: &Journal, was: &Mark, watch: &Watch<'_>) -> Result<()> {
        let mut draft = self.site.draft();
        for file in self.planned(was)? {
            draft.add(file);
        }
        let new = new_of(journal.path());
        journal.write_to(&new)?;
        let _lock = lock_folder(self.folder.path(), watch)?;
        if self.folder.mark() != *was {
            return Err(ErrorKind::BeingWritten { folder: self.folder.path().to_owned() }.into());
        }
        let plan = draft.decide(Note { folder: self.folder.path().to_owned() })?;
        // False where another program changed a file: the next comparison finds out what became of
        // it.
        self.site.apply(&plan, Seal::Remove(Some((&new, journal.path()))))?;
        Ok(())
    }

    /// The new contents, on the disk, each with its mode.
    fn planned(&mut self, was: &Mark) -> Result<Vec<PlannedFile>> {
        let stamp = Timestamp::now().strftime("%Y%m%d%H%M%S").to_string();
        let mut planned = Vec::new();
        for (at, content) in self.files.iter_mut().enumerate() {
            let Some(StagedContent { staged, after, is_gone }) = content.take() else { continue };
            let (kind, had) = (FILES[at], was.seen(at));
            let path = staged.path().to_owned();
            let staged = staged.finish()?;
            // A description is not a log: another one is told later, as one that was written after
            // this one, and every sync that changes it replaces it.
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
        let at = place(kind);
        let content = self.content(at)?;
        if kind == Kind::Metadata {
            // Of descriptions the last one counts.
            content.staged.truncate(0)?;
        }
        let begun = content.staged.bytes();
        self.open = Some((at, begun));
        Ok(())
    }

    fn add(&mut self, part: &[u8]) -> Result<()> {
        let Some((at, _)) = self.open else { return Ok(()) };
        Ok(self.content(at)?.staged.write(part)?)
    }

    fn end(&mut self, row: &Row) -> Result<()> {
        self.open = None;
        if row.kind == Kind::Metadata {
            self.content(place(row.kind))?.is_gone = row.print == Print::default();
        }
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        match self.open.take() {
            Some((at, begun)) => Ok(self.content(at)?.staged.truncate(begun)?),
            None => Ok(()),
        }
    }
}

/// Applies a plan that was decided and not applied.
pub(crate) fn recover(journal: &Path, watch: &Watch<'_>) -> Result<()> {
    let path = plan_of(journal);
    let Some(plan): Option<Plan<Note>> = FORM.read(&path)? else { return Ok(()) };
    let folder = &plan.note.folder;
    let _lock = lock_folder(folder, watch)?;
    Site::new(&FORM, folder, &path).apply(&plan, Seal::Remove(Some((&new_of(journal), journal))))?;
    Ok(())
}
