//! Mapped files, and the signal that a mapped file raises when another process truncates it.
//!
//! Reading past the new end of a truncated mapping raises SIGBUS. The command line maps regular
//! files nevertheless, because it serves one user in one process, and turns the signal into a
//! message and status 1.

use trommel::reader::MapPolicy;

#[cfg(unix)]
pub(crate) use handler::guard;

/// Returns the policy for regular files, and installs the handler that names `file`.
pub(crate) fn map_files(file: &str) -> MapPolicy {
    if !guard(file) {
        return MapPolicy::never();
    }
    // SAFETY: the user answers for files that change, and has `--no-mmap` for them. If a file is
    // truncated all the same, the handler ends the process before any byte past the end is seen. If
    // it is written to, the bytes read are still bytes, the length is that of the map, and the
    // changed modification time turns the answer into an error.
    #[expect(unsafe_code, reason = "the library asks for this word")]
    unsafe {
        MapPolicy::trusted()
    }
}

/// Other systems have no such signal to turn into a message, so nothing is mapped.
#[cfg(not(unix))]
pub(crate) fn guard(_: &str) -> bool {
    false
}

/// The handler of SIGBUS.
///
/// The program installs it itself and chains no other. The standard library's handler would restore
/// the default action, so that the next thread to touch the file would end the process by signal.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the safe crates chain the handler before, or are not async-signal-safe")]
mod handler {
    use std::io::{self, IsTerminal};
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    use libc::c_int;
    use signal_hook::low_level;

    use crate::output::escape;

    /// Seconds that writing the message may take: standard error may be a full pipe.
    const WRITE_TIMEOUT: u32 = 1;

    /// The message, built before the handler is installed: a handler must not allocate.
    static MESSAGE: OnceLock<Vec<u8>> = OnceLock::new();

    /// True once a thread writes the message.
    static REPORTED: AtomicBool = AtomicBool::new(false);

    /// Installs the handler for all maps; returns false if the system refuses.
    pub(crate) fn guard(file: &str) -> bool {
        if MESSAGE.get().is_some() {
            return true;
        }
        // Erases a progress bar on the line.
        let clear = if io::stderr().is_terminal() { "\r\u{1b}[2K" } else { "" };
        let file = escape::short(file, 200);
        let message = format!("{clear}error: {file} changed while it was read; run again with --no-mmap\n");
        MESSAGE.get_or_init(|| message.into_bytes());
        // SAFETY: `report` is async-signal-safe, as its own comments show.
        unsafe { handle(libc::SIGBUS, report) }
    }

    /// Sets the action of a signal; returns false if the system refuses.
    ///
    /// # Safety
    /// `handler` must call async-signal-safe functions only.
    unsafe fn handle(signal: c_int, handler: extern "C" fn(c_int)) -> bool {
        // SAFETY: `sigaction` is a plain struct of integers and an optional function pointer, for
        // which zeros are valid.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_ONSTACK;
        action.sa_mask = signals(None);
        // SAFETY: the action is a live value, the previous one is not requested, and the caller
        // promises that the handler may run in a signal.
        unsafe { libc::sigaction(signal, &raw const action, ptr::null_mut()) == 0 }
    }

    /// A set of one signal or none. Async-signal-safe.
    fn signals(one: Option<c_int>) -> libc::sigset_t {
        // SAFETY: the set is a plain struct of integers, for which zeros are valid.
        let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a live value, and `sigemptyset` is async-signal-safe.
        unsafe { libc::sigemptyset(&raw mut set) };
        if let Some(signal) = one {
            // SAFETY: as above.
            unsafe { libc::sigaddset(&raw mut set, signal) };
        }
        set
    }

    /// Writes the message once, and ends the process with status 1 within [`WRITE_TIMEOUT`].
    ///
    /// Several threads may fault at the same time. The first one writes; the others wait for the
    /// end, because returning would repeat the access. The handler takes no lock and allocates
    /// nothing.
    extern "C" fn report(_: c_int) {
        if REPORTED.swap(true, Ordering::Relaxed) {
            loop {
                // SAFETY: `pause` takes no arguments and is async-signal-safe.
                unsafe { libc::pause() };
            }
        }
        limit_time();
        // `OnceLock::get` is an atomic load; `write` is a system call.
        let mut rest = MESSAGE.get().map_or(&[][..], Vec::as_slice);
        while let Ok(written @ 1..) = rustix::io::write(rustix::stdio::stderr(), rest) {
            // No indexing: a handler of signals must not panic.
            rest = rest.get(written..).unwrap_or_default();
        }
        leave(0);
    }

    /// Lets SIGALRM end the process, also if the parent process ignored or blocked it.
    fn limit_time() {
        let alarm = signals(Some(libc::SIGALRM));
        // SAFETY: `sigaction` and `leave` are async-signal-safe.
        unsafe { handle(libc::SIGALRM, leave) };
        // SAFETY: the set is a live value, the previous one is not requested, and the call is
        // async-signal-safe.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const alarm, ptr::null_mut()) };
        // SAFETY: `alarm` takes a number and is async-signal-safe.
        unsafe { libc::alarm(WRITE_TIMEOUT) };
    }

    /// Ends the process with status 1, without running anything else (`_exit`).
    extern "C" fn leave(_: c_int) {
        low_level::exit(1);
    }
}
