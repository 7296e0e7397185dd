//! Atomic commits: several files of a folder change as one. Whatever fails, all files have either
//! their old contents or their new ones afterwards.
//!
//! A commit has three steps. The new contents are *staged* in files of their own, beside the
//! targets. Then the commit is *decided*: its plan is renamed to its final name. From then on it is
//! *applied*: the staged files are renamed to the targets.
//!
//! | interrupted after | on disk | recovery |
//! | --- | --- | --- |
//! | staging or linking backups | old and staged files | the next commit [sweeps](Site::sweep) |
//! | the decision | the old files, and a plan | the next reader [applies](Site::apply) the plan |
//! | some targets | old and new files, and a plan | the same |
//! | the [seal](Seal) | the new files | none is needed |
//!
//! The caller holds a lock on the folder from before the decision to the seal, and applies a
//! decided plan before it reads the files. So no reader sees a mixture. Every step can be repeated:
//! completed work is skipped.
//!
//! ```
//! use serde::{Deserialize, Serialize};
//! use trommel_base::commit::{Form, PlannedFile, Seal, Site};
//!
//! const FORM: Form = Form { prefix: ".new-", names: &["a.txt", "b.txt"], version: 1 };
//!
//! /// The caller's record of a commit.
//! #[derive(Serialize, Deserialize)]
//! struct Note {
//!     reason: String,
//! }
//!
//! # let home = tempfile::tempdir()?;
//! # let folder = home.path();
//! let site = Site::new(&FORM, folder, folder.join(".plan.json"));
//! let mut draft = site.draft();
//! for name in FORM.names {
//!     let mut staged = site.stage(name, None)?;
//!     staged.write(b"new")?;
//!     draft.add(PlannedFile::replace(name, staged.finish()?));
//! }
//! let plan = draft.decide(Note { reason: "example".into() })?;
//! assert!(site.apply(&plan, Seal::Remove(None))?);
//! assert_eq!(std::fs::read(folder.join("b.txt"))?, b"new");
//! assert!(FORM.read::<Note>(&folder.join(".plan.json"))?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Files that other programs have open
//!
//! A target can be replaced in two modes. [`Mode::Replace`] replaces the target unconditionally; a
//! file that another program created there meanwhile is set aside beside the backup.
//! [`Mode::ReplaceSeen`] replaces the target only if it is still the file that the caller saw.
//! Otherwise the target stays, the staged file is removed, and [`Site::apply`] returns false. A
//! backup is the replaced file itself under a second name, so lines that another program appends to
//! the open file are in the backup. On a disk without hard links, or without the exchange of names,
//! files are renamed instead.

mod append;
mod digest;
mod error;
mod exchange;
mod stage;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::files;

pub use digest::{Digest, Digester, Stamp};
pub use error::{Error, Result};
pub use stage::{Draft, Staged, StagedFile};

/// Bytes read and written at a time.
const BLOCK: usize = 256 << 10;

/// Maximum size of a plan, in bytes.
const MAX_PLAN: u64 = 1 << 20;

/// The constants that commits of one kind share.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a caller declares it as a constant")]
pub struct Form {
    /// The prefix of the names of staged files.
    pub prefix: &'static str,
    /// The targets' names. A plan that names another file is refused.
    pub names: &'static [&'static str],
    /// The version of plans. A plan of another version is refused.
    pub version: u32,
}

/// A folder whose files are changed, and the path of its plan.
#[derive(Clone, Debug)]
pub struct Site {
    form: &'static Form,
    folder: PathBuf,
    plan: PathBuf,
}

/// A decided commit: its files, and the caller's note.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Plan<D> {
    version: u32,
    /// The caller's note.
    #[serde(flatten)]
    pub note: D,
    /// The files, in the order in which they are changed.
    pub files: Vec<PlannedFile>,
}

/// The part of a plan that all versions have.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// One file of a commit.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlannedFile {
    /// The target's name.
    pub name: String,
    /// The target's content before the commit, for callers that compare it later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Digest>,
    /// The staged content. It identifies the staged file in a copy of the folder, where the inode
    /// number differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Digest>,
    /// The inode number of the staged file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
    /// The name under which the replaced file is kept. Without one it is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backup: Option<String>,
    /// The way the target changes.
    #[serde(default, skip_serializing_if = "Mode::is_replace")]
    pub mode: Mode,
}

