//! Mapped files, and the signal that a mapped file raises when another process truncates it.
//!
//! Reading past the new end of a truncated mapping raises SIGBUS. The command line maps regular files nevertheless, because
//! it serves one user in one process, and turns the signal into a message and status 1.

use trommel::reader::MapPolicy;

#[cfg(unix)]
pub(crate) use handler::guard;

/// Returns the policy for regular files, and installs the handler that names `file`.
pub(crate) fn map_files(file: &str) -> MapPolicy {
    if !guard(file) {
        return MapPolicy::never();
    }
    // SAFETY: the user answers for files that change, and has `--no-mmap` for them. If a file is truncated all the same,
    // the handler ends the process before any byte past the end is seen. If it is written to, the bytes read are still
    // bytes, the length is that of the map, and the changed modification time turns the answer into an error.
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
/// The program installs it itself and chains no other. The standard library's handler would restore the default action,
/// so that the next thread to touch the file would end the process by signal.
#[cfg(unix)]
mod handler {
    use std::io::{self, IsTerminal};
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, Ordering};

    use libc::c_int;
    use signal_hook::low_level;

    use crate::output::escape;

    /// Seconds that writing the message may take: standard error may be a full pipe.
    const PATIENCE: u32 = 1;

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
        #[expect(unsafe_code, reason = "a handler may only do what is safe in a signal")]
        unsafe {
            handle(libc::SIGBUS, report)
        }
    }

    /// Sets the action of a signal; returns false if the system refuses.
    ///
    /// # Safety
    /// `handler` must call async-signal-safe functions only.
    #[expect(unsafe_code, reason = "a handler may only do what is safe in a signal")]
    unsafe fn handle(signal: c_int, handler: extern "C" fn(c_int)) -> bool {
        // SAFETY: `sigaction` is a plain struct of integers and an optional function pointer, for which zeros are valid.
        let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_ONSTACK;
        // SAFETY: the pointers are to live values, the previous action is not requested, and the caller promises that the
        // handler may run in a signal.
        unsafe {
            libc::sigemptyset(&raw mut action.sa_mask) == 0
                && libc::sigaction(signal, &raw const action, ptr::null_mut()) == 0
        }
    }

    /// Writes the message once, and ends the process with status 1 within [`PATIENCE`].
    ///
    /// Several threads may fault at the same time. The first one writes; the others wait for the end, because returning
    /// would repeat the access. The handler takes no lock and allocates nothing.
    extern "C" fn report(_: c_int) {
        if REPORTED.swap(true, Ordering::Relaxed) {
            loop {
                // SAFETY: `pause` takes no arguments and is async-signal-safe.
                #[expect(unsafe_code, reason = "waits for the end")]
                unsafe {
                    libc::pause();
                }
            }
        }
        limit_time();
        // `OnceLock::get` is an atomic load; `write` is a system call.
        let mut rest = MESSAGE.get().map_or(&[][..], Vec::as_slice);
        while let Ok(written @ 1..) = rustix::io::write(rustix::stdio::stderr(), rest) {
            rest = rest.get(written..).unwrap_or_default();
        }
        leave(0);
    }

    /// Lets SIGALRM end the process, also if the parent process ignored or blocked it.
    fn limit_time() {
        // SAFETY: `sigaction`, `sigemptyset`, `sigaddset`, `pthread_sigmask` and `alarm` are async-signal-safe, and so is
        // `leave`. The signal set is a plain struct of integers, for which zeros are valid.
        #[expect(unsafe_code, reason = "the safe ways to wait for a pipe are not async-signal-safe")]
        unsafe {
            let mut alarm: libc::sigset_t = std::mem::zeroed();
            handle(libc::SIGALRM, leave);
            libc::sigemptyset(&raw mut alarm);
            libc::sigaddset(&raw mut alarm, libc::SIGALRM);
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const alarm, ptr::null_mut());
            libc::alarm(PATIENCE);
        }
    }

    /// Ends the process with status 1, without running anything else (`_exit`).
    extern "C" fn leave(_: c_int) {
        low_level::exit(1);
    }
}
