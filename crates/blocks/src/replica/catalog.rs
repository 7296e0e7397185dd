//! Lists, searches, and finds the sessions of both sides.

use std::thread;

use trommel_session::{
    ListQuery, Listing, MAX_ROWS, Scope, SearchQuery, Session, SessionRow, Sessions, Source, Watch,
};

use super::context::Context;
use super::link::{Link, StorageList};
use super::mirror::{Mirror, is_any_in_cloud};
use crate::error::{Error, ErrorClass, ErrorKind, Result};

/// Sessions to query, and what to report beside the answer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct View {
    /// The sessions of both sides.
    pub sessions: Sessions,
    /// The reasons why the sessions are incomplete or out of date.
    pub problems: Vec<String>,
}

/// The sessions of both sides.
#[derive(Clone, Copy)]
pub(super) struct Catalog<'a> {
    pub(super) context: &'a Context,
    pub(super) list: &'a StorageList,
}

impl Catalog<'_> {
    /// The sessions of both sides in the last known state. Does not query the storage.
    pub(super) fn known(&self) -> Sessions {
        self.both(&self.list.known())
    }

    /// Updates the list of stored sessions.
    fn refresh(&self, watch: &Watch<'_>) -> Result<Link> {
        self.list.refresh(self.context, watch)
    }

    fn both(&self, link: &Link) -> Sessions {
        self.context.options.sessions.clone().cloud(self.context.paths.mirror(), link.is_connected())
    }

    fn mirror(&self) -> Mirror<'_> {
        Mirror { context: self.context }
    }

    /// The sessions of both sides, for lists: sessions that are only in the storage just have a
    /// description.
    pub(super) fn view(&self, watch: &Watch<'_>) -> Result<View> {
        let link = self.refresh(watch)?;
        Ok(View { sessions: self.both(&link), problems: link.problems() })
    }

    /// Lists the sessions of both sides, with problems to report. The known sessions are listed
    /// while the storage is queried, so that the answer is ready when the query times out.
    pub(super) fn list(&self, query: &ListQuery, watch: &Watch<'_>) -> Result<(Listing, Vec<String>)> {
        if !query.include_cloud {
            return Ok((self.known().list(query, watch)?, Vec::new()));
        }
        let is_stale = self.list.fresh(self.context.options.freshness).is_none();
        let (known, link) = thread::scope(|scope| {
            let known = is_stale.then(|| scope.spawn(|| self.known().list(query, watch)));
            let link = self.refresh(watch);
            (known.and_then(|known| known.join().ok()), link)
        });
        let link = link?;
        let mut listing = match known {
            Some(known) if !link.is_connected() => known?,
            _ => self.both(&link).list(query, watch)?,
        };
        listing.connected = link.is_connected();
        Ok((listing, link.problems()))
    }

    /// The sessions of both sides, for a search. Updates the mirrors that the search reads.
    pub(super) fn searchable(&self, query: &SearchQuery, watch: &Watch<'_>) -> Result<View> {
        if !query.include_cloud {
            return Ok(View { sessions: self.known(), problems: Vec::new() });
        }
        let link = self.refresh(watch)?;
        let mut view = View { sessions: self.both(&link), problems: link.problems() };
        if link.is_connected() && query.scope != Scope::Metadata {
            view.problems.extend(self.mirror().fill_all(&view.sessions, query, watch)?);
        }
        Ok(view)
    }

    /// The sessions of both sides, for a query about a session and its descendants. Does not query
    /// the storage if all known descendants are on this machine.
    pub(super) fn family(&self, session: &Session, watch: &Watch<'_>) -> Result<View> {
        if session.source() != Source::Cloud {
            let known = self.known();
            if !is_any_in_cloud(&known, session, watch)? {
                return Ok(View { sessions: known, problems: Vec::new() });
            }
        }
        let link = self.refresh(watch)?;
        let mut view = View { sessions: self.both(&link), problems: link.problems() };
        if link.is_connected() {
            view.problems.extend(self.mirror().fill_family(&view.sessions, session, watch)?);
        }
        Ok(view)
    }

    /// Finds one session of either side by its ID or a prefix of it. A session of this machine is
    /// found without the storage, unless another known session has the same prefix. The mirror of a
    /// session that is only in the storage is updated.
    pub(super) fn find(&self, id: &str, watch: &Watch<'_>) -> Result<(View, Session)> {
        let known = self.known();
        match known.find(id).map_err(Error::from) {
            Ok(session) if session.source() != Source::Cloud => {
                return Ok((View { sessions: known, problems: Vec::new() }, session));
            }
            // Further sessions in the storage cannot make a prefix unique.
            Err(error) if error.class() == ErrorClass::Ambiguous => return Err(error),
            _ => {}
        }
        let link = self.refresh(watch)?;
        let view = View { sessions: self.both(&link), problems: link.problems() };
        let session = view.sessions.find(id).map_err(|error| link.not_found(error))?;
        if session.source() != Source::Cloud {
            return Ok((view, session));
        }
        match link.problem {
            None => self.mirror().fill(&session, watch)?,
            Some(problem) if !self.mirror().is_filled(&session) => {
                return Err(ErrorKind::OnlyInCloud { session: session.id().to_owned(), problem }.into());
            }
            // A filled mirror answers offline, in its last known state.
            Some(_) => {}
        }
        Ok((view, session))
    }

    /// The row of a session of either side that can be synced.
    pub(super) fn row_of(&self, id: &str, watch: &Watch<'_>) -> Result<SessionRow> {
        // Only a full ID is resolved here: a prefix may also match a session in the storage.
        let local =
            self.context.options.sessions.find(id).ok().filter(|session| {
                session.format().is_mirrored() && id.rsplit('/').next() == Some(session.id())
            });
        let session = if let Some(session) = local {
            session
        } else {
            let link = self.refresh(watch)?;
            self.both(&link).find(id).map_err(|error| link.not_found(error))?
        };
        if !session.format().is_mirrored() {
            return Err(ErrorKind::ForeignSession { session: session.id().to_owned() }.into());
        }
        Ok(SessionRow::from_session(&session))
    }

    /// Passes every session of this machine that can be synced to `take`.
    pub(super) fn each_local(
        &self,
        take: &mut dyn FnMut(&SessionRow) -> Result<()>,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let mut query = ListQuery::default();
        (query.top_level_only, query.include_cloud, query.limit) = (false, false, MAX_ROWS);
        loop {
            let listed = self.context.options.sessions.list(&query, watch)?;
            for row in &listed.sessions {
                watch.check()?;
                if row.format.is_mirrored() {
                    take(row)?;
                }
            }
            if !listed.has_more {
                return Ok(());
            }
            query.offset += listed.sessions.len();
        }
    }

    /// The sessions that are only in the storage. Returns all at once, because pulling one moves it
    /// in the list.
    pub(super) fn cloud_only(&self, watch: &Watch<'_>) -> Result<Vec<SessionRow>> {
        let mut query = ListQuery::default();
        (query.top_level_only, query.limit) = (false, MAX_ROWS);
        let (sessions, mut found) = (self.view(watch)?.sessions, Vec::new());
        loop {
            let listed = sessions.list(&query, watch)?;
            query.offset += listed.sessions.len();
            found.extend(listed.sessions.into_iter().filter(|row| row.source == Source::Cloud));
            if !listed.has_more {
                return Ok(found);
            }
        }
    }
}
