//! Guides of files: beside them, or in a folder of guides.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use trommel_base::files;

use crate::error::{Error, Result};
use crate::format::Stored;
use crate::guide::Guide;
use crate::identity::FileIdentity;

/// The bytes that a folder of guides has at most. Beyond them, those that were not used for longest
/// are removed.
const MAX_BYTES: u64 = 256 << 20;

/// The largest guide that is read: that of an input of 128 GiB.
const MAX_GUIDE: u64 = 640 << 20;

/// The ending of a guide's name.
const ENDING: &str = ".guide";

/// Where the guide of a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a guide is in one of two places")]
pub enum Location {
    /// In the folder of guides.
    Folder,
    /// Beside the file.
    Beside,
}

/// The guides of files, in a folder that only the user can read, or beside the files.
#[derive(Clone, Debug)]
pub struct Guides {
    folder: PathBuf,
}

impl Guides {
    /// The guides in a folder, which is created when a guide is kept.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The path of the guide of a file.
    pub fn path(&self, file: &Path, metadata: &Metadata, location: Location) -> PathBuf {
        match location {
            Location::Folder => self.folder.join(FileIdentity::name(metadata)),
            Location::Beside => {
                let mut name = file.as_os_str().to_owned();
                name.push(ENDING);
                name.into()
            }
        }
    }

    /// Finds the guide of an open file: the one beside it, or that in the folder.
    ///
    /// # Errors
    /// [`Error::Missing`] without a guide; otherwise the reason why it cannot be used.
    pub fn find(&self, file: &Path, open: &File) -> Result<(Guide, PathBuf)> {
        self.find_that(file, open, Guide::check_file)
    }

    /// Finds the guide of an open file of lines, of which it describes the first ones: others were
    /// appended since.
    ///
    /// # Errors
    /// Like [`find`](Self::find).
    pub fn find_grown(&self, file: &Path, open: &File) -> Result<(Guide, PathBuf)> {
        self.find_that(file, open, Guide::check_grown)
    }

    fn find_that(
        &self,
        file: &Path,
        open: &File,
        check: fn(&Guide, &File) -> Result<()>,
    ) -> Result<(Guide, PathBuf)> {
        let metadata = open.metadata().map_err(trommel::Error::from)?;
        let mut found = Error::Missing;
        for location in [Location::Beside, Location::Folder] {
            let path = self.path(file, &metadata, location);
            match read(&path, open, check) {
                Ok(guide) => return Ok((guide, path)),
                Err(Error::Missing) => {}
                Err(error) => found = error,
            }
        }
        Err(found)
    }

    /// Keeps the guide of a file. Returns its path. In the folder, removes guides that were not
    /// used for long, if they are too many.
    ///
    /// # Errors
    /// If it cannot be written, or is a damaged one. A guide that was there before stays then.
    pub fn keep(&self, file: &Path, guide: &Guide, location: Location) -> Result<PathBuf> {
        guide.check_names()?;
        let metadata = file.metadata().map_err(trommel::Error::from)?;
        let path = self.path(file, &metadata, location);
        if location == Location::Folder {
            files::make_folder(&self.folder)?;
        }
        let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
        // A killed process may have left it.
        files::remove(&temporary)?;
        let written =
            write(&temporary, &guide.to_bytes()).and_then(|()| Ok(files::rename(&temporary, &path)?));
        if let Err(error) = written {
            // A partial guide is useless. The first error is the one to report.
            let _ = files::remove(&temporary);
            return Err(error);
        }
        if location == Location::Folder {
            self.evict(&path)?;
        }
        Ok(path)
    }

    /// Removes the guides of a file. Returns the paths of those that were there.
    ///
    /// # Errors
    /// If one cannot be removed.
    pub fn remove(&self, file: &Path) -> Result<Vec<PathBuf>> {
        let metadata = file.metadata().map_err(trommel::Error::from)?;
        let mut removed = Vec::new();
        for location in [Location::Beside, Location::Folder] {
            let path = self.path(file, &metadata, location);
            if files::remove(&path)? {
                removed.push(path);
            }
        }
        Ok(removed)
    }

    /// Removes the guides that were not used for longest, except `fresh`, until the others fit.
    fn evict(&self, fresh: &Path) -> Result<()> {
        let mut guides = Vec::new();
        for name in files::names(&self.folder)?.into_iter().filter(|name| name.ends_with(ENDING)) {
            let path = self.folder.join(name);
            if let Some(found) = files::inspect(&path)? {
                let used = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                guides.push((used, path, found.len()));
            }
        }
        let mut bytes: u64 = guides.iter().map(|(_, _, bytes)| bytes).sum();
        guides.sort_unstable();
        for (_, path, size) in guides {
            if bytes <= MAX_BYTES {
                break;
            }
            if path != fresh && files::remove(&path)? {
                bytes -= size;
            }
        }
        Ok(())
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = files::create(path)?;
    files::write(&mut file, path, bytes)?;
    Ok(files::sync(&file, path)?)
}

/// Reads the guide of an open file, and notes that it was used.
fn read(path: &Path, of: &File, check: fn(&Guide, &File) -> Result<()>) -> Result<Guide> {
    let file = match files::open(path) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return Err(Error::Missing),
        Err(error) => return Err(error.into()),
    };
    let (metadata, described) = (file.metadata(), of.metadata());
    let (metadata, described) =
        (metadata.map_err(trommel::Error::from)?, described.map_err(trommel::Error::from)?);
    // Whoever can write the file can make it say anything. Others must not, by writing next to it.
    if ![described.uid(), rustix::process::geteuid().as_raw(), 0].contains(&metadata.uid()) {
        return Err(Error::Changed("it belongs to another user"));
    }
    if metadata.len() > MAX_GUIDE {
        return Err(Error::Damaged("it is too large"));
    }
    let file = Arc::new(file);
    let guide = Guide::read(&Stored::File(Arc::clone(&file), metadata.len()))?;
    check(&guide, of)?;
    mark_used(&file);
    Ok(guide)
}

/// Notes that a guide was used. No answer depends on that, only which guide is removed first.
#[expect(clippy::disallowed_methods, reason = "the least recently used guides are removed")]
fn mark_used(guide: &File) {
    let _ = guide.set_modified(SystemTime::now());
}
