//! Buffers that live as long as the process.

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
use crate::files::{BLOCK, free_number};
use crate::mode::{Scope, WriteMode};
use crate::spool::{HELD, Size, Spool};

/// The buffers of a run, by name.
#[derive(Debug, Default)]
pub(super) struct Run(Mutex<BTreeMap<String, Held>>);

#[derive(Debug)]
struct Held {
    info: BufferInfo,
    size: Size,
    body: Body,
}

#[derive(Debug)]
#[expect(clippy::rc_buffer, reason = "what nobody reads any more is written to in place")]
enum Body {
    Memory(Arc<Vec<u8>>),
    /// Bytes that a writer failed to add may stand behind its end.
    File(Arc<File>),
}

impl Run {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Held>> {
        // Nothing that is half done is left by whoever panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn list(&self) -> Vec<BufferInfo> {
        self.lock().values().map(|held| held.info.clone()).collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<(BufferInfo, Content)> {
        let all = self.lock();
        let held = all.get(name)?;
        let content = match &held.body {
            Body::Memory(bytes) => Content::memory(Arc::clone(bytes)),
            Body::File(file) => Content::file(Arc::clone(file), held.size.bytes),
        };
        Some((held.info.clone(), content))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.lock().contains_key(name)
    }

    /// Removes a buffer; true if it was there.
    pub(super) fn remove(&self, name: &str) -> bool {
        self.lock().remove(name).is_some()
    }

    /// Removes all of them; how many there were.
    pub(super) fn clear(&self) -> usize {
        let mut all = self.lock();
        let count = all.len();
        all.clear();
        count
    }

    /// Writes to a buffer; its name. What is long lies in this folder, or in that for temporary
    /// files.
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
        if let Some(held) = all.get_mut(&name) {
            if write.mode == WriteMode::Append {
                held.append(added, content, folder)?;
            } else {
                (held.body, held.size) = (body(added, content, &name, folder)?, added);
            }
            held.info = held.info.clone().written(held.size, write.source);
        } else {
            let info = BufferInfo::new(&name, Scope::Run, write.source).written(added, write.source);
            all.insert(name.clone(), Held { info, size: added, body: body(added, content, &name, folder)? });
        }
        Ok(name)
    }
}

/// What is short in memory, what is long in a file without a name.
fn body(size: Size, content: &mut dyn Read, name: &str, folder: Option<&Path>) -> Result<Body> {
    let failed = |cause| Error::file(Op::Write, name, cause);
    if size.bytes > HELD as u64 {
        let made = folder.map_or_else(tempfile::tempfile, tempfile::tempfile_in);
        let mut file = made.map_err(failed)?;
        copy(content, &mut file, name)?;
        return Ok(Body::File(Arc::new(file)));
    }
    let mut bytes = Vec::new();
    content.read_to_end(&mut bytes).map_err(failed)?;
    Ok(Body::Memory(Arc::new(bytes)))
}

impl Held {
    fn append(&mut self, added: Size, content: &mut dyn Read, folder: Option<&Path>) -> Result<()> {
        let name = &self.info.name;
        let size = self.size.plus(added);
        match &mut self.body {
            Body::Memory(bytes) if size.bytes > HELD as u64 => {
                let held = Arc::clone(bytes);
                self.body = body(size, &mut Read::chain(held.as_slice(), content), name, folder)?;
            }
            Body::Memory(bytes) => {
                let mut more = Vec::new();
                let failed = |cause| Error::file(Op::Write, name, cause);
                content.read_to_end(&mut more).map_err(failed)?;
                Arc::make_mut(bytes).append(&mut more);
            }
            Body::File(file) => {
                copy(content, &mut At { file, offset: self.size.bytes }, name)?;
            }
        }
        self.size = size;
        Ok(())
    }
}

/// Copies a content.
fn copy(content: &mut dyn Read, to: &mut dyn std::io::Write, name: &str) -> Result<()> {
    let path = Path::new(name);
    files::each_block(content, path, BLOCK, |part| Ok(files::write(to, path, part)?))
}

/// Writes to a file from some byte on.
struct At<'a> {
    file: &'a File,
    offset: u64,
}

impl std::io::Write for At<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.file.write_at(bytes, self.offset)?;
        self.offset += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
