//! Strings of JSON, compared with a naive search of parsed documents.

use trommel::path::{Duplicates, Query};
use trommel::reader::{Framing, Text};
use trommel_search::{PatternMatch, SearchContent};
use trommel_testkit::effort::cases;
use trommel_testkit::evaluate;
use trommel_testkit::generate::{self, Layout, Random, Shape, damage, document, stream};
use trommel_testkit::naive::{self as parsed, Data, Document, ValueId};

use crate::naive::{self, NaivePattern, Size};
use crate::support::{SlowSource, random_pattern, run, search, value};

/// A match: path, record, offset, and text.
pub(crate) type Row = (Option<String>, Option<u64>, u64, String);

fn row(found: &PatternMatch) -> Row {
    let (path, record) = value(found);
    (path.map(str::to_owned), record, found.offset, found.text.clone())
}

/// Returns the offset in the input of a character of a string that starts at `start`.
fn raw_offset(text: &[u8], start: usize, decoded: &str, at: usize) -> u64 {
    // The characters before it, decoded one by one.
    let mut offset = start + 1;
    for c in decoded[..at].chars() {
        let rest = &text[offset..];
        let length = if rest[0] != b'\\' {
            c.len_utf8()
        } else if rest[1] == b'u' {
            c.len_utf16() * 6
        } else {
            2
        };
        assert!(Text::from_raw(&rest[..length], true).decode().starts_with(c));
        offset += length;
    }
    offset as u64
}

/// The strings of a document to search, in document order.
fn strings(document: &Document, within: Option<&Query>) -> Vec<ValueId> {
    let all = document.ids().filter(|&id| matches!(document[id].data, Data::String(_)));
    let Some(query) = within else { return all.collect() };
    let nodes = evaluate::evaluate(document, query.segments(), evaluate::Duplicates::All);
    let nodes: Vec<_> = nodes.iter().map(|node| document[node.value].span).collect();
    let is_within = |id: &ValueId| {
        let span = document[*id].span;
        nodes.iter().any(|node| node.start <= span.start && span.end <= node.end)
    };
    all.filter(is_within).collect()
}

/// The options of a comparison.
pub(crate) struct Case<'c> {
    pub(crate) pattern: &'c NaivePattern,
    pub(crate) size: Size,
    pub(crate) within: Option<&'c Query>,
}

impl Case<'_> {
    pub(crate) fn rows(&self, text: &[u8], document: &Document, record: Option<u64>) -> Vec<Row> {
        let compiled = self.pattern.compile();
        let mut rows = Vec::new();
        for id in strings(document, self.within) {
            let Data::String(decoded) = &document[id].data else { continue };
            for found in naive::matches(&compiled, decoded.as_bytes(), self.size) {
                let start = document[id].span.start as usize;
                let offset = raw_offset(text, start, decoded, found.at);
                rows.push((Some(document.path(id)), record, offset, found.text));
            }
        }
        rows
    }

    pub(crate) fn check(&self, text: &[u8], framing: Framing, expected: &[Row], random: &mut Random) {
        let mut search = search(self.pattern, self.size);
        if let Some(query) = self.within {
            search = search.within(query.clone(), Duplicates::All);
        }
        let small = [vec![1, 5], vec![4096, 1], vec![100_000]];
        let sizes = if text.len() > 100_000 { vec![100_000, 77] } else { small[random.below(3)].clone() };
        for page in [usize::MAX, random.between(1, 3)] {
            let source = SlowSource(text, sizes.clone());
            let found = run(&search, &source, SearchContent::Json(framing), page);
            let found: Vec<Row> = found.iter().map(row).collect();
            let Self { pattern, size, .. } = self;
            let query = self.within.map(ToString::to_string);
            let shown = String::from_utf8_lossy(text);
            assert_eq!(found, expected, "{pattern:?} {size:?} {query:?} page {page} in {shown}");
        }
    }
}

fn random_size(random: &mut Random) -> Size {
    let around = random.chance(40).then(|| random.below(5));
    Size { max_chars: random.between(10, 20), around }
}

fn random_shape(random: &mut Random) -> Shape {
    let mut shape = Shape { values: random.between(1, 60), ..Shape::default() };
    shape.layout = [Layout::Compact, Layout::Pretty, Layout::Random][random.below(3)];
    shape.duplicates = random.chance(10);
    shape
}

#[test]
fn strings_with_a_match_are_those_of_a_naive_search() {
    for seed in 0..cases(2_000, 200_000) {
        let mut random = Random::new(seed);
        let text = document(seed, &random_shape(&mut random));
        let (pattern, size) = (random_pattern(&mut random), random_size(&mut random));
        let tree = parsed::parse(&text).unwrap();
        let options = generate::QueryOptions::default();
        let query = random.chance(40).then(|| generate::query(seed, &tree, &options));
        let query: Option<Query> = query.map(|query| query.parse().unwrap());
        let case = Case { pattern: &pattern, size, within: query.as_ref() };
        case.check(&text, Framing::Single, &case.rows(&text, &tree, None), &mut random);
    }
}

#[test]
fn records_are_searched_like_documents() {
    for seed in 0..cases(1_000, 100_000) {
        let mut random = Random::new(seed);
        let shape = Shape { values: 12, ..random_shape(&mut random) };
        let (framing, kind) = [
            (Framing::Lines, parsed::Framing::Lines),
            (Framing::JsonSeq, parsed::Framing::JsonSeq),
            (Framing::Concatenated, parsed::Framing::Concatenated),
        ][random.below(3)];
        let text = stream(seed, &shape, kind, random.between(1, 8));
        let (pattern, size) = (random_pattern(&mut random), random_size(&mut random));
        let case = Case { pattern: &pattern, size, within: None };
        let records = parsed::records(&text, kind);
        let rows = records
            .iter()
            .zip(0..)
            .flat_map(|(record, number)| case.rows(&text, record.outcome.as_ref().unwrap(), Some(number)));
        let rows: Vec<Row> = rows.collect();
        case.check(&text, framing, &rows, &mut random);
    }
}

#[test]
fn malformed_lines_are_searched_as_text() {
    for seed in 0..cases(1_000, 100_000) {
        let mut random = Random::new(seed);
        let shape = Shape { values: 12, ..random_shape(&mut random) };
        let text = stream(seed, &shape, parsed::Framing::Lines, random.between(1, 8));
        let text = damage(seed, &text);
        let (pattern, size) = (random_pattern(&mut random), random_size(&mut random));
        let case = Case { pattern: &pattern, size, within: None };
        let compiled = pattern.compile();
        let records = parsed::records(&text, parsed::Framing::Lines);
        let malformed = |record: &parsed::Record, number| {
            let line = &text[record.span.range()];
            let has_end = text.len() as u64 > record.span.end;
            let line = if has_end { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
            let found = naive::matches(&compiled, line, size).into_iter();
            let offset = |at: usize| record.span.start + at as u64;
            found.map(|found| (None, Some(number), offset(found.at), found.text)).collect()
        };
        let rows = records.iter().zip(0..).flat_map(|(record, number)| match &record.outcome {
            Ok(document) => case.rows(&text, document, Some(number)),
            Err(_) => malformed(record, number),
        });
        let rows: Vec<Row> = rows.collect();
        case.check(&text, Framing::Lines, &rows, &mut random);
    }
}
