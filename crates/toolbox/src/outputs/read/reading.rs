//! A page that is made.

use trommel::path::Query;
use trommel_tool::{Failure, Output};

use super::page::{Content, Position, ValuePage};
use super::value::{Located, Place};
use crate::outputs::cache::Cache;
use crate::outputs::cursor::Binding;
use crate::outputs::job::Job;
use crate::outputs::page::Reason;
use crate::outputs::shared::{Asked, Shared};

/// A page of an answer, or why there is none.
pub(super) type Answer = Result<Output, Failure>;

/// A page that is made.
pub(super) struct Reading<'a> {
    pub(super) shared: &'a Shared,
    pub(super) places: &'a Cache<Located>,
    pub(super) asked: Asked<'a>,
    pub(super) path: &'a str,
    pub(super) query: &'a Query,
    pub(super) binding: &'a Binding,
    pub(super) job: &'a Job,
}

impl Reading<'_> {
    /// Returns the page of a place, with as much of its content as fits.
    pub(super) fn page(&self, place: &Place, content: Content, end: Option<Reason>) -> Answer {
        let cursor =
            |position: Position| self.binding.cursor(&Place { position, value: place.value }.numbers());
        let head = place.value.head(self.path);
        let page = ValuePage::new(&head, content, place.position, &cursor).ended(end);
        self.asked.written(page.fit(self.asked.max_chars))
    }
}
