//! Folders made, and where a test lets an operation on a file fail.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use crate::error::{Error, Result};

/// Makes a folder that nobody else may look into.
pub(crate) fn make(folder: &Path) -> Result<()> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|cause| Error::io("make", folder, cause))
}

/// What every change of a session's files and journals passes before it is done. Without tests there is nothing here.
#[inline]
#[cfg_attr(not(test), expect(clippy::unnecessary_wraps, reason = "a test lets it fail"))]
pub(crate) fn pass(op: &'static str, path: &Path) -> io::Result<()> {
    #[cfg(test)]
    trommel_testkit::faults::pass(op, path)?;
    let _ = (op, path);
    Ok(())
}
