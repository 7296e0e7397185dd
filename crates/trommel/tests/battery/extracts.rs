//! Extraction: the values, their order, and their metadata.

use std::io;

use trommel::path::{Duplicates, Order};
use trommel::reader::{Backend, Framing, Validation};
use trommel::{Analysis, Document, Error, Extract, Match, Measure};
use trommel_testkit::evaluate::Node;
use trommel_testkit::generate::{self, QueryOptions, Random, Shape, document, stream};
use trommel_testkit::naive::parse;

use crate::support::{Source, Value, cases, nodes, query, run, texts, values};

/// The case of a seed: an input, its framing, and some queries that are likely to match.
pub(crate) struct Case {
    pub(crate) text: Vec<u8>,
    pub(crate) framing: Framing,
    pub(crate) queries: Vec<trommel::path::Query>,
    pub(crate) duplicates: bool,
}

pub(crate) fn case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let duplicates = random.chance(25);
    let shape = match random.below(4) {
        0 => Shape { duplicates, ..Shape::default() },
        1 => Shape { duplicates, ..Shape::deep(30) },
        _ => Shape { duplicates, ..Shape::plain() },
    };
    let framings = [Framing::Single, Framing::Lines, Framing::JsonSeq, Framing::Concatenated];
    let framing = framings[random.weighted(&[3, 2, 1, 1])];
    let text = match framing {
        Framing::Single => document(seed, &shape),
        _ => stream(seed, &shape, crate::support::naive_framing(framing), random.between(1, 6)),
    };
    let records = trommel_testkit::naive::records(&text, crate::support::naive_framing(framing));
    let tree = records[0].outcome.clone().unwrap();
    let wishes = QueryOptions::default();
    let query = |number| query(&generate::query(seed * 7 + number, &tree, &wishes));
    let queries = (0..random.between(1, 4) as u64).map(query).collect();
    Case { text, framing, queries, duplicates }
}

fn analysis(case: &Case) -> Analysis {
    let duplicates = if case.duplicates { Duplicates::All } else { Duplicates::First };
    case.queries.iter().cloned().fold(Analysis::new().duplicates(duplicates), Analysis::extract)
}

/// R4, R1: each query's values are in RFC 9535 order, with span, record, and normalized path, for
/// every kind of input.
#[test]
fn values_are_those_of_the_oracle_in_rfc_order() {
    for seed in 0..cases(700, 10_000) {
        let case = case(seed);
        let backends: Vec<_> = Backend::available().collect();
        let analysis = analysis(&case)
            .backend(backends[seed as usize % backends.len()])
            .window([16, 64, 1 << 16][seed as usize % 3])
            .validation([Validation::Strict, Validation::Structural][seed as usize % 2]);
        let mut expected = Vec::new();
        for (measure, query) in case.queries.iter().enumerate() {
            let nodes = nodes(&case.text, case.framing, query, case.duplicates);
            expected.push(values(&case.text, measure, &nodes));
        }
        for source in [Source::Bytes, Source::pick(seed)] {
            let (report, memory) = run(&analysis, &mut source.document(&case.text, case.framing)).unwrap();
            for (measure, expected) in expected.iter().enumerate() {
                let found: Vec<Value> =
                    memory.values().into_iter().filter(|value| value.measure == measure).collect();
                assert_eq!(found, *expected, "seed {seed} {source:?} {}", case.queries[measure]);
                assert_eq!(report.answers[measure].count(), Some(expected.len() as u64));
            }
        }
    }
}

/// The values of all queries together are in the order in which they begin; at equal offsets, in
/// the order of the queries.
#[test]
fn values_are_those_of_the_oracle_in_document_order() {
    for seed in 0..cases(500, 10_000) {
        let case = case(seed);
        let analysis = analysis(&case).order(Order::Document);
        let mut expected = Vec::new();
        for (measure, query) in case.queries.iter().enumerate() {
            let nodes: Vec<(u64, Node)> = nodes(&case.text, case.framing, query, case.duplicates);
            expected.extend(values(&case.text, measure, &nodes));
        }
        expected.sort_by_key(|value| (value.span.start, value.measure));
        for source in [Source::Bytes, Source::pick(seed + 1)] {
            let (_, memory) = run(&analysis, &mut source.document(&case.text, case.framing)).unwrap();
            assert_eq!(memory.values(), expected, "seed {seed} {source:?} {:?}", case.queries);
        }
    }
}

/// A limit emits the first `n` values of each query. Nothing is emitted after the last of them.
#[test]
fn limits_apply_to_each_query() {
    for seed in 0..cases(300, 2000) {
        let case = case(seed);
        for order in [Order::Rfc, Order::Document] {
            let mut analysis = Analysis::new().order(order);
            if case.duplicates {
                analysis = analysis.duplicates(Duplicates::All);
            }
            let mut expected = Vec::new();
            for (measure, query) in case.queries.iter().enumerate() {
                let limit = (seed + measure as u64) % 4;
                analysis = analysis.ask(Measure::Extract(Extract::new(query.clone()).limit(limit)));
                let mut nodes = nodes(&case.text, case.framing, query, case.duplicates);
                if order == Order::Document {
                    nodes.sort_by_key(|(_, node)| node.span.start);
                }
                nodes.truncate(limit as usize);
                expected.push(values(&case.text, measure, &nodes));
            }
            let (report, memory) =
                run(&analysis, &mut Source::pick(seed).document(&case.text, case.framing)).unwrap();
            for (measure, expected) in expected.iter().enumerate() {
                let found: Vec<Value> =
                    memory.values().into_iter().filter(|value| value.measure == measure).collect();
                assert_eq!(found, *expected, "seed {seed} {}", case.queries[measure]);
                assert_eq!(report.answers[measure].count(), Some(expected.len() as u64));
            }
        }
    }
}

