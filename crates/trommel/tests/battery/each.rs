//! Nodes of a query as records.

use std::io;

use trommel::groups::{AggregateKind, Group};
use trommel::path::{Order, Query};
use trommel::reader::{Framing, Span, Validation};
use trommel::sampler::Seed;
use trommel::{
    Analysis, Answer, Count, CountAs, Damage, Document, Error, Extract, Match, Measure, Sample, Sink, Stats,
    Strategy,
};
use trommel_testkit::generate::{Random, Shape, stream};
use trommel_testkit::naive;

use crate::support::{Memory, Source, Value, answer_text, cases, nodes, query, sample_of, size};

/// Queries whose nodes are the records, with and without nodes within nodes.
const EACH: [&str; 9] = ["$", "$[*]", "$.a[*]", "$.a", "$[0,0]", "$..a", "$..*", "$[?@.a]", "$['b','a'][*]"];

/// Remembers matches and ends of records, in order.
#[derive(Debug, Default, PartialEq)]
struct Heard(Vec<Option<Value>>);

impl Sink for Heard {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        let mut memory = Memory::located();
        memory.found(found)?;
        self.0.extend(memory.values().into_iter().map(Some));
        Ok(())
    }

    fn damaged(&mut self, _: &Damage) -> io::Result<()> {
        Ok(())
    }

    fn record_ended(&mut self, _: u64) -> io::Result<()> {
        self.0.push(None);
        Ok(())
    }

    fn wants_records(&self) -> bool {
        true
    }

    fn wants_location(&self) -> bool {
        true
    }
}

fn extracts(order: Order) -> Analysis {
    Analysis::new()
        .order(order)
        .extract(query("$.a"))
        .extract(query("$..b"))
        .extract(query("$[?@ == $.a]"))
        .extract(query("$[-1]"))
}

/// Each node is matched like a document of its own, at its place in the whole.
#[test]
fn nodes_are_matched_like_documents() {
    for seed in 0..cases(120, 3_000) {
        let mut random = Random::new(seed);
        let bytes = stream(seed, &Shape::plain(), naive::Framing::Lines, 4);
        let each = query(EACH[random.below(EACH.len())]);
        let order = if random.below(2) == 0 { Order::Rfc } else { Order::Document };
        let validation = if random.below(2) == 0 { Validation::Strict } else { Validation::Structural };
        let mut expected = Heard::default();
        let mut found = nodes(&bytes, Framing::Lines, &each, false);
        found.sort_by_key(|(_, node)| node.span.start);
        for (record, node) in &found {
            let mut own = Heard::default();
            let value = &bytes[node.span.range()];
            extracts(order).run_with(&mut Document::from_bytes(value), &mut own).unwrap();
            expected.0.extend(own.0.into_iter().map(|heard| {
                heard.map(|value| Value {
                    span: Span::new(value.span.start + node.span.start, value.span.end + node.span.start),
                    record: *record,
                    location: value.location.map(|location| format!("{}{}", node.path, &location[1..])),
                    ..value
                })
            }));
        }
        let analysis = extracts(order).each(each.clone()).validation(validation).threads(1 + random.below(2));
        let mut document = Source::pick(seed).document(&bytes, Framing::Lines);
        let mut heard = Heard::default();
        let report = analysis.run_with(&mut document, &mut heard).unwrap();
        assert_eq!(heard, expected, "seed {seed}: {each} in {}", String::from_utf8_lossy(&bytes));
        assert_eq!(report.coverage.records, found.len() as u64);
    }
}

/// A stream of the nodes, whose statistics cover the values alone.
fn stream_of(bytes: &[u8], each: &Query) -> Vec<u8> {
    let mut found = nodes(bytes, Framing::Lines, each, false);
    found.sort_by_key(|(_, node)| node.span.start);
    let text = |(_, node): &(u64, trommel_testkit::evaluate::Node)| bytes[node.span.range()].to_vec();
    found.iter().map(text).collect::<Vec<_>>().join(&b'\n')
}

fn figures() -> Analysis {
    let mut rich = Stats::new();
    (rich.schema, rich.values) = (true, true);
    let mut of_queries = Stats::new();
    of_queries.queries = vec![query("$.a"), query("$..b")];
    let mut tally = Stats::new();
    (tally.per_path, tally.duplicate_names) = (false, false);
    let sample = |strategy| Sample::new(Query::root(), size(3)).strategy(strategy).seed(Seed::new(5));
    Analysis::new()
        .filter(Query::parse_filter("1 == 1").unwrap())
        .count(query("$..a"))
        .group(Group::new().by("a", query("$.a")).aggregate(AggregateKind::Distinct, "b", query("$..b")))
        .ask(Measure::Count(Count::new(Query::root()).count_as(CountAs::NestedTotal)))
        .ask(Measure::Stats(rich))
        .ask(Measure::Stats(of_queries))
        .ask(Measure::Stats(tally))
        .sample(sample(Strategy::Random))
        .sample(sample(Strategy::Stratified(query("$.a"))))
}

