//! Staged files: new contents in files of their own, removed unless the commit is decided.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{BLOCK, Digest, Error, Plan, PlannedFile, Result, Site};
use crate::files::{self, Op};

/// A file that is removed on drop, unless it is kept.
#[derive(Debug)]
struct Temporary(Option<PathBuf>);

impl Temporary {
    fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            // A file that cannot be removed does no harm, and the next commit sweeps it.
            let _ = files::remove(path);
        }
    }
}

/// Staged content that is being written. Dropping it removes the file.
#[derive(Debug)]
pub struct Staged {
    path: PathBuf,
    out: BufWriter<File>,
    bytes: u64,
    guard: Temporary,
}

impl Staged {
    pub(super) fn create(path: PathBuf, like: Option<&Path>) -> Result<Self> {
        files::remove(&path)?;
        let file = files::create(&path)?;
        let guard = Temporary(Some(path.clone()));
        if let Some(like) = like {
            files::copy_mode(&file, &path, like)?;
        }
        Ok(Self { path, out: BufWriter::with_capacity(BLOCK, file), bytes: 0, guard })
    }

    /// The path of the staged file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The length so far, in bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Writes a part.
    pub fn write(&mut self, part: &[u8]) -> Result<()> {
        files::write(&mut self.out, &self.path, part)?;
        self.bytes += part.len() as u64;
        Ok(())
    }

    /// Truncates the content to `bytes`.
    pub fn truncate(&mut self, bytes: u64) -> Result<()> {
        self.flush()?;
        files::truncate(self.out.get_ref(), &self.path, bytes)?;
        let out = &mut self.out;
        files::attempt(Op::Write, &self.path, || out.seek(SeekFrom::Start(bytes)))?;
        self.bytes = bytes;
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let out = &mut self.out;
        Ok(files::attempt(Op::Write, &self.path, || out.flush())?)
    }

    /// Flushes the content to the disk.
    pub fn finish(self) -> Result<StagedFile> {
        self.finish_as(None)
    }

    /// Flushes the content to the disk. The digest identifies the file in a copy of the folder.
    pub fn finish_with(self, content: Digest) -> Result<StagedFile> {
        self.finish_as(Some(content))
    }

    fn finish_as(mut self, content: Option<Digest>) -> Result<StagedFile> {
        self.flush()?;
        files::sync(self.out.get_ref(), &self.path)?;
        StagedFile::new(&self.path, content, self.guard)
    }
}

/// Staged content that is on the disk. Dropping it removes the file, unless a commit takes it.
#[derive(Debug)]
pub struct StagedFile {
    number: u64,
    content: Option<Digest>,
    guard: Temporary,
}

impl StagedFile {
    fn new(path: &Path, content: Option<Digest>, guard: Temporary) -> Result<Self> {
        let found = fs::symlink_metadata(path);
        let number = found.map_err(|cause| files::Error::new(Op::Inspect, path, cause))?.ino();
        Ok(Self { number, content, guard })
    }

    pub(super) fn link(path: &Path, from: &Path, content: Digest) -> Result<Option<Self>> {
        files::remove(path)?;
        if !files::link(from, path)? {
            return Ok(None);
        }
        let guard = Temporary(Some(path.to_owned()));
        Self::new(path, Some(content), guard).map(Some)
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Releases the file to the draft, and returns its digest.
    pub(super) fn keep(self) -> Option<Digest> {
        self.guard.keep();
        self.content
    }
}

/// A commit in preparation. Dropping it removes the staged files and the backups.
#[derive(Debug)]
pub struct Draft {
    site: Site,
    files: Vec<PlannedFile>,
    guards: Vec<Temporary>,
}

impl Draft {
    pub(super) fn new(site: Site) -> Self {
        Self { site, files: Vec::new(), guards: Vec::new() }
    }

    /// Adds a staged file.
    pub fn add(&mut self, file: PlannedFile) {
        self.guards.push(Temporary(Some(self.site.staged_path(&file.name))));
        self.files.push(file);
    }

    /// Links a target, as it was opened, to the backup, and flushes its content to the disk. On a
    /// disk without hard links, [`Site::apply`] renames it instead.
    ///
    /// # Errors
    /// [`Error::Replaced`] if the target is no longer the opened file.
    pub fn back_up(&mut self, name: &str, opened: &File, backup: &str) -> Result<()> {
        let (path, to) = (self.site.path(name), self.site.path(backup));
        if files::link(&path, &to)? {
            self.guards.push(Temporary(Some(to.clone())));
            let inspected = |error| files::Error::new(Op::Inspect, &to, error);
            let linked = fs::metadata(&to).map_err(inspected)?;
            let found = opened.metadata().map_err(inspected)?;
            // Another program may have replaced the target between opening and linking.
            if (linked.dev(), linked.ino()) != (found.dev(), found.ino()) {
                return Err(Error::Replaced { path });
            }
        }
        // Another program wrote the file, and may not have flushed it.
        Ok(files::sync(opened, &path)?)
    }

    /// Decides the commit: writes the plan, then renames it to its final name. On failure nothing
    /// of the commit remains.
    #[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "a site names its plan file")]
    pub fn decide<D: Serialize>(mut self, note: D) -> Result<Plan<D>> {
        let plan = Plan { version: self.site.form.version, note, files: std::mem::take(&mut self.files) };
        let name = self.site.plan.file_name().expect("a plan is a file").to_string_lossy();
        let path = self.site.plan.with_file_name(format!("{}{name}", self.site.form.prefix));
        let text = serde_json::to_vec(&plan);
        let text = text.map_err(|error| files::Error::new(Op::Write, &path, error.into()))?;
        files::remove(&path)?;
        let mut file = files::create(&path)?;
        self.guards.push(Temporary(Some(path.clone())));
        files::write(&mut file, &path, &text)?;
        files::sync(&file, &path)?;
        // The staged names must be on the disk before the plan: a plan without its files is damage.
        files::sync_folder(&self.site.folder)?;
        files::rename(&path, &self.site.plan)?;
        self.guards.drain(..).for_each(Temporary::keep);
        Ok(plan)
    }
}
