//! Suggestions for a query that selects nothing: the nearest path, a misspelled name inside a
//! filter, the length of an array whose index is out of range, or a filter that applies inside each
//! record of a stream.
//!
//! Callers that show answers to people or models depend on this crate; the engine does not.
//!
//! Nothing here runs for a query that selects something. For one that does not, a bounded scan of
//! the document (see [`Outline`]) collects the names; the query is rewritten to them; and a
//! rewritten query is suggested only if a trial selects something. No suggestion is better than a
//! far-fetched one.
//!
//! ```
//! use trommel::{Analysis, Document};
//! use trommel_hints::{Asked, Spelling, hints, outline};
//!
//! let text = "$.users[*].emial";
//! let (query, analysis) = (text.parse()?, Analysis::new());
//! let mut document = Document::from_bytes(r#"{"users": [{"email": "ada@example.org"}]}"#);
//! let outline = outline(&analysis, &document);
//! let hints = hints(&analysis, &mut document, &outline, &[Asked::new(text, &query)]);
//! assert!(hints[0].message(Spelling::Options).contains("$.users[*].email"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Cost
//!
//! The scan and the trials read at most 256 MiB each, again. An error means that there is no hint.

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

pub use message::Spelling;
pub use outline::Outline;
use repair::{Repair, Slip, Walk, elsewhere};

/// Bytes that the scan reads at most; trying suggestions reads at most the same number again.
const READ: u64 = 256 << 20;

/// Characters of a suggestion. A longer one helps nobody.
const LONGEST: usize = 200;

/// A query that selects nothing.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    text: &'a str,
    query: &'a Query,
    filter: Option<&'a Logical>,
    count_as: CountAs,
}

impl<'a> Asked<'a> {
    /// A query, and its text as the user wrote it.
    pub fn new(text: &'a str, query: &'a Query) -> Self {
        Self { text, query, filter: None, count_as: CountAs::Matches }
    }

    /// With the filter of a [`Count`], which may be what leaves nothing.
    #[must_use]
    pub fn filter(mut self, filter: Option<&'a Logical>, count_as: CountAs) -> Self {
        (self.filter, self.count_as) = (filter, count_as);
        self
    }

    /// The literal patterns of `match` and `search` that are not I-Regexps (RFC 9485), each as a
    /// sentence: by RFC 9535 they match nothing, which is rarely intended.
    pub fn bad_patterns(&self) -> Vec<String> {
        let of_filter = self.filter.map(bad_patterns).unwrap_or_default();
        let of_query = self.query.bad_patterns().into_iter();
        of_query.map(|(pattern, error)| bad_pattern(pattern, &error)).chain(of_filter).collect()
    }

    fn has_bad_pattern(&self) -> bool {
        !self.bad_patterns().is_empty()
    }
}

/// The literal patterns of a filter that are not I-Regexps, as of a [query](Asked::bad_patterns).
pub fn bad_patterns(filter: &Logical) -> Vec<String> {
    filter.bad_patterns().into_iter().map(|(pattern, error)| bad_pattern(pattern, &error)).collect()
}

fn bad_pattern(pattern: &str, error: &PatternError) -> String {
    let shown = first(pattern, LONGEST);
    let what = format!("the pattern `{shown}` is not an I-Regexp (RFC 9485) and matches nothing");
    match Pattern::respelled(pattern).filter(|better| better.chars().count() <= LONGEST) {
        Some(better) => format!("{what}; write `{better}`"),
        None => format!("{what}: {error}"),
    }
}

/// Why a query selects nothing, and what may have been meant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hint {
    /// The query as the user wrote it.
    pub text: String,
    /// What was found.
    pub why: Why,
}

/// The reason why a query selects nothing. Every suggested path and filter selects something.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// This query is the nearest one.
    Path(String),
    /// An unknown name, in a query that would select nothing with the nearest name either.
    Name {
        /// The name.
        wanted: String,
        /// The path to the nearest name, without indices and filters.
        nearest: String,
    },
    /// No value passes the filter beside the query; this filter is the nearest one.
    Filter {
        /// The filter.
        filter: String,
        /// The filter that selects something.
        nearest: String,
    },
    /// A name in the filter beside the query that does not exist.
    FilterName {
        /// The filter.
        filter: String,
        /// The name.
        wanted: String,
        /// The path to the nearest name.
        nearest: String,
    },
    /// An index or slice that is out of range.
    Index {
        /// The path of the array.
        path: String,
        /// Its length.
        length: Length,
    },
    /// The length of arrays was asked for as if it were a member.
    Elements {
        /// The path of the arrays.
        path: String,
    },
    /// A filter that looks inside each record of a stream, as if the stream were an array.
    Records {
        /// The filter, to be applied to records.
        filter: String,
        /// The query, to be applied to the records that pass it.
        query: String,
    },
}

