//! Suggestions for a query that selects nothing: the nearest path, a misspelled name inside a
//! filter, the length of an array whose index is out of range, or a filter that applies inside each
//! record of a stream.
//!
//! This crate is for programs that show answers to people or models. The engine does not depend on
//! it.
//!
//! Nothing here runs for a query that selects something. For one that selects nothing, a bounded
//! scan of the document (see [`Outline`]) collects the names, and the query is rewritten to these.
//! A rewritten query is suggested only if a trial run selects something. A far-fetched suggestion
//! is worse than none.
//!
//! ```
//! use trommel::{Analysis, Document};
//! use trommel_hints::{HintStyle, UnmatchedQuery, hints, outline};
//!
//! let text = "$.users[*].emial";
//! let (query, analysis) = (text.parse()?, Analysis::new());
//! let mut document = Document::from_bytes(r#"{"users": [{"email": "ada@example.org"}]}"#);
//! let outline = outline(&analysis, &document);
//! let hints = hints(&analysis, &mut document, &outline, &[UnmatchedQuery::new(text, &query)]);
//! assert!(hints[0].message(HintStyle::Options).contains("$.users[*].email"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cost
//!
//! The scan and the trials each read at most 256 MiB again. An error means that there is no hint.

mod message;
mod outline;
mod repair;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use trommel::path::{FilterQuery, Logical, Pattern, PatternError, Query, Segment, Segments, Selector, Slice};
use trommel::reader::{Error, ErrorKind, Framing, Validation};
use trommel::{Analysis, Cancel, Count, CountAs, Document, Measure, Progress};
use trommel_base::text::first;

pub use message::HintStyle;
pub use outline::Outline;
use repair::{Misspelling, Repair, Walk, elsewhere};

/// The maximum number of bytes that the scan reads. The trials together read at most the same
/// number again.
const MAX_READ_BYTES: u64 = 256 << 20;

/// The maximum number of characters of a suggestion. Longer ones help no reader.
const MAX_SUGGESTION_CHARS: usize = 200;

/// A query that selects nothing.
#[derive(Clone, Copy, Debug)]
pub struct UnmatchedQuery<'a> {
    text: &'a str,
    query: &'a Query,
    filter: Option<&'a Logical>,
    count_as: CountAs,
}

impl<'a> UnmatchedQuery<'a> {
    /// Creates a request for hints about a query. `text` is the query as the user wrote it.
    pub fn new(text: &'a str, query: &'a Query) -> Self {
        Self { text, query, filter: None, count_as: CountAs::Matches }
    }

    /// The query as the user wrote it.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Adds the filter of a [`Count`], which may be the reason for an empty result.
    #[must_use]
    pub fn filter(mut self, filter: Option<&'a Logical>, count_as: CountAs) -> Self {
        (self.filter, self.count_as) = (filter, count_as);
        self
    }

    /// Returns a warning for each literal pattern of `match` and `search` that is not an I-Regexp
    /// (RFC 9485). By RFC 9535 such a pattern matches nothing, which is rarely intended.
    pub fn pattern_warnings(&self) -> Vec<String> {
        let of_filter = self.filter.map(pattern_warnings).unwrap_or_default();
        let of_query = self.query.invalid_patterns().into_iter();
        of_query.map(|(pattern, error)| pattern_warning(pattern, &error)).chain(of_filter).collect()
    }

    fn has_invalid_pattern(&self) -> bool {
        !self.pattern_warnings().is_empty()
    }
}

/// Returns a warning for each literal pattern of a filter that is not an I-Regexp, like the method
/// of the [query](UnmatchedQuery::pattern_warnings).
pub fn pattern_warnings(filter: &Logical) -> Vec<String> {
    filter.invalid_patterns().into_iter().map(|(pattern, error)| pattern_warning(pattern, &error)).collect()
}

fn pattern_warning(pattern: &str, error: &PatternError) -> String {
    let shown = first(pattern, MAX_SUGGESTION_CHARS);
    let what = format!("the pattern `{shown}` is not an I-Regexp (RFC 9485) and matches nothing");
    match Pattern::translate(pattern).filter(|better| better.chars().count() <= MAX_SUGGESTION_CHARS) {
        Some(better) => format!("{what}; write `{better}`"),
        None => format!("{what}: {error}"),
    }
}

/// An explanation of an empty result, with a suggestion.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// The query as the user wrote it.
    pub text: String,
    /// The reason for the empty result.
    pub reason: Reason,
}