/// Counts, samples, and statistics are those of a stream of the nodes.
#[test]
fn figures_are_those_of_a_stream_of_the_nodes() {
    for seed in 0..cases(80, 2_000) {
        let mut random = Random::new(seed);
        let bytes = stream(seed, &Shape::plain(), naive::Framing::Lines, 5);
        let each = query(EACH[random.below(EACH.len())]);
        let nodes = stream_of(&bytes, &each);
        if nodes.is_empty() {
            continue;
        }
        let expected =
            figures().run(&mut Document::from_bytes(nodes).framing(Framing::Concatenated)).unwrap();
        let analysis = figures().each(each.clone()).threads(1 + random.below(3));
        let mut document = Source::pick(seed).document(&bytes, Framing::Lines);
        let report = analysis.run(&mut document).unwrap();
        let figures = |answers: &[Answer]| answers.iter().map(answer_text).collect::<Vec<_>>();
        // Rows appear in the order of their offsets, which differ if nodes lie within nodes.
        if !each.to_string().contains("..") {
            assert_eq!(figures(&report.answers), figures(&expected.answers), "seed {seed}: {each}");
        }
        assert_eq!(report.answers[0].count(), expected.answers[0].count(), "seed {seed}: {each}");
        assert_eq!(sample_of(&report.answers[6]), sample_of(&expected.answers[6]), "seed {seed}: {each}");
        assert_eq!(report.coverage.records, expected.coverage.records);
    }
}

