//! Changes of sessions, wherever they lie: what lies in the storage only is brought here first, and sent back afterwards.

use trommel_session::{Session, SessionRow, Sessions, Source, Watch};

use crate::error::{Error, ErrorKind, Result};
use crate::hybrid::HybridBlockStorage;
use crate::hybrid::bodies::Copy;
use crate::sync::State;

/// A session that may be changed.
#[non_exhaustive]
pub struct Changeable {
    /// Those that it lies among.
    pub sessions: Sessions,
    /// The session.
    pub session: Session,
    /// Whether it was brought here for this.
    is_fetched: bool,
    /// Keeps a copy as long as it is asked.
    copy: Option<Copy>,
}

impl HybridBlockStorage {
    /// A session that may be changed: where it lies in the storage only it is brought here; for a mere look at what would be changed
    /// it is a copy, which is gone afterwards. [`changed`](Self::changed) is to be told what became of it.
    pub fn changeable(&self, id: &str, is_dry_run: bool, watch: &Watch<'_>) -> Result<Changeable> {
        let (view, session) = self.find(id, watch)?;
        if session.source() != Source::Cloud {
            return Ok(Changeable { sessions: view.sessions, session, is_fetched: false, copy: None });
        }
        if is_dry_run {
            let copy = self.copy(&session, watch)?;
            let session = copy.session(&session)?;
            return Ok(Changeable {
                sessions: copy.sessions(),
                session,
                is_fetched: false,
                copy: Some(copy),
            });
        }
        let name = format!("{}/{}", session.project(), session.id());
        self.exchange(session.project(), session.id(), None, watch)?;
        let sessions = self.known();
        let session = sessions.find(&name)?;
        Ok(Changeable { sessions, session, is_fetched: true, copy: None })
    }

    /// Sends what was changed, where it was brought here for that, or everything is sent at once. What kept it from being sent: the
    /// change itself was made, and goes with the next sync.
    pub fn changed(&self, changed: &Changeable, watch: &Watch<'_>) -> Result<Option<String>> {
        let session = &changed.session;
        let is_sent = || self.options.auto_sync && self.keeps(&SessionRow::of_session(session)).is_none();
        if changed.copy.is_some() || !changed.is_fetched && !is_sent() {
            return Ok(None);
        }
        let told = |why: &str| Some(format!("session {} was changed here and not sent: {why}", session.id()));
        match self.exchange(session.project(), session.id(), None, watch) {
            Ok(State::Conflict) => Ok(told("it was changed elsewhere, too; settle that")),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == ErrorKind::Cancelled => Err(error),
            Err(error) => Ok(told(&Error::to_string(&error))),
        }
    }
}
