//! Where sessions are: on this machine alone, or in a storage as well.

use std::cell::RefCell;

use serde_json::Value;
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, ListQuery, Listing, SearchQuery, Session, Sessions,
    SyncStatus, Watch,
};
use trommel_tool::Failure;

use super::arguments::Arguments;
use super::failures::{failed, refused};

/// Changes a session that is one of these, and keeps its report for the answer.
pub(super) type Change<'a> = dyn FnMut(&Sessions, &Session) -> trommel_session::Result<()> + 'a;

/// The session that is to be changed.
#[derive(Clone, Copy)]
pub(super) struct Changed<'a> {
    pub(super) id: &'a str,
    /// True if only to report what would be done.
    pub(super) dry_run: bool,
}

/// Where sessions are.
pub(super) trait Place: Send + Sync {
    /// True if they are in a storage as well.
    fn is_hybrid(&self) -> bool;

    /// The list of sessions.
    fn list(&self, query: &ListQuery, watch: &Watch<'_>, problems: &Problems) -> Result<Listing, Failure>;

    /// Sessions to search.
    fn searched(
        &self,
        query: &SearchQuery,
        watch: &Watch<'_>,
        problems: &Problems,
    ) -> Result<Sessions, Failure>;

    /// One session.
    fn find(&self, id: &str, watch: &Watch<'_>, problems: &Problems) -> Result<Session, Failure>;

    /// The sessions that a session is one of, with all that it spawned.
    fn family(&self, session: &Session, watch: &Watch<'_>, problems: &Problems) -> Result<Sessions, Failure>;

    /// A page of a session's events.
    fn get_events(
        &self,
        session: &Session,
        query: &EventQuery,
        watch: &Watch<'_>,
    ) -> Result<EventPage, Failure> {
        session.get_events(query, watch).map_err(failed)
    }

    /// Figures of a field of a session's events.
    fn aggregate(
        &self,
        session: &Session,
        query: &AggregateQuery,
        watch: &Watch<'_>,
    ) -> Result<Aggregate, Failure> {
        session.aggregate(query, watch).map_err(failed)
    }

    /// Changes a session, wherever it is; or finds out what would be changed.
    fn change(
        &self,
        asked: Changed<'_>,
        watch: &Watch<'_>,
        problems: &Problems,
        change: &mut Change<'_>,
    ) -> Result<(), Failure>;

    /// How far sessions are the same elsewhere.
    fn sync_status(&self, id: Option<&str>, watch: &Watch<'_>) -> Result<SyncStatus, Failure>;

    /// Makes sessions the same on both sides. The report's JSON.
    fn sync(&self, arguments: &Arguments, watch: &Watch<'_>) -> Result<Value, Failure>;
}

/// Problems to report beside an answer.
#[derive(Default)]
pub(super) struct Problems(RefCell<Vec<String>>);

impl Problems {
    pub(super) fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    /// Adds problems, each once: several steps of a call may meet the same.
    pub(super) fn add(&self, problems: impl IntoIterator<Item = String>) {
        let mut known = self.0.borrow_mut();
        for problem in problems {
            if !known.contains(&problem) {
                known.push(problem);
            }
        }
    }
}

/// Sessions of this machine alone.
pub(super) struct Here(pub(super) Sessions);

impl Place for Here {
    fn is_hybrid(&self) -> bool {
        false
    }

    fn list(&self, query: &ListQuery, watch: &Watch<'_>, _: &Problems) -> Result<Listing, Failure> {
        self.0.list(query, watch).map_err(failed)
    }

    fn searched(&self, _: &SearchQuery, _: &Watch<'_>, _: &Problems) -> Result<Sessions, Failure> {
        Ok(self.0.clone())
    }

    fn find(&self, id: &str, _: &Watch<'_>, _: &Problems) -> Result<Session, Failure> {
        self.0.find(id).map_err(failed)
    }

    fn family(&self, _: &Session, _: &Watch<'_>, _: &Problems) -> Result<Sessions, Failure> {
        Ok(self.0.clone())
    }

    fn change(
        &self,
        asked: Changed<'_>,
        _: &Watch<'_>,
        _: &Problems,
        change: &mut Change<'_>,
    ) -> Result<(), Failure> {
        change(&self.0, &self.0.find(asked.id).map_err(failed)?).map_err(failed)
    }

    fn sync_status(&self, id: Option<&str>, _: &Watch<'_>) -> Result<SyncStatus, Failure> {
        self.0.sync_status(id).map_err(failed)
    }

    fn sync(&self, _: &Arguments, _: &Watch<'_>) -> Result<Value, Failure> {
        Err(refused(
            "sessions lie on this machine alone: no storage is configured that they could be sent to",
        ))
    }
}
