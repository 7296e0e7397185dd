//! Which sessions are sent, and which stay where they are.

use std::fmt;
use std::sync::Arc;

use trommel_session::SessionRow;

/// Tells whether a session is to be sent. One that cannot tell says why, and the session stays
/// where it is.
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
    /// Why a session stays on this machine; `None` if it is to be sent.
    pub(super) fn keeps(&self, session: &SessionRow) -> Option<Kept> {
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