#[test]
fn reports_only_what_the_sink_requests() {
    let mut located = Vec::new();
    let analysis = Analysis::new().extract(query("$..a"));
    let mut sink = |found: &Match<'_>| {
        located.push(found.location.is_some());
        Ok(())
    };
    analysis.run_with(&mut Document::from_bytes(r#"{"a": {"a": 1}}"#), &mut sink).unwrap();
    assert_eq!(located, [false, false]);
}

/// A node that a query selects several times is emitted that many times; a limit ends that at once.
#[test]
fn limits_apply_to_repeated_selections() {
    let often = |depth: usize| query(&format!("${}", "[0,0]".repeat(depth)));
    let text = |depth: usize| format!("{}7{}", "[".repeat(depth), "]".repeat(depth));
    for (order, depth) in [(Order::Document, 60), (Order::Rfc, 10)] {
        let limited = Measure::Extract(Extract::new(often(depth)).limit(5));
        assert_eq!(texts(&Analysis::new().order(order).ask(limited), text(depth)), ["7"; 5]);
    }
    assert_eq!(texts(&Analysis::new().extract(often(3)), text(3)), ["7"; 8]);
    assert_eq!(texts(&Analysis::new().order(Order::Document).extract(often(3)), text(3)), ["7"; 8]);
}

/// A value is emitted as soon as possible, verbatim: here, before the reader has returned the rest.
#[test]
fn emits_the_first_match_before_a_pipe_ends() {
    struct Slow {
        left: Vec<&'static [u8]>,
        seen: std::sync::Arc<std::sync::atomic::AtomicUsize>,
    }
    impl io::Read for Slow {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            use std::sync::atomic::Ordering;
            let Some(next) = self.left.first().copied() else { return Ok(0) };
            if self.left.len() == 1 {
                assert!(self.seen.load(Ordering::Relaxed) > 0, "a value was found before the last read");
            }
            let count = next.len().min(into.len());
            into[..count].copy_from_slice(&next[..count]);
            self.left[0] = &next[count..];
            self.left.retain(|piece| !piece.is_empty());
            Ok(count)
        }
    }
    for (text, order) in [("$.a[*]", Order::Rfc), ("$..b", Order::Document)] {
        let seen = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let slow = Slow { left: vec![br#"{"a": [{"b": 1}, {"#, br#""b": 2}]}"#], seen: seen.clone() };
        let analysis = Analysis::new().order(order).extract(query(text));
        let mut sink = |_: &Match<'_>| {
            seen.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            Ok(())
        };
        analysis.run_with(&mut Document::from_reader(slow), &mut sink).unwrap();
        assert_eq!(seen.load(std::sync::atomic::Ordering::Relaxed), 2);
    }
}

#[test]
fn an_error_of_the_sink_ends_the_run() {
    let analysis = Analysis::new().extract(query("$..*"));
    let mut left = 3;
    let mut sink = |_: &Match<'_>| {
        left -= 1;
        if left == 0 { Err(io::Error::new(io::ErrorKind::StorageFull, "no space left")) } else { Ok(()) }
    };
    let error = analysis.run_with(&mut Document::from_bytes("[[1, 2], [3, 4]]"), &mut sink).unwrap_err();
    assert!(matches!(&error, Error::Output(cause) if cause.kind() == io::ErrorKind::StorageFull), "{error}");
    assert_eq!((left, error.to_string()), (0, "cannot write: no space left".to_owned()));
}

#[test]
fn values_decode_into_types() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Book {
        title: String,
        price: f64,
    }
    let text =
        r#"{"books": [{"title": "A \u00e9", "price": 8.95, "more": []}, {"title": "B", "price": 1e1}]}"#;
    let (mut books, mut scratch) = (Vec::new(), Vec::new());
    let mut sink = |found: &Match<'_>| {
        books.push(found.decode::<Book>(&mut scratch).map_err(io::Error::other)?);
        Ok(())
    };
    let analysis = Analysis::new().extract(query("$.books[*]"));
    analysis.run_with(&mut Document::from_bytes(text), &mut sink).unwrap();
    assert_eq!(books[0], Book { title: "A é".into(), price: 8.95 });
    assert_eq!(books[1], Book { title: "B".into(), price: 10.0 });
    let wrong = |found: &Match<'_>| found.decode::<u8>(&mut Vec::new()).map(drop).map_err(io::Error::other);
    assert!(analysis.run_with(&mut Document::from_bytes(text), &mut { wrong }).is_err());
}

/// Random queries and documents, so that the generator's habits do not hide a fault.
#[test]
fn the_orders_of_the_specification() {
    let text = r#"{"a":[1],"b":2}"#;
    assert_eq!(texts(&Analysis::new().extract(query("$..*")), text), ["[1]", "2", "1"]);
    let document = Analysis::new().order(Order::Document);
    assert_eq!(texts(&document.clone().extract(query("$..*")), text), ["[1]", "1", "2"]);
    let text = "[10, 11, 12]";
    assert_eq!(texts(&Analysis::new().extract(query("$[2,0]")), text), ["12", "10"]);
    assert_eq!(texts(&document.clone().extract(query("$[2,0]")), text), ["10", "12"]);
    assert_eq!(texts(&Analysis::new().extract(query("$[::-1]")), text), ["12", "11", "10"]);
    assert_eq!(texts(&document.extract(query("$[-1]")), text), ["12"]);
    assert!(parse(text.as_bytes()).is_ok());
}
