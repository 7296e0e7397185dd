//! Which sessions are sent, and which stay where they are.

use std::fmt;
use std::fs;
use std::io;
use std::sync::Arc;

use trommel_session::SessionRow;

use crate::error::{Error, Result};
use crate::hybrid::HybridBlockStorage;
use crate::hybrid::places::make_above;

/// Tells whether a session is to be sent. One that cannot tell says why, and the session stays where it is.
pub type Filter = dyn Fn(&SessionRow) -> std::result::Result<bool, String> + Send + Sync;

/// Which sessions are sent. What a policy keeps here is not fetched either.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Policy {
    /// Every one.
    #[default]
    All,
    /// None.
    None,
    /// Those that a filter lets pass.
    Filter(Arc<Filter>),
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "All",
            Self::None => "None",
            Self::Filter(_) => "Filter(…)",
        })
    }
}

/// Why a session stays on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// It is not to be sent.
    ByPolicy,
    /// It was marked.
    ByMark,
    /// The filter could not tell.
    Unknown(String),
}

impl Policy {
    fn keeps(&self, session: &SessionRow) -> Option<Kept> {
        match self {
            Self::All => None,
            Self::None => Some(Kept::ByPolicy),
            Self::Filter(filter) => match filter(session) {
                Ok(true) => None,
                Ok(false) => Some(Kept::ByPolicy),
                Err(why) => Some(Kept::Unknown(why)),
            },
        }
    }
}

impl HybridBlockStorage {
    /// Why a session stays here; nothing where it is to be sent.
    pub(super) fn keeps(&self, session: &SessionRow) -> Option<Kept> {
        if self.is_local_only(&session.project, &session.session_id) {
            return Some(Kept::ByMark);
        }
        self.options.policy.keeps(session)
    }

    pub(super) fn is_local_only(&self, project: &str, session: &str) -> bool {
        self.places.local_mark(project, session).exists()
    }

    /// Marks a session as one that stays on this machine, or takes the mark away. What was sent before stays in the storage.
    pub fn keep_here(&self, id: &str, is_kept: bool) -> Result<()> {
        let session = self.options.sessions.find(id)?;
        let path = self.places.local_mark(session.project(), session.id());
        if is_kept {
            make_above(&path)?;
            return fs::write(&path, "").map_err(|cause| Error::io("write", &path, cause));
        }
        match fs::remove_file(&path) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &path, cause)),
            _ => Ok(()),
        }
    }
}
