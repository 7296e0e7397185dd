//! Ctrl-C and termination: the process ends at once, without a message.
//!
//! Temporary files have no names, so nothing stays behind.

use std::io;
use std::sync::Arc;

use crate::progress::Progress;

/// Ends the process when a signal asks for it: 130 on interruption, 143 on termination.
#[cfg(unix)]
pub(crate) fn install(progress: Arc<Progress>) -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level;

    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("signals".into()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            progress.clear();
            low_level::exit(128 + signal);
        }
    })?;
    Ok(())
}

/// The system's own way to end a process.
#[cfg(not(unix))]
pub(crate) fn install(_: Arc<Progress>) -> io::Result<()> {
    Ok(())
}
