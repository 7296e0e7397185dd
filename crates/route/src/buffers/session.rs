//! Buffers that exist as long as the session, in a folder shared between processes.
//!
//! ```text
//! <session>/<hash of the name>.json        the description: the data file and its valid length
//! <session>/<hash of the name>-<n>.data    the content; each replacement gets a new number
//! <session>/<hash of the name>.lock        locked while the buffer is written
//! ```
//!
//! The description determines the content. A crashed writer may leave bytes after the valid length,
//! which the next append truncates. It may also leave a data file that no description refers to,
//! which the next replacement removes. Either way a reader sees the complete old or new content.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, MetadataExt as _};
use serde::{Deserialize, Serialize};
use trommel_base::files::{self, Op};

use super::content::Content;
use super::info::{BufferInfo, BufferList, Write, numbered};
use crate::disk;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{COPY_BLOCK, free_number};
use crate::mode::{Scope, WriteMode};
use crate::spool::{Size, Spool};

/// The version of the descriptions that are written.
const VERSION: u32 = 1;

/// Number of characters of the hash in file names.
const HASH_CHARS: usize = 32;

/// Maximum size of a description in bytes.
const MAX_META_BYTES: u64 = 64 << 10;

/// The buffers of a session, in a folder.
#[derive(Debug)]
pub(super) struct SessionBuffers {
    folder: PathBuf,
}

/// The description of a buffer, as stored on disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Meta {
    version: u32,
    /// The number of the data file.
    data: u64,
    newlines: u64,
    #[serde(rename = "is_ended")]
    is_terminated: bool,
    #[serde(flatten)]
    info: BufferInfo,
}

impl Meta {
    fn size(&self) -> Size {
        let BufferInfo { bytes, chars, .. } = self.info;
        Size { bytes, chars, newlines: self.newlines, is_terminated: self.is_terminated }
    }
}

/// The names of the files of one buffer.
struct BufferFiles(String);

impl BufferFiles {
    fn new(name: &str) -> Self {
        Self(blake3::hash(name.as_bytes()).to_hex()[..HASH_CHARS].to_owned())
    }

    fn meta(&self) -> String {
        format!("{}.json", self.0)
    }

    fn lock(&self) -> String {
        format!("{}.lock", self.0)
    }

    fn data(&self, number: u64) -> String {
        format!("{}-{number}.data", self.0)
    }
}

