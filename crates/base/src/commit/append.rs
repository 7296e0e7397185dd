//! Appends staged content to a file that other programs may append to as well.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{BLOCK, Result, exists, length};
use crate::files::{self, Op};

/// True if staged content can be appended to a target at an offset: the offset is followed by
/// nothing, or by a prefix of the content.
pub(super) fn is_appendable(staged: &Path, target: &Path, at: u64) -> Result<bool> {
    if !exists(target)? {
        return Ok(at == 0);
    }
    let (file, from) = (files::open(target)?, files::open(staged)?);
    Ok(files::attempt(Op::Read, target, || length_if_prefix(&file, &from, at))?.is_some())
}

/// Returns the length of a file if the bytes after `at` are a prefix of another file.
fn length_if_prefix(mut file: &File, from: &File, at: u64) -> io::Result<Option<u64>> {
    let end = file.metadata()?.len();
    let Some(done) = end.checked_sub(at) else { return Ok(None) };
    file.seek(SeekFrom::Start(at))?;
    let is_same = starts_with(&mut file.take(done), &mut &*from)?;
    Ok(is_same.then_some(end))
}

/// Appends staged content at an offset, except for the prefix that was appended before. Returns
/// true if nothing else follows the offset.
pub(super) fn append(staged: &Path, target: &Path, at: u64) -> Result<bool> {
    // Opening a pipe would block.
    if exists(target)? {
        files::open(target)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let file = files::attempt(Op::Open, target, || options.open(target))?;
    let from = files::open(staged)?;
    let Some(end) = files::attempt(Op::Read, target, || length_if_prefix(&file, &from, at))? else {
        return Ok(false);
    };
    append_rest(&file, target, from, end)?;
    files::sync(&file, target)?;
    Ok(length(target) == at + length(staged))
}

/// Appends the rest of a file at the current end: other programs' lines stay before or after it.
fn append_rest(mut file: &File, target: &Path, mut from: File, end: u64) -> Result<()> {
    let mut count = 0;
    let copied = files::attempt(Op::Write, target, || copy(&mut from, &mut file, &mut count));
    // A partial line would merge with the next one. It is truncated, unless another program has
    // appended after it.
    if copied.is_err() && file.metadata().is_ok_and(|found| found.len() == end + count) {
        let _ = file.set_len(end);
    }
    Ok(copied?)
}

/// Copies to the end. Counts the bytes written, also on failure.
fn copy(from: &mut impl Read, to: &mut impl Write, count: &mut u64) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    loop {
        let read = from.read(&mut block)?;
        let mut left = &block[..read];
        if left.is_empty() {
            return Ok(());
        }
        while !left.is_empty() {
            let written = to.write(left)?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            *count += written as u64;
            left = &left[written..];
        }
    }
}

/// True if the bytes of one reader are a prefix of another's. Reads both up to the prefix's end.
fn starts_with(prefix: &mut impl Read, whole: &mut impl Read) -> io::Result<bool> {
    let (mut a, mut b) = (vec![0; BLOCK], vec![0; BLOCK]);
    loop {
        let count = prefix.read(&mut a)?;
        if count == 0 {
            return Ok(true);
        }
        if whole.read_exact(&mut b[..count]).is_err() || a[..count] != b[..count] {
            return Ok(false);
        }
    }
}
