//! Buffers that live as long as the session, in a folder that processes share.
//!
//! ```text
//! <session>/<name's hash>.json         its description: which file, how many bytes of it count
//! <session>/<name's hash>-<n>.data     its content; another number for each that replaced one
//! <session>/<name's hash>.lock         held by whoever writes to it
//! ```
//!
//! What counts is what the description says. A writer that is ended leaves bytes behind the end,
//! which the next one cuts off, or a file that no description names, which the next one removes: a
//! buffer is there whole, as it was before or as it is after.

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
use super::info::{BufferInfo, Listed, Write, numbered};
use crate::disk;
use crate::error::{Error, ErrorKind, Result};
use crate::files::{BLOCK, free_number};
use crate::mode::{Scope, WriteMode};
use crate::spool::{Size, Spool};

/// The version of descriptions that are written.
const VERSION: u32 = 1;

/// Characters of the hash that the files of a buffer are named after.
const HASH: usize = 32;

/// Bytes of a description at most.
const LONGEST: u64 = 64 << 10;

/// A session's folder.
#[derive(Debug)]
pub(super) struct Session {
    folder: PathBuf,
}

/// A description, as it lies on the disk.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Meta {
    version: u32,
    /// The number of the file with the content.
    data: u64,
    newlines: u64,
    is_ended: bool,
    #[serde(flatten)]
    info: BufferInfo,
}

impl Meta {
    fn size(&self) -> Size {
        let BufferInfo { bytes, chars, .. } = self.info;
        Size { bytes, chars, newlines: self.newlines, is_ended: self.is_ended }
    }
}

/// The files of one buffer.
struct Names(String);