/// The length of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Length {
    /// There is one array, of this length.
    Exactly(u64),
    /// The longest of several arrays has this length.
    AtMost(u64),
    /// All are too short.
    Less,
}

/// The names and arrays there are in a document, by a bounded look under the settings of an
/// analysis. A document that can be read only once is consumed.
pub fn outline(analysis: &Analysis, document: &Document) -> Outline {
    let config = analysis.config().validation(Validation::Structural);
    let Ok(cursor) = document.cursor(&config) else { return Outline::default() };
    let cancel = analysis.cancel().clone();
    let mut cursor = cursor.monitored(Box::new(move |offset| {
        let is_over = offset > READ || cancel.is_cancelled();
        if is_over { Err(Error::plain(ErrorKind::Cancelled, offset)) } else { Ok(()) }
    }));
    Outline::of(&mut cursor)
}

/// Hints for queries that selected nothing under the settings and filters of an analysis; its
/// measures are not run.
///
/// At most 256 MiB are read again. Without a suggestion that selects something there is no hint,
/// and there is none for a query with a pattern that is [not valid](Asked::bad_patterns).
pub fn hints(
    analysis: &Analysis,
    document: &mut Document,
    outline: &Outline,
    asked: &[Asked<'_>],
) -> Vec<Hint> {
    if !document.is_repeatable() {
        return Vec::new();
    }
    let filters = analysis.filters().to_vec();
    let mut trial = Trial { analysis, document, outline, filters, left: READ };
    if !trial.filters.is_empty() && trial.counts(Count::new(Query::root())) == Some(0) {
        return trial.record_filters().into_iter().collect();
    }
    let hint = |asked: &Asked<'_>| {
        let why = trial.why(asked)?;
        Some(Hint { text: asked.text.to_owned(), why })
    };
    asked.iter().filter_map(hint).collect()
}

/// Suggestions being tried.
struct Trial<'a> {
    analysis: &'a Analysis,
    document: &'a mut Document,
    outline: &'a Outline,
    /// Filters on records.
    filters: Vec<Logical>,
    /// Bytes that may still be read.
    left: u64,
}

