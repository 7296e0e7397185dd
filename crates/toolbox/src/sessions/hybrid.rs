//! Sessions of this machine and of a storage.

use std::sync::Arc;

use trommel_blocks::{Settlement, SyncedSessions, View};
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, ListQuery, Listing, SearchQuery, Session, Sessions,
    SyncStatus, Watch,
};

use super::place::{Change, Place, Problems, Result, SyncOutcome, SyncRequest, Synced, Target};

/// Sessions of this machine and of a storage.
pub struct Hybrid(pub Arc<SyncedSessions>);

impl Place for Hybrid {
    fn is_hybrid(&self) -> bool {
        true
    }

    fn list(&self, query: &ListQuery, watch: &Watch<'_>, problems: &Problems) -> Result<Listing> {
        let (listing, found) = self.0.list(query, watch)?;
        problems.add(found);
        Ok(listing)
    }

    fn searched(&self, query: &SearchQuery, watch: &Watch<'_>, problems: &Problems) -> Result<Sessions> {
        Ok(taken(self.0.searchable(query, watch)?, problems))
    }

    fn find(&self, id: &str, watch: &Watch<'_>, problems: &Problems) -> Result<Session> {
        let (view, session) = self.0.find(id, watch)?;
        problems.add(view.problems);
        Ok(session)
    }

    fn family(&self, session: &Session, watch: &Watch<'_>, problems: &Problems) -> Result<Sessions> {
        Ok(taken(self.0.family(session, watch)?, problems))
    }

    fn get_events(&self, session: &Session, query: &EventQuery, watch: &Watch<'_>) -> Result<EventPage> {
        Ok(self.0.get_events(session, query, watch)?)
    }

    fn aggregate(&self, session: &Session, query: &AggregateQuery, watch: &Watch<'_>) -> Result<Aggregate> {
        Ok(self.0.aggregate(session, query, watch)?)
    }

    fn change(
        &self,
        target: Target<'_>,
        watch: &Watch<'_>,
        problems: &Problems,
        change: &mut Change<'_>,
    ) -> Result<()> {
        let changeable = self.0.changeable(target.id, target.dry_run, watch)?;
        change(&changeable.sessions, &changeable.session)?;
        if !target.dry_run {
            problems.add(self.0.changed(&changeable, watch)?);
        }
        Ok(())
    }

    fn sync_status(&self, id: Option<&str>, watch: &Watch<'_>) -> Result<SyncStatus> {
        Ok(self.0.sync_status(id, watch)?)
    }

    fn sync(&self, request: &SyncRequest<'_>, watch: &Watch<'_>) -> Result<Synced> {
        sync(&self.0, request, watch)
    }
}

/// Takes the sessions out of a view, and notes its problems.
fn taken(view: View, problems: &Problems) -> Sessions {
    problems.add(view.problems);
    view.sessions
}

/// Synchronizes sessions, or returns how far they are. The sessions that are in the storage only
/// are counted where nothing else in the result shows that there are any.
fn sync(hybrid: &SyncedSessions, request: &SyncRequest<'_>, watch: &Watch<'_>) -> Result<Synced> {
    let SyncRequest { session_id, settle, all, dry_run } = *request;
    let settlement = settle.map(Settlement::parse).transpose()?;
    let (outcome, is_counted) = if dry_run {
        (SyncOutcome::Status(hybrid.sync_status(session_id, watch)?), all)
    } else if all {
        (SyncOutcome::Report(hybrid.sync_all(settlement, watch)?), false)
    } else {
        let report = hybrid.sync(session_id, settlement, watch)?;
        let is_empty = report.synced + report.conflicts + report.kept + report.failed == 0;
        (SyncOutcome::Report(report), is_empty)
    };
    let cloud_only = if is_counted { hybrid.cloud_only(watch)?.len() } else { 0 };
    Ok(Synced { outcome, cloud_only: (cloud_only > 0).then_some(cloud_only) })
}
