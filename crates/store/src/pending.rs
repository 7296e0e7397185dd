//! Exclusive locks on outputs, and recovery from interrupted writers.
//!
//! A process that changes an output holds its marker, a locked file `pending/<id>`. Other processes
//! then cannot change the output. Files that are being written are next to the marker, as
//! `pending/<id>.payload` and so on. They are renamed or removed before the marker is.
//!
//! The lock of a crashed process is free although its marker still exists. Recovery then updates
//! the index from the output's own files. Leftover files are removed after an hour.

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

/// Minimum age of a leftover file before it is removed.
pub(crate) const MIN_LEFTOVER_AGE: Duration = Duration::from_hours(1);

/// How long to retry when a marker is locked. Another process may hold it briefly just to check
/// whether it is free.
const MARKER_TIMEOUT: Duration = Duration::from_millis(250);

/// The exclusive right to change one output.
pub(crate) struct OutputLock {
    layout: Layout,
    id: String,
    /// Locked while open. `None` if a full disk has no space for a marker.
    marker: Option<File>,
    temporaries: Vec<PathBuf>,
    /// True if the index may disagree with the files of the output.
    needs_sync: bool,
}

impl OutputLock {
    /// Locks an output, which need not exist. Fails if another process holds it.
    pub(crate) fn acquire(layout: &Layout, id: &str) -> Result<Self> {
        let path = layout.marker(id);
        // An existing marker was left by a crashed process, possibly after it changed the files but
        // before it changed the index.
        let Some((marker, needs_sync)) = lock_marker(&path)? else {
            return Err(ErrorKind::InUse { id: id.to_owned(), path }.into());
        };
        let marker = Some(marker);
        Ok(Self { layout: layout.clone(), id: id.into(), marker, temporaries: Vec::new(), needs_sync })
    }

    /// Locks an output that is to be removed, even on a full disk.
    ///
    /// If there is no space for the marker, the index is discarded to free some. If that is not
    /// enough, the output is removed without a marker. This is safe: the lock of the index excludes
    /// other removals, a full disk excludes writers, and no index is left that could become stale.
    pub(crate) fn acquire_to_remove(
        layout: &Layout,
        locked: &mut Locked<'_, Outputs>,
        id: &str,
    ) -> Result<Self> {
        let full = |error: &Error| error.class() == ErrorClass::Full;
        match Self::acquire(layout, id) {
            Err(error) if full(&error) => locked.discard()?,
            acquired => return acquired,
        }
        match Self::acquire(layout, id) {
            Err(error) if full(&error) => Ok(Self {
                layout: layout.clone(),
                id: id.into(),
                marker: None,
                temporaries: Vec::new(),
                needs_sync: false,
            }),
            acquired => acquired,
        }
    }

    /// The ID of the locked output.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Creates a file next to the marker. Dropping the lock removes it.
    pub(crate) fn create_file(&mut self, what: &str) -> Result<(File, PathBuf)> {
        let path = self.layout.temporary(&self.id, what);
        // Remove the file of a crashed writer. No live process can own it, because this one holds
        // the marker.
        disk::remove(&path)?;
        let file = disk::create(&path)?;
        self.temporaries.push(path.clone());
        Ok((file, path))
    }

    /// Renames a temporary file to its final name.
    pub(crate) fn publish(&mut self, temporary: &Path, name: &Path) -> Result<()> {
        disk::rename(temporary, name)?;
        self.temporaries.retain(|path| path != temporary);
        Ok(())
    }

    /// Removes a temporary file before the lock is dropped.
    pub(crate) fn discard(&mut self, temporary: &Path) -> Result<()> {
        disk::remove(temporary)?;
        self.temporaries.retain(|path| path != temporary);
        Ok(())
    }

    /// Keeps the marker when the lock is dropped, so that recovery compares the index with the
    /// files.
    pub(crate) fn mark_unsynced(&mut self) {
        self.needs_sync = true;
    }

    /// Records that the index agrees with the files of the output.
    pub(crate) fn mark_synced(&mut self) {
        self.needs_sync = false;
    }
}

impl Drop for OutputLock {
    fn drop(&mut self) {
        // The order matters: the marker must outlive the temporary files, because it is what makes
        // recovery find them. If one of them cannot be removed, the marker stays.
        let mut clean = !self.needs_sync;
        for path in &self.temporaries {
            clean &= disk::remove(path).is_ok();
        }
        if clean && self.marker.is_some() {
            // A marker that cannot be removed is removed by a later garbage collection.
            let _ = disk::remove(&self.layout.marker(&self.id));
        }
        if let Some(marker) = &self.marker {
            let _ = marker.unlock();
        }
    }
}

