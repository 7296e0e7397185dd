//! Hints for queries that select nothing, and for invalid patterns.

use trommel_base::text::excerpt;
use trommel_hints::{HintStyle, UnmatchedQuery as HintQuery};

use super::filters::Filters;
use super::job::Job;
use super::shared::Shared;
use super::source::Source;

/// The maximum number of hints in an answer.
const MAX_HINTS: usize = 3;

/// The maximum length of a hint in characters.
const MAX_WARNING_CHARS: usize = 800;

/// The queries of an answer that is empty or partly empty.
pub(super) struct EmptyResult<'a> {
    pub(super) filters: &'a Filters<'a>,
    /// All queries of the call.
    pub(super) all: &'a [HintQuery<'a>],
    /// True if the filters on records may be the reason.
    pub(super) is_empty: bool,
    /// The queries that select nothing.
    pub(super) empty: &'a [HintQuery<'a>],
}

impl EmptyResult<'_> {
    /// Returns the hints as one text.
    pub(super) fn hint(&self, shared: &Shared, source: &mut Source<'_>, job: &Job) -> Option<String> {
        let Self { filters, all, is_empty, empty } = self;
        let patterns = all.iter().flat_map(HintQuery::pattern_warnings).chain(filters.invalid_patterns());
        let mut hints: Vec<String> = patterns.take(MAX_HINTS).collect();
        let dropped = if *is_empty { filters.warning(shared, source, job) } else { None };
        if dropped.is_none() && !empty.is_empty() {
            let outline = shared.outline(source, job);
            let empty = &empty[..empty.len().min(MAX_HINTS)];
            let analysis = job.quiet_analysis(source);
            let found = if let Some(joined) = filters.queries_from_root(empty) {
                let joined: Vec<_> = joined.iter().map(|(text, query)| HintQuery::new(text, query)).collect();
                trommel_hints::hints(&analysis, &mut source.document, &outline, &joined)
            } else {
                let analysis = filters.narrow(analysis);
                trommel_hints::hints(&analysis, &mut source.document, &outline, empty)
            };
            hints.extend(found.iter().map(|hint| hint.message(HintStyle::Arguments)));
        }
        hints.extend(dropped);
        let hints: Vec<String> = hints.iter().map(|hint| excerpt(hint, MAX_WARNING_CHARS)).collect();
        (!hints.is_empty()).then(|| hints.join("; "))
    }
}