impl SessionBuffers {
    pub(super) fn new(folder: &Path, id: &str) -> Result<Self> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if id.is_empty() || id.len() > 64 || !id.bytes().all(is_part) {
            return Err(ErrorKind::SessionId(id.to_owned()).into());
        }
        Ok(Self { folder: folder.join(id) })
    }

    /// Opens the folder. Returns `None` if it does not exist.
    fn dir(&self) -> Result<Option<Dir>> {
        match Dir::open_ambient_dir(&self.folder, ambient_authority()) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(files::Error::new(Op::Open, &self.folder, cause).into()),
        }
    }

    /// Opens the folder, creating it if needed.
    fn open_or_create(&self) -> Result<Dir> {
        if let Some(dir) = self.dir()? {
            return Ok(dir);
        }
        let failed = |cause| files::Error::new(Op::MakeFolder, &self.folder, cause).into();
        let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        created.map_err(failed)?;
        self.dir()?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
    }

    /// Lists the buffers by name, with messages about unreadable ones.
    pub(super) fn list(&self) -> Result<BufferList> {
        let Some(dir) = self.dir()? else { return Ok(BufferList::default()) };
        let failed = |cause| Error::from(files::Error::new(Op::List, &self.folder, cause));
        let mut found = BufferList::default();
        for entry in dir.entries().map_err(failed)? {
            let Ok(name) = entry.map_err(failed)?.file_name().into_string() else { continue };
            if name.strip_suffix(".json").is_none_or(|hash| hash.len() != HASH_CHARS) {
                continue;
            }
            match read(&dir, &name) {
                Ok(meta) => found.buffers.extend(meta.map(|meta| meta.info)),
                Err(error) => found.unreadable.push(error.to_string()),
            }
        }
        found.buffers.sort_by(|a, b| a.name.cmp(&b.name));
        found.unreadable.sort();
        Ok(found)
    }

    pub(super) fn find(&self, name: &str) -> Result<Option<(BufferInfo, Content)>> {
        let Some(dir) = self.dir()? else { return Ok(None) };
        let names = BufferFiles::new(name);
        loop {
            let Some(meta) = read(&dir, &names.meta())? else { return Ok(None) };
            match disk::open(&dir, &names.data(meta.data)) {
                Ok(file) => {
                    check_length(&file, &meta)?;
                    let content = Content::file(Arc::new(file), meta.info.bytes);
                    return Ok(Some((meta.info, content)));
                }
                // The buffer was replaced after its description was read: read the new description.
                Err(error)
                    if error.kind() == io::ErrorKind::NotFound && is_replaced(&dir, &names, &meta)? => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(missing_content(name)),
                Err(cause) => return Err(Error::file(Op::Open, name, cause)),
            }
        }
    }

    /// Writes to a buffer. Returns its name.
    pub(super) fn write(&self, write: &Write<'_>, content: &mut Spool) -> Result<String> {
        let dir = self.open_or_create()?;
        if write.mode != WriteMode::New {
            let _locked = lock(&dir, write.name)?;
            write_locked(&dir, write.name, write, content)?;
            return Ok(write.name.to_owned());
        }
        let mut from = 0;
        let is_taken = |number| has(&dir, &numbered(write.name, number));
        while let Some(number) = free_number(from, is_taken) {
            let name = numbered(write.name, number);
            let _locked = lock(&dir, &name)?;
            // Another process may have taken the number before the lock was acquired.
            if !has(&dir, &name) {
                write_locked(&dir, &name, write, content)?;
                return Ok(name);
            }
            from = number + 1;
        }
        Err(ErrorKind::NoNumber(write.name.to_owned()).into())
    }

    /// True if exists is a buffer of this name.
    pub(super) fn has(&self, name: &str) -> Result<bool> {
        Ok(self.dir()?.is_some_and(|dir| has(&dir, name)))
    }

    /// Removes a buffer. Returns true if it existed.
    pub(super) fn remove(&self, name: &str) -> Result<bool> {
        let Some(dir) = self.dir()? else { return Ok(false) };
        let exists = has(&dir, name);
        self.erase(&dir, &BufferFiles::new(name))?;
        Ok(exists)
    }

    /// Removes all buffers, including damaged ones. Returns their number.
    pub(super) fn clear(&self) -> Result<usize> {
        let Some(dir) = self.dir()? else { return Ok(0) };
        let mut hashes = BTreeSet::new();
        let mut count = 0;
        for name in self.file_names(&dir)? {
            if let Some((hash, kind)) = name.split_at_checked(HASH_CHARS).filter(|(hash, _)| is_hash(hash)) {
                count += usize::from(kind == ".json");
                hashes.insert(hash.to_owned());
            }
        }
        hashes.into_iter().try_for_each(|hash| self.erase(&dir, &BufferFiles(hash)))?;
        Ok(count)
    }

    /// Removes the files of a buffer, including leftovers of an interrupted removal. The
    /// description goes first: even after a crash, the buffer exists completely or not at all.
    fn erase(&self, dir: &Dir, names: &BufferFiles) -> Result<()> {
        let locked = lock_files(dir, names, &names.0)?;
        disk::remove(dir, &names.meta())?;
        disk::sync_folder(dir, &names.meta())?;
        let data = format!("{}-", names.0);
        for name in self.file_names(dir)?.into_iter().filter(|name| name.starts_with(&data)) {
            disk::remove(dir, &name)?;
        }
        // Removing the lock file is safe: a process that waits for it notices, and locks the new
        // file.
        disk::remove(dir, &names.lock())?;
        drop(locked);
        Ok(())
    }

    fn file_names(&self, dir: &Dir) -> Result<Vec<String>> {
        let failed = |cause| Error::from(files::Error::new(Op::List, &self.folder, cause));
        let entries = dir.entries().map_err(failed)?;
        let names = entries.map(|entry| Ok(entry.map_err(failed)?.file_name().into_string().ok()));
        names.filter_map(Result::transpose).collect()
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == HASH_CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn has(dir: &Dir, name: &str) -> bool {
    dir.symlink_metadata(BufferFiles::new(name).meta()).is_ok()
}

fn lock(dir: &Dir, name: &str) -> Result<File> {
    lock_files(dir, &BufferFiles::new(name), name)
}

/// Locks a buffer. If the lock file was removed while this process waited for it, the lock protects
/// nothing, and the new file is locked instead.
fn lock_files(dir: &Dir, names: &BufferFiles, name: &str) -> Result<File> {
    let failed = |cause| Error::file(Op::Lock, name, cause);
    loop {
        let (file, _) = disk::open_or_create(dir, &names.lock()).map_err(failed)?;
        disk::lock(&file, name)?;
        let held = file.metadata().map_err(failed)?;
        match dir.symlink_metadata(names.lock()) {
            Ok(exists) if (exists.dev(), exists.ino()) == (held.dev(), held.ino()) => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(failed(cause)),
        }
    }
}

/// Writes to a locked buffer.
fn write_locked(dir: &Dir, name: &str, write: &Write<'_>, content: &mut Spool) -> Result<()> {
    let names = BufferFiles::new(name);
    let before = read(dir, &names.meta())?;
    let added = content.size();
    let failed = |cause| Error::file(Op::Write, name, cause);
    let content = content.content().map_err(failed)?;
    let info = before
        .as_ref()
        .map_or_else(|| BufferInfo::new(name, Scope::Session, write.source), |meta| meta.info.clone());
    match before {
        Some(meta) if write.mode == WriteMode::Append => {
            let size = meta.size().plus(added);
            append(dir, &names, &meta, content)?;
            write_meta(dir, &names, &new_meta(meta.data, size, info.written(size, write.source)))
        }
        before => {
            let data = before.as_ref().map_or(0, |meta| meta.data + 1);
            let file = names.data(data);
            // A crashed writer may have left a file with this name.
            disk::remove(dir, &file)?;
            let mut data_file = disk::create(dir, &file).map_err(failed)?;
            // Commit protocol: the new data file is written and synced first. Publishing the
            // description is the commit point, because it selects the data file.
            let done = copy(content, &mut data_file, name).and_then(|()| {
                write_meta(dir, &names, &new_meta(data, added, info.written(added, write.source)))
            });
            // Even after an error the new description may be in place. Read it to find out which
            // data file is unused. If that cannot be removed now, the next replacement removes it.
            if let Ok(now) = read(dir, &names.meta()) {
                let is_new = now.is_some_and(|now| now.data == data);
                let old = if is_new { before.map(|meta| names.data(meta.data)) } else { Some(file) };
                let _ = old.map(|old| disk::remove(dir, &old));
            }
            done
        }
    }
}

fn new_meta(data: u64, size: Size, info: BufferInfo) -> Meta {
    Meta { version: VERSION, data, newlines: size.newlines, is_terminated: size.is_terminated, info }
}

/// Appends to the data file, after the valid length. The new bytes become valid with the
/// description.
fn append(dir: &Dir, names: &BufferFiles, meta: &Meta, content: &mut dyn Read) -> Result<()> {
    let name = &meta.info.name;
    let failed = |cause| Error::file(Op::Write, name, cause);
    let (mut file, is_new) = disk::open_or_create(dir, &names.data(meta.data)).map_err(failed)?;
    if is_new {
        return Err(missing_content(name));
    }
    check_length(&file, meta)?;
    // A crashed writer may have left bytes after the valid length.
    files::truncate(&file, Path::new(name), meta.info.bytes)?;
    file.seek(SeekFrom::Start(meta.info.bytes)).map_err(failed)?;
    let done = copy(content, &mut file, name);
    if done.is_err() {
        // Bytes that cannot be truncated are after the valid length and are ignored.
        let _ = files::truncate(&file, Path::new(name), meta.info.bytes);
    }
    done
}

/// Copies a content to a file and syncs it.
fn copy(content: &mut dyn Read, file: &mut File, name: &str) -> Result<()> {
    let path = Path::new(name);
    files::each_block(content, path, COPY_BLOCK, |part| files::write(file, path, part))?;
    Ok(files::sync(file, path)?)
}

/// Atomically replaces the description.
fn write_meta(dir: &Dir, names: &BufferFiles, meta: &Meta) -> Result<()> {
    let json = serde_json::to_vec(meta)
        .map_err(|cause| Error::file(Op::Write, &meta.info.name, io::Error::other(cause)))?;
    disk::publish(dir, &names.meta(), 0o600, &mut |file| {
        Ok(files::write(file, Path::new(&meta.info.name), &json)?)
    })
}

/// The member that all versions of descriptions have.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// Reads a description. Returns `None` if it does not exist.
fn read(dir: &Dir, name: &str) -> Result<Option<Meta>> {
    let file = match disk::open(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|cause| Error::file(Op::Read, name, cause))?,
    };
    let mut json = Vec::new();
    let read = file.take(MAX_META_BYTES).read_to_end(&mut json);
    read.map_err(|cause| Error::file(Op::Read, name, cause))?;
    if let Ok(Version { version }) = serde_json::from_slice(&json)
        && version > VERSION
    {
        let name = name.to_owned();
        return Err(ErrorKind::Version { name, found: version, known: VERSION }.into());
    }
    let meta = serde_json::from_slice(&json)
        .map_err(|cause| ErrorKind::MalformedDescription { name: name.to_owned(), cause })?;
    Ok(Some(meta))
}

/// True if the buffer has been replaced since `meta` was read.
fn is_replaced(dir: &Dir, names: &BufferFiles, meta: &Meta) -> Result<bool> {
    Ok(read(dir, &names.meta())?.is_none_or(|now| now.data != meta.data))
}

fn missing_content(name: &str) -> Error {
    ErrorKind::MissingContent(name.to_owned()).into()
}

fn check_length(file: &File, meta: &Meta) -> Result<()> {
    let length = file.metadata().map_err(|cause| Error::file(Op::Inspect, &meta.info.name, cause))?.len();
    if length >= meta.info.bytes { Ok(()) } else { Err(missing_content(&meta.info.name)) }
}
