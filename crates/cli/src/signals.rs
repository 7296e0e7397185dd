//! Signals that end the process: interruption, termination, and hangup. It ends at once and without
//! a message, or as soon as its work is cleaned up.

use std::io;
use std::sync::Arc;

use crate::progress::Progress;

/// Ends the process on a signal: status 129 on hangup, 130 on interruption, 143 on termination. For
/// work whose temporary files have no names and need no cleanup.
pub(crate) fn install(progress: Arc<Progress>) -> io::Result<()> {
    on_signal(progress, |_| false)
}

/// Calls `first` on the first signal, so that the work can be cancelled. The process ends if
/// `first` returns false, and on the second signal.
#[cfg(unix)]
pub(crate) fn on_signal(
    progress: Arc<Progress>,
    first: impl FnOnce(i32) -> bool + Send + 'static,
) -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level;

    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    // `nohup` ignores SIGHUP. Handling it would undo that.
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    let mut first = Some(first);
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        for signal in signals.forever() {
            progress.clear();
            if !first.take().is_some_and(|handle| handle(signal)) {
                low_level::exit(128 + signal);
            }
        }
    })?;
    Ok(())
}

/// True if this process ignores a signal. False if the system does not report it.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Ends the process if it does not end within a grace period: cancelled work may wait for another
/// process.
#[cfg(unix)]
pub(crate) fn exit_after_grace(signal: i32) {
    const GRACE_PERIOD: std::time::Duration = std::time::Duration::from_secs(2);
    std::thread::spawn(move || {
        std::thread::sleep(GRACE_PERIOD);
        signal_hook::low_level::exit(128 + signal);
    });
}

/// The system ends the process itself.
#[cfg(not(unix))]
pub(crate) fn exit_after_grace(_: i32) {}

/// The system ends the process itself.
#[cfg(not(unix))]
pub(crate) fn on_signal(_: Arc<Progress>, _: impl FnOnce(i32) -> bool + Send + 'static) -> io::Result<()> {
    Ok(())
}
