//! Changing an output: its marker is held meanwhile, so that nobody else changes it, and so that it
//! shows when whoever did came to no end.
//!
//! A marker is a file `pending/<id>` that is locked. What is being written lies beside it, as
//! `pending/<id>.payload` and so on, and is gone, or has another name, when the marker goes. Where
//! a process was ended in between, the lock is free and the files are still there: the index is
//! then brought in line with what the output's own files are, and what is left is swept out when it
//! is an hour old.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use trommel_base::files;

use crate::clock;
use crate::db::Locked;
use crate::disk;
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::id;
use crate::layout::Layout;
use crate::rows::{self, Outputs};
use crate::store::Store;

/// How old a file must be to be swept out.
pub(crate) const OLD: Duration = Duration::from_hours(1);

/// How long others may hold a marker only to see whether it is held.
const GLANCE: Duration = Duration::from_millis(250);

/// The right to change one output.
pub(crate) struct Held {
    layout: Layout,
    id: String,
    /// Locked as long as it is open; nothing where the disk had no room for one.
    marker: Option<File>,
    temporaries: Vec<PathBuf>,
    /// Whether the index may not say what the files say.
    unsettled: bool,
}

impl Held {
    /// Takes an output, which may or may not exist. An error when somebody else has it.
    pub(crate) fn take(layout: &Layout, id: &str) -> Result<Self> {
        let path = layout.marker(id);
        // A marker that existed was left by a process that was ended, perhaps between the files and
        // the index.
        let Some((marker, unsettled)) = hold(&path)? else {
            return Err(ErrorKind::Held { id: id.to_owned(), path }.into());
        };
        let marker = Some(marker);
        Ok(Self { layout: layout.clone(), id: id.into(), marker, temporaries: Vec::new(), unsettled })
    }

    /// Takes an output that is to be removed. On a disk without room even for the marker, the index
    /// is removed first, and when that does not help the output is taken without one: the lock of
    /// the index keeps other removals away, nothing can be written, and there is no index that has
    /// to be brought in line.
    pub(crate) fn take_to_remove(
        layout: &Layout,
        locked: &mut Locked<'_, Outputs>,
        id: &str,
    ) -> Result<Self> {
        let full = |error: &Error| error.class() == ErrorClass::Full;
        match Self::take(layout, id) {
            Err(error) if full(&error) => locked.discard()?,
            taken => return taken,
        }
        match Self::take(layout, id) {
            Err(error) if full(&error) => Ok(Self {
                layout: layout.clone(),
                id: id.into(),
                marker: None,
                temporaries: Vec::new(),
                unsettled: false,
            }),
            taken => taken,
        }
    }

    /// Which output it is.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Makes a file beside the marker. It is removed with it.
    pub(crate) fn create(&mut self, what: &str) -> Result<(File, PathBuf)> {
        let path = self.layout.temporary(&self.id, what);
        // What a writer before us has left, as nobody else can have it.
        disk::remove(&path)?;
        let file = disk::create(&path)?;
        self.temporaries.push(path.clone());
        Ok((file, path))
    }

    /// Gives a file its name for good.
    pub(crate) fn publish(&mut self, temporary: &Path, name: &Path) -> Result<()> {
        disk::rename(temporary, name)?;
        self.temporaries.retain(|path| path != temporary);
        Ok(())
    }

    /// Removes a file beside the marker early.
    pub(crate) fn discard(&mut self, temporary: &Path) -> Result<()> {
        disk::remove(temporary)?;
        self.temporaries.retain(|path| path != temporary);
        Ok(())
    }

    /// Leaves the marker when this is dropped: the output's files may be of two states, and are to
    /// be looked at again.
    pub(crate) fn leave(&mut self) {
        self.unsettled = true;
    }

