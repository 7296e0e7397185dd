//! Changes of sessions on either side: one that is stored only is fetched first, and sent back
//! afterwards.

use trommel_session::{Session, SessionRow, Sessions, Source, Watch};

use super::bodies::{Bodies, Copy};
use super::exchange::Exchange;
use crate::error::{ErrorClass, Result};
use crate::sync::State;

/// A session that may be changed.
#[non_exhaustive]
pub struct Changeable {
    /// The sessions among which it is.
    pub sessions: Sessions,
    /// The session.
    pub session: Session,
    /// True if it was fetched for this change.
    is_fetched: bool,
    /// Keeps a copy as long as it is queried.
    copy: Option<Copy>,
}

/// Prepares changes, and sends them.
pub(super) struct Changes<'a> {
    pub(super) exchange: Exchange<'a>,
}

impl Changes<'_> {
    /// A session that may be changed. See
    /// [`SyncedSessions::changeable`](super::SyncedSessions::changeable).
    pub(super) fn begin(&self, id: &str, is_dry_run: bool, watch: &Watch<'_>) -> Result<Changeable> {
        let catalog = self.exchange.catalog;
        let (view, session) = catalog.find(id, watch)?;
        if session.source() != Source::Cloud {
            return Ok(Changeable { sessions: view.sessions, session, is_fetched: false, copy: None });
        }
        if is_dry_run {
            let copy = Bodies { context: catalog.context }.copy(&session, watch)?;
            let session = copy.session(&session)?;
            return Ok(Changeable {
                sessions: copy.sessions(),
                session,
                is_fetched: false,
                copy: Some(copy),
            });
        }
        let name = format!("{}/{}", session.project(), session.id());
        self.exchange.exchange(session.project(), session.id(), None, watch)?;
        let sessions = catalog.known();
        let session = sessions.find(&name)?;
        Ok(Changeable { sessions, session, is_fetched: true, copy: None })
    }

    /// Sends a change, and returns why it was not sent.
    pub(super) fn finish(&self, changed: &Changeable, watch: &Watch<'_>) -> Result<Option<String>> {
        let session = &changed.session;
        let context = self.exchange.catalog.context;
        let is_sent =
            || context.options.auto_sync && context.keeps(&SessionRow::of_session(session)).is_none();
        if changed.copy.is_some() || !changed.is_fetched && !is_sent() {
            return Ok(None);
        }
        let unsent =
            |why: &str| Some(format!("session {} was changed here and not sent: {why}", session.id()));
        match self.exchange.exchange(session.project(), session.id(), None, watch) {
            Ok(State::Conflict) => Ok(unsent("it was changed elsewhere, too; settle that")),
            Ok(_) => Ok(None),
            Err(error) if error.class() == ErrorClass::Cancelled => Err(error),
            Err(error) => Ok(unsent(&error.to_string())),
        }
    }
}
