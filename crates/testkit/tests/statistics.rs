//! Compares the naive statistics with independent counts.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::collections::{BTreeMap, BTreeSet};
use trommel_testkit::conformance::{self, Figures};
use trommel_testkit::naive::{Data, Document, Framing, Kind, Span, records};
use trommel_testkit::statistics::{containers, path_values, size, structure};

#[test]
fn figures_of_real_documents() {
    let Some(root) = conformance::root() else { return };
    let all = conformance::figures(&root);
    assert_eq!(all.len(), 28);
    all.iter().for_each(check);
}

fn check(figures: &Figures) {
    let name = figures.path.display();
    let text = std::fs::read(&figures.path).unwrap();
    let framing = if figures.records.is_some() { Framing::Lines } else { Framing::Single };
    let (spans, documents): (Vec<Span>, Vec<Document>) =
        records(&text, framing).into_iter().map(|record| (record.span, record.outcome.unwrap())).unzip();
    let population: Vec<_> = documents.iter().map(|document| (document, document.root())).collect();

    let found = structure(&population);
    assert_eq!(size(&text).bytes, figures.bytes, "{name}");
    assert_eq!(found.types, figures.kinds, "{name}");
    assert_eq!((found.total_values, found.total_keys), (figures.values, figures.members), "{name}");
    // The suite counts open containers, while we count values. That is one more, unless the deepest
    // container is empty.
    assert!([figures.open_containers, figures.open_containers + 1].contains(&found.max_depth), "{name}");
    if figures.records.is_some() {
        assert_eq!(figures.records, Some(documents.len() as u64), "{name}");
        let longest = spans.iter().map(|span| span.end - span.start).max();
        assert_eq!(figures.longest_record_bytes, longest, "{name}");
    } else {
        check_document(figures, &documents[0]);
    }

    let rows = containers(&population, u32::MAX);
    let total = |kind| rows.iter().filter(|row| row.kind == kind).map(|row| row.total).sum::<u64>();
    assert_eq!(total(Kind::Object), figures.members, "{name}");
    assert_eq!(total(Kind::Object) + total(Kind::Array) + documents.len() as u64, figures.values, "{name}");
    let by_path = path_values(&population);
    let mut kinds: BTreeMap<Kind, u64> = BTreeMap::new();
    for row in &by_path {
        row.kinds.iter().for_each(|(&kind, count)| *kinds.entry(kind).or_default() += count);
        let kept: u64 = row
            .kinds
            .iter()
            .filter(|(kind, _)| **kind != Kind::Array && **kind != Kind::Object)
            .map(|(_, count)| count)
            .sum();
        assert_eq!(row.scalars.iter().map(|(_, count)| count).sum::<u64>(), kept, "{name} {}", row.path);
    }
    assert_eq!(kinds, figures.kinds, "{name}");
    let trues = |row: &(Data, u64)| if row.0 == Data::Bool(true) { row.1 } else { 0 };
    assert_eq!(
        by_path.iter().flat_map(|row| row.scalars.iter().map(trues)).sum::<u64>(),
        figures.trues,
        "{name}"
    );
}

fn check_document(figures: &Figures, document: &Document) {
    let name = figures.path.display();
    let mut names: BTreeMap<&str, u64> = BTreeMap::new();
    for id in document.ids() {
        document.members(id).iter().for_each(|member| *names.entry(&member.name).or_default() += 1);
    }
    assert_eq!(figures.distinct_names, Some(names.len() as u64), "{name}");
    for (top, count) in &figures.top_names {
        assert_eq!(names[top.as_str()], *count, "{name} {top}");
    }
    let rows = containers(&[(document, document.root())], u32::MAX);
    let longest = rows.iter().filter(|row| row.kind == Kind::Array).map(|row| row.max).max();
    assert_eq!(figures.longest_array, Some(longest.unwrap_or(0)), "{name}");
    let string = |data: &Data| if let Data::String(text) = data { text.len() as u64 } else { 0 };
    let longest = document.ids().map(|id| string(&document[id].data)).max();
    assert_eq!(figures.longest_string_bytes, longest, "{name}");
    let paths: BTreeSet<_> = rows.iter().map(|row| (&row.path, row.kind)).collect();
    assert_eq!(paths.len(), rows.len(), "{name}: one row a path and kind");
}