/// The way a target changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Mode {
    /// The staged file replaces the target unconditionally.
    #[default]
    Replace,
    /// The staged file replaces the target if the target is still the file that the caller saw.
    ReplaceSeen {
        /// The target as the caller saw it; `None` if it did not exist.
        had: Option<Stamp>,
        /// The staged file.
        ours: Stamp,
        /// True if bytes that were appended to the replaced file meanwhile are appended to the new
        /// one.
        carries_late: bool,
    },
    /// The staged content is appended at this offset, if nothing else follows it.
    Append {
        /// The length of the target as the caller saw it.
        at: u64,
    },
    /// The target is removed if it is still the file that the caller saw. The staged file is empty.
    Remove {
        /// The target as the caller saw it.
        had: Option<Stamp>,
    },
}

impl Mode {
    fn is_replace(&self) -> bool {
        *self == Self::Replace
    }
}

impl PlannedFile {
    fn new(name: &str, staged: StagedFile, mode: Mode) -> Self {
        let number = Some(staged.number());
        Self { name: name.to_owned(), before: None, after: staged.keep(), number, backup: None, mode }
    }

    /// A target that a staged file replaces unconditionally.
    pub fn replace(name: &str, staged: StagedFile) -> Self {
        Self::new(name, staged, Mode::Replace)
    }

    /// A target that changes in the given mode.
    pub fn with_mode(name: &str, staged: StagedFile, mode: Mode) -> Self {
        Self::new(name, staged, mode)
    }

    /// Sets the content before the commit.
    #[must_use]
    pub fn instead_of(self, before: Digest) -> Self {
        Self { before: Some(before), ..self }
    }

    /// Sets the name under which the replaced file is kept.
    #[must_use]
    pub fn backed_up_as(self, backup: impl Into<String>) -> Self {
        Self { backup: Some(backup.into()), ..self }
    }
}

/// The fate of an applied plan.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a caller decides on one of the two")]
pub enum Seal<'a> {
    /// It is renamed to this path, as a record of the commit.
    Record(&'a Path),
    /// It is removed. If all files were changed, the first path is renamed to the second before
    /// that.
    Remove(Option<(&'a Path, &'a Path)>),
}

impl Form {
    /// Reads a plan, or the record of one. Returns `None` if the file does not exist.
    ///
    /// # Errors
    /// If the plan is damaged, has another version, or names a file that is not a target.
    pub fn read<D: DeserializeOwned>(&self, path: &Path) -> Result<Option<Plan<D>>> {
        let file = match files::open(path) {
            Err(error) if error.is_missing() => return Ok(None),
            file => file?,
        };
        let mut text = Vec::new();
        let read = file.take(MAX_PLAN).read_to_end(&mut text);
        read.map_err(|cause| files::Error::new(files::Op::Read, path, cause))?;
        let damaged = |cause| Error::Damaged { path: path.to_owned(), cause };
        // The version is read first: other members may differ in a later version.
        let Versioned { version } = serde_json::from_slice(&text).map_err(damaged)?;
        if version != self.version {
            return Err(Error::Version { path: path.to_owned(), found: version, known: self.version });
        }
        let plan: Plan<D> = serde_json::from_slice(&text).map_err(damaged)?;
        // Any program may have written the file: its names must not leave the folder.
        let is_known = |file: &PlannedFile| {
            self.names.contains(&&*file.name) && file.backup.as_deref().is_none_or(is_bare)
        };
        if plan.files.iter().all(is_known) {
            Ok(Some(plan))
        } else {
            Err(Error::Foreign { path: path.to_owned() })
        }
    }
}

/// True for a name of a visible file in the same folder.
pub fn is_bare(name: &str) -> bool {
    !name.is_empty() && !name.contains(['/', '\0']) && !name.starts_with('.')
}

impl Site {
    /// Creates a site from a folder and the path of its plan, which may be in another folder.
    pub fn new(form: &'static Form, folder: impl Into<PathBuf>, plan: impl Into<PathBuf>) -> Self {
        Self { form, folder: folder.into(), plan: plan.into() }
    }

