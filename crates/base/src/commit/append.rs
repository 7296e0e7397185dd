//! A staged content appended to a file that another program may append to as well.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{BLOCK, Result, exists, length};
use crate::files::{self, Op};

/// True if a staged content can be appended to a target at an offset: nothing follows that but what
/// the content begins with.
pub(super) fn fits(staged: &Path, target: &Path, at: u64) -> Result<bool> {
    if !exists(target)? {
        return Ok(at == 0);
    }
    let (file, from) = (files::open(target)?, files::open(staged)?);
    Ok(files::attempt(Op::Read, target, || follows(&file, &from, at))?.is_some())
}

/// Returns the length of a file that has nothing after an offset but the beginning of another.
fn follows(mut file: &File, from: &File, at: u64) -> io::Result<Option<u64>> {
    let there = file.metadata()?.len();
    let Some(done) = there.checked_sub(at) else { return Ok(None) };
    file.seek(SeekFrom::Start(at))?;
    let is_same = begins_with(&mut file.take(done), &mut &*from)?;
    Ok(is_same.then_some(there))
}

/// Appends a staged content at an offset, without what is there already. Returns true if nothing
/// else follows the offset.
pub(super) fn append(staged: &Path, target: &Path, at: u64) -> Result<bool> {
    // Opening a pipe would wait.
    if exists(target)? {
        files::open(target)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let file = files::attempt(Op::Open, target, || options.open(target))?;
    let from = files::open(staged)?;
    let Some(there) = files::attempt(Op::Read, target, || follows(&file, &from, at))? else {
        return Ok(false);
    };
    append_rest(&file, target, from, there)?;
    files::sync(&file, target)?;
    Ok(length(target) == at + length(staged))
}

/// Appends the rest of a file, wherever the end is by then: other programs' lines stay before it or
/// after it.
fn append_rest(mut file: &File, target: &Path, mut from: File, there: u64) -> Result<()> {
    let mut count = 0;
    let copied = files::attempt(Op::Write, target, || copy(&mut from, &mut file, &mut count));
    // Half a line would be joined to the next one. It is taken back, unless another program
    // appended after it.
    if copied.is_err() && file.metadata().is_ok_and(|found| found.len() == there + count) {
        let _ = file.set_len(there);
    }
    Ok(copied?)
}

/// Copies until the end. Counts the bytes that were written, also if it fails.
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

/// True if a reader's bytes are the beginning of another's, which stops after them.
fn begins_with(beginning: &mut impl Read, whole: &mut impl Read) -> io::Result<bool> {
    let (mut a, mut b) = (vec![0; BLOCK], vec![0; BLOCK]);
    loop {
        let count = beginning.read(&mut a)?;
        if count == 0 {
            return Ok(true);
        }
        if whole.read_exact(&mut b[..count]).is_err() || a[..count] != b[..count] {
            return Ok(false);
        }
    }
}
