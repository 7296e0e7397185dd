//! Sessions of this machine alone.

use trommel_session::{ListQuery, Listing, SearchQuery, Session, Sessions, SyncStatus, Watch};

use super::{Change, Place, PlaceError, Problems, Result, SyncRequest, Synced, Target};

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