impl Trial<'_> {
    fn why(&mut self, asked: &Asked<'_>) -> Option<Why> {
        if asked.has_bad_pattern() {
            return None;
        }
        let is_plain = asked.filter.is_none() && asked.count_as == CountAs::Matches;
        if !is_plain && self.selects(asked.query) {
            // There is something to count, and the filter leaves nothing of it, or it is empty.
            return self.filter(asked, asked.filter?);
        }
        let query = asked.query;
        self.records(query).or_else(|| self.path(query)).or_else(|| self.elements(query))
    }

    /// The record filters with names that exist, if they keep no record. A document that is one
    /// record is not inspected.
    fn record_filters(&mut self) -> Option<Hint> {
        let mut filters = std::mem::take(&mut self.filters);
        if !self.outline.is_stream {
            return None;
        }
        let filter = if filters.len() == 1 { filters.pop()? } else { Logical::And(filters) };
        let root = Query::root();
        let asked = Asked::new("$", &root).filter(Some(&filter), CountAs::Matches);
        let why = self.filter(&asked, &filter)?;
        Some(Hint { text: asked.text.to_owned(), why })
    }

    /// The nearest path, or the lengths of the arrays that an index is out of range of.
    fn path(&mut self, query: &Query) -> Option<Why> {
        let mut repair = Repair::new(self.outline);
        let Some(walk) = repair.follow(Walk::from_root(), query.segments()) else {
            return self.tried(&elsewhere(self.outline, query)?).map(Why::Path);
        };
        if !repair.has_changed() {
            return self.index(query);
        }
        let exact = walk.query();
        let found = self.tried(&exact).or_else(|| self.tried(&without_indices(&exact)));
        found.map(Why::Path).or_else(|| {
            let (wanted, nearest) = self.slip(repair.slips)?;
            Some(Why::Name { wanted, nearest })
        })
    }

    /// A name that does not exist, and a path to the nearest one.
    fn slip(&mut self, slips: Vec<Slip>) -> Option<(String, String)> {
        slips.into_iter().find_map(|Slip { wanted, path }| Some((wanted, self.tried(&path)?)))
    }

    /// A filter for records that was written as if the stream were an array.
    fn records(&mut self, query: &Query) -> Option<Why> {
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
                return Some(Why::Records { filter, query: short(Query::from(rest).shorthand())? });
            }
        }
        None
    }

    /// The filter beside the query, with names that there are.
    fn filter(&mut self, asked: &Asked<'_>, filter: &Logical) -> Option<Why> {
        let mut repair = Repair::new(self.outline);
        let mut candidates = repair.follow(Walk::from_root(), asked.query.segments())?;
        if repair.has_changed() {
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
            return Some(Why::Filter { filter, nearest });
        }
        let (wanted, nearest) = self.slip(repair.slips)?;
        Some(Why::FilterName { filter, wanted, nearest })
    }

    /// The arrays whose length was asked for as if it were a member, as in other languages.
    fn elements(&mut self, query: &Query) -> Option<Why> {
        let mut segments: Vec<&Segment> = query.segments().iter().collect();
        let last = segments.pop().filter(|last| !last.descendant)?;
        let [Selector::Name(name)] = last.selectors.as_slice() else { return None };
        if !matches!(&**name, "length" | "size" | "count") {
            return None;
        }
        let path = Query::from(segments.into_iter().cloned().collect::<Segments>());
        // Slices select elements of arrays only.
        let is_array = self.selects(&path.clone().with_child(Selector::Slice(Slice::ALL)));
        if !is_array {
            return None;
        }
        short(path.shorthand()).map(|path| Why::Elements { path })
    }

    /// The first index or slice of a query that is out of range.
    fn index(&mut self, query: &Query) -> Option<Why> {
        let mut before = Query::root();
        for segment in query.segments().iter() {
            let is_out = match segment.selectors.as_slice() {
                [selector @ (Selector::Index(_) | Selector::Slice(_))] if !segment.descendant => {
                    self.length(&before, selector)
                }
                _ => None,
            };
            if let Some(length) = is_out {
                return Some(Why::Index { path: short(before.shorthand())?, length });
            }
            before = before.segments().iter().chain([segment]).cloned().collect::<Segments>().into();
        }
        None
    }

    /// The length of the arrays at a path, if all of them are too short for a selector.
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
        let longest = walk.places().iter().filter_map(|&place| self.outline.longest(place)).max()?;
        // The outline knows no single elements, and nothing of filters.
        if self.outline.is_complete && path.segments().iter().all(is_general) {
            return Some(Length::AtMost(longest));
        }
        self.selects(&path.clone().with_child(Selector::Slice(Slice::ALL))).then_some(Length::Less)
    }

    /// The text of a query, if it selects something.
    fn tried(&mut self, query: &Query) -> Option<String> {
        let text = short(query.shorthand())?;
        self.selects(query).then_some(text)
    }

    fn selects(&mut self, query: &Query) -> bool {
        self.counts(Count::new(query.clone())) == Some(1)
    }

    /// Counts to one.
    fn counts(&mut self, count: Count) -> Option<u64> {
        self.run(count.limit(1))
    }

    /// Counts. Nothing if that fails, or takes more bytes than are left.
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

/// The query with `[*]` instead of indices and slices.
fn without_indices(query: &Query) -> Query {
    let general = |segment: &Segment| match segment.selectors.as_slice() {
        [Selector::Index(_) | Selector::Slice(_)] => {
            Segment { descendant: segment.descendant, selectors: vec![Selector::Wildcard] }
        }
        _ => segment.clone(),
    };
    query.segments().iter().map(general).collect::<Segments>().into()
}

/// True if a segment selects all elements of an array alike.
fn is_general(segment: &Segment) -> bool {
    segment.selectors.iter().all(|selector| matches!(selector, Selector::Name(_) | Selector::Wildcard))
}

/// True if an array of this length has no element that a selector selects.
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

/// A suggestion, unless it is too long.
fn short(text: String) -> Option<String> {
    (text.chars().count() <= LONGEST).then_some(text)
}

impl Outline {
    /// The nearest query that leads to something in the outline, and perhaps to nothing in some
    /// record: it is not tried.
    pub fn nearest(&self, query: &Query) -> Option<Query> {
        let mut repair = Repair::new(self);
        match repair.follow(Walk::from_root(), query.segments()) {
            Some(walk) => repair.has_changed().then(|| walk.query()),
            None => elsewhere(self, query),
        }
    }
}

/// Why a sample has fewer items than were asked for, when its query selects something.
pub fn few(total: u64) -> &'static str {
    if total == 0 { "there is nothing to draw from" } else { "there are no more" }
}

/// True if a framing divides its input into records, however many there are.
fn is_stream(framing: Framing) -> bool {
    matches!(framing, Framing::Lines | Framing::JsonSeq | Framing::Concatenated)
}
