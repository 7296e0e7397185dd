//! Sessions of this machine and of a storage.

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use trommel_blocks::{HybridBlockStorage, Settlement, View};
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, ListQuery, Listing, SearchQuery, Session, Sessions,
    SyncStatus, Watch,
};
use trommel_tool::Failure;

use super::arguments::Arguments;
use super::failures::{failed, stored};
use super::place::{Change, Changed, Place, Problems};

/// Sessions of this machine and of a storage.
pub(super) struct Hybrid(pub(super) Arc<HybridBlockStorage>);

impl Place for Hybrid {
    fn is_hybrid(&self) -> bool {
        true
    }

    fn list(&self, query: &ListQuery, watch: &Watch<'_>, problems: &Problems) -> Result<Listing, Failure> {
        let (listing, found) = self.0.list(query, watch).map_err(stored)?;
        problems.add(found);
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
        asked: Changed<'_>,
        watch: &Watch<'_>,
        problems: &Problems,
        change: &mut Change<'_>,
    ) -> Result<(), Failure> {
        let Changed { id, dry_run } = asked;
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
        sync(&self.0, arguments, watch)
    }
}

/// Takes the sessions out of a view, and notes its problems.
fn taken(view: View, problems: &Problems) -> Sessions {
    problems.add(view.problems);
    view.sessions
}

/// Synchronizes both sides, or only reports how far they are. The answer says how many sessions are in the cloud only if
/// nothing else would show that there are any.
fn sync(hybrid: &HybridBlockStorage, arguments: &Arguments, watch: &Watch<'_>) -> Result<Value, Failure> {
    let (id, is_all) = (arguments.session_id.as_deref(), arguments.is_all());
    let settlement = arguments.settle.as_deref().map(Settlement::parse).transpose().map_err(stored)?;
    if arguments.is_dry_run() {
        let status = value(&hybrid.sync_status(id, watch).map_err(stored)?)?;
        return if is_all { counted(status, hybrid, watch) } else { Ok(status) };
    }
    if is_all {
        return value(&hybrid.sync_all(settlement, watch).map_err(stored)?);
    }
    let report = hybrid.sync(id, settlement, watch).map_err(stored)?;
    let is_any = report.synced + report.conflicts + report.kept + report.failed > 0;
    let report = value(&report)?;
    if is_any { Ok(report) } else { counted(report, hybrid, watch) }
}

/// Adds how many sessions are in the cloud only, if any are.
fn counted(mut answer: Value, hybrid: &HybridBlockStorage, watch: &Watch<'_>) -> Result<Value, Failure> {
    let count = hybrid.cloud_only(watch).map_err(stored)?.len();
    if let (Some(answer), 1..) = (answer.as_object_mut(), count) {
        answer.insert("cloud_only".to_owned(), count.into());
    }
    Ok(answer)
}

fn value(answer: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(answer).map_err(|error| Failure::raised(&error))
}
