//! Changes sessions on either side: a session that is only in the storage is pulled first, and
//! pushed afterwards.

use trommel_session::{Session, SessionRow, Sessions, Source, Watch};

use super::bodies::{Bodies, Copy};
use super::exchange::Exchange;
use crate::error::{ErrorClass, Result};
use crate::sync::State;

/// A session that is ready to be changed.
#[non_exhaustive]
pub struct Changeable {
    /// The collection that the session belongs to.
    pub sessions: Sessions,
    /// The session.
    pub session: Session,
    /// True if it was pulled for this change.
    is_pulled: bool,
    /// Keeps a temporary copy alive.
    copy: Option<Copy>,
}

/// Prepares changes, and pushes them.
pub(super) struct Changes<'a> {
    pub(super) exchange: Exchange<'a>,
}

impl Changes<'_> {
    /// Prepares a session for a change. See
    /// [`SyncedSessions::changeable`](super::SyncedSessions::changeable).
    pub(super) fn begin(&self, id: &str, is_dry_run: bool, watch: &Watch<'_>) -> Result<Changeable> {
        let catalog = self.exchange.catalog;
        let (view, session) = catalog.find(id, watch)?;
        if session.source() != Source::Cloud {
            return Ok(Changeable { sessions: view.sessions, session, is_pulled: false, copy: None });
        }
        if is_dry_run {
            let copy = Bodies { context: catalog.context }.copy(&session, watch)?;
            let session = copy.session(&session)?;
            return Ok(Changeable { sessions: copy.sessions(), session, is_pulled: false, copy: Some(copy) });
        }
        let name = format!("{}/{}", session.project(), session.id());
        self.exchange.exchange(session.project(), session.id(), None, watch)?;
        let sessions = catalog.known();
        let session = sessions.find(&name)?;
        Ok(Changeable { sessions, session, is_pulled: true, copy: None })
    }

    /// Pushes a change. Returns the reason if it was not pushed.
    pub(super) fn finish(&self, changed: &Changeable, watch: &Watch<'_>) -> Result<Option<String>> {
        let session = &changed.session;
        let context = self.exchange.catalog.context;
        let is_synced =
            || context.options.auto_sync && context.exclusion(&SessionRow::from_session(session)).is_none();
        if changed.copy.is_some() || !changed.is_pulled && !is_synced() {
            return Ok(None);
        }
        let unsent = |why: &str| {
            Some(format!("session {} was changed on this machine, but not pushed: {why}", session.id()))
        };
        match self.exchange.exchange(session.project(), session.id(), None, watch) {
            Ok(State::Conflict) => Ok(unsent("it was also changed elsewhere; resolve the conflict")),
            Ok(_) => Ok(None),
            Err(error) if error.class() == ErrorClass::Cancelled => Err(error),
            // The change itself succeeded, so a failed push is a remark, not an error.
            Err(error) => Ok(unsent(&error.to_string())),
        }
    }
}