/// A document with one long array of records.
fn long_document() -> Vec<u8> {
    let record = |n: usize| {
        format!(r#"{{"id":{n},"kind":"k{}","tags":["a","b"],"text":"{}"}}"#, n % 5, "x".repeat(n % 90))
    };
    let records: Vec<String> = (0..60_000).map(record).collect();
    format!(r#"{{"meta":{{"a":1}},"data":{{"records":[{}]}},"end":true}}"#, records.join(",")).into_bytes()
}

/// The elements of a long array are divided among threads, with limits, filters, and statistics.
#[test]
fn long_arrays_are_divided_among_threads() {
    let bytes = long_document();
    let each = || query("$.data.records[*]");
    let rare = || Query::parse_filter("@.kind == 'k3'").unwrap();
    let mut values = Stats::new();
    values.values = true;
    let mut of_queries = Stats::new();
    of_queries.queries = vec![query("$.id"), query("$.tags")];
    let limited = |limit| Measure::Extract(Extract::new(query("$.id")).skip(7).limit(limit));
    for analysis in [
        Analysis::new().extract(query("$.id")).extract(query("$..tags")),
        Analysis::new().filter(rare()).extract(query("$.id")),
        Analysis::new().ask(limited(3)),
        Analysis::new().ask(limited(31_234)),
        Analysis::new().filter(rare()).ask(limited(5_000)).count(query("$.tags[*]")),
        Analysis::new().stats(),
        Analysis::new().group(Group::new().by("kind", query("$.kind")).aggregate(
            AggregateKind::Sum,
            "id",
            query("$.id"),
        )),
        Analysis::new().group(Group::new().by("kind", query("$.kind")).max_groups(3).approximate(true)),
        Analysis::new().filter(rare()).ask(Measure::Stats(values)),
        Analysis::new().ask(Measure::Stats(of_queries)),
        Analysis::new().sample(Sample::new(Query::root(), size(20)).seed(Seed::new(3))),
        Analysis::new().ask(Measure::Count(Count::new(Query::root()).limit(20_000))),
    ] {
        for validation in [Validation::Strict, Validation::Structural] {
            let answer = |threads: usize| {
                let mut heard = Heard::default();
                let analysis = analysis.clone().each(each()).threads(threads).validation(validation);
                let report = analysis.run_with(&mut Document::from_bytes(bytes.clone()), &mut heard).unwrap();
                let answers: Vec<String> = report.answers.iter().map(answer_text).collect();
                (heard, answers, report.coverage)
            };
            let one = answer(1);
            for threads in [2, 4] {
                assert_eq!(answer(threads), one, "{analysis:?} on {threads} threads");
            }
        }
    }
}

/// The same values as by path, with the same locations.
#[test]
fn each_equals_the_path() {
    let bytes = long_document();
    let mut by_path = Memory::located();
    let path = Analysis::new().extract(query("$.data.records[?@.kind == 'k1'].id"));
    path.run_with(&mut Document::from_bytes(bytes.clone()), &mut by_path).unwrap();
    let kind = Query::parse_filter("@.kind == 'k1'").unwrap();
    let each = Analysis::new().each(query("$.data.records[*]")).filter(kind).extract(query("$.id"));
    let mut by_node = Memory::located();
    each.run_with(&mut Document::from_bytes(bytes), &mut by_node).unwrap();
    assert_eq!(by_node.values(), by_path.values());
}

#[test]
fn errors_keep_the_location_in_the_whole() {
    let count = Count::new(query("$.b")).count_as(CountAs::ArrayLength);
    let analysis = Analysis::new().each(query("$.a[*]")).ask(Measure::Count(count));
    let error = analysis.run(&mut Document::from_bytes(r#"{"a":[{"b":[1]},{"b":2}]}"#)).unwrap_err();
    assert!(matches!(&error, Error::NotCountable(what) if what.location == "$['a'][1]['b']"), "{error}");
    let broken = analysis.run(&mut Document::from_bytes(r#"{"a":[{"b":[1]},{"b":[}]}"#)).unwrap_err();
    assert!(matches!(broken, Error::Read { .. }), "{broken}");
    // The rest of the document is validated, strictly by default.
    let rest = Analysis::new().each(query("$.a[*]")).count(Query::root());
    assert!(rest.run(&mut Document::from_bytes(r#"{"a":[1,2],"b":tru}"#)).is_err());
}

/// Skipped values are the start of the full answer.
#[test]
fn skipping_leaves_the_rest_of_the_answer() {
    for seed in 0..cases(80, 2_000) {
        let mut random = Random::new(seed);
        let bytes = stream(seed, &Shape::plain(), naive::Framing::Lines, 6);
        let text = ["$..a", "$[*]", "$.a", "$..*"][random.below(4)];
        let order = if random.below(2) == 0 { Order::Rfc } else { Order::Document };
        let all = {
            let mut memory = Memory::located();
            let analysis = Analysis::new().order(order).extract(query(text));
            analysis
                .run_with(&mut Document::from_bytes(bytes.clone()).framing(Framing::Lines), &mut memory)
                .unwrap();
            memory.values()
        };
        let (skip, limit) = (random.below(6), random.below(6));
        let extract = Extract::new(query(text)).skip(skip as u64).limit(limit as u64);
        let mut memory = Memory::located();
        let analysis = Analysis::new().order(order).ask(Measure::Extract(extract));
        let report =
            analysis.run_with(&mut Source::pick(seed).document(&bytes, Framing::Lines), &mut memory).unwrap();
        let expected: Vec<Value> = all.into_iter().skip(skip).take(limit).collect();
        assert_eq!(memory.values(), expected, "seed {seed}: {text} skip {skip} limit {limit}");
        assert_eq!(report.answers[0].count(), Some(expected.len() as u64));
    }
}

/// Ends of records are reported for kept records alone, also from parts on several threads.
#[test]
fn ends_of_records_follow_their_matches() {
    let line = |n: usize| format!("{{\"id\":{n},\"pad\":\"{}\"}}\n", "x".repeat(40));
    let bytes: Vec<u8> = (0..40_000).map(line).collect::<String>().into_bytes();
    let odd = Query::parse_filter("@.id > 39990").unwrap();
    let run = |threads: usize, analysis: Analysis| {
        let mut heard = Heard::default();
        let mut document = Document::from_bytes(bytes.clone()).framing(Framing::Lines);
        analysis.threads(threads).run_with(&mut document, &mut heard).unwrap();
        heard.0
    };
    let all = run(1, Analysis::new().extract(query("$.id")));
    assert_eq!(all.len(), 80_000);
    assert!(all.chunks(2).all(|pair| pair[0].is_some() && pair[1].is_none()));
    assert_eq!(run(4, Analysis::new().extract(query("$.id"))), all);
    let kept = run(4, Analysis::new().filter(odd).extract(query("$.none")));
    assert_eq!(kept, vec![None; 9]);
}

/// A sink that needs the first records only.
#[derive(Debug)]
struct FirstRecords {
    heard: Heard,
    left: u64,
}

impl Sink for FirstRecords {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.heard.found(found)
    }

    fn record_ended(&mut self, record: u64) -> io::Result<()> {
        self.left -= 1;
        self.heard.record_ended(record)
    }

    fn wants_records(&self) -> bool {
        true
    }

    fn records_left(&self) -> Option<u64> {
        Some(self.left)
    }

    fn wants_location(&self) -> bool {
        true
    }
}

/// A sink ends the run after the records that it needs, for any number of threads.
#[test]
fn a_sink_ends_the_run_after_a_record() {
    let long = long_document();
    let lines: Vec<u8> =
        (0..60_000).flat_map(|id| format!("{{\"a\": {id}, \"b\": [1]}}\n").into_bytes()).collect();
    for (bytes, framing, each, total) in [
        (&lines, Framing::Lines, None, 60_000),
        (&lines, Framing::Lines, Some("$.b[*]"), 60_000),
        (&long, Framing::Single, Some("$.data.records[*]"), 60_000),
        (&long, Framing::Single, Some("$..tags"), 60_000),
        (&long, Framing::Single, None, 1),
    ] {
        let analysis = Analysis::new().extract(query("$.a")).extract(query("$.id")).extract(query("$.b[*]"));
        let analysis = each.map_or(analysis.clone(), |each| analysis.each(query(each)));
        let mut all = Heard::default();
        let document = || Document::from_bytes(bytes.clone()).framing(framing);
        analysis.run_with(&mut document(), &mut all).unwrap();
        for (threads, left) in [(1, 0), (1, 1), (4, 5), (4, 31_000), (1, 31_000), (4, 70_000)] {
            let mut first = FirstRecords { heard: Heard::default(), left };
            let report = analysis.clone().threads(threads).run_with(&mut document(), &mut first).unwrap();
            let ends = all.0.iter().enumerate().filter(|(_, heard)| heard.is_none()).map(|(at, _)| at + 1);
            let ended = left.min(total);
            let expected = ends.take(ended as usize).last().unwrap_or(0);
            assert!(first.heard.0 == all.0[..expected], "{each:?} {left} of {total}");
            assert_eq!((report.coverage.records, first.left), (ended, left - ended), "{each:?} {left}");
        }
    }
}

/// Strict validation reads the last needed record to its end, and nothing after it.
#[test]
fn a_run_that_a_sink_ends_is_as_strict_as_any() {
    let run = |text: &str, validation, left| {
        let mut first = FirstRecords { heard: Heard::default(), left };
        let mut document = Document::from_bytes(text).framing(Framing::Lines);
        let analysis = Analysis::new().extract(query("$.a")).validation(validation);
        analysis.run_with(&mut document, &mut first).map(|_| first.left)
    };
    let late = "{\"a\": 1, \"b\": tru}\n{\"a\": 2}\n";
    assert!(run(late, Validation::Strict, 1).is_err());
    assert_eq!(run(late, Validation::Structural, 1).ok(), Some(0));
    let next = "{\"a\": 1, \"b\": true}\n{\"a\": tru}\n";
    assert_eq!(run(next, Validation::Strict, 1).ok(), Some(0));
    assert!(run(next, Validation::Strict, 2).is_err());

    let analysis = Analysis::new().extract(query("$.a"));
    let mut sequence = analysis.sequence().unwrap();
    let mut first = FirstRecords { heard: Heard::default(), left: 2 };
    for text in ["{\"a\": 1}", "{\"a\": 2}\n{\"a\": tru}", "tru"] {
        sequence.run_with(&mut Document::from_bytes(text), &mut first).unwrap();
    }
    assert_eq!((first.left, first.heard.0.len()), (0, 4));
}

/// The origins of sampled values are positions in the whole document.
#[test]
fn origins_of_samples_are_those_of_the_whole_document() {
    let bytes = long_document();
    let mut matches = Memory::located();
    let path = Analysis::new().extract(query("$.data.records[*].tags[*]")).order(Order::Document);
    path.run_with(&mut Document::from_bytes(bytes.clone()), &mut matches).unwrap();
    let matches = matches.values();
    let sample = Sample::new(query("$.tags[*]"), size(30)).origins();
    let analysis = Analysis::new().each(query("$.data.records[*]")).sample(sample).threads(4);
    let report = analysis.run(&mut Document::from_bytes(bytes)).unwrap();
    for item in &sample_of(&report.answers[0]).items {
        let (origin, found) = (item.origin.as_ref().unwrap(), &matches[item.index as usize]);
        assert_eq!((origin.span, Some(&origin.location)), (found.span, found.location.as_ref()));
    }
}
