//! Where sessions lie: on this machine alone, or in a storage as well.

#[cfg(feature = "cloud")]
mod exchange;
mod here;
#[cfg(feature = "cloud")]
mod hybrid;

use std::cell::RefCell;

use serde_json::Value;
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, ListQuery, Listing, SearchQuery, Session, Sessions,
    SyncStatus, Watch,
};
use trommel_tool::Failure;

use super::arguments::Arguments;
use super::failed;

pub(super) use here::Here;
#[cfg(feature = "cloud")]
pub(super) use hybrid::Hybrid;

/// Changes a session that lies among these, and keeps what it did for the answer.
pub(super) type Change<'a> = dyn FnMut(&Sessions, &Session) -> trommel_session::Result<()> + 'a;

/// Where sessions lie.
pub(super) trait Place: Send + Sync {
    /// Whether they lie in a storage as well.
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

    /// Those that a session lies among, with all that it spawned.
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

    /// Changes a session, wherever it lies; or looks at what would be changed.
    fn change(
        &self,
        asked: (&str, bool),
        watch: &Watch<'_>,
        problems: &Problems,
        change: &mut Change<'_>,
    ) -> Result<(), Failure>;

    /// How far sessions are the same elsewhere.
    fn sync_status(&self, id: Option<&str>, watch: &Watch<'_>) -> Result<SyncStatus, Failure>;

    /// Makes sessions the same on both sides. The report's JSON.
    fn sync(&self, arguments: &Arguments, watch: &Watch<'_>) -> Result<Value, Failure>;
}

/// What is to be told beside an answer.
#[derive(Default)]
pub(super) struct Problems(RefCell<Vec<String>>);

impl Problems {
    pub(super) fn told(&self) -> Vec<String> {
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
