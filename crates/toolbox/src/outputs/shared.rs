//! The kernel of the tools: what they share, what a call asks, and how its answer is written.

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
use super::failures::Doing;
use super::job::{Basis, Job};
use super::page::{LEAST_CHARS, MAX_CHARS, Sheet, TooSmall, fit};
use super::source::Source;
use crate::text::chars;

/// The tools' store, and their knowledge of its outputs. An output is known by its digest: what was
/// found out about it stays true.
pub(super) struct Shared {
    pub(super) store: Arc<Store>,
    queries: Cache<Arc<Query>>,
    filters: Cache<Arc<Logical>>,
    /// Counts, by output and what was counted.
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

    /// Returns an output by its id or a prefix of it.
    pub(super) fn stored(&self, doing: Doing<'_>) -> Result<Stored, Failure> {
        self.store.get(doing.id).map_err(|error| doing.store(&error))
    }

    /// Returns an output that must be JSON.
    pub(super) fn json(&self, doing: Doing<'_>) -> Result<Stored, Failure> {
        let stored = self.stored(doing)?;
        if stored.kind == Kind::Text { Err(doing.no_json(&stored)) } else { Ok(stored) }
    }

    /// Opens an output.
    pub(super) fn open(&self, doing: Doing<'_>, stored: Stored) -> Result<Source<'_>, Failure> {
        Source::open(&self.store, stored).map_err(|error| doing.store(&error))
    }

    /// Compiles a query, unless it is cached.
    pub(super) fn query(&self, doing: Doing<'_>, what: &str, text: &str) -> Result<Arc<Query>, Failure> {
        compiled(&self.queries, text, str::parse).map_err(|error| doing.query(what, text, &error))
    }

    /// Compiles a filter, unless it is cached.
    pub(super) fn filter(&self, doing: Doing<'_>, what: &str, text: &str) -> Result<Arc<Logical>, Failure> {
        compiled(&self.filters, text, Query::parse_filter).map_err(|error| doing.query(what, text, &error))
    }

    /// Returns the names that occur in an output, read once.
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
    // A syntax tree takes some times the memory of its text.
    known.put(text, Arc::clone(&compiled), text.len() * 16);
    Ok(compiled)
}

/// The subject of a call: its tool, its output, and the most characters of its answer.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) doing: Doing<'a>,
    pub(super) max_chars: usize,
    pub(super) cursor: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// A call about one output.
    pub(super) fn new(tool: &'a str, verb: &'a str, id: &'a str, max_chars: usize) -> Self {
        let max_chars = max_chars.clamp(LEAST_CHARS, MAX_CHARS);
        // Documents and the command line name an output `output:ID`.
        let id = id.trim();
        let id = id.strip_prefix("output:").unwrap_or(id);
        Self { doing: Doing { tool, verb, id }, max_chars, cursor: None }
    }

    /// A call about the store as a whole.
    pub(super) fn listing(tool: &'a str, max_chars: usize) -> Self {
        Self::new(tool, "list outputs", "", max_chars)
    }

    pub(super) fn from(self, cursor: Option<&'a impl AsRef<str>>) -> Self {
        Self { cursor: cursor.map(AsRef::as_ref), ..self }
    }

    /// The number of the unit that the answer begins with.
    pub(super) fn unit(self, binding: &Binding) -> Result<u64, Failure> {
        let Some(cursor) = self.cursor else { return Ok(0) };
        let position = binding.position(cursor).map_err(|bad| self.doing.cursor(bad))?;
        // A cursor of this binding was made here, with at least one number.
        Ok(position.first().copied().unwrap_or(0))
    }

    /// Returns as much of an answer as fits.
    pub(super) fn fit(self, sheet: &dyn Sheet) -> Result<Output, Failure> {
        self.written(fit(sheet, self.max_chars))
    }

    /// Returns the answer that was written.
    pub(super) fn written(self, fitted: Result<String, TooSmall>) -> Result<Output, Failure> {
        let text =
            fitted.map_err(|small| self.doing.too_small(small, self.max_chars, self.cursor.is_some()))?;
        RawValue::from_string(text).map(Output::Json).map_err(|error| {
            self.doing.fail("defect", format!("its answer is no JSON ({error}); tell the makers"))
        })
    }
}

/// True if the engine was cancelled.
pub(super) fn is_cancelled(error: &Error) -> bool {
    matches!(error, Error::Read { error, .. } if error.is_cancelled())
}

/// Notes the basis of an answer.
pub(super) fn note(call: &mut Call<'_>, basis: Basis, took: Duration) {
    call.note("coverage", basis.to_json(took));
}

/// Returns a warning, if an answer of `max_chars` characters has room for it.
pub(super) fn warning(text: Option<&String>, max_chars: usize) -> Option<&str> {
    text.map(String::as_str).filter(|text| chars(text) * 4 <= max_chars)
}
