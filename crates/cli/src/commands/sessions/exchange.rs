//! The forms of `trommel sessions sync` that do not query: repeated sync, writing out the cloud's
//! copy, and keeping a session local.

use std::path::Path;

use trommel_session::Watch;

use super::{Location, SessionSource};
use crate::args::SessionOperation as Operation;
use crate::errors::Failure;
use crate::output::tables::sessions as tables;
use crate::output::{self, Notes};

/// Runs the operation if it is one of these forms.
pub(super) fn run(operation: &Operation, location: &Location, notes: &Notes) -> Option<Result<(), Failure>> {
    let Operation::Sync { session, exchange, .. } = operation else { return None };
    let is_asked =
        exchange.apply || exchange.watch || exchange.show.is_some() || exchange.keep || exchange.send;
    let cloud = match &location.sessions {
        SessionSource::Both(cloud) => cloud,
        SessionSource::Local(_) => return is_asked.then(|| Err(refused(NO_STORAGE))),
        SessionSource::Path(_) if is_asked => return Some(Err(refused(PATH_NOT_SYNCED))),
        SessionSource::Path(_) => {
            notes.note(PATH_NOT_SYNCED);
            return None;
        }
    };
    if exchange.create
        && let Err(error) = cloud.hybrid.create_root()
    {
        return Some(Err(error.into()));
    }
    // The argument parser requires a session for these options.
    let id = session.as_deref().unwrap_or("");
    if let Some(folder) = &exchange.show {
        let written = cloud.hybrid.write_out(id, Path::new(folder), &Watch::new());
        return Some(written.map_err(Failure::from));
    }
    if exchange.keep || exchange.send {
        return Some(cloud.hybrid.keep_here(id, exchange.keep).map_err(Failure::from));
    }
    exchange.watch.then(|| watch(cloud, notes))
}

const NO_STORAGE: &str =
    "no storage is configured: set `session_storage` in Amplifier's settings.yaml, or COSMOS_ENDPOINT";

const PATH_NOT_SYNCED: &str =
    "a session given by its path is not synced: pass its ID, which `trommel sessions list` shows";

fn refused(message: &str) -> Failure {
    Failure::Usage { command: "sessions sync", message: message.to_owned() }
}

/// Syncs until a signal ends the process. An interrupted sync resumes the next time.
fn watch(cloud: &crate::cloud::Cloud, notes: &Notes) -> Result<(), Failure> {
    let kept = cloud.hybrid.keep_synced(cloud.interval, &Watch::new(), &mut |report| match report {
        Ok(report) => {
            // A report that cannot be printed does not end the synchronization.
            let _ = output::print(&tables::exchanged(&report, None));
        }
        Err(error) => notes.warn(&error.to_string()),
    });
    Ok(kept?)
}
