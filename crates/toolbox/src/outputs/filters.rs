//! Filters on records: what to suggest when they keep nothing of a single document.

use trommel::{Analysis, Answer, Document, Measure, Report, Stats};

/// Bytes of a document that are read to find its longest array.
const SEARCHED: u64 = 256 << 20;

/// True if the input is one document, and its filters dropped it.
pub fn dropped_document(report: &Report) -> bool {
    let coverage = &report.coverage;
    (coverage.records, coverage.dropped_records, coverage.bad_records) == (1, 1, 0)
}

/// Returns the query that applies filters on records to the elements of a document's longest array: `$.data[?@.level == "error"]`.
///
/// `analysis` has no measure yet. Returns nothing where the document has no array, is longer than some hundred MiB, or cannot be
/// read a second time.
pub fn elements_query(analysis: Analysis, document: &mut Document, filters: &[String]) -> Option<String> {
    if !document.is_repeatable() || document.len().is_none_or(|length| length > SEARCHED) {
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
        elements_query(Analysis::new(), &mut Document::from_bytes(document), &filters)
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
        assert_eq!(elements_query(Analysis::new(), &mut { pipe }, &[]), None);
    }
}
