//! Lines appended to a file that somebody else may append to meanwhile.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use trommel_session::open_regular;

use crate::disk::pass;
use crate::error::{Error, Result};
use crate::lines::BLOCK;

/// How long a file is, where behind so many bytes of it there is nothing but what another begins with, which then stands behind that.
fn fits(file: &File, from: &File, behind: u64) -> io::Result<Option<u64>> {
    let (mut file, there) = (file, file.metadata()?.len());
    let Some(done) = there.checked_sub(behind) else { return Ok(None) };
    file.seek(SeekFrom::Start(behind))?;
    let is_same = same(&mut file.take(done), &mut from.take(done))?;
    Ok(is_same.then_some(there))
}

/// Whether a file can be appended to another that had so many bytes.
pub(super) fn is_fit(new: &Path, to: &Path, behind: u64) -> Result<bool> {
    let failed = |cause| Error::io("read", to, cause);
    let file = match open_regular(to) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(behind == 0),
        file => file.map_err(failed)?,
    };
    let from = File::open(new).map_err(|cause| Error::io("open", new, cause))?;
    fits(&file, &from, behind).map(|there| there.is_some()).map_err(failed)
}

/// Appends a file to another that had so many bytes; some of it may be there. Whether nothing else is.
pub(super) fn append(new: &Path, to: &Path, behind: u64) -> Result<bool> {
    let failed = |cause| Error::io("write", to, cause);
    // A pipe there would be waited for.
    if to.exists() {
        open_regular(to).map_err(failed)?;
    }
    let mut file =
        OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(to).map_err(failed)?;
    let mut from = File::open(new).map_err(|cause| Error::io("open", new, cause))?;
    let Some(there) = fits(&file, &from, behind).map_err(failed)? else { return Ok(false) };
    pass("append", to).map_err(failed)?;
    // Appended, wherever the end is by then: what somebody else appends stands before it or behind it, and is never written over.
    let mut count = 0;
    if let Err(cause) = copy(&mut from, &mut file, &mut count) {
        // Half a line would be glued to what comes next.
        if file.metadata().is_ok_and(|found| found.len() == there + count) {
            let _ = file.set_len(there);
        }
        return Err(failed(cause));
    }
    file.sync_all().map_err(failed)?;
    Ok(file.metadata().map_err(failed)?.len() == there + count)
}

/// Copies, and counts what was written, whatever becomes of it.
fn copy(from: &mut impl Read, to: &mut impl Write, count: &mut u64) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    loop {
        let read = from.read(&mut block)?;
        let mut left = block.get(..read).unwrap_or_default();
        if left.is_empty() {
            return Ok(());
        }
        while !left.is_empty() {
            let written = to.write(left)?;
            if written == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            *count += written as u64;
            left = left.get(written..).unwrap_or_default();
        }
    }
}

fn same(one: &mut impl Read, other: &mut impl Read) -> io::Result<bool> {
    let (mut a, mut b) = (vec![0; BLOCK], vec![0; BLOCK]);
    loop {
        let count = one.read(&mut a)?;
        if count == 0 {
            return Ok(true);
        }
        let room = b.get_mut(..count).unwrap_or_default();
        if other.read_exact(room).is_err() || a.get(..count) != Some(&*room) {
            return Ok(false);
        }
    }
}
