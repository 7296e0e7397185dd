//! `tool_outputs.*`: questions to stored outputs, whose answers are bounded however large the outputs are.
//!
//! | module | what it does |
//! | --- | --- |
//! | `list`, `stats`, `extract`, `count`, `sample`, `read` | the tools |
//! | `metadata` | what they say about themselves |
//! | `job` | a call at work: its end, its progress, what its answer rests on |
//! | `source`, `item` | an output opened, and values read from it as a page can hold them |
//! | `page`, `cursor`, `mark` | how much fits, where it goes on, and what stands for what no page can hold |
//! | `names` | steps of paths as people write them |
//! | `cache` | what is known of outputs from earlier calls |
//! | `filters` | filters on records: what to suggest when they keep nothing |
//! | `failures` | why there is no answer |

mod cache;
mod count;
mod cursor;
mod extract;
mod failures;
mod filters;
mod item;
mod job;
mod list;
mod mark;
mod metadata;
pub(crate) mod names;
mod page;
mod read;
mod sample;
pub(crate) mod source;
mod stats;
pub(crate) mod text;

use std::sync::Arc;

use serde_json::value::RawValue;
use trommel::Error;
use trommel::path::{Logical, ParseError, Query};
use trommel_hints::{Asked as Questioned, Outline, Spelling};
use trommel_store::{Kind, Store, Stored};
use trommel_tool::{Call, Failure, Output, Registry, RegistryError};

pub use filters::{dropped_document, elements_query};
pub use mark::{Mark, shortened_name};
pub use text::size;

use cache::Cache;
use cursor::Binding;
use failures::Doing;
use job::{Basis, Job};
use page::{Sheet, TooSmall, fit};
use source::Source;

/// Characters of an answer, unless the call says otherwise.
pub(crate) const DEFAULT_CHARS: usize = 30_000;

/// Characters of a page of `tool_outputs.read`, unless the call says otherwise.
pub(crate) const READ_CHARS: usize = 8_000;

/// The fewest characters that can be asked for.
pub(crate) const LEAST_CHARS: usize = 200;

/// The most characters that can be asked for.
pub(crate) const MAX_CHARS: usize = 100_000;

/// Adds the six tools to a registry: `tool_outputs.list`, `stats`, `extract`, `count`, `sample` and `read`.
///
/// They share what they learn about the store's outputs: lengths, shapes, compiled queries, within some 30 MiB.
///
/// # Errors
/// When a tool of one of their names is there already.
pub fn register(registry: &Registry, store: &Arc<Store>) -> Result<(), RegistryError> {
    let shared = Arc::new(Shared::new(store));
    registry.register(list::List::new(&shared))?;
    registry.register(stats::Stats::new(&shared))?;
    registry.register(extract::Extract::new(&shared))?;
    registry.register(count::Count::new(&shared))?;
    registry.register(sample::Sample::new(&shared))?;
    registry.register(read::Read::new(&shared))
}

/// What the tools share. An output is known by its digest: what was found out about it stays true.
struct Shared {
    store: Arc<Store>,
    queries: Cache<Arc<Query>>,
    filters: Cache<Arc<Logical>>,
    /// Counts, by output and what was counted.
    counts: Cache<u64>,
    outlines: Cache<Arc<Outline>>,
    places: Cache<read::Located>,
    drawn: Cache<Arc<sample::Drawn>>,
    described: Cache<Arc<stats::Described>>,
}

impl Shared {
    fn new(store: &Arc<Store>) -> Self {
        Self {
            store: Arc::clone(store),
            queries: Cache::new(500, 1 << 20),
            filters: Cache::new(500, 1 << 20),
            counts: Cache::new(10_000, 1 << 20),
            outlines: Cache::new(50, 4 << 20),
            places: Cache::new(1_000, 1 << 20),
            drawn: Cache::new(50, 4 << 20),
            described: Cache::new(50, 16 << 20),
        }
    }

    /// An output by its id or a prefix of it.
    fn stored(&self, doing: Doing<'_>) -> Result<Stored, Failure> {
        self.store.get(doing.id).map_err(|error| doing.store(&error))
    }

    /// An output that must be JSON.
    fn json(&self, doing: Doing<'_>) -> Result<Stored, Failure> {
        let stored = self.stored(doing)?;
        if stored.kind == Kind::Text { Err(doing.no_json(&stored)) } else { Ok(stored) }
    }