/// Creates or opens a marker and locks it. Also returns true if it existed before. Returns `None`
/// if another process holds it.
fn lock_marker(path: &Path) -> files::Result<Option<(File, bool)>> {
    loop {
        let (marker, existed) = match disk::create(path) {
            Err(error) if error.cause().kind() == io::ErrorKind::AlreadyExists => {
                (disk::open_or_create(path)?, true)
            }
            created => (created?, false),
        };
        if !files::lock(&marker, path, MARKER_TIMEOUT)? {
            return Ok(None);
        }
        // The previous holder removes the marker before it releases the lock. If the path no longer
        // refers to the locked file, the lock protects nothing: try again.
        if files::inspect(path)?.is_some_and(|found| is_same(&found, &marker)) {
            return Ok(Some((marker, existed)));
        }
    }
}

fn is_same(found: &Metadata, file: &File) -> bool {
    file.metadata().is_ok_and(|own| (own.dev(), own.ino()) == (found.dev(), found.ino()))
}

/// The files in `pending` that belong to one output.
pub(crate) struct PendingFiles {
    pub(crate) id: String,
    pub(crate) files: Vec<PathBuf>,
}

/// Groups the files in `pending` by output. Files with other names are ignored.
pub(crate) fn pending_files(layout: &Layout) -> Result<Vec<PendingFiles>> {
    let folder = layout.pending();
    let mut pending: Vec<PendingFiles> = Vec::new();
    for name in files::names(&folder)? {
        let id = name.split_once('.').map_or(name.as_str(), |(id, _)| id);
        if !id::is_valid(id) {
            continue;
        }
        match pending.iter_mut().rev().find(|pending| pending.id == id) {
            Some(pending) => pending.files.push(folder.join(&name)),
            None => pending.push(PendingFiles { id: id.into(), files: vec![folder.join(&name)] }),
        }
    }
    Ok(pending)
}

impl PendingFiles {
    /// True if none of the files was modified within the last hour.
    pub(crate) fn is_old(&self) -> bool {
        self.files.iter().all(|path| is_old(path))
    }
}

/// True if a file was last modified more than an hour ago.
pub(crate) fn is_old(path: &Path) -> bool {
    let found = files::inspect(path).ok().flatten();
    found.and_then(|found| found.modified().ok()).is_some_and(|time| clock::age(time) > MIN_LEFTOVER_AGE)
}

/// True if a process holds the lock of this output.
pub(crate) fn is_locked(layout: &Layout, id: &str) -> bool {
    match disk::open(&layout.marker(id)) {
        Ok(marker) => matches!(marker.try_lock(), Err(std::fs::TryLockError::WouldBlock)),
        Err(_) => false,
    }
}

impl Store {
    /// Synchronizes the index with outputs whose writers crashed.
    pub(crate) fn recover(&self) -> Result<()> {
        let layout = self.layout();
        let pending = pending_files(layout)?;
        if pending.iter().all(|pending| is_locked(layout, &pending.id)) {
            return Ok(());
        }
        let mut locked = self.index().lock()?;
        for pending in pending {
            recover_output(layout, &mut locked, &pending)?;
        }
        Ok(())
    }
}

/// Synchronizes the index with an output that no process holds. Removes its leftover files if it is
/// published or they are old. Returns true if they were removed.
pub(crate) fn recover_output(
    layout: &Layout,
    locked: &mut Locked<'_, Outputs>,
    pending: &PendingFiles,
) -> Result<bool> {
    let path = layout.marker(&pending.id);
    if is_locked(layout, &pending.id) {
        return Ok(false);
    }
    // The index comes first: if this process crashes as well, the marker still exists and the next
    // one starts over.
    rows::sync_or_discard(locked, layout, [pending.id.as_str()])?;
    let is_published = files::inspect(&layout.meta(&pending.id)).is_ok_and(|found| found.is_some());
    // Leftovers of an unpublished output are kept for an hour, like all others.
    if !is_published && !pending.is_old() {
        return Ok(false);
    }
    let Ok(Some((marker, _))) = lock_marker(&path) else { return Ok(false) };
    for file in pending.files.iter().filter(|file| **file != path) {
        disk::remove(file)?;
    }
    disk::remove(&path)?;
    drop(marker);
    Ok(true)
}
