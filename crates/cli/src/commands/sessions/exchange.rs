//! `trommel sessions sync` where it is no question: both sides made the same again and again,
//! compared by hand, or kept apart.

use std::path::Path;

use trommel_session::Watch;

use super::{Location, Where};
use crate::args::SessionOperation as Operation;
use crate::errors::Failure;
use crate::output::tables::sessions as tables;
use crate::output::{self, Notes};

/// Does what is asked for, when it is one of these.
pub(super) fn done(operation: &Operation, location: &Location, notes: &Notes) -> Option<Result<(), Failure>> {
    let Operation::Sync { session, exchange, .. } = operation else { return None };
    let is_asked =
        exchange.apply || exchange.watch || exchange.show.is_some() || exchange.keep || exchange.send;
    let cloud = match &location.sessions {
        Where::Both(cloud) => cloud,
        Where::Here(_) => return is_asked.then(|| Err(refused(NOWHERE))),
        Where::Path(_) if is_asked => return Some(Err(refused(OUTSIDE))),
        Where::Path(_) => {
            notes.note(OUTSIDE);
            return None;
        }
    };
    if exchange.create
        && let Err(error) = cloud.hybrid.make_place()
    {
        return Some(Err(error.into()));
    }
    // The parser of the command line requires a session for these.
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

const NOWHERE: &str = "no storage is named that sessions could be sent to: `session_storage` in Amplifier's settings.yaml, or COSMOS_ENDPOINT, does";

const OUTSIDE: &str = "a session that is given by its path lies outside of what is sent and fetched: pass its id, which `trommel sessions list` shows";

fn refused(message: &str) -> Failure {
    Failure::Usage { command: "sessions sync", message: message.to_owned() }
}

/// Until a signal ends the process: whatever was being done goes on the next time.
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
