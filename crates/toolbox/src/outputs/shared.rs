//! State that the tools share, the subject of a call, and the writing of its answer.

use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use trommel::Error;
use trommel::path::{Logical, ParseError, Query};
use trommel_hints::Outline;
use trommel_store::{Kind, Store, Stored};
use trommel_tool::{Call, Failure, Output};

use super::cache::Cache;
use super::cursor::Binding;
use super::failures::Action;
use super::job::{AnswerCoverage, Job};
use super::page::{MAX_CHARS, MIN_CHARS, PageTooSmall, PagedAnswer, fit};
use super::source::Source;
use crate::text::chars;

/// The store and the caches over its outputs. The caches key outputs by digest, so an entry never
/// becomes stale.
pub(super) struct Shared {
    pub(super) store: Arc<Store>,
    queries: Cache<Arc<Query>>,
    filters: Cache<Arc<Logical>>,
    /// Counts by output, query, and filter.
    pub(super) counts: Cache<u64>,
    outlines: Cache<Arc<Outline>>,
}

impl Shared {
    pub(super) fn new(store: &Arc<Store>) -> Self {
        Self {
            store: Arc::clone(store),
            queries: Cache::new(500, 1 << 20),
            filters: Cache::new(500, 1 << 20),
            counts: Cache::new(10_000, 1 << 20),
            outlines: Cache::new(50, 4 << 20),
        }
    }

    /// Returns the output with an ID, or with a unique prefix of one.
    pub(super) fn stored(&self, action: Action<'_>) -> Result<Stored, Failure> {
        self.store.get(action.id).map_err(|error| action.store(&error))
    }

    /// Returns an output, or an error if it is not JSON.
    pub(super) fn json(&self, action: Action<'_>) -> Result<Stored, Failure> {
        let stored = self.stored(action)?;
        if stored.kind == Kind::Text { Err(action.not_json(&stored)) } else { Ok(stored) }
    }

    /// Opens an output.
    pub(super) fn open(&self, action: Action<'_>, stored: Stored) -> Result<Source<'_>, Failure> {
        Source::open(&self.store, stored).map_err(|error| action.store(&error))
    }

    /// Compiles a query, unless it is cached.
    pub(super) fn query(&self, action: Action<'_>, what: &str, text: &str) -> Result<Arc<Query>, Failure> {
        compiled(&self.queries, text, str::parse).map_err(|error| action.query(what, text, &error))
    }

    /// Compiles a filter, unless it is cached.
    pub(super) fn filter(&self, action: Action<'_>, what: &str, text: &str) -> Result<Arc<Logical>, Failure> {
        compiled(&self.filters, text, Query::parse_filter).map_err(|error| action.query(what, text, &error))
    }

    /// Returns the outline of an output, which lists its member names. It is computed once per
    /// output.
    pub(super) fn outline(&self, source: &Source<'_>, job: &Job) -> Arc<Outline> {
        let key = source.stored.digest.clone();
        if let Some(known) = self.outlines.get(&key) {
            return known;
        }
        let outline = Arc::new(trommel_hints::outline(&job.quiet_analysis(source), &source.document));
        if !job.is_over() {
            self.outlines.put(key, Arc::clone(&outline), outline.weight());
        }
        outline
    }
}

/// Parses a text, unless its result is cached.
fn compiled<T>(
    known: &Cache<Arc<T>>,
    text: &str,
    parse: impl FnOnce(&str) -> Result<T, ParseError>,
) -> Result<Arc<T>, ParseError> {
    if let Some(known) = known.get(text) {
        return Ok(known);
    }
    let compiled = Arc::new(parse(text)?);
    // A syntax tree takes several times the memory of its text.
    known.put(text, Arc::clone(&compiled), text.len() * 16);
    Ok(compiled)
}

/// The subject of a call: its tool, its output, and the maximum length of its answer.
#[derive(Clone, Copy)]
pub(super) struct CallSubject<'a> {
    pub(super) action: Action<'a>,
    pub(super) max_chars: usize,
    pub(super) cursor: Option<&'a str>,
}

impl<'a> CallSubject<'a> {
    /// Creates the subject of a call about one output.
    pub(super) fn new(tool: &'a str, verb: &'a str, id: &'a str, max_chars: usize) -> Self {
        let max_chars = max_chars.clamp(MIN_CHARS, MAX_CHARS);
        // Documents and the command line name an output `output:ID`.
        let id = id.trim();
        let id = id.strip_prefix("output:").unwrap_or(id);
        Self { action: Action { tool, verb, id }, max_chars, cursor: None }
    }

    /// Creates the subject of a call about the whole store.
    pub(super) fn listing(tool: &'a str, max_chars: usize) -> Self {
        Self::new(tool, "list outputs", "", max_chars)
    }

    /// Continues from a cursor, if there is one.
    pub(super) fn from(self, cursor: Option<&'a impl AsRef<str>>) -> Self {
        Self { cursor: cursor.map(AsRef::as_ref), ..self }
    }

    /// Returns the index of the first unit of the answer.
    pub(super) fn unit(self, binding: &Binding) -> Result<u64, Failure> {
        let Some(cursor) = self.cursor else { return Ok(0) };
        let position = binding.position(cursor).map_err(|bad| self.action.cursor(bad))?;
        // The binding has verified that this tool created the cursor, so it has at least one
        // number.
        Ok(position.first().copied().unwrap_or(0))
    }

    /// Writes as many units of an answer as fit.
    pub(super) fn fit(self, answer: &dyn PagedAnswer) -> Result<Output, Failure> {
        self.written(fit(answer, self.max_chars))
    }

    /// Returns the answer that was written, or an error if not even one unit fits.
    pub(super) fn written(self, fitted: Result<String, PageTooSmall>) -> Result<Output, Failure> {
        let text =
            fitted.map_err(|small| self.action.too_small(small, self.max_chars, self.cursor.is_some()))?;
        RawValue::from_string(text).map(Output::Json).map_err(|error| {
            self.action.fail(
                "defect",
                format!("internal error: the answer is not valid JSON ({error}); please report this"),
            )
        })
    }
}

/// True if the engine was cancelled.
pub(super) fn is_cancelled(error: &Error) -> bool {
    matches!(error, Error::Read { error, .. } if error.is_cancelled())
}

/// Records the coverage of an answer in the call's metadata.
pub(super) fn note(call: &mut Call<'_>, coverage: AnswerCoverage, took: Duration) {
    call.note("coverage", coverage.to_json(took));
}

/// Returns the warning if it takes at most a quarter of `max_chars`.
pub(super) fn warning(text: Option<&String>, max_chars: usize) -> Option<&str> {
    text.map(String::as_str).filter(|text| chars(text) * 4 <= max_chars)
}
