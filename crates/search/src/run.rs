//! The state of one search, shared by the searches of texts, records, and documents.

use std::sync::Arc;

use trommel::path::{Duplicates, Order, Plan, PlanOptions, Query};
use trommel::reader::{Config, Limits, Validation};

use crate::control::Control;
use crate::error::Halt;
use crate::found::{MatchSink, MatchSite, PatternMatch, SearchPosition, emit};
use crate::source::SearchSource;
use crate::unit::UnitSearch;
use crate::walk::StringMatch;

/// One search.
pub(crate) struct SearchRun<'s, 'k> {
    pub(crate) unit: UnitSearch<'s>,
    /// The input, if it can be read repeatedly.
    pub(crate) source: Option<&'s dyn SearchSource>,
    /// The query whose nodes are searched; `None` for whole records.
    pub(crate) plan: Option<Arc<Plan>>,
    pub(crate) limits: Limits,
    pub(crate) control: Control,
    /// The position from which the search continues.
    pub(crate) position: SearchPosition,
    pub(crate) sink: MatchSink<'k>,
}

/// The record of a string, and its position in the input.
#[derive(Clone, Copy)]
pub(crate) struct RecordSite {
    /// The offset in the input at which the cursor's offsets start.
    pub(crate) base: u64,
    /// The number of the record in a stream.
    pub(crate) record: Option<u64>,
    /// The position of the line or document.
    pub(crate) position: SearchPosition,
}

impl SearchRun<'_, '_> {
    pub(crate) fn config(&self, validation: Validation) -> Config {
        Config::new().limits(self.limits).validation(validation)
    }

    /// Reports a match in a string, unless it is before the position.
    pub(crate) fn string(&mut self, found: StringMatch<'_>, site: RecordSite) -> Result<(), Halt> {
        let offset = site.base + found.offset;
        if offset < self.position.from {
            return Ok(());
        }
        let path = found.location.to_string();
        let next = SearchPosition { from: (site.base + found.end).max(offset + 1), ..site.position };
        let (text, highlights) = (found.excerpt.text, found.excerpt.highlights);
        let site = MatchSite::Value { path, record: site.record };
        emit(self.sink, PatternMatch { site, offset, text, highlights, next })
    }
}

/// Compiles a query whose nodes are searched.
pub(crate) fn plan(query: &Query, duplicates: Duplicates) -> Arc<Plan> {
    let options = PlanOptions::new().order(Order::Any).duplicates(duplicates);
    Arc::new(Plan::new(std::slice::from_ref(query), options))
}
