//! Limits: the first values in the requested order, with no more work than needed to know them.

use std::io::{Cursor, Read};

use trommel::path::{Duplicates, Order, Query};
use trommel::reader::{Framing, Validation};
use trommel::{Analysis, Coverage, Document, Extract, Measure};
use trommel_testkit::generate::{Random, Shape, document};
use trommel_testkit::repeat::Repeat;

use crate::extracts::{Case, case};
use crate::support::{Memory, Source, Value, cases, query};

/// Queries whose order is not that of the input, of every kind.
const SORTED: [&str; 17] = [
    "$..*",
    "$..*..*",
    "$..*.*",
    "$..*..*.*",
    "$..[?@ != 1]",
    "$[1,0]..*",
    "$..['a','b']",
    "$..['b','a']..*",
    "$..[0,?@,'a']",
    "$..[::-1]",
    "$..[-1]",
    "$[::-1]..*",
    "$..[1:]..[0]",
    "$..a..b",
    "$..a",
    "$.*..*",
    "$..[2,1,0]",
];

fn values(analysis: &Analysis, document: &mut Document<'_>, located: bool) -> Vec<Value> {
    let mut memory = Memory { located, ..Memory::default() };
    let report = analysis.run_with(document, &mut memory).unwrap();
    let found = memory.values();
    let counted: u64 = report.answers.iter().filter_map(trommel::Answer::count).sum();
    assert_eq!(counted, found.len() as u64);
    found
}

/// The first values of each query, out of all of them.
fn first(all: &[Value], measure: usize, limit: u64) -> Vec<Value> {
    all.iter().filter(|value| value.measure == measure).take(limit as usize).cloned().collect()
}

fn check(case: &Case, seed: u64) {
    let mut random = Random::new(seed);
    let duplicates = if case.duplicates { Duplicates::All } else { Duplicates::First };
    let order = if random.chance(25) { Order::Document } else { Order::Rfc };
    let located = random.chance(50);
    let validation = [Validation::Strict, Validation::Structural][random.below(2)];
    let base = Analysis::new().duplicates(duplicates).order(order).validation(validation);
    let unlimited = case.queries.iter().cloned().fold(base.clone(), Analysis::extract);
    let mut input = Document::from_bytes(case.text.clone()).framing(case.framing);
    let all = values(&unlimited, &mut input, located);
    for limit in [1, 2, 3, 10, 1 + random.below(40) as u64] {
        let limited = case.queries.iter().cloned().fold(base.clone(), |analysis, query| {
            analysis.ask(Measure::Extract(Extract::new(query).limit(limit)))
        });
        for source in [Source::Bytes, Source::pick(seed)] {
            let found = values(&limited, &mut source.document(&case.text, case.framing), located);
            for (measure, asked) in case.queries.iter().enumerate() {
                let context = format!("seed {seed}, {asked}, limit {limit}, {order:?}, {source:?}");
                assert_eq!(first(&found, measure, u64::MAX), first(&all, measure, limit), "{context}");
            }
        }
    }
}

/// With a limit, the values are the first ones without it, in order, for any queries together.
#[test]
fn limited_values_are_the_first_of_all() {
    for seed in 0..cases(500, 10_000) {
        check(&case(seed), seed);
    }
}

#[test]
fn limited_values_of_sorted_queries_are_the_first_of_all() {
    for seed in 0..cases(40, 1000) {
        let shape = if seed % 3 == 0 { Shape::deep(8) } else { Shape::plain() };
        let text = document(seed, &shape);
        for (number, asked) in SORTED.iter().enumerate() {
            let queries: Vec<Query> = if seed % 5 == 0 {
                vec![query(asked), query(SORTED[seed as usize % SORTED.len()])]
            } else {
                vec![query(asked)]
            };
            let duplicates = seed % 7 == 0;
            let case = Case { text: text.clone(), framing: Framing::Single, queries, duplicates };
            check(&case, seed * 100 + number as u64);
        }
    }
}

