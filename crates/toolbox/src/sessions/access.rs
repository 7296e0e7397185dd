//! Access to sessions on this machine only, or also in a cloud storage. The tool and other programs
//! use both through one trait.

use std::cell::RefCell;
use std::fmt;

use serde::Serialize;
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, ListQuery, Listing, SearchQuery, Session, Sessions,
    SyncStatus, Watch,
};

/// The error code of a contradictory request, or of one that this access cannot serve.
pub(super) const REQUEST: &str = "request";

/// The result of an operation of a [`SessionAccess`].
pub type Result<T> = std::result::Result<T, AccessError>;

/// A change of one of the sessions. The closure keeps its result for the answer.
pub type Change<'a> = dyn FnMut(&Sessions, &Session) -> trommel_session::Result<()> + 'a;

/// The error of a [`SessionAccess`].
#[derive(Debug)]
#[non_exhaustive]
pub enum AccessError {
    /// An error of the sessions on this machine.
    Session(trommel_session::Error),
    /// An error of the storage.
    #[cfg(feature = "cloud")]
    Storage(trommel_blocks::Error),
    /// No storage is configured to sync sessions with.
    NoStorage,
}

impl AccessError {
    /// Returns the stable code of the error.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Session(error) => error.code(),
            #[cfg(feature = "cloud")]
            Self::Storage(error) => error.code(),
            Self::NoStorage => REQUEST,
        }
    }

    /// True if the request must change before it can succeed.
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

impl fmt::Display for AccessError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(error) => error.fmt(out),
            #[cfg(feature = "cloud")]
            Self::Storage(error) => error.fmt(out),
            Self::NoStorage => out.write_str("sessions are only on this machine: no storage is configured"),
        }
    }
}

impl std::error::Error for AccessError {}

impl From<trommel_session::Error> for AccessError {
    fn from(error: trommel_session::Error) -> Self {
        Self::Session(error)
    }
}

#[cfg(feature = "cloud")]
impl From<trommel_blocks::Error> for AccessError {
    fn from(error: trommel_blocks::Error) -> Self {
        Self::Storage(error)
    }
}

/// Access to sessions.
pub trait SessionAccess: Send + Sync {
    /// True if sessions may also be in a storage.
    fn is_hybrid(&self) -> bool;

    /// Lists sessions.
    fn list(&self, query: &ListQuery, watch: &Watch<'_>, problems: &Problems) -> Result<Listing>;

    /// Returns the sessions to search.
    fn sessions_to_search(
        &self,
        query: &SearchQuery,
        watch: &Watch<'_>,
        problems: &Problems,
    ) -> Result<Sessions>;

    /// Finds one session.
    fn find(&self, id: &str, watch: &Watch<'_>, problems: &Problems) -> Result<Session>;

    /// Returns the sessions that include a session and all that it spawned.
    fn family(&self, session: &Session, watch: &Watch<'_>, problems: &Problems) -> Result<Sessions>;

    /// Returns a page of a session's events.
    fn get_events(&self, session: &Session, query: &EventQuery, watch: &Watch<'_>) -> Result<EventPage> {
        Ok(session.get_events(query, watch)?)
    }

    /// Aggregates a field of a session's events.
    fn aggregate(&self, session: &Session, query: &AggregateQuery, watch: &Watch<'_>) -> Result<Aggregate> {
        Ok(session.aggregate(query, watch)?)
    }

    /// Changes a session, or determines what would change.
    fn change(
        &self,
        target: Target<'_>,
        watch: &Watch<'_>,
        problems: &Problems,
        change: &mut Change<'_>,
    ) -> Result<()>;

    /// Returns the sync status of one session, or of all.
    fn sync_status(&self, id: Option<&str>, watch: &Watch<'_>) -> Result<SyncStatus>;

    /// Syncs sessions.
    fn sync(&self, request: &SyncRequest<'_>, watch: &Watch<'_>) -> Result<SyncResult>;
}

impl dyn SessionAccess + '_ {
    /// [Changes](SessionAccess::change) a session, and returns the result of the change.
    ///
    /// # Errors
    /// Returns the errors of [`SessionAccess::change`] and of the change itself.
    ///
    /// # Panics
    /// Panics if an implementation reports success without running the change.
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

/// The session that [`SessionAccess::change`] changes.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The ID of the session, a prefix of it, or its project and ID.
    pub id: &'a str,
    /// True to change nothing.
    pub dry_run: bool,
}

/// A request to sync sessions.
#[derive(Clone, Copy, Debug, Default)]
pub struct SyncRequest<'a> {
    /// The session to sync. `None` syncs every session of this machine.
    pub session_id: Option<&'a str>,
    /// The side that wins a conflict: `local`, `remote`, or `merge`. `None` leaves it to the
    /// settings.
    pub resolve: Option<&'a str>,
    /// True to also download the sessions that only the storage has.
    pub all: bool,
    /// True to only report the sync status.
    pub dry_run: bool,
}

/// The result of a sync.
#[derive(Clone, Debug, Serialize)]
pub struct SyncResult {
    /// The outcome for the sessions.
    #[serde(flatten)]
    pub outcome: SyncOutcome,
    /// The number of sessions that only the storage has, unless other members of the result include
    /// them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cloud_only: Option<usize>,
}

/// The outcome of a sync.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
#[expect(clippy::exhaustive_enums, reason = "a caller shows every outcome")]
pub enum SyncOutcome {
    /// The status of a dry run.
    Status(SyncStatus),
    /// The report of what was done.
    #[cfg(feature = "cloud")]
    Report(trommel_blocks::SyncReport),
}

/// Problems that an answer reports.
#[derive(Default)]
pub struct Problems(RefCell<Vec<String>>);

impl Problems {
    /// Returns the problems so far.
    pub fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// Adds problems that are not known yet. Several steps of a call may report the same one.
    pub fn add(&self, problems: impl IntoIterator<Item = String>) {
        let mut known = self.0.borrow_mut();
        for problem in problems {
            if !known.contains(&problem) {
                known.push(problem);
            }
        }
    }
}

/// Access to the sessions of this machine.
pub struct LocalAccess(pub Sessions);

impl SessionAccess for LocalAccess {
    fn is_hybrid(&self) -> bool {
        false
    }

    fn list(&self, query: &ListQuery, watch: &Watch<'_>, _: &Problems) -> Result<Listing> {
        Ok(self.0.list(query, watch)?)
    }

    fn sessions_to_search(&self, _: &SearchQuery, _: &Watch<'_>, _: &Problems) -> Result<Sessions> {
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

    fn sync(&self, _: &SyncRequest<'_>, _: &Watch<'_>) -> Result<SyncResult> {
        Err(AccessError::NoStorage)
    }
}
