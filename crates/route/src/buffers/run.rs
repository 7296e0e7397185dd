//! Buffers that exist as long as the process.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use trommel_base::files::{self, Op};

use super::content::Content;
use super::info::{BufferInfo, Write, numbered};
use crate::error::{Error, ErrorKind, Result};
use crate::files::{COPY_BLOCK, free_number};
use crate::mode::{Scope, WriteMode};
use crate::spool::{MAX_MEMORY_BYTES, Size, Spool};

/// The buffers of a run, by name.
#[derive(Debug, Default)]
pub(super) struct RunBuffers(Mutex<BTreeMap<String, RunBuffer>>);

#[derive(Debug)]
struct RunBuffer {
    info: BufferInfo,
    size: Size,
    body: Body,
}

#[derive(Debug)]
#[expect(clippy::rc_buffer, reason = "bytes without readers are modified in place")]
enum Body {
    Memory(Arc<Vec<u8>>),
    /// The file may contain bytes of a failed write after the end of the content.
    File(Arc<File>),
}

impl RunBuffers {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, RunBuffer>> {
        // A panic cannot leave a buffer half written: a write updates the map only after it
        // succeeds.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn list(&self) -> Vec<BufferInfo> {
        self.lock().values().map(|buffer| buffer.info.clone()).collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<(BufferInfo, Content)> {
        let all = self.lock();
        let buffer = all.get(name)?;
        let content = match &buffer.body {
            Body::Memory(bytes) => Content::memory(Arc::clone(bytes)),
            Body::File(file) => Content::file(Arc::clone(file), buffer.size.bytes),
        };
        Some((buffer.info.clone(), content))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.lock().contains_key(name)
    }

    /// Removes a buffer. Returns true if it existed.
    pub(super) fn remove(&self, name: &str) -> bool {
        self.lock().remove(name).is_some()
    }

    /// Removes all buffers. Returns their number.
    pub(super) fn clear(&self) -> usize {
        let mut all = self.lock();
        let count = all.len();
        all.clear();
        count
    }

    /// Writes to a buffer and returns its name. A long content is stored in an unnamed file in
    /// `folder`, or in the system's temporary folder.
    pub(super) fn write(
        &self,
        write: &Write<'_>,
        content: &mut Spool,
        folder: Option<&Path>,
    ) -> Result<String> {
        let mut all = self.lock();
        let name = match write.mode {
            WriteMode::New => {
                let is_taken = |number| all.contains_key(&numbered(write.name, number));
                let free = free_number(0, is_taken).map(|number| numbered(write.name, number));
                free.ok_or_else(|| ErrorKind::NoNumber(write.name.to_owned()))?
            }
            _ => write.name.to_owned(),
        };
        let failed = |cause| Error::file(Op::Write, &name, cause);
        let added = content.size();
        let content = content.content().map_err(failed)?;
        if let Some(buffer) = all.get_mut(&name) {
            if write.mode == WriteMode::Append {
                buffer.append(added, content, folder)?;
            } else {
                (buffer.body, buffer.size) = (new_body(added, content, &name, folder)?, added);
            }
            buffer.info = buffer.info.clone().written(buffer.size, write.source);
        } else {
            let info = BufferInfo::new(&name, Scope::Run, write.source).written(added, write.source);
            all.insert(
                name.clone(),
                RunBuffer { info, size: added, body: new_body(added, content, &name, folder)? },
            );
        }
        Ok(name)
    }
}

/// Stores a short content in memory and a long one in an unnamed file.
fn new_body(size: Size, content: &mut dyn Read, name: &str, folder: Option<&Path>) -> Result<Body> {
    let failed = |cause| Error::file(Op::Write, name, cause);
    if size.bytes > MAX_MEMORY_BYTES as u64 {
        let made = folder.map_or_else(tempfile::tempfile, tempfile::tempfile_in);
        let mut file = made.map_err(failed)?;
        copy(content, &mut file, name)?;
        return Ok(Body::File(Arc::new(file)));
    }
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes).map_err(failed)?;
    Ok(Body::Memory(Arc::new(bytes)))
}

impl RunBuffer {
    fn append(&mut self, added: Size, content: &mut dyn Read, folder: Option<&Path>) -> Result<()> {
        let name = &self.info.name;
        let size = self.size.plus(added);
        match &mut self.body {
            Body::Memory(bytes) if size.bytes > MAX_MEMORY_BYTES as u64 => {
                let buffer = Arc::clone(bytes);
                self.body = new_body(size, &mut Read::chain(buffer.as_slice(), content), name, folder)?;
            }
            Body::Memory(bytes) => {
                let mut more = Vec::new();
                let failed = |cause| Error::file(Op::Write, name, cause);
                content.read_to_end(&mut more).map_err(failed)?;
                // Copies the bytes only if a reader still holds a snapshot of them.
                Arc::make_mut(bytes).append(&mut more);
            }
            Body::File(file) => {
                // Readers of snapshots stop at the length they started with, so writing after it is
                // safe.
                copy(content, &mut OffsetWriter { file, offset: self.size.bytes }, name)?;
            }
        }
        self.size = size;
        Ok(())
    }
}

/// Copies a content in blocks.
fn copy(content: &mut dyn Read, to: &mut dyn std::io::Write, name: &str) -> Result<()> {
    let path = Path::new(name);
    files::each_block(content, path, COPY_BLOCK, |part| Ok(files::write(to, path, part)?))
}

/// A writer that starts at a byte offset of a file.
struct OffsetWriter<'a> {
    file: &'a File,
    offset: u64,
}

impl std::io::Write for OffsetWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.file.write_at(bytes, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
