//! Standard output, and standard streams that are closed when the program starts.
//!
//! Before `main`, the Rust runtime opens `/dev/null` in position of each closed standard stream, so
//! that no other file gets its number. An answer written there would be lost with status 0. Such a
//! stream cannot be distinguished from one that the caller redirected to `/dev/null`. An
//! initializer of the executable therefore checks the streams before the runtime does. Where
//! executables have no such initializers, closed streams are not noticed.

use std::io::{self, StdoutLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// True if standard input was closed when the program started.
static NO_STDIN: AtomicBool = AtomicBool::new(false);

/// True if standard output was closed when the program started.
static NO_STDOUT: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
mod start {
    use std::os::fd::BorrowedFd;
    use std::sync::atomic::Ordering;

    use rustix::io::{Errno, fcntl_getfd};
    use rustix::stdio;

    use super::{NO_STDIN, NO_STDOUT};

    // SAFETY: the loader calls every function pointer of this section once, before `main`, with
    // arguments that a C function may ignore. `check` needs nothing that the runtime sets up: it
    // makes two system calls and stores two flags.
    #[used]
    #[expect(unsafe_code, reason = "the runtime replaces closed streams before `main`")]
    #[cfg_attr(target_vendor = "apple", unsafe(link_section = "__DATA,__mod_init_func"))]
    #[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
    static CHECK: extern "C" fn() = check;

    extern "C" fn check() {
        let is_closed = |stream: BorrowedFd<'_>| fcntl_getfd(stream) == Err(Errno::BADF);
        NO_STDIN.store(is_closed(stdio::stdin()), Ordering::Relaxed);
        NO_STDOUT.store(is_closed(stdio::stdout()), Ordering::Relaxed);
    }
}

/// Standard output, locked. Writing fails if the caller closed it.
pub(crate) struct Stdout(StdoutLock<'static>);

/// Locks standard output.
pub(crate) fn stdout() -> Stdout {
    Stdout(io::stdout().lock())
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if NO_STDOUT.load(Ordering::Relaxed) {
            return Err(io::Error::other("standard output is closed"));
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Fails if the caller closed standard input.
pub(crate) fn check_stdin() -> io::Result<()> {
    if NO_STDIN.load(Ordering::Relaxed) {
        return Err(io::Error::other("standard input is closed"));
    }
    Ok(())
}
