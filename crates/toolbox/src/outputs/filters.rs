//! The arguments `each` and `where`: the records, filters on them, and suggestions for a single
//! document.

use std::sync::Arc;

use trommel::path::{Duplicates, Logical, Query, RecordFilter};
use trommel::reader::Validation;
use trommel::{Analysis, Answer, Document, Measure, Report, Stats};
use trommel_base::text::excerpt;
use trommel_hints::UnmatchedQuery as HintQuery;
use trommel_tool::Failure;

use super::arguments::{Each, Where};
use super::failures::Action;
use super::job::Job;
use super::shared::Shared;
use super::source::Source;

/// The filters of `where`. They keep a record if all of them hold. With `each`, the records are the
/// nodes of a query.
pub(super) struct Filters<'a> {
    texts: &'a [String],
    parsed: Vec<Arc<Logical>>,
    each: Option<Arc<Query>>,
}

impl<'a> Filters<'a> {
    /// Parses the filters, and the query whose nodes are the records, if there is one.
    pub(super) fn new(
        shared: &Shared,
        action: Action<'_>,
        Where(texts): &'a Where,
        each: Option<&Each>,
    ) -> Result<Self, Failure> {
        let filter = |text: &String| shared.filter(action, "the filter in `where`,", text);
        let parsed = texts.iter().map(filter).collect::<Result<_, _>>()?;
        let each = each.map(|Each(text)| shared.query(action, "the path `each`,", text)).transpose()?;
        Ok(Self { texts, parsed, each })
    }

    /// Returns the query whose nodes are the records.
    pub(super) fn each(&self) -> Option<&Query> {
        self.each.as_deref()
    }

    /// True if the output has records: values of a stream, or nodes of `each`.
    pub(super) fn has_records(&self, source: &Source<'_>) -> bool {
        self.each.is_some() || source.is_stream()
    }

    /// Returns warnings for invalid patterns in the filters. Such a pattern matches nothing.
    pub(super) fn invalid_patterns(&self) -> impl Iterator<Item = String> {
        self.parsed.iter().flat_map(|filter| trommel_hints::pattern_warnings(filter))
    }

    /// Returns the filters' part of a cache key. Empty without filters and `each`.
    pub(super) fn key(&self) -> String {
        let each = self.each.iter().flat_map(|each| ["\neach ".to_owned(), each.to_string()]);
        let filters = self.parsed.iter();
        each.chain(filters.flat_map(|filter| ["\nwhere ".to_owned(), filter.to_string()])).collect()
    }

    /// Restricts an analysis to the records that the filters keep.
    pub(super) fn narrow(&self, analysis: Analysis) -> Analysis {
        let analysis = match &self.each {
            Some(each) => analysis.each((**each).clone()),
            None => analysis,
        };
        self.parsed.iter().fold(analysis, |analysis, filter| analysis.filter((**filter).clone()))
    }

    /// Compiles the filters for a matcher. Returns `None` without filters.
    pub(super) fn compile(&self, duplicates: Duplicates) -> Option<RecordFilter> {
        let filters: Vec<Logical> = self.parsed.iter().map(|filter| (**filter).clone()).collect();
        (!filters.is_empty()).then(|| RecordFilter::new(&filters, duplicates))
    }

    /// Returns a warning if the answer is empty because the filters drop a single document.
    pub(super) fn warning(&self, shared: &Shared, source: &mut Source<'_>, job: &Job) -> Option<String> {
        if self.parsed.is_empty() || self.each.is_some() || source.is_stream() || job.is_over() {
            return None;
        }
        let key = format!("{} Matches $ {}", source.stored.digest, self.key());
        let analysis = |source: &Source<'_>| job.analysis(source, Validation::Structural);
        let kept = if let Some(kept) = shared.counts.get(&key) {
            kept
        } else {
            let counting = self.narrow(analysis(source)).count(Query::root());
            let count = counting.run(&mut source.document).ok()?.answers.first()?.count()?;
            shared.counts.put(key.as_str(), count, key.len());
            count
        };
        if kept > 0 {
            return None;
        }
        let bytes = Some(source.stored.size_bytes);
        let query = elements_query(analysis(source), &mut source.document, bytes, self.texts);
        let help = query.map_or_else(String::new, |query| {
            format!("; to filter the elements of its longest array, use the path {}", excerpt(&query, 300))
        });
        Some(format!("`where` drops this document, which is kept or dropped whole{help}"))
    }
}

