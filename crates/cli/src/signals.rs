//! Ctrl-C, termination, and a terminal that is closed: the process ends at once, without a message,
//! or as soon as nothing is left behind.

use std::io;
use std::sync::Arc;

use crate::progress::Progress;

/// Ends the process when a signal asks for it: 129 on hangup, 130 on interruption, 143 on
/// termination. For work whose temporary files have no names.
pub(crate) fn install(progress: Arc<Progress>) -> io::Result<()> {
    tell(progress, |_| false)
}

/// Tells of the first signal, so that the work can be given up tidily. When nobody sees to that
/// (`false`), and at the second signal, the process ends.
#[cfg(unix)]
pub(crate) fn tell(
    progress: Arc<Progress>,
    first: impl FnOnce(i32) -> bool + Send + 'static,
) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level;

    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    // `nohup` has it ignored, and that must stay.
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    let mut first = Some(first);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            progress.clear();
            if !first.take().is_some_and(|tell| tell(signal)) {
                low_level::exit(128 + signal);
            }
        }
    })?;
    Ok(())
}

/// True if this process ignores a signal, where the system says so.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Ends the process when it has not ended by itself within some time: what was to be given up may
/// wait for somebody else.
#[cfg(unix)]
pub(crate) fn leave_after_a_grace(signal: i32) {
    const GRACE: std::time::Duration = std::time::Duration::from_secs(2);
    std::thread::spawn(move || {
        std::thread::sleep(GRACE);
        signal_hook::low_level::exit(128 + signal);
    });
}

/// The system's own way to end a process.
#[cfg(not(unix))]
pub(crate) fn leave_after_a_grace(_: i32) {}

/// The system's own way to end a process.
#[cfg(not(unix))]
pub(crate) fn tell(_: Arc<Progress>, _: impl FnOnce(i32) -> bool + Send + 'static) -> io::Result<()> {
    Ok(())
}