/// The reason why a query selects nothing. Every suggested path and filter selects something.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The nearest query that selects something.
    Path(String),
    /// An unknown name. The query would select nothing with the nearest name either.
    Name {
        /// The name.
        wanted: String,
        /// The path to the nearest name, without indices and filters.
        nearest: String,
    },
    /// No value passes the filter that accompanies the query; `nearest` is the nearest filter that
    /// does select something.
    Filter {
        /// The filter.
        filter: String,
        /// The nearest filter.
        nearest: String,
    },
    /// An unknown name in the filter that accompanies the query.
    FilterName {
        /// The filter.
        filter: String,
        /// The name.
        wanted: String,
        /// The path to the nearest name.
        nearest: String,
    },
    /// An index or slice out of range.
    Index {
        /// The path of the array.
        path: String,
        /// Its length.
        length: Length,
    },
    /// The length of arrays was queried like a member.
    Elements {
        /// The path of the arrays.
        path: String,
    },
    /// A filter that is meant for each record of a stream, written as if the stream were an array.
    Records {
        /// The filter to apply to records.
        filter: String,
        /// The query to apply to the records that pass it.
        query: String,
    },
}

/// The length of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Length {
    /// The only array has this length.
    Exactly(u64),
    /// The longest of several arrays has this length.
    AtMost(u64),
    /// All arrays are too short; their exact length is unknown.
    TooShort,
}

/// Collects the names and arrays of a document by a bounded scan with the settings of an analysis.
/// A document that can be read only once is consumed.
pub fn outline(analysis: &Analysis, document: &Document<'_>) -> Outline {
    let config = analysis.config().validation(Validation::Structural);
    let Ok(cursor) = document.cursor(&config) else { return Outline::default() };
    let cancel = analysis.cancel().clone();
    let mut cursor = cursor.monitored(Box::new(move |offset| {
        let is_over = offset > MAX_READ_BYTES || cancel.is_cancelled();
        if is_over { Err(Error::plain(ErrorKind::Cancelled, offset)) } else { Ok(()) }
    }));
    Outline::scan(&mut cursor)
}

/// Returns hints for queries that selected nothing with the settings and filters of an analysis.
/// The measures of the analysis are not run.
///
/// Reads at most 256 MiB again. There is no hint if no suggestion selects anything, or if a pattern
/// of the query is [invalid](UnmatchedQuery::pattern_warnings).
pub fn hints(
    analysis: &Analysis,
    document: &mut Document<'_>,
    outline: &Outline,
    queries: &[UnmatchedQuery<'_>],
) -> Vec<Hint> {
    if !document.is_repeatable() {
        return Vec::new();
    }
    let filters = analysis.filters().to_vec();
    let mut trial = TrialRun { analysis, document, outline, filters, left: MAX_READ_BYTES };
    if !trial.filters.is_empty() && trial.counts(Count::new(Query::root())) == Some(0) {
        return trial.record_filters().into_iter().collect();
    }
    let hint = |asked: &UnmatchedQuery<'_>| {
        let reason = trial.reason(asked)?;
        Some(Hint { text: asked.text.to_owned(), reason })
    };
    queries.iter().filter_map(hint).collect()
}

/// Runs candidate suggestions against the document.
struct TrialRun<'a, 'd> {
    analysis: &'a Analysis,
    document: &'a mut Document<'d>,
    outline: &'a Outline,
    /// The filters on records.
    filters: Vec<Logical>,
    /// The number of bytes that may still be read.
    left: u64,
}

impl TrialRun<'_, '_> {
    fn reason(&mut self, asked: &UnmatchedQuery<'_>) -> Option<Reason> {
        if asked.has_invalid_pattern() {
            return None;
            // The warning about the pattern already explains the empty result.
        }
        let is_plain = asked.filter.is_none() && asked.count_as == CountAs::Matches;
        if !is_plain && self.selects(asked.query) {
            // There are values to count. Either the filter rejects all of them, or the counted
            // array is empty.
            return self.filter(asked, asked.filter?);
        }
        let query = asked.query;
        self.records(query).or_else(|| self.path(query)).or_else(|| self.elements(query))
    }

    /// Suggests corrected record filters, if the filters keep no record. Does not apply to a
    /// document with a single record.
    fn record_filters(&mut self) -> Option<Hint> {
        let mut filters = std::mem::take(&mut self.filters);
        if !self.outline.is_stream {
            return None;
        }
        let filter = if filters.len() == 1 { filters.pop()? } else { Logical::And(filters) };
        let root = Query::root();
        let asked = UnmatchedQuery::new("$", &root).filter(Some(&filter), CountAs::Matches);
        let reason = self.filter(&asked, &filter)?;
        Some(Hint { text: asked.text.to_owned(), reason })
    }