impl Filters<'_> {
    /// Returns queries from the root of the document, also into the nodes that are records. `None`
    /// if the records are the documents.
    pub(super) fn queries_from_root(&self, queries: &[HintQuery<'_>]) -> Option<Vec<(String, Query)>> {
        let each = self.each.as_ref()?.shorthand();
        let join = |query: &HintQuery<'_>| {
            // `$` within a filter refers to the node, which a joined query cannot.
            let below = query.text().strip_prefix('$').filter(|below| !below.contains('$'))?;
            let joined = format!("{each}{below}");
            let query = joined.parse().ok()?;
            Some((joined, query))
        };
        Some(queries.iter().filter_map(join).collect())
    }

    /// Returns a warning that a single document is one record, with the `each` that makes the
    /// elements of its longest array the records. `verb` is the use of records: `group`.
    pub(super) fn one_record(&self, verb: &str, source: &mut Source<'_>, job: &Job) -> Option<String> {
        if self.each.is_some() || source.is_stream() || job.is_over() {
            return None;
        }
        let (analysis, bytes) = (job.quiet_analysis(source), Some(source.stored.size_bytes));
        let path = excerpt(&longest_array(analysis, &mut source.document, bytes)?, 300);
        Some(format!(
            "this output is one document, and so one record; to {verb} the elements of its longest array, pass `each`: {path}[*]"
        ))
    }
}

/// The size in bytes up to which a document is searched for its longest array.
const MAX_SEARCHED_BYTES: u64 = 256 << 20;

/// True if the input is a single document that its filters dropped.
pub fn is_document_dropped(report: &Report) -> bool {
    let coverage = &report.coverage;
    (coverage.records, coverage.dropped_records, coverage.bad_records) == (1, 1, 0)
}

/// Returns the query that applies filters on records to the elements of a document's longest array:
/// `$.data[?@.level == "error"]`.
///
/// `analysis` must not have a measure yet. `bytes` is the decompressed length of the document.
/// Returns `None` if the document has no array, cannot be read a second time, or is longer than 256
/// MiB or of unknown length.
pub fn elements_query(
    analysis: Analysis,
    document: &mut Document<'_>,
    bytes: Option<u64>,
    filters: &[String],
) -> Option<String> {
    let longest = longest_array(analysis, document, bytes)?;
    let filter = match filters {
        // `$` would refer to the document and no longer to the element, so the filter cannot be
        // copied.
        filters if filters.iter().any(|filter| filter.contains('$')) => "…".to_owned(),
        [filter] => expression(filter).to_owned(),
        filters => {
            let each = |filter: &String| format!("({})", expression(filter));
            filters.iter().map(each).collect::<Vec<_>>().join(" && ")
        }
    };
    Some(format!("{longest}[?{filter}]"))
}

/// Returns the path of a document's longest array. Conditions are those of [`elements_query`].
pub fn longest_array(analysis: Analysis, document: &mut Document<'_>, bytes: Option<u64>) -> Option<String> {
    if !document.is_repeatable() || bytes.is_none_or(|bytes| bytes > MAX_SEARCHED_BYTES) {
        return None;
    }
    let report = analysis.ask(Measure::Stats(Stats::new())).run(document).ok()?;
    let arrays = report.answers.into_iter().find_map(|answer| match answer {
        Answer::Stats(stats) => stats.summary.arrays,
        _ => None,
    })?;
    // Of several arrays of the same length, the outermost comes first. `max_by_key` returns the
    // last one.
    let longest = arrays.into_iter().rev().max_by_key(|row| row.max_length.unwrap_or(row.length))?;
    Some(longest.path)
}

/// Returns the expression of a filter, which may be written `?EXPRESSION` or `[?EXPRESSION]`.
fn expression(filter: &str) -> &str {
    let filter = filter.trim();
    let inside = filter.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let filter = inside.unwrap_or(filter).trim();
    filter.strip_prefix('?').unwrap_or(filter).trim()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trommel::path::Query;

    fn suggested(document: &str, filters: &[&str]) -> Option<String> {
        let filters: Vec<String> = filters.iter().map(|&text| text.to_owned()).collect();
        let bytes = Some(document.len() as u64);
        elements_query(Analysis::new(), &mut Document::from_bytes(document), bytes, &filters)
    }

    #[test]
    fn suggests_the_longest_array() {
        let document = r#"{"a": [1], "b": {"c d": [{"x": [1, 2]}, {"x": []}, 3]}, "e": [1, 2, 3]}"#;
        for (filters, expected) in [
            (&["@.x > 1"][..], "$.b['c d'][?@.x > 1]"),
            (&["[?(@.x > 1)]"], "$.b['c d'][?(@.x > 1)]"),
            (&["?@.x || @.y", "[?@.z]"], "$.b['c d'][?(@.x || @.y) && (@.z)]"),
        ] {
            let query = suggested(document, filters).unwrap();
            assert_eq!(query, expected);
            query.parse::<Query>().unwrap();
        }
        assert_eq!(suggested("[1, 2]", &["@ > $.x"]).unwrap(), "$[?…]");
        assert_eq!(suggested(r#"{"a": 1}"#, &["@.x"]), None);
        let pipe = Document::from_reader(&b"[1, 2]"[..]);
        assert_eq!(elements_query(Analysis::new(), &mut { pipe }, Some(6), &[]), None);
        let mut long = Document::from_bytes("[1, 2]");
        assert_eq!(elements_query(Analysis::new(), &mut long, Some(MAX_SEARCHED_BYTES + 1), &[]), None);
        assert_eq!(elements_query(Analysis::new(), &mut long, None, &[]), None);
    }
}
