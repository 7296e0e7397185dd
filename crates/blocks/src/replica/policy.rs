//! The choice of sessions to sync.

use std::fmt;
use std::sync::Arc;

use trommel_session::SessionRow;

/// True if a session is to be synced. If the filter fails, the session stays on this machine.
pub type Filter = dyn Fn(&SessionRow) -> std::result::Result<bool, String> + Send + Sync;

/// The sessions to sync. A session that the policy excludes is not pulled either.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Policy {
    /// All sessions.
    #[default]
    All,
    /// No session.
    None,
    /// The sessions that a filter accepts.
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

/// The reason why a session stays on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Exclusion {
    /// The policy excludes it.
    ByPolicy,
    /// It is marked as local only.
    ByMark,
    /// The filter failed.
    FilterFailed(String),
}

impl Policy {
    /// The reason why a session stays on this machine; `None` if it is synced.
    pub(super) fn exclusion(&self, session: &SessionRow) -> Option<Exclusion> {
        match self {
            Self::All => None,
            Self::None => Some(Exclusion::ByPolicy),
            Self::Filter(filter) => match filter(session) {
                Ok(true) => None,
                Ok(false) => Some(Exclusion::ByPolicy),
                Err(why) => Some(Exclusion::FilterFailed(why)),
            },
        }
    }
}