    /// Suggests the nearest path, or reports the lengths of the arrays whose index is out of range.
    fn path(&mut self, query: &Query) -> Option<Reason> {
        let mut repair = Repair::new(self.outline);
        let Some(walk) = repair.follow(Walk::from_root(), query.segments()) else {
            return self.tried(&elsewhere(self.outline, query)?).map(Reason::Path);
        };
        if !repair.has_changed() {
            return self.index(query);
        }
        let exact = walk.query();
        let found = self.tried(&exact).or_else(|| self.tried(&without_indices(&exact)));
        found.map(Reason::Path).or_else(|| {
            let (wanted, nearest) = self.misspelling(repair.misspellings)?;
            Some(Reason::Name { wanted, nearest })
        })
    }

    /// Returns an unknown name and a path to the nearest known one.
    fn misspelling(&mut self, misspellings: Vec<Misspelling>) -> Option<(String, String)> {
        misspellings.into_iter().find_map(|Misspelling { wanted, path }| Some((wanted, self.tried(&path)?)))
    }

    /// Suggests a filter for records if the stream was treated as an array.
    fn records(&mut self, query: &Query) -> Option<Reason> {
        let mut segments = query.segments().iter();
        let first = segments.next().filter(|first| self.outline.is_stream && !first.descendant)?;
        let [Selector::Filter(filter)] = first.selectors.as_slice() else { return None };
        let rest: Segments = segments.cloned().collect();
        let mut repair = Repair::new(self.outline);
        let nearest = repair.filter(filter, &Walk::from_root());
        let nearest = repair.has_changed().then_some(nearest);
        for filter in std::iter::once(&**filter).chain(&nearest) {
            let of_rest = Logical::Exists(FilterQuery { absolute: false, segments: rest.clone() });
            let both = Logical::And(vec![filter.clone(), of_rest]);
            if self.counts(Count::new(Query::root()).filter(both)) == Some(1) {
                let filter = short(format!("{filter:#}"))?;
                return Some(Reason::Records { filter, query: short(Query::from(rest).shorthand())? });
            }
        }
        None
    }

    /// Suggests the accompanying filter with known names.
    fn filter(&mut self, asked: &UnmatchedQuery<'_>, filter: &Logical) -> Option<Reason> {
        let mut repair = Repair::new(self.outline);
        let mut candidates = repair.follow(Walk::from_root(), asked.query.segments())?;
        if repair.has_changed() {
            // The query itself needs a repair, so a corrected filter would not be the whole
            // explanation.
            return None;
        }
        if asked.count_as != CountAs::Matches {
            repair.step_to_children(&mut candidates);
        }
        let nearest = repair.filter(filter, &candidates);
        if !repair.has_changed() {
            return None;
        }
        let filter = format!("{filter:#}");
        let count = Count::new(asked.query.clone()).count_as(asked.count_as).filter(nearest.clone());
        if self.counts(count) == Some(1)
            && let Some(nearest) = short(format!("{nearest:#}"))
        {
            return Some(Reason::Filter { filter, nearest });
        }
        let (wanted, nearest) = self.misspelling(repair.misspellings)?;
        Some(Reason::FilterName { filter, wanted, nearest })
    }

    /// Suggests counting elements if the length of an array was queried like a member, as in other
    /// languages.
    fn elements(&mut self, query: &Query) -> Option<Reason> {
        let mut segments: Vec<&Segment> = query.segments().iter().collect();
        let last = segments.pop().filter(|last| !last.descendant)?;
        let [Selector::Name(name)] = last.selectors.as_slice() else { return None };
        if !matches!(&**name, "length" | "size" | "count") {
            return None;
        }
        let path = Query::from(segments.into_iter().cloned().collect::<Segments>());
        // A slice selects only elements of arrays.
        let is_array = self.selects(&path.clone().with_child(Selector::Slice(Slice::ALL)));
        if !is_array {
            return None;
        }
        short(path.shorthand()).map(|path| Reason::Elements { path })
    }

    /// Reports the first index or slice of a query that is out of range.
    fn index(&mut self, query: &Query) -> Option<Reason> {
        let mut before = Query::root();
        for segment in query.segments().iter() {
            let out_of_range = match segment.selectors.as_slice() {
                [selector @ (Selector::Index(_) | Selector::Slice(_))] if !segment.descendant => {
                    self.length(&before, selector)
                }
                _ => None,
            };
            if let Some(length) = out_of_range {
                return Some(Reason::Index { path: short(before.shorthand())?, length });
            }
            before = before.segments().iter().chain([segment]).cloned().collect::<Segments>().into();
        }
        None
    }

