//! Mapped files: the one place where the command line takes a risk, and what happens when it goes wrong.
//!
//! A file that another process cuts short while it is mapped ends the reading process with SIGBUS. The command line
//! maps regular files all the same, for it is one process asked by one person, and turns the signal into a message.

#[cfg(unix)]
use std::sync::OnceLock;

use trommel::reader::MapPolicy;

#[cfg(unix)]
use crate::output::escape;

/// What is written when the signal comes, made beforehand: a handler may not allocate.
#[cfg(unix)]
static MESSAGE: OnceLock<Vec<u8>> = OnceLock::new();

/// The policy for regular files, with the handler installed that names `file`.
pub(crate) fn map_files(file: &str) -> MapPolicy {
    if !guard(file) {
        return MapPolicy::never();
    }
    // SAFETY: that nobody changes the file is the user's to see to: `--no-mmap` is there for files that change. When it
    // is cut short all the same, the handler ends the process before a byte behind the end is seen; when it is written
    // to, the bytes read are still bytes, the length is that of the map, and the change of the file's times turns the
    // answer into an error.
    #[expect(unsafe_code, reason = "the word the library asks for")]
    unsafe {
        MapPolicy::trusted()
    }
}

/// Installs the handler for what is mapped already; `false` where that cannot be.
#[cfg(unix)]
pub(crate) fn guard(file: &str) -> bool {
    use std::io::{self, IsTerminal};

    use signal_hook::consts::SIGBUS;
    use signal_hook::low_level;

    if MESSAGE.get().is_some() {
        return true;
    }
    // A progress bar that stands on the line goes first.
    let clear = if io::stderr().is_terminal() { "\r\u{1b}[2K" } else { "" };
    let file = escape::short(file, 200);
    let message = format!("{clear}error: {file} changed while it was read; run again with --no-mmap\n");
    MESSAGE.get_or_init(|| message.into_bytes());
    let handler = || {
        let mut rest = MESSAGE.get().map_or(&[][..], Vec::as_slice);
        while let Ok(written @ 1..) = rustix::io::write(rustix::stdio::stderr(), rest) {
            rest = rest.get(written..).unwrap_or_default();
        }
        low_level::exit(1);
    };
    // SAFETY: the handler reads what was made before it was installed (`OnceLock::get` is an atomic load), makes the
    // system calls `write` and `_exit`, and nothing else: no lock, no allocation.
    #[expect(unsafe_code, reason = "a handler must keep to what is safe in a signal")]
    unsafe {
        low_level::register(SIGBUS, handler).is_ok()
    }
}

/// Other systems have no such signal to turn into a message, so nothing is mapped.
#[cfg(not(unix))]
pub(crate) fn guard(_: &str) -> bool {
    false
}
