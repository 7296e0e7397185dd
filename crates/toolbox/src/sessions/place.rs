//! Where sessions are: on this machine only, or in a cloud storage as well. The tool and programs
//! query both in one way.

use std::cell::RefCell;
use std::fmt;

use serde::Serialize;
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, ListQuery, Listing, SearchQuery, Session, Sessions,
    SyncStatus, Watch,
};

/// The code of a request that contradicts itself, or that cannot be met here.
pub(super) const REQUEST: &str = "request";

/// The result of a query to a [`Place`].
pub type Result<T> = std::result::Result<T, PlaceError>;

/// Changes a session that is among these, and keeps what it did for the answer.
pub type Change<'a> = dyn FnMut(&Sessions, &Session) -> trommel_session::Result<()> + 'a;

/// Why a [`Place`] has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum PlaceError {
    /// The sessions of this machine refuse, or cannot be read.
    Session(trommel_session::Error),
    /// The storage refuses, or cannot be reached.
    #[cfg(feature = "cloud")]
    Storage(trommel_blocks::Error),
    /// No storage is configured that sessions could be sent to.
    NoStorage,
}

impl PlaceError {
    /// The short stable name of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Session(error) => error.code(),
            #[cfg(feature = "cloud")]
            Self::Storage(error) => error.code(),
            Self::NoStorage => REQUEST,
        }
    }

    /// True if the request has to change before it can succeed.
    pub fn is_request(&self) -> bool {
        match self {
            Self::Session(error) => error.class().is_request(),
            #[cfg(feature = "cloud")]
            Self::Storage(error) => error.class().is_request(),
            Self::NoStorage => true,
        }
    }

    /// True if the request was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.code() == "cancelled"
    }
}

impl fmt::Display for PlaceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(error) => error.fmt(out),
            #[cfg(feature = "cloud")]
            Self::Storage(error) => error.fmt(out),
            Self::NoStorage => out.write_str(
                "sessions lie on this machine alone: no storage is configured that they could be sent to",
            ),
        }
    }
}

impl std::error::Error for PlaceError {}

impl From<trommel_session::Error> for PlaceError {
    fn from(error: trommel_session::Error) -> Self {
        Self::Session(error)
    }
}

#[cfg(feature = "cloud")]
impl From<trommel_blocks::Error> for PlaceError {
    fn from(error: trommel_blocks::Error) -> Self {
        Self::Storage(error)
    }
}

/// Where sessions are.
pub trait Place: Send + Sync {
    /// True if they are in a storage as well.
    fn is_hybrid(&self) -> bool;

