//! Access to the sessions of this machine and of a storage.

use std::sync::Arc;

use trommel_blocks::{ConflictResolution, SyncedSessions, View};
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, ListQuery, Listing, SearchQuery, Session, Sessions,
    SyncStatus, Watch,
};

use super::access::{Change, Problems, Result, SessionAccess, SyncOutcome, SyncRequest, SyncResult, Target};

/// Access to the sessions of this machine and of a storage.
pub struct HybridAccess(pub Arc<SyncedSessions>);

impl SessionAccess for HybridAccess {
    fn is_hybrid(&self) -> bool {
        true
    }

    fn list(&self, query: &ListQuery, watch: &Watch<'_>, problems: &Problems) -> Result<Listing> {
        let (listing, found) = self.0.list(query, watch)?;
        problems.add(found);
        Ok(listing)
    }

    fn sessions_to_search(
        &self,
        query: &SearchQuery,
        watch: &Watch<'_>,
        problems: &Problems,
    ) -> Result<Sessions> {
        Ok(sessions_of(self.0.searchable(query, watch)?, problems))
    }

    fn find(&self, id: &str, watch: &Watch<'_>, problems: &Problems) -> Result<Session> {
        let (view, session) = self.0.find(id, watch)?;
        problems.add(view.problems);
        Ok(session)
    }

    fn family(&self, session: &Session, watch: &Watch<'_>, problems: &Problems) -> Result<Sessions> {
        Ok(sessions_of(self.0.family(session, watch)?, problems))
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

    fn sync(&self, request: &SyncRequest<'_>, watch: &Watch<'_>) -> Result<SyncResult> {
        sync(&self.0, request, watch)
    }
}

/// Returns the sessions of a view, and records its problems.
fn sessions_of(view: View, problems: &Problems) -> Sessions {
    problems.add(view.problems);
    view.sessions
}

/// Syncs sessions, or returns their status. Counts the sessions that only the storage has, unless
/// the outcome already includes them.
fn sync(hybrid: &SyncedSessions, request: &SyncRequest<'_>, watch: &Watch<'_>) -> Result<SyncResult> {
    let SyncRequest { session_id, resolve, all, dry_run } = *request;
    let resolution = resolve.map(ConflictResolution::parse).transpose()?;
    let (outcome, is_counted) = if dry_run {
        (SyncOutcome::Status(hybrid.sync_status(session_id, watch)?), all)
    } else if all {
        (SyncOutcome::Report(hybrid.sync_all(resolution, watch)?), false)
    } else {
        let report = hybrid.sync(session_id, resolution, watch)?;
        let is_empty = report.synced + report.conflicts + report.kept + report.failed == 0;
        (SyncOutcome::Report(report), is_empty)
    };
    let cloud_only = if is_counted { hybrid.cloud_only(watch)?.len() } else { 0 };
    Ok(SyncResult { outcome, cloud_only: (cloud_only > 0).then_some(cloud_only) })
}