    /// Returns the length of the arrays at a path, if all of them are too short for a selector.
    fn length(&mut self, path: &Query, selector: &Selector) -> Option<Length> {
        if path.is_singular() && !self.outline.is_stream {
            let count = Count::new(path.clone()).count_as(CountAs::ArrayLength);
            let length = self.run(count).filter(|length| is_out_of_range(selector, *length))?;
            return self.selects(path).then_some(Length::Exactly(length));
        }
        if self.run(Count::new(path.clone().with_child(selector.clone())).limit(1))? > 0
            || !self.selects(path)
        {
            return None;
        }
        let walk = Repair::new(self.outline).follow(Walk::from_root(), path.segments())?;
        let longest = walk.nodes().iter().filter_map(|&node| self.outline.longest(node)).max()?;
        // The outline knows neither single elements nor filters, so its longest array may not be
        // one that the path selects.
        if self.outline.is_complete && path.segments().iter().all(is_general) {
            return Some(Length::AtMost(longest));
        }
        self.selects(&path.clone().with_child(Selector::Slice(Slice::ALL))).then_some(Length::TooShort)
    }

    /// Returns the text of a query, if it selects something.
    fn tried(&mut self, query: &Query) -> Option<String> {
        let text = short(query.shorthand())?;
        self.selects(query).then_some(text)
    }

    fn selects(&mut self, query: &Query) -> bool {
        self.counts(Count::new(query.clone())) == Some(1)
    }

    /// Runs a count that stops at one.
    fn counts(&mut self, count: Count) -> Option<u64> {
        self.run(count.limit(1))
    }

    /// Runs a count. Returns `None` if it fails or exceeds the remaining bytes.
    fn run(&mut self, count: Count) -> Option<u64> {
        let (read, stop, most) = (Arc::new(AtomicU64::new(0)), Cancel::new(), self.left);
        let (outer, inner, passed) = (self.analysis.cancel().clone(), stop.clone(), Arc::clone(&read));
        let watch = move |progress: Progress| {
            passed.store(progress.bytes, Ordering::Relaxed);
            if progress.bytes > most || outer.is_cancelled() {
                inner.cancel();
            }
        };
        let settings = self.analysis.settings().validation(Validation::Structural).threads(1);
        let analysis = settings.cancel_with(&stop).on_progress(watch).ask(Measure::Count(count));
        let analysis = self.filters.iter().cloned().fold(analysis, Analysis::filter);
        let ran = analysis.run(self.document);
        self.left = self.left.saturating_sub(read.load(Ordering::Relaxed));
        ran.ok()?.answers.first()?.count()
    }
}

/// Replaces indices and slices by `[*]`.
fn without_indices(query: &Query) -> Query {
    let general = |segment: &Segment| match segment.selectors.as_slice() {
        [Selector::Index(_) | Selector::Slice(_)] => {
            Segment { descendant: segment.descendant, selectors: vec![Selector::Wildcard] }
        }
        _ => segment.clone(),
    };
    query.segments().iter().map(general).collect::<Segments>().into()
}

/// Returns true if a segment treats all elements of an array alike.
fn is_general(segment: &Segment) -> bool {
    segment.selectors.iter().all(|selector| matches!(selector, Selector::Name(_) | Selector::Wildcard))
}

/// Returns true if a selector selects nothing in an array of this length.
fn is_out_of_range(selector: &Selector, length: u64) -> bool {
    match selector {
        Selector::Index(index) => match u64::try_from(*index) {
            Ok(index) => index >= length,
            Err(_) => index.unsigned_abs() > length,
        },
        Selector::Slice(slice) if slice.step > 0 => {
            // A slice without a start begins at the first element.
            u64::try_from(slice.start.unwrap_or(0)).is_ok_and(|start| start >= length)
        }
        _ => false,
    }
}

/// Returns a suggestion unless it is too long.
fn short(text: String) -> Option<String> {
    (text.chars().count() <= MAX_SUGGESTION_CHARS).then_some(text)
}

impl Outline {
    /// Returns the nearest query that leads to something in the outline. It is not run against the
    /// document, so it may select nothing in some records.
    pub fn nearest(&self, query: &Query) -> Option<Query> {
        let mut repair = Repair::new(self);
        match repair.follow(Walk::from_root(), query.segments()) {
            Some(walk) => repair.has_changed().then(|| walk.query()),
            None => elsewhere(self, query),
        }
    }
}

/// Explains why a sample has fewer items than requested although its query selects something.
pub fn shortfall_reason(total: u64) -> &'static str {
    if total == 0 { "there is nothing to draw from" } else { "there are no more" }
}

/// Returns true if a framing divides its input into records, regardless of their number.
fn is_stream(framing: Framing) -> bool {
    matches!(framing, Framing::Lines | Framing::JsonSeq | Framing::Concatenated)
}
