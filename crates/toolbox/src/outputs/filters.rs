//! `where`: filters on records, and what to suggest when they drop a single document.

use std::sync::Arc;

use trommel::path::{Duplicates, Logical, Query, RecordFilter};
use trommel::reader::Validation;
use trommel::{Analysis, Answer, Document, Measure, Report, Stats};
use trommel_base::text::shown;
use trommel_hints::bad_patterns;
use trommel_tool::Failure;

use super::failures::Doing;
use super::job::Job;
use super::shared::Shared;
use super::source::Source;

/// The filters of `where`; a record must pass all of them.
pub(super) struct Filters<'a> {
    texts: &'a [String],
    filters: Vec<Arc<Logical>>,
}

impl<'a> Filters<'a> {
    pub(super) fn new(shared: &Shared, doing: Doing<'_>, texts: &'a [String]) -> Result<Self, Failure> {
        let filter = |text: &String| shared.filter(doing, "the filter in `where`,", text);
        Ok(Self { texts, filters: texts.iter().map(filter).collect::<Result<_, _>>()? })
    }

    /// The patterns in the filters that are not valid and so match nothing.
    pub(super) fn bad_patterns(&self) -> impl Iterator<Item = String> {
        self.filters.iter().flat_map(|filter| bad_patterns(filter))
    }

    /// What an answer depends on, as a part of the key it is kept by. Empty without filters.
    pub(super) fn key(&self) -> String {
        self.filters.iter().flat_map(|filter| ["\nwhere ".to_owned(), filter.to_string()]).collect()
    }

    /// The analysis of the kept records only.
    pub(super) fn narrow(&self, analysis: Analysis) -> Analysis {
        self.filters.iter().fold(analysis, |analysis, filter| analysis.filter((**filter).clone()))
    }

    /// The same for a matcher.
    pub(super) fn compile(&self, duplicates: Duplicates) -> Option<RecordFilter> {
        let filters: Vec<Logical> = self.filters.iter().map(|filter| (**filter).clone()).collect();
        (!filters.is_empty()).then(|| RecordFilter::new(&filters, duplicates))
    }

    /// The warning that the filters drop a single document, for an answer that holds nothing.
    pub(super) fn warning(&self, shared: &Shared, source: &mut Source<'_>, job: &Job) -> Option<String> {
        if self.filters.is_empty() || source.is_stream() || job.is_over() {
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
            format!("; to filter the elements of its longest array, use the path {}", shown(&query, 300))
        });
        Some(format!("`where` drops this document, which is kept or dropped whole{help}"))
    }
}

/// Bytes of a document that are read to find its longest array.
const SEARCHED: u64 = 256 << 20;

/// True if the input is one document, and its filters dropped it.
pub fn dropped_document(report: &Report) -> bool {
    let coverage = &report.coverage;
    (coverage.records, coverage.dropped_records, coverage.bad_records) == (1, 1, 0)
}

/// Returns the query that applies filters on records to the elements of a document's longest array:
/// `$.data[?@.level == "error"]`.
///
/// `analysis` has no measure yet, and `bytes` is the document's decompressed length. Returns
/// nothing where the document has no array, is longer than some hundred MiB or of unknown length,
/// or cannot be read a second time.
pub fn elements_query(
    analysis: Analysis,
    document: &mut Document,
    bytes: Option<u64>,
    filters: &[String],
) -> Option<String> {
    if !document.is_repeatable() || bytes.is_none_or(|bytes| bytes > SEARCHED) {
        return None;
    }
    let report = analysis.ask(Measure::Stats(Stats::new())).run(document).ok()?;
    let arrays = report.answers.into_iter().find_map(|answer| match answer {
        Answer::Stats(stats) => stats.summary.arrays,
        _ => None,
    })?;
    // Of arrays of one length the outermost comes first.
    let longest = arrays.into_iter().rev().max_by_key(|row| row.length)?;
    let filter = match filters {
        // In the query `$` would be the document and no longer the element.
        filters if filters.iter().any(|filter| filter.contains('$')) => "…".to_owned(),
        [filter] => expression(filter).to_owned(),
        filters => {
            let each = |filter: &String| format!("({})", expression(filter));
            filters.iter().map(each).collect::<Vec<_>>().join(" && ")
        }
    };
    Some(format!("{}[?{filter}]", longest.path))
}

/// The expression of a filter that may be written `?EXPRESSION` or `[?EXPRESSION]`.
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
        assert_eq!(elements_query(Analysis::new(), &mut long, Some(SEARCHED + 1), &[]), None);
        assert_eq!(elements_query(Analysis::new(), &mut long, None, &[]), None);
    }
}