    /// Opens an output.
    fn open(&self, doing: Doing<'_>, stored: Stored) -> Result<Source<'_>, Failure> {
        Source::open(&self.store, stored).map_err(|error| doing.store(&error))
    }

    /// A query, compiled once.
    fn query(&self, doing: Doing<'_>, what: &str, text: &str) -> Result<Arc<Query>, Failure> {
        compiled(&self.queries, text, str::parse).map_err(|error| doing.query(what, text, &error))
    }

    /// A filter, compiled once.
    fn filter(&self, doing: Doing<'_>, what: &str, text: &str) -> Result<Arc<Logical>, Failure> {
        compiled(&self.filters, text, Query::parse_filter).map_err(|error| doing.query(what, text, &error))
    }

    /// The names that there are in an output, looked at once.
    fn outline(&self, source: &Source<'_>, job: &Job) -> Arc<Outline> {
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

    /// What may have been meant by queries that select nothing, and by patterns that are not valid.
    fn hint(&self, source: &mut Source<'_>, job: &Job, silence: &Silence<'_>) -> Option<String> {
        const HINTS: usize = 3;
        const LONGEST: usize = 800;
        let Silence { filters, all, is_silent, empty } = silence;
        let patterns = all.iter().flat_map(Questioned::bad_patterns).chain(filters.bad_patterns());
        let mut hints: Vec<String> = patterns.take(HINTS).collect();
        let dropped = if *is_silent { filters.warning(self, source, job) } else { None };
        if dropped.is_none() && !empty.is_empty() {
            let outline = self.outline(source, job);
            let empty = empty.get(..HINTS).unwrap_or(empty);
            let analysis = filters.narrow(job.quiet_analysis(source));
            let found = trommel_hints::hints(&analysis, &mut source.document, &outline, empty);
            hints.extend(found.iter().map(|hint| hint.message(Spelling::Arguments)));
        }
        hints.extend(dropped);
        let hints: Vec<String> = hints.iter().map(|hint| text::shown(hint, LONGEST)).collect();
        (!hints.is_empty()).then(|| hints.join("; "))
    }
}

/// What an answer says nothing about.
struct Silence<'a> {
    filters: &'a filters::Filters<'a>,
    /// Everything that was asked.
    all: &'a [Questioned<'a>],
    /// True if the filters may have left nothing.
    is_silent: bool,
    /// The queries that select nothing.
    empty: &'a [Questioned<'a>],
}

/// What a text says; read once, as long as it is remembered.
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

/// What a call is about: its tool, output, and the most it may answer.
#[derive(Clone, Copy)]
struct Asked<'a> {
    doing: Doing<'a>,
    max_chars: usize,
    cursor: Option<&'a str>,
}

impl<'a> Asked<'a> {
    /// What a call asks of an output.
    fn new(tool: &'a str, verb: &'a str, id: &'a str, max_chars: usize) -> Self {
        let max_chars = max_chars.clamp(LEAST_CHARS, MAX_CHARS);
        // Documents and the command line name an output `output:ID`.
        let id = id.trim();
        let id = id.strip_prefix("output:").unwrap_or(id);
        Self { doing: Doing { tool, verb, id }, max_chars, cursor: None }
    }

    /// What a call asks of the store as a whole.
    fn listing(tool: &'a str, max_chars: usize) -> Self {
        Self::new(tool, "list outputs", "", max_chars)
    }

    fn from(self, cursor: Option<&'a str>) -> Self {
        Self { cursor, ..self }
    }

    /// The number of the unit that the answer begins with.
    fn unit(self, binding: &Binding) -> Result<u64, Failure> {
        let Some(cursor) = self.cursor else { return Ok(0) };
        let position = binding.position(cursor).map_err(|bad| self.doing.cursor(bad))?;
        Ok(position.first().copied().unwrap_or_default())
    }

    /// As much of an answer as fits.
    fn fit(self, sheet: &dyn Sheet) -> Result<Output, Failure> {
        self.written(fit(sheet, self.max_chars))
    }

    /// The answer that was written.
    fn written(self, fitted: Result<String, TooSmall>) -> Result<Output, Failure> {
        let text =
            fitted.map_err(|small| self.doing.too_small(small, self.max_chars, self.cursor.is_some()))?;
        RawValue::from_string(text).map(Output::Json).map_err(|error| {
            self.doing.fail("defect", format!("its answer is no JSON ({error}); tell the makers"))
        })
    }
}

fn is_cancelled(error: &Error) -> bool {
    matches!(error, Error::Read { error, .. } if error.is_cancelled())
}

/// Notes what an answer rests on.
fn note(call: &mut Call<'_>, basis: Basis, took: std::time::Duration) {
    call.note("coverage", basis.to_json(took));
}

/// A warning, where an answer of so many characters has room for it.
fn warning(text: Option<&String>, max_chars: usize) -> Option<&str> {
    text.map(String::as_str).filter(|text| text::chars(text) * 4 <= max_chars)
}