    /// The folder of the targets.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of a target, a backup, or any other file of the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The path of the staged file for a target.
    pub fn staged_path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}{name}", self.form.prefix))
    }

    /// Reads the plan that is decided but not sealed. Returns `None` if there is none.
    pub fn decided<D: DeserializeOwned>(&self) -> Result<Option<Plan<D>>> {
        self.form.read(&self.plan)
    }

    /// Removes staged files of a commit that was never decided.
    pub fn sweep(&self) -> Result<()> {
        for name in files::names(&self.folder)? {
            if name.starts_with(self.form.prefix) {
                files::remove(&self.path(&name))?;
            }
        }
        Ok(())
    }

    /// Starts to stage a target's new content, in a private file, or with the permissions of
    /// `like`.
    pub fn stage(&self, name: &str, like: Option<&Path>) -> Result<Staged> {
        Staged::create(self.staged_path(name), like)
    }

    /// Stages an existing file under a second name. Returns `None` if the disk has no hard links.
    pub fn stage_link(&self, name: &str, from: &Path, content: Digest) -> Result<Option<StagedFile>> {
        StagedFile::link(&self.staged_path(name), from, content)
    }

    /// Starts a commit.
    pub fn draft(&self) -> Draft {
        Draft::new(self.clone())
    }

    /// Changes the files of a decided plan, then seals it. Completed changes are skipped. Returns
    /// true if every target has its new content, false if another program changed a target, which
    /// then stays.
    pub fn apply<D>(&self, plan: &Plan<D>, seal: Seal<'_>) -> Result<bool> {
        self.sync_folders()?;
        // All appends are checked before any target changes: they apply together or not at all.
        let mut is_whole = true;
        for file in &plan.files {
            is_whole &= self.is_applicable(file)?;
        }
        let applicable = if is_whole { &*plan.files } else { &[] };
        for file in applicable {
            is_whole &= self.apply_file(file)?;
        }
        // The names must be on the disk before the plan goes: without it nothing repeats the
        // changes.
        files::sync_folder(&self.folder)?;
        if let Seal::Remove(Some((from, to))) = seal
            && is_whole
            && files::inspect(from)?.is_some()
        {
            files::rename(from, to)?;
        }
        for file in &plan.files {
            self.clean_up(file)?;
        }
        match seal {
            Seal::Record(path) => files::rename(&self.plan, path)?,
            Seal::Remove(_) => files::remove(&self.plan).map(drop)?,
        }
        self.sync_folders()?;
        Ok(is_whole)
    }

    /// Returns false for an append to a target that another program has changed.
    fn is_applicable(&self, file: &PlannedFile) -> Result<bool> {
        let staged = self.staged_path(&file.name);
        match file.mode {
            Mode::Append { at } if exists(&staged)? => {
                append::is_appendable(&staged, &self.path(&file.name), at)
            }
            _ => Ok(true),
        }
    }

    /// Changes a target, unless it was changed before. Returns false if another program changed it.
    fn apply_file(&self, file: &PlannedFile) -> Result<bool> {
        let (staged, target) = (self.staged_path(&file.name), self.path(&file.name));
        if !exists(&staged)? {
            return Ok(true);
        }
        let backup = file.backup.as_ref().map(|name| self.path(name));
        match file.mode {
            Mode::Replace => exchange::replace(file, &staged, &target, backup.as_deref()).map(|()| true),
            Mode::Append { at } => append::append(&staged, &target, at),
            Mode::ReplaceSeen { had, ours, carries_late } => {
                let pair = exchange::Pair { staged: &staged, target: &target, had, ours };
                pair.replace(backup.as_deref())?;
                if !carries_late {
                    return Ok(true);
                }
                pair.carry_late(backup.as_deref())
            }
            Mode::Remove { had } => {
                if Stamp::of(&target).is_some_and(|found| Some(found) == had) {
                    files::remove(&target)?;
                }
                // The staged file is removed last: its existence marks an unfinished removal.
                files::remove(&staged)?;
                Ok(true)
            }
        }
    }

    /// Cleans up the staged name. A replaced file that is still there becomes the backup; anything
    /// else is removed.
    fn clean_up(&self, file: &PlannedFile) -> Result<()> {
        let staged = self.staged_path(&file.name);
        if let (Mode::ReplaceSeen { had, .. }, Some(backup)) = (&file.mode, &file.backup)
            && let Some(found) = Stamp::of(&staged)
            && had.is_some_and(|had| had.number() == found.number())
        {
            return Ok(files::rename(&staged, &exchange::unused_name(&self.path(backup)))?);
        }
        files::remove(&staged)?;
        Ok(())
    }

    fn sync_folders(&self) -> Result<()> {
        files::sync_folder(&self.folder)?;
        match self.plan.parent() {
            Some(other) if other != self.folder => Ok(files::sync_folder(other)?),
            _ => Ok(()),
        }
    }
}

/// True if a file or a link exists at a path.
fn exists(path: &Path) -> Result<bool> {
    Ok(files::inspect(path)?.is_some())
}

/// The length of the file at a path; 0 if it does not exist.
fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |found| found.len())
}

#[cfg(test)]
mod tests;
