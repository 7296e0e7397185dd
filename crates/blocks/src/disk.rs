//! Where a test lets an operation on a file fail.

use std::io;
use std::path::Path;

/// What every change of a session's files and journals passes before it is done. Without tests there is nothing here.
#[inline]
#[cfg_attr(not(test), expect(clippy::unnecessary_wraps, reason = "a test lets it fail"))]
pub(crate) fn pass(op: &'static str, path: &Path) -> io::Result<()> {
    #[cfg(test)]
    trommel_testkit::faults::pass(op, path)?;
    let _ = (op, path);
    Ok(())
}
