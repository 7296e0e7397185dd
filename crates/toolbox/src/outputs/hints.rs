//! Hints: what may have been meant by queries that select nothing, and by patterns that are not
//! valid.

use trommel_base::text::shown;
use trommel_hints::{Asked, Spelling};

use super::filters::Filters;
use super::job::Job;
use super::shared::Shared;
use super::source::Source;

/// The most hints of an answer.
const HINTS: usize = 3;

/// Characters of a hint.
const LONGEST: usize = 800;

/// An answer that may be empty.
pub(super) struct Silence<'a> {
    pub(super) filters: &'a Filters<'a>,
    /// Everything that was asked.
    pub(super) all: &'a [Asked<'a>],
    /// True if the filters may have left nothing.
    pub(super) is_silent: bool,
    /// The queries that select nothing.
    pub(super) empty: &'a [Asked<'a>],
}

impl Silence<'_> {
    /// Returns the hints, as one text.
    pub(super) fn hint(&self, shared: &Shared, source: &mut Source<'_>, job: &Job) -> Option<String> {
        let Self { filters, all, is_silent, empty } = self;
        let patterns = all.iter().flat_map(Asked::bad_patterns).chain(filters.bad_patterns());
        let mut hints: Vec<String> = patterns.take(HINTS).collect();
        let dropped = if *is_silent { filters.warning(shared, source, job) } else { None };
        if dropped.is_none() && !empty.is_empty() {
            let outline = shared.outline(source, job);
            let empty = &empty[..empty.len().min(HINTS)];
            let analysis = filters.narrow(job.quiet_analysis(source));
            let found = trommel_hints::hints(&analysis, &mut source.document, &outline, empty);
            hints.extend(found.iter().map(|hint| hint.message(Spelling::Arguments)));
        }
        hints.extend(dropped);
        let hints: Vec<String> = hints.iter().map(|hint| shown(hint, LONGEST)).collect();
        (!hints.is_empty()).then(|| hints.join("; "))
    }
}