    /// Says that the index was brought in line with the output's files.
    pub(crate) fn settle(&mut self) {
        self.unsettled = false;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut clean = !self.unsettled;
        for path in &self.temporaries {
            clean &= disk::remove(path).is_ok();
        }
        if clean && self.marker.is_some() {
            // Where it cannot be removed, it is swept out later.
            let _ = disk::remove(&self.layout.marker(&self.id));
        }
        if let Some(marker) = &self.marker {
            let _ = marker.unlock();
        }
    }
}

/// Makes or opens a marker and locks it, and whether it was there already; nothing when somebody
/// else has it.
fn hold(path: &Path) -> files::Result<Option<(File, bool)>> {
    loop {
        let (marker, was_there) = match disk::create(path) {
            Err(error) if error.cause().kind() == io::ErrorKind::AlreadyExists => {
                (disk::open_or_create(path)?, true)
            }
            created => (created?, false),
        };
        if !files::lock(&marker, path, GLANCE)? {
            return Ok(None);
        }
        // The process that had it before and finished has removed it.
        if files::inspect(path)?.is_some_and(|found| is_same(&found, &marker)) {
            return Ok(Some((marker, was_there)));
        }
    }
}

fn is_same(found: &Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (found.dev(), found.ino()))
}

/// What lies in `pending` of one output.
pub(crate) struct Left {
    pub(crate) id: String,
    pub(crate) files: Vec<PathBuf>,
}

/// What lies in `pending`, by output. Names that are not ours are left alone.
pub(crate) fn left(layout: &Layout) -> Result<Vec<Left>> {
    let folder = layout.pending();
    let mut left: Vec<Left> = Vec::new();
    for name in files::names(&folder)? {
        let id = name.split_once('.').map_or(name.as_str(), |(id, _)| id);
        if !id::is_valid(id) {
            continue;
        }
        match left.iter_mut().rev().find(|left| left.id == id) {
            Some(left) => left.files.push(folder.join(&name)),
            None => left.push(Left { id: id.into(), files: vec![folder.join(&name)] }),
        }
    }
    Ok(left)
}

impl Left {
    /// Whether nothing of it was written to lately.
    pub(crate) fn is_old(&self) -> bool {
        self.files.iter().all(|path| is_old(path))
    }
}

/// Whether a file was last written to more than an hour ago.
pub(crate) fn is_old(path: &Path) -> bool {
    let found = files::inspect(path).ok().flatten();
    found.and_then(|found| found.modified().ok()).is_some_and(|time| clock::age(time) > OLD)
}

/// Whether somebody holds this output now.
pub(crate) fn is_held(layout: &Layout, id: &str) -> bool {
    match disk::open(&layout.marker(id)) {
        Ok(marker) => matches!(marker.try_lock(), Err(std::fs::TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

impl Store {
    /// Brings the index in line with outputs that were being changed when their process ended.
    pub(crate) fn recover(&self) -> Result<()> {
        let layout = self.layout();
        let left = left(layout)?;
        if left.iter().all(|left| is_held(layout, &left.id)) {
            return Ok(());
        }
        let mut locked = self.index().lock()?;
        for left in left {
            settle(layout, &mut locked, &left)?;
        }
        Ok(())
    }
}

/// Brings the index in line with one output that no process holds, and removes what is left of it
/// when it is published or old.
pub(crate) fn settle(layout: &Layout, locked: &mut Locked<'_, Outputs>, left: &Left) -> Result<bool> {
    let path = layout.marker(&left.id);
    if is_held(layout, &left.id) {
        return Ok(false);
    }
    rows::sync_or_discard(locked, layout, [left.id.as_str()])?;
    let is_there = files::inspect(&layout.meta(&left.id)).is_ok_and(|found| found.is_some());
    if !is_there && !left.is_old() {
        return Ok(false);
    }
    let Ok(Some((marker, _))) = hold(&path) else { return Ok(false) };
    for file in left.files.iter().filter(|file| **file != path) {
        disk::remove(file)?;
    }
    disk::remove(&path)?;
    drop(marker);
    Ok(true)
}