    /// Lists sessions.
    fn list(&self, query: &ListQuery, watch: &Watch<'_>, problems: &Problems) -> Result<Listing>;

    /// Returns the sessions to search.
    fn searched(&self, query: &SearchQuery, watch: &Watch<'_>, problems: &Problems) -> Result<Sessions>;

    /// Finds one session.
    fn find(&self, id: &str, watch: &Watch<'_>, problems: &Problems) -> Result<Session>;

    /// Returns the sessions that a session is among, with all that it spawned.
    fn family(&self, session: &Session, watch: &Watch<'_>, problems: &Problems) -> Result<Sessions>;

    /// Returns a page of a session's events.
    fn get_events(&self, session: &Session, query: &EventQuery, watch: &Watch<'_>) -> Result<EventPage> {
        Ok(session.get_events(query, watch)?)
    }

    /// Returns the figures of a field of a session's events.
    fn aggregate(&self, session: &Session, query: &AggregateQuery, watch: &Watch<'_>) -> Result<Aggregate> {
        Ok(session.aggregate(query, watch)?)
    }

    /// Changes a session, or finds what would be changed.
    fn change(
        &self,
        target: Target<'_>,
        watch: &Watch<'_>,
        problems: &Problems,
        change: &mut Change<'_>,
    ) -> Result<()>;

    /// Returns how far sessions are synchronized, one or all.
    fn sync_status(&self, id: Option<&str>, watch: &Watch<'_>) -> Result<SyncStatus>;

    /// Synchronizes sessions.
    fn sync(&self, request: &SyncRequest<'_>, watch: &Watch<'_>) -> Result<Synced>;
}

impl dyn Place + '_ {
    /// [Changes](Place::change) a session, and returns what the change returned.
    ///
    /// # Errors
    /// As [`Place::change`] and the change itself.
    ///
    /// # Panics
    /// If a place reports success without running the change.
    pub fn apply<T>(
        &self,
        target: Target<'_>,
        watch: &Watch<'_>,
        problems: &Problems,
        change: impl Fn(&Sessions, &Session) -> trommel_session::Result<T>,
    ) -> Result<T> {
        let mut done = None;
        self.change(target, watch, problems, &mut |sessions, session| {
            done = Some(change(sessions, session)?);
            Ok(())
        })?;
        #[expect(clippy::expect_used, reason = "every place runs the change before it succeeds")]
        Ok(done.expect("the change ran"))
    }
}

/// The session that [`Place::change`] changes.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// Its id, a prefix of it, or its project and id.
    pub id: &'a str,
    /// True if nothing is to be changed.
    pub dry_run: bool,
}

/// Which sessions to synchronize, and how.
#[derive(Clone, Copy, Debug, Default)]
pub struct SyncRequest<'a> {
    /// One session. None means every session of this machine.
    pub session_id: Option<&'a str>,
    /// The side of a conflict that counts: `local`, `remote` or `merge`. None leaves it to the
    /// settings.
    pub settle: Option<&'a str>,
    /// True to download the sessions that are in the storage only.
    pub all: bool,
    /// True to return how far the sessions are, and change nothing.
    pub dry_run: bool,
}

/// The result of a synchronization.
#[derive(Clone, Debug, Serialize)]
pub struct Synced {
    /// What became of the sessions.
    #[serde(flatten)]
    pub outcome: SyncOutcome,
    /// The number of sessions that are in the storage only, where nothing else in the result shows
    /// that there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_only: Option<usize>,
}

/// What became of sessions that were to be synchronized.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[expect(clippy::exhaustive_enums, reason = "a caller shows every outcome")]
pub enum SyncOutcome {
    /// Nothing was changed: how far they are.
    Status(SyncStatus),
    /// What was done.
    #[cfg(feature = "cloud")]
    Report(trommel_blocks::SyncReport),
}

/// What could not be done, reported beside an answer.
#[derive(Default)]
pub struct Problems(RefCell<Vec<String>>);

impl Problems {
    /// Returns the problems so far.
    pub fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// Adds problems, each once: several steps of a call may meet the same.
    pub fn add(&self, problems: impl IntoIterator<Item = String>) {
        let mut known = self.0.borrow_mut();
        for problem in problems {
            if !known.contains(&problem) {
                known.push(problem);
            }
        }
    }
}

/// Sessions of this machine only.
pub struct Here(pub Sessions);

impl Place for Here {
    fn is_hybrid(&self) -> bool {
        false
    }

    fn list(&self, query: &ListQuery, watch: &Watch<'_>, _: &Problems) -> Result<Listing> {
        Ok(self.0.list(query, watch)?)
    }

    fn searched(&self, _: &SearchQuery, _: &Watch<'_>, _: &Problems) -> Result<Sessions> {
        Ok(self.0.clone())
    }

    fn find(&self, id: &str, _: &Watch<'_>, _: &Problems) -> Result<Session> {
        Ok(self.0.find(id)?)
    }

    fn family(&self, _: &Session, _: &Watch<'_>, _: &Problems) -> Result<Sessions> {
        Ok(self.0.clone())
    }

    fn change(&self, target: Target<'_>, _: &Watch<'_>, _: &Problems, change: &mut Change<'_>) -> Result<()> {
        Ok(change(&self.0, &self.0.find(target.id)?)?)
    }

    fn sync_status(&self, id: Option<&str>, _: &Watch<'_>) -> Result<SyncStatus> {
        Ok(self.0.sync_status(id)?)
    }

    fn sync(&self, _: &SyncRequest<'_>, _: &Watch<'_>) -> Result<Synced> {
        Err(PlaceError::NoStorage)
    }
}