impl Names {
    fn of(name: &str) -> Self {
        Self(blake3::hash(name.as_bytes()).to_hex()[..HASH].to_owned())
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

impl Session {
    pub(super) fn new(folder: &Path, id: &str) -> Result<Self> {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if id.is_empty() || id.len() > 64 || !id.bytes().all(is_part) {
            return Err(ErrorKind::SessionId(id.to_owned()).into());
        }
        Ok(Self { folder: folder.join(id) })
    }

    /// The folder, if it is there.
    fn dir(&self) -> Result<Option<Dir>> {
        match Dir::open_ambient_dir(&self.folder, ambient_authority()) {
            Ok(dir) => Ok(Some(dir)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(files::Error::new(Op::Open, &self.folder, cause).into()),
        }
    }

    /// The folder, made if it is not there.
    fn made(&self) -> Result<Dir> {
        if let Some(dir) = self.dir()? {
            return Ok(dir);
        }
        let failed = |cause| files::Error::new(Op::MakeFolder, &self.folder, cause).into();
        let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        created.map_err(failed)?;
        self.dir()?.ok_or_else(|| failed(io::ErrorKind::NotFound.into()))
    }

    /// The buffers there are, by name, and why others cannot be read.
    pub(super) fn list(&self) -> Result<Listed> {
        let Some(dir) = self.dir()? else { return Ok(Listed::default()) };
        let failed = |cause| Error::from(files::Error::new(Op::List, &self.folder, cause));
        let mut found = Listed::default();
        for entry in dir.entries().map_err(failed)? {
            let Ok(name) = entry.map_err(failed)?.file_name().into_string() else { continue };
            if name.strip_suffix(".json").is_none_or(|hash| hash.len() != HASH) {
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
        let names = Names::of(name);
        loop {
            let Some(meta) = read(&dir, &names.meta())? else { return Ok(None) };
            match disk::open(&dir, &names.data(meta.data)) {
                Ok(file) => {
                    check_length(&file, &meta)?;
                    let content = Content::file(Arc::new(file), meta.info.bytes);
                    return Ok(Some((meta.info, content)));
                }
                // It was replaced after its description was read.
                Err(error) if error.kind() == io::ErrorKind::NotFound && replaced(&dir, &names, &meta)? => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(lost(name)),
                Err(cause) => return Err(Error::file(Op::Open, name, cause)),
            }
        }
    }

    /// Writes to a buffer; its name.
    pub(super) fn write(&self, write: &Write<'_>, content: &mut Spool) -> Result<String> {
        let dir = self.made()?;
        if write.mode != WriteMode::New {
            let _locked = lock(&dir, write.name)?;
            put(&dir, write.name, write, content)?;
            return Ok(write.name.to_owned());
        }
        let mut from = 0;
        let is_taken = |number| has(&dir, &numbered(write.name, number));
        while let Some(number) = free_number(from, is_taken) {
            let name = numbered(write.name, number);
            let _locked = lock(&dir, &name)?;
            // Another process may have been faster.
            if !has(&dir, &name) {
                put(&dir, &name, write, content)?;
                return Ok(name);
            }
            from = number + 1;
        }
        Err(ErrorKind::NoNumber(write.name.to_owned()).into())
    }

    /// True if there is a buffer of this name.
    pub(super) fn has(&self, name: &str) -> Result<bool> {
        Ok(self.dir()?.is_some_and(|dir| has(&dir, name)))
    }

    /// Removes a buffer; true if it was there.
    pub(super) fn remove(&self, name: &str) -> Result<bool> {
        let Some(dir) = self.dir()? else { return Ok(false) };
        let there = has(&dir, name);
        self.erase(&dir, &Names::of(name))?;
        Ok(there)
    }

    /// Removes all buffers, damaged ones as well; how many there were.
    pub(super) fn clear(&self) -> Result<usize> {
        let Some(dir) = self.dir()? else { return Ok(0) };
        let mut hashes = BTreeSet::new();
        let mut count = 0;
        for name in self.file_names(&dir)? {
            if let Some((hash, kind)) = name.split_at_checked(HASH).filter(|(hash, _)| is_hash(hash)) {
                count += usize::from(kind == ".json");
                hashes.insert(hash.to_owned());
            }
        }
        hashes.into_iter().try_for_each(|hash| self.erase(&dir, &Names(hash)))?;
        Ok(count)
    }

    /// Removes the files of a buffer, its description first: whenever the process ends, the buffer
    /// is there whole or not at all. What an ended removal left behind goes, too.
    fn erase(&self, dir: &Dir, names: &Names) -> Result<()> {
        let locked = lock_names(dir, names, &names.0)?;
        disk::remove(dir, &names.meta())?;
        disk::sync_folder(dir, &names.meta())?;
        let data = format!("{}-", names.0);
        for name in self.file_names(dir)?.into_iter().filter(|name| name.starts_with(&data)) {
            disk::remove(dir, &name)?;
        }
        // Processes that wait for this lock notice that it is gone, and lock a new one.
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
    text.len() == HASH && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn has(dir: &Dir, name: &str) -> bool {
    dir.symlink_metadata(Names::of(name).meta()).is_ok()
}

fn lock(dir: &Dir, name: &str) -> Result<File> {
    lock_names(dir, &Names::of(name), name)
}

/// Locks a buffer. A lock that was removed while this process waited for it guards nothing: the one
/// in its place is taken then.
fn lock_names(dir: &Dir, names: &Names, name: &str) -> Result<File> {
    let failed = |cause| Error::file(Op::Lock, name, cause);
    loop {
        let (file, _) = disk::open_or_create(dir, &names.lock()).map_err(failed)?;
        disk::lock(&file, name)?;
        let held = file.metadata().map_err(failed)?;
        match dir.symlink_metadata(names.lock()) {
            Ok(there) if (there.dev(), there.ino()) == (held.dev(), held.ino()) => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(failed(cause)),
        }
    }
}

/// Writes to a buffer that is locked.
fn put(dir: &Dir, name: &str, write: &Write<'_>, content: &mut Spool) -> Result<()> {
    let names = Names::of(name);
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
            describe(dir, &names, &described(meta.data, size, info.written(size, write.source)))
        }
        before => {
            let data = before.as_ref().map_or(0, |meta| meta.data + 1);
            let file = names.data(data);
            // What a writer has left that was ended has this name.
            disk::remove(dir, &file)?;
            let mut made = disk::create(dir, &file).map_err(failed)?;
            let done = copy(content, &mut made, name).and_then(|()| {
                describe(dir, &names, &described(data, added, info.written(added, write.source)))
            });
            // The description may be the new one although not all went well: the file that it does
            // not name goes. What stays behind is removed by the next who replaces it.
            if let Ok(now) = read(dir, &names.meta()) {
                let is_new = now.is_some_and(|now| now.data == data);
                let old = if is_new { before.map(|meta| names.data(meta.data)) } else { Some(file) };
                let _ = old.map(|old| disk::remove(dir, &old));
            }
            done
        }
    }
}

fn described(data: u64, size: Size, info: BufferInfo) -> Meta {
    Meta { version: VERSION, data, newlines: size.newlines, is_ended: size.is_ended, info }
}

/// Adds to a buffer's file what is not counted yet.
fn append(dir: &Dir, names: &Names, meta: &Meta, content: &mut dyn Read) -> Result<()> {
    let name = &meta.info.name;
    let failed = |cause| Error::file(Op::Write, name, cause);
    let (mut file, is_new) = disk::open_or_create(dir, &names.data(meta.data)).map_err(failed)?;
    if is_new {
        return Err(lost(name));
    }
    check_length(&file, meta)?;
    // What a writer has left that was ended.
    files::truncate(&file, Path::new(name), meta.info.bytes)?;
    file.seek(SeekFrom::Start(meta.info.bytes)).map_err(failed)?;
    let done = copy(content, &mut file, name);
    if done.is_err() {
        // What cannot be cut off does not count.
        let _ = files::truncate(&file, Path::new(name), meta.info.bytes);
    }
    done
}

/// Copies a content to a file, and brings it to the disk.
fn copy(content: &mut dyn Read, file: &mut File, name: &str) -> Result<()> {
    let path = Path::new(name);
    files::each_block(content, path, BLOCK, |part| files::write(file, path, part))?;
    Ok(files::sync(file, path)?)
}

/// Puts a description in the old one's place.
fn describe(dir: &Dir, names: &Names, meta: &Meta) -> Result<()> {
    let json = serde_json::to_vec(meta)
        .map_err(|cause| Error::file(Op::Write, &meta.info.name, io::Error::other(cause)))?;
    disk::publish(dir, &names.meta(), 0o600, &mut |file| {
        Ok(files::write(file, Path::new(&meta.info.name), &json)?)
    })
}

/// What every description has, whatever its version.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// A description; nothing where there is none.
fn read(dir: &Dir, name: &str) -> Result<Option<Meta>> {
    let file = match disk::open(dir, name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened.map_err(|cause| Error::file(Op::Read, name, cause))?,
    };
    let mut json = Vec::new();
    let read = file.take(LONGEST).read_to_end(&mut json);
    read.map_err(|cause| Error::file(Op::Read, name, cause))?;
    if let Ok(Version { version }) = serde_json::from_slice(&json)
        && version > VERSION
    {
        let name = name.to_owned();
        return Err(ErrorKind::Version { name, found: version, known: VERSION }.into());
    }
    let meta = serde_json::from_slice(&json)
        .map_err(|cause| ErrorKind::BadDescription { name: name.to_owned(), cause })?;
    Ok(Some(meta))
}

/// Whether another content has come in the place of this one.
fn replaced(dir: &Dir, names: &Names, meta: &Meta) -> Result<bool> {
    Ok(read(dir, &names.meta())?.is_none_or(|now| now.data != meta.data))
}

fn lost(name: &str) -> Error {
    ErrorKind::Lost(name.to_owned()).into()
}

fn check_length(file: &File, meta: &Meta) -> Result<()> {
    let length = file.metadata().map_err(|cause| Error::file(Op::Inspect, &meta.info.name, cause))?.len();
    if length >= meta.info.bytes { Ok(()) } else { Err(lost(&meta.info.name)) }
}
