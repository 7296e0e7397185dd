//! Where sessions lie: on this machine alone, or in a storage as well.

use std::cell::RefCell;
#[cfg(feature = "cloud")]
use std::sync::Arc;

use serde_json::Value;
#[cfg(feature = "cloud")]
use trommel_blocks::{HybridBlockStorage, Settlement, View};
use trommel_session::{
    Aggregate, AggregateQuery, EventPage, EventQuery, ListQuery, Listing, SearchQuery, Session, Sessions, SyncStatus, Watch,
};
use trommel_tool::Failure;

use super::arguments::Arguments;
use super::{failed, refused};

/// Where sessions lie.
pub(super) enum Place {
    /// On this machine.
    Here(Sessions),
    /// On this machine and in a storage.
    #[cfg(feature = "cloud")]
    Hybrid(Arc<HybridBlockStorage>),
}

/// What is to be told beside an answer.
#[derive(Default)]
pub(super) struct Problems(RefCell<Vec<String>>);

impl Problems {
    pub(super) fn told(&self) -> Vec<String> {
        self.0.borrow().clone()
    }

    #[cfg(feature = "cloud")]
    fn add(&self, problems: impl IntoIterator<Item = String>) {
        self.0.borrow_mut().extend(problems);
    }

    /// Takes the sessions out of a view, and notes what is told beside them.
    #[cfg(feature = "cloud")]
    fn of(&self, view: View) -> Sessions {
        self.add(view.problems);
        view.sessions
    }
}

#[cfg_attr(not(feature = "cloud"), expect(clippy::unnecessary_wraps, reason = "a storage may fail"))]
impl Place {
    pub(super) fn is_hybrid(&self) -> bool {
        !matches!(self, Self::Here(_))
    }

    /// The list of sessions.
    #[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "a storage needs them"))]
    pub(super) fn list(
        &self,
        query: &ListQuery,
        watch: &Watch<'_>,
        problems: &Problems,
    ) -> Result<Listing, Failure> {
        match self {
            Self::Here(sessions) => sessions.list(query, watch).map_err(failed),
            #[cfg(feature = "cloud")]
            Self::Hybrid(hybrid) => {
                let (listing, told) = hybrid.list(query, watch).map_err(stored)?;
                problems.add(told);
                Ok(listing)
            }
        }
    }

    /// Sessions to search.
    #[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "a storage needs them"))]
    pub(super) fn searched(
        &self,
        query: &SearchQuery,
        watch: &Watch<'_>,
        problems: &Problems,
    ) -> Result<Sessions, Failure> {
        match self {
            Self::Here(sessions) => Ok(sessions.clone()),
            #[cfg(feature = "cloud")]
            Self::Hybrid(hybrid) => Ok(problems.of(hybrid.searchable(query, watch).map_err(stored)?)),
        }
    }

    /// One session.
    #[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "a storage needs them"))]
    pub(super) fn find(&self, id: &str, watch: &Watch<'_>, problems: &Problems) -> Result<Session, Failure> {
        match self {
            Self::Here(sessions) => sessions.find(id).map_err(failed),
            #[cfg(feature = "cloud")]
            Self::Hybrid(hybrid) => {
                let (view, session) = hybrid.find(id, watch).map_err(stored)?;
                problems.add(view.problems);
                Ok(session)
            }
        }
    }

    /// Those that a session lies among, with all that it spawned.
    #[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "a storage needs them"))]
    pub(super) fn family(
        &self,
        session: &Session,
        watch: &Watch<'_>,
        problems: &Problems,
    ) -> Result<Sessions, Failure> {
        match self {
            Self::Here(sessions) => Ok(sessions.clone()),
            #[cfg(feature = "cloud")]
            Self::Hybrid(hybrid) => Ok(problems.of(hybrid.family(session, watch).map_err(stored)?)),
        }
    }

    pub(super) fn get_events(
        &self,
        session: &Session,
        query: &EventQuery,
        watch: &Watch<'_>,
    ) -> Result<EventPage, Failure> {
        match self {
            Self::Here(_) => session.get_events(query, watch).map_err(failed),
            #[cfg(feature = "cloud")]
            Self::Hybrid(hybrid) => hybrid.get_events(session, query, watch).map_err(stored),
        }
    }

    pub(super) fn aggregate(
        &self,
        session: &Session,
        query: &AggregateQuery,
        watch: &Watch<'_>,
    ) -> Result<Aggregate, Failure> {
        match self {
            Self::Here(_) => session.aggregate(query, watch).map_err(failed),
            #[cfg(feature = "cloud")]
            Self::Hybrid(hybrid) => hybrid.aggregate(session, query, watch).map_err(stored),
        }
    }

    /// Changes a session, wherever it lies.
    #[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "a storage needs them"))]
    pub(super) fn change<T>(
        &self,
        (id, dry_run): (&str, bool),
        watch: &Watch<'_>,
        problems: &Problems,
        change: impl FnOnce(&Sessions, &Session) -> trommel_session::Result<T>,
    ) -> Result<T, Failure> {
        match self {
            Self::Here(sessions) => change(sessions, &sessions.find(id).map_err(failed)?).map_err(failed),
            #[cfg(feature = "cloud")]
            Self::Hybrid(hybrid) => {
                let changeable = hybrid.changeable(id, dry_run, watch).map_err(stored)?;
                let answer = change(&changeable.sessions, &changeable.session).map_err(failed)?;
                if !dry_run {
                    problems.add(hybrid.changed(&changeable, watch).map_err(stored)?);
                }
                Ok(answer)
            }
        }
    }

    #[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "a storage needs them"))]
    pub(super) fn sync_status(&self, id: Option<&str>, watch: &Watch<'_>) -> Result<SyncStatus, Failure> {
        match self {
            Self::Here(sessions) => sessions.sync_status(id).map_err(failed),
            #[cfg(feature = "cloud")]
            Self::Hybrid(hybrid) => hybrid.sync_status(id, watch).map_err(stored),
        }
    }

    /// Makes sessions the same on both sides. The report's JSON.
    #[cfg_attr(not(feature = "cloud"), expect(unused_variables, reason = "a storage needs them"))]
    pub(super) fn sync(&self, arguments: &Arguments, watch: &Watch<'_>) -> Result<Value, Failure> {
        match self {
            Self::Here(_) => Err(refused(
                "sessions lie on this machine alone: no storage is configured that they could be sent to",
            )),
            #[cfg(feature = "cloud")]
            Self::Hybrid(hybrid) => {
                let settlement =
                    arguments.settle.as_deref().map(Settlement::parse).transpose().map_err(stored)?;
                let report =
                    hybrid.sync(arguments.session_id.as_deref(), settlement, watch).map_err(stored)?;
                serde_json::to_value(report).map_err(|error| Failure::raised(&error))
            }
        }
    }
}

/// An error of a storage, as the caller of a tool is told.
#[cfg(feature = "cloud")]
#[expect(clippy::needless_pass_by_value, reason = "what `map_err` takes")]
fn stored(error: trommel_blocks::Error) -> Failure {
    let kind = error.kind();
    if kind == trommel_blocks::ErrorKind::Cancelled {
        return Failure::cancelled();
    }
    let message = error.to_string();
    let failure = if kind.is_request() { Failure::refused(message) } else { Failure::new(message) };
    failure.with("code", kind.code())
}