const RECORD: &str =
    r#"{"id": 12345, "name": "a name that is some letters long", "tags": ["x", 1, null, {"k": [true]}]}"#;

fn array(bytes: usize) -> String {
    format!("[{}]", vec![RECORD; bytes / (RECORD.len() + 1)].join(","))
}

fn covered(asked: &str, limit: u64, order: Order, text: &str) -> (Coverage, usize) {
    let analysis = Analysis::new()
        .order(order)
        .validation(Validation::Structural)
        .ask(Measure::Extract(Extract::new(query(asked)).limit(limit)));
    let mut memory = Memory::default();
    let report = analysis.run_with(&mut Document::from_bytes(text), &mut memory).unwrap();
    (report.coverage, memory.values().len())
}

/// A run stops as soon as the first values are known.
#[test]
fn a_limited_scan_stops_when_its_values_are_known() {
    let text = array(4 << 20);
    for (asked, order, records) in [
        ("$..*", Order::Rfc, 10),
        ("$..*..*", Order::Rfc, 11),
        ("$..[?@ != 7]", Order::Rfc, 10),
        ("$..tags", Order::Rfc, 10),
        ("$..['name','id']", Order::Rfc, 6),
        ("$[*]..*", Order::Rfc, 3),
        ("$..[0,1,2,3,4,5,6,7,8,9]", Order::Rfc, 10),
        ("$..*", Order::Document, 3),
        ("$..tags..*", Order::Document, 4),
    ] {
        let (coverage, found) = covered(asked, 10, order, &text);
        assert_eq!(found, 10, "{asked}");
        let most = (records + 1) * (RECORD.len() as u64 + 1);
        assert!(coverage.bytes_read <= most && !coverage.complete, "{asked}, {order:?}: {coverage:?}");
    }
    // Inside the first value, which is needed as a whole, nothing more is searched.
    let (coverage, found) = covered("$..*", 1, Order::Rfc, &format!("[{text},{text}]"));
    assert_eq!((found, coverage.bytes_read), (1, text.len() as u64 + 1));
    // A reader is read no further, either.
    let reader = Repeat::records(RECORD, 1 << 30);
    let mut document = Document::from_reader(reader);
    let asked = Measure::Extract(Extract::new(query("$.data.records[*]..k")).limit(5));
    let coverage =
        Analysis::new().validation(Validation::Structural).ask(asked).run(&mut document).unwrap().coverage;
    assert!(coverage.bytes_read < 1 << 20, "{coverage:?}");
}

/// Values that cannot be among the first are skipped. A later member may still precede the contents
/// of an earlier one, so the whole object is read, at the speed of skipping.
#[test]
fn skips_values_that_cannot_be_among_the_first() {
    let text = format!("{{\"a\": {}, \"b\": 1}}", array(32 << 20));
    let time = |asked: &str, limit| {
        let started = std::time::Instant::now();
        let (coverage, found) = covered(asked, limit, Order::Rfc, &text);
        assert!(found as u64 == limit.min(found as u64) && coverage.bytes_read >= text.len() as u64 - 1);
        started.elapsed()
    };
    let (all, first) = (time("$..*", 10_000_000), time("$..*", 10));
    assert!(first * 4 < all, "{first:?} of {all:?}");
}

/// A pipe gives the same values as a file.
#[test]
fn limits_on_a_pipe_are_those_on_a_file() {
    let text = format!("{{\"a\": {}, \"b\": 1}}", array(300_000));
    for asked in SORTED {
        let analysis = Analysis::new().ask(Measure::Extract(Extract::new(query(asked)).limit(25)));
        let expected = values(&analysis, &mut Document::from_bytes(text.clone()), true);
        let reader = Cursor::new(text.clone().into_bytes()).chain(Cursor::new(b"\n".to_vec()));
        assert_eq!(values(&analysis, &mut Document::from_reader(reader), true), expected, "{asked}");
    }
}
