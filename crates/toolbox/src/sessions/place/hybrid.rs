//! Sessions of this machine and of a storage.

use std::sync::Arc;

use serde_json::Value;
use trommel_blocks::{Error, ErrorClass, SyncedSessions, View};
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, ListQuery, Listing, SearchQuery, Session, Sessions,
    SyncStatus, Watch,
};
use trommel_tool::Failure;

use super::{Change, Place, Problems, exchange};
use crate::sessions::arguments::Arguments;
use crate::sessions::{failed, failure};

/// Sessions of this machine and of a storage.
pub(in crate::sessions) struct Hybrid(pub(in crate::sessions) Arc<SyncedSessions>);

impl Place for Hybrid {
    fn is_hybrid(&self) -> bool {
        true
    }

    fn list(&self, query: &ListQuery, watch: &Watch<'_>, problems: &Problems) -> Result<Listing, Failure> {
        let (listing, told) = self.0.list(query, watch).map_err(stored)?;
        problems.add(told);
        Ok(listing)
    }

    fn searched(
        &self,
        query: &SearchQuery,
        watch: &Watch<'_>,
        problems: &Problems,
    ) -> Result<Sessions, Failure> {
        Ok(taken(self.0.searchable(query, watch).map_err(stored)?, problems))
    }

    fn find(&self, id: &str, watch: &Watch<'_>, problems: &Problems) -> Result<Session, Failure> {
        let (view, session) = self.0.find(id, watch).map_err(stored)?;
        problems.add(view.problems);
        Ok(session)
    }

    fn family(&self, session: &Session, watch: &Watch<'_>, problems: &Problems) -> Result<Sessions, Failure> {
        Ok(taken(self.0.family(session, watch).map_err(stored)?, problems))
    }

    fn get_events(
        &self,
        session: &Session,
        query: &EventQuery,
        watch: &Watch<'_>,
    ) -> Result<EventPage, Failure> {
        self.0.get_events(session, query, watch).map_err(stored)
    }

    fn aggregate(
        &self,
        session: &Session,
        query: &AggregateQuery,
        watch: &Watch<'_>,
    ) -> Result<Aggregate, Failure> {
        self.0.aggregate(session, query, watch).map_err(stored)
    }

    fn change(
        &self,
        (id, dry_run): (&str, bool),
        watch: &Watch<'_>,
        problems: &Problems,
        change: &mut Change<'_>,
    ) -> Result<(), Failure> {
        let changeable = self.0.changeable(id, dry_run, watch).map_err(stored)?;
        change(&changeable.sessions, &changeable.session).map_err(failed)?;
        if !dry_run {
            problems.add(self.0.changed(&changeable, watch).map_err(stored)?);
        }
        Ok(())
    }

    fn sync_status(&self, id: Option<&str>, watch: &Watch<'_>) -> Result<SyncStatus, Failure> {
        self.0.sync_status(id, watch).map_err(stored)
    }

    fn sync(&self, arguments: &Arguments, watch: &Watch<'_>) -> Result<Value, Failure> {
        exchange::sync(&self.0, arguments, watch)
    }
}

/// Takes the sessions out of a view, and notes what is told beside them.
fn taken(view: View, problems: &Problems) -> Sessions {
    problems.add(view.problems);
    view.sessions
}

/// An error of a storage, as the caller of a tool is told.
#[expect(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
pub(super) fn stored(error: Error) -> Failure {
    let class = error.class();
    failure((class.code(), class.is_request(), class == ErrorClass::Cancelled), error.to_string())
}
