//! Sessions of this machine alone.

use serde_json::Value;
use trommel_session::{ListQuery, Listing, SearchQuery, Session, Sessions, SyncStatus, Watch};
use trommel_tool::Failure;

use super::{Change, Place, Problems};
use crate::sessions::arguments::Arguments;
use crate::sessions::{failed, refused};

/// Sessions of this machine alone.
pub(in crate::sessions) struct Here(pub(in crate::sessions) Sessions);

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
        (id, _): (&str, bool),
        _: &Watch<'_>,
        _: &Problems,
        change: &mut Change<'_>,
    ) -> Result<(), Failure> {
        change(&self.0, &self.0.find(id).map_err(failed)?).map_err(failed)
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
