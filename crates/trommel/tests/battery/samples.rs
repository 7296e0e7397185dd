//! Samples: the right candidates, and the same ones for every kind of input.

use std::num::NonZeroU64;

use trommel::path::{Duplicates, Order, Query};
use trommel::reader::{Backend, Framing, Kind, Validation};
use trommel::sampler::{Seed, allot, systematic_indices, winners, winners_within};
use trommel::{Analysis, Document, Error, Sample, SampleAnswer, Strategy};
use trommel_testkit::generate::{self, QueryOptions, Random, Shape, stream};
use trommel_testkit::naive;

use crate::support::{Memory, Source, cases, naive_framing, nodes, query, sample_of, size};

/// The population of a query, in document order: the bytes of each candidate.
fn population(text: &[u8], framing: Framing, query: &Query) -> Vec<Vec<u8>> {
    let is_stream = framing != Framing::Single && framing != Framing::Auto;
    let is_first_array = selected(text, framing, query).first().is_none_or(|node| node.starts_with(b"["));
    let samples_nodes = is_stream && (query.segments().iter().len() == 0 || !is_first_array);
    let elements = query.is_singular() && !samples_nodes;
    let elements_of = elements.then(|| query.clone().with_wildcard());
    selected(text, framing, elements_of.as_ref().unwrap_or(query))
}

/// The nodes of a query, in document order.
fn selected(text: &[u8], framing: Framing, query: &Query) -> Vec<Vec<u8>> {
    let mut nodes = nodes(text, framing, query, false);
    nodes.sort_by_key(|(_, node)| node.span.start);
    nodes.iter().map(|(_, node)| text[node.span.range()].to_vec()).collect()
}

fn draw(sample: Sample, document: &mut Document<'_>) -> Result<SampleAnswer, Error> {
    let report = Analysis::new().sample(sample).run(document)?;
    Ok(sample_of(&report.answers[0]).clone())
}

fn indices(answer: &SampleAnswer) -> Vec<u64> {
    answer.items.iter().map(|item| item.index).collect()
}

fn values(answer: &SampleAnswer) -> Vec<String> {
    answer.items.iter().map(|item| String::from_utf8(item.value.clone()).unwrap()).collect()
}

fn check(answer: &SampleAnswer, population: &[Vec<u8>], expected: &[u64], note: &str) {
    assert_eq!(answer.total, population.len() as u64, "{note}");
    assert_eq!(indices(answer), expected, "{note}");
    for item in &answer.items {
        assert_eq!(item.value, population[item.index as usize], "{note} item {}", item.index);
    }
}

/// The indices that a strategy draws from a population of this size, by arithmetic.
fn expected(strategy: &Strategy, seed: Seed, count: usize, total: u64) -> Vec<u64> {
    let most = (count as u64).min(total);
    match strategy {
        Strategy::Random => winners(seed, size(count), total),
        Strategy::First => (0..most).collect(),
        Strategy::Last => (total - most..total).collect(),
        Strategy::Systematic(None) => systematic_indices(size(count), total).collect(),
        Strategy::Systematic(Some(stride)) => (0..total).step_by(stride.get() as usize).take(count).collect(),
        _ => panic!("this strategy needs more than arithmetic"),
    }
}

fn strategies(random: &mut Random) -> Vec<Strategy> {
    let stride = NonZeroU64::new(random.between(1, 5) as u64);
    vec![
        Strategy::Random,
        Strategy::First,
        Strategy::Last,
        Strategy::Systematic(None),
        Strategy::Systematic(stride),
    ]
}

/// R33: a sample depends on the seed and the population alone, not on the kind of input, the
/// window, the backend, or the validation.
#[test]
fn samples_are_those_of_the_arithmetic_on_any_input() {
    let mut arrays = 0;
    for seed in 0..cases(250, 5000) {
        let mut random = Random::new(seed);
        let framing = [Framing::Single, Framing::Lines, Framing::JsonSeq, Framing::Concatenated]
            [random.weighted(&[4, 2, 1, 1])];
        let shape = Shape { width: 30, values: 120, ..Shape::plain() };
        let text = stream(seed, &shape, naive_framing(framing), random.between(1, 12));
        let first = naive::records(&text, naive_framing(framing))[0].outcome.clone().unwrap();
        let asked = match random.below(4) {
            0 => Query::root(),
            1 => query("$..a"),
            _ => query(&generate::query(seed, &first, &QueryOptions::default())),
        };
        let candidates = population(&text, framing, &asked);
        let backends: Vec<_> = Backend::available().collect();
        for strategy in strategies(&mut random) {
            let (count, key) = (random.between(1, 9), Seed::new(seed));
            let sample = Sample::new(asked.clone(), size(count)).seed(key).strategy(strategy.clone());
            let note = format!("seed {seed} {framing:?} {asked} {strategy:?}");
            for source in [Source::Bytes, Source::pick(random.bits())] {
                let report = Analysis::new()
                    .sample(sample.clone())
                    .backend(backends[random.below(backends.len())])
                    .window([16, 65, 1 << 16][random.below(3)])
                    .validation([Validation::Strict, Validation::Structural][random.below(2)])
                    .run(&mut source.document(&text, framing));
                match report {
                    Ok(report) => {
                        let drawn = expected(&strategy, key, count, candidates.len() as u64);
                        check(sample_of(&report.answers[0]), &candidates, &drawn, &note);
                        arrays += usize::from(asked.is_singular());
                    }
                    // A singular query selected a value that is not an array.
                    Err(Error::NotAnArray { kind, .. }) => {
                        assert!(asked.is_singular() && kind != Kind::Array, "{note}");
                    }
                    Err(Error::MixedPopulation { .. }) => {
                        let nodes = selected(&text, framing, &asked);
                        let arrays = nodes.iter().filter(|node| node.starts_with(b"[")).count();
                        assert!(asked.is_singular() && (1..nodes.len()).contains(&arrays), "{note}");
                    }
                    Err(error) => panic!("{note}: {error}"),
                }
            }
        }
    }
    assert!(arrays > 50, "arrays were sampled: {arrays}");
}

/// R33: the same sample for any number of threads.
#[test]
fn threads_draw_the_same() {
    let pad = "x".repeat(120);
    let lines: Vec<String> =
        (0..40_000).map(|id| format!("{{\"id\": {id}, \"pad\": \"{pad}\"}}\n")).collect();
    let text = lines.concat();
    let mut drawn = Vec::new();
    for threads in [1, 2, 8] {
        let sample = Sample::new(query("$"), size(50)).seed(Seed::new(9));
        let analysis = Analysis::new().sample(sample).threads(threads);
        let report = analysis.run(&mut Document::from_bytes(text.clone()).framing(Framing::Lines)).unwrap();
        drawn.push(sample_of(&report.answers[0]).clone());
    }
    assert_eq!(indices(&drawn[0]), winners(Seed::new(9), size(50), 40_000));
    assert!(drawn.iter().all(|other| *other == drawn[0]));
}

/// The origin of an item is that of the match with its index, in a document and in a stream, for
/// any number of threads.
#[test]
fn origins_are_those_of_the_matches() {
    let pad = "x".repeat(300);
    let item = |id: usize| format!("{{\"id\": {id}, \"tags\": [\"{pad}\", {id}]}}");
    let items: Vec<String> = (0..8_000).map(item).collect();
    let lines = items.join("\n");
    let document = format!("{{\"items\": [{}]}}", items.join(", "));
    let mut without = 0;
    for (text, framing, asked) in [
        (&lines, Framing::Lines, "$"),
        (&lines, Framing::Lines, "$.tags[*]"),
        (&document, Framing::Single, "$.items"),
        (&document, Framing::Single, "$.items[*].tags[1]"),
    ] {
        let population = match asked {
            "$.items" => query("$.items[*]"),
            other => query(other),
        };
        let mut memory = Memory::located();
        let extraction = Analysis::new().extract(population).order(Order::Document);
        let source = Source::Bytes;
        extraction.run_with(&mut source.document(text.as_bytes(), framing), &mut memory).unwrap();
        let matches = memory.values();
        for strategy in [Strategy::Random, Strategy::Last, Strategy::Systematic(None)] {
            for (threads, source) in [(1, Source::Bytes), (4, Source::Bytes), (1, Source::pick(3))] {
                let sample = Sample::new(query(asked), size(20)).strategy(strategy.clone());
                let run = |sample: Sample| {
                    let analysis = Analysis::new().sample(sample).threads(threads);
                    let report = analysis.run(&mut source.document(text.as_bytes(), framing)).unwrap();
                    sample_of(&report.answers[0]).clone()
                };
                let mut located = run(sample.clone().origins());
                for item in &mut located.items {
                    let origin = item.origin.take().unwrap();
                    let found = &matches[item.index as usize];
                    assert_eq!((origin.span, origin.record), (found.span, found.record), "{asked}");
                    assert_eq!(Some(origin.location), found.location, "{asked}");
                }
                let plain = run(sample);
                without += plain.items.iter().filter(|item| item.origin.is_none()).count();
                assert_eq!(located, plain);
            }
        }
    }
    assert_eq!(without, 4 * 3 * 3 * 20);
}

#[test]
fn origins_name_the_document_of_a_sequence() {
    let analysis = Analysis::new().sample(Sample::new(query("$.a"), size(9)).origins());
    let mut sequence = analysis.sequence().unwrap();
    for text in ["{\"a\": [1]}\n{\"a\": [2, 3]}", "{\"b\": 4}", "{\"a\": [5]}"] {
        sequence.run(&mut Document::from_bytes(text)).unwrap();
    }
    let report = sequence.finish().unwrap();
    let origin = |item: &trommel::SampleItem| {
        let origin = item.origin.clone().unwrap();
        (origin.document, origin.record, origin.location, origin.span.start)
    };
    let origins: Vec<_> = sample_of(&report.answers[0]).items.iter().map(origin).collect();
    let at = |document, record, index: u64, start| (document, record, format!("$['a'][{index}]"), start);
    assert_eq!(origins, [at(0, 0, 0, 7), at(0, 1, 0, 18), at(0, 1, 1, 21), at(2, 0, 0, 7)]);
}

#[test]
fn strata_have_their_shares() {
    for seed in 0..cases(60, 500) {
        let mut random = Random::new(seed);
        let labels = ["\"west\"", "\"east\"", "[1,  2]", "null", ""];
        let items: Vec<(usize, String)> = (0..random.between(1, 80))
            .map(|number| {
                let label = random.weighted(&[8, 4, 2, 1, 2]);
                let member =
                    if label == 4 { String::new() } else { format!(r#", "region": {}"#, labels[label]) };
                (label, format!(r#"{{"id": {number}{member}}}"#))
            })
            .collect();
        let texts: Vec<&str> = items.iter().map(|(_, text)| text.as_str()).collect();
        let (count, key) = (random.between(1, 20), Seed::new(seed));
        let sample =
            Sample::new(query("$"), size(count)).seed(key).strategy(Strategy::Stratified(query("$.region")));
        let mut order: Vec<usize> = Vec::new();
        for (label, _) in &items {
            if !order.contains(label) {
                order.push(*label);
            }
        }
        let of = |label: usize| {
            items.iter().enumerate().filter(move |(_, item)| item.0 == label).map(|(at, _)| at as u64)
        };
        let totals: Vec<u64> = order.iter().map(|&label| of(label).count() as u64).collect();
        let quotas = allot(size(count), &totals);
        let mut drawn = Vec::new();
        for ((&label, &total), &quota) in order.iter().zip(&totals).zip(&quotas) {
            let compact = labels[label].replace("  ", "");
            let places: Vec<u64> = of(label).collect();
            let winners = winners_within(key.for_key(compact.as_bytes()), size(count), total, quota);
            drawn.extend(winners.into_iter().map(|at| places[at as usize]));
        }
        drawn.sort_unstable();
        let candidates: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
        for (text, framing) in
            [(format!("[{}]", texts.join(", ")), Framing::Auto), (texts.join("\n"), Framing::Lines)]
        {
            let answer =
                draw(sample.clone(), &mut Source::pick(seed).document(text.as_bytes(), framing)).unwrap();
            check(&answer, &candidates, &drawn, &format!("seed {seed} {framing:?}"));
            let strata = answer.strata.unwrap();
            let found: Vec<_> =
                strata.iter().map(|one| (one.value.clone(), one.total, one.sampled)).collect();
            let wanted = order.iter().zip(totals.iter().zip(&quotas)).map(|(&label, (&total, &quota))| {
                let value = labels[label].replace("  ", "").into_bytes();
                (Some(value).filter(|_| label != 4), total, quota.min(total))
            });
            assert_eq!(found, wanted.collect::<Vec<_>>(), "seed {seed}");
        }
    }
}

#[test]
fn strata_are_bounded() {
    let text = |label: &str| format!(r#"[{{"a": {label}}}]"#);
    let sample = |count| Sample::new(query("$"), size(count)).strategy(Strategy::Stratified(query("$.a")));
    let long = format!("\"{}\"", "x".repeat(Sample::STRATUM_BYTES));
    let error = draw(sample(1), &mut Document::from_bytes(text(&long))).unwrap_err();
    assert!(error.to_string().contains("4096"), "{error}");
    let fits = format!("\"{}\"", "x".repeat(Sample::STRATUM_BYTES - 2));
    assert_eq!(draw(sample(1), &mut Document::from_bytes(text(&fits))).unwrap().items.len(), 1);

    let many: Vec<String> = (0..10_001).map(|label| format!(r#"{{"a": {label}}}"#)).collect();
    let error = draw(sample(3), &mut Document::from_bytes(format!("[{}]", many.join(",")))).unwrap_err();
    assert!(matches!(error, Error::Sample(_)) && error.to_string().contains("10000"), "{error}");
}

#[test]
fn a_singular_query_samples_the_elements_of_an_array() {
    let text = r#"{"a": {"list": [10, 11, 12], "x": {"k": 1}}, "s": "t"}"#;
    let first = |path: &str| {
        let sample = Sample::new(query(path), size(2)).strategy(Strategy::First);
        draw(sample, &mut Document::from_bytes(text))
    };
    assert_eq!(values(&first("$.a.list").unwrap()), ["10", "11"]);
    assert_eq!(first("$.missing").unwrap(), SampleAnswer::default());
    for (path, kind) in [("$.a.x", Kind::Object), ("$.s", Kind::String), ("$", Kind::Object)] {
        match first(path).unwrap_err() {
            Error::NotAnArray { query, kind: found } => assert_eq!((query.as_str(), found), (path, kind)),
            other => panic!("{path}: {other}"),
        }
    }
    assert_eq!(values(&first("$.a[*]").unwrap()).len(), 2);
    let empty = draw(Sample::new(query("$"), size(3)), &mut Document::from_bytes("[]")).unwrap();
    assert_eq!((empty.total, empty.items.len()), (0, 0));
}

/// The population of `$` is the elements of the only array, or the records if there are several or
/// the framing says so.
#[test]
fn the_root_is_an_array_or_the_records() {
    let ask = |text: &str, framing: Framing| {
        let sample = Sample::new(Query::root(), size(2)).strategy(Strategy::Last);
        draw(sample, &mut Document::from_bytes(text).framing(framing)).map(|answer| values(&answer))
    };
    assert_eq!(ask("[1, 2, 3]", Framing::Auto).unwrap(), ["2", "3"]);
    assert_eq!(ask("[1, 2, 3]", Framing::Single).unwrap(), ["2", "3"]);
    assert_eq!(ask("[1, 2, 3]", Framing::Lines).unwrap(), ["[1, 2, 3]"]);
    assert_eq!(ask("{\"a\": 1}\n{\"a\": 2}\n7", Framing::Auto).unwrap(), ["{\"a\": 2}", "7"]);
    assert_eq!(ask("{\"a\": 1}\n", Framing::Lines).unwrap(), ["{\"a\": 1}"]);
    assert_eq!(ask("\u{1e}[1, 2]\n", Framing::Auto).unwrap(), ["[1, 2]"]);
    assert_eq!(ask("[1][2]", Framing::Concatenated).unwrap(), ["[1]", "[2]"]);
    assert!(ask("", Framing::Lines).unwrap().is_empty());
    for framing in [Framing::Auto, Framing::Single] {
        assert!(matches!(ask("{\"a\": 1}", framing), Err(Error::NotAnArray { .. })), "{framing:?}");
    }
}

/// Only the second record shows that the input is a stream of arrays. An input that can be read
/// again is; another is refused, with a suggestion.
#[test]
fn rereads_a_stream_of_arrays_if_possible() {
    let text = b"[1, 2]\n[3]\n[4, 5, 6]\n";
    let sample = Sample::new(Query::root(), size(2)).strategy(Strategy::Last);
    let analysis = Analysis::new().sample(sample.clone()).extract(query("$[0]")).count(query("$[*]"));
    for source in Source::all() {
        let mut document = source.document(text, Framing::Auto);
        let repeatable = document.is_repeatable();
        let ran = crate::support::run(&analysis, &mut document);
        if repeatable {
            let (report, memory) = ran.unwrap();
            assert_eq!(values(sample_of(&report.answers[0])), ["[3]", "[4, 5, 6]"], "{source:?}");
            assert_eq!(memory.texts(), ["1", "3", "4"], "each once: {source:?}");
            assert_eq!(report.answers[2].count(), Some(6));
            assert_eq!((report.coverage.records, document.current_framing()), (3, Framing::Auto));
        } else {
            let error = ran.unwrap_err();
            assert!(error.to_string().contains("framing"), "{error}");
            let answer = draw(sample.clone(), &mut source.document(text, Framing::Concatenated)).unwrap();
            assert_eq!(values(&answer), ["[3]", "[4, 5, 6]"]);
        }
    }
}

#[test]
fn a_sample_larger_than_its_population_is_all_of_it() {
    for strategy in strategies(&mut Random::new(1)) {
        if matches!(strategy, Strategy::Systematic(Some(_))) {
            continue;
        }
        let sample = Sample::new(query("$"), size(1000)).strategy(strategy.clone());
        let answer = draw(sample, &mut Document::from_bytes("[1, 2, 3]")).unwrap();
        assert_eq!(
            (values(&answer), answer.total),
            (vec!["1".into(), "2".into(), "3".into()], 3),
            "{strategy:?}"
        );
    }
}

/// Candidates may be nested, and are numbered in the order of their starts.
#[test]
fn nested_candidates_are_in_document_order() {
    let text = r#"{"a": {"a": [{"a": 1}], "b": {"a": 2}}}"#;
    for source in Source::all() {
        let sample = Sample::new(query("$..a"), size(10)).strategy(Strategy::First);
        let answer = draw(sample, &mut source.document(text.as_bytes(), Framing::Auto)).unwrap();
        let expected = [r#"{"a": [{"a": 1}], "b": {"a": 2}}"#, r#"[{"a": 1}]"#, "1", "2"];
        assert_eq!(values(&answer), expected, "{source:?}");
        let last = Sample::new(query("$..a"), size(2)).strategy(Strategy::Last);
        assert_eq!(
            values(&draw(last, &mut source.document(text.as_bytes(), Framing::Auto)).unwrap()),
            ["1", "2"]
        );
    }
}

/// A node occurs in the population as many times as the query selects it, in time independent of
/// that number.
#[test]
fn skips_repeated_candidates_at_once() {
    let often = query(&format!("${}", "[0,0]".repeat(60)));
    let text = format!("{}7{}", "[".repeat(60), "]".repeat(60));
    let stride = Strategy::Systematic(NonZeroU64::new(1 << 40));
    for strategy in [Strategy::Random, Strategy::First, Strategy::Last, stride, Strategy::Systematic(None)] {
        let sample = Sample::new(often.clone(), size(5)).strategy(strategy.clone());
        let answer = draw(sample, &mut Document::from_bytes(text.clone())).unwrap();
        assert_eq!((answer.total, values(&answer)), (1 << 60, vec!["7".to_owned(); 5]), "{strategy:?}");
        assert_eq!(indices(&answer), expected(&strategy, Seed::new(0), 5, 1 << 60), "{strategy:?}");
    }
    let twice = Sample::new(query("$[1,0,1]"), size(9)).strategy(Strategy::First);
    assert_eq!(values(&draw(twice, &mut Document::from_bytes("[5, 6]")).unwrap()), ["5", "6", "6"]);
}

#[test]
fn repeated_names_are_one_stratum_or_many_candidates() {
    let text = br#"[{"a": 1, "a": 2}, {"a": 2}]"#;
    let strata = Sample::new(query("$"), size(9)).strategy(Strategy::Stratified(query("$.a")));
    let answer = draw(strata, &mut Document::from_bytes(&text[..])).unwrap();
    assert_eq!(answer.strata.unwrap().len(), 2, "the first member is the key");
    let all = Analysis::new().duplicates(Duplicates::All).sample(Sample::new(query("$[*].a"), size(9)));
    let report = all.run(&mut Document::from_bytes(&text[..])).unwrap();
    assert_eq!(sample_of(&report.answers[0]).total, 3);
}

/// Under structural validation the inside of a candidate may not be JSON; its bytes are returned
/// verbatim.
#[test]
fn sampled_bytes_are_verbatim() {
    let text = b"[[\"\xFF\"], [ 1 ,2 ]]";
    let sample = Sample::new(query("$"), size(2));
    let loose = Analysis::new().sample(sample.clone()).validation(Validation::Structural);
    let report = loose.run(&mut Document::from_bytes(&text[..])).unwrap();
    let found: Vec<_> =
        sample_of(&report.answers[0]).items.iter().map(|item| item.value.as_slice()).collect();
    assert_eq!(found, [&b"[\"\xFF\"]"[..], b"[ 1 ,2 ]"]);
    assert!(draw(sample, &mut Document::from_bytes(&text[..])).is_err());
}

/// A sample that needs the size of its population spools a reader, within the limit.
#[test]
fn spools_rereads_within_the_limit() {
    let text = format!("[{}]", (0..2000).map(|number| number.to_string()).collect::<Vec<_>>().join(","));
    let sample = Sample::new(query("$"), size(4)).strategy(Strategy::Systematic(None));
    let mut limits = trommel::reader::Limits::default();
    for (limit, fits) in [(text.len() as u64, true), (text.len() as u64 - 1, false)] {
        limits.spool_bytes = limit;
        let analysis = Analysis::new().sample(sample.clone()).limits(limits);
        let mut document = Source::Reads(63).document(text.as_bytes(), Framing::Auto);
        match analysis.run(&mut document) {
            Ok(report) => {
                assert!(fits);
                assert_eq!(indices(sample_of(&report.answers[0])), [0, 500, 1000, 1500]);
                assert!(document.is_repeatable(), "the input was spooled");
                assert!(analysis.run(&mut document).is_ok());
            }
            Err(error) => assert!(!fits && error.to_string().contains(&limit.to_string()), "{error}"),
        }
    }
}

/// Values that do not fit into memory go to a temporary file and are read back from it. The file
/// has a limit.
#[test]
fn reads_large_candidates_back_from_files() {
    let item = |number: usize| format!("\"{number}{}\"", "x".repeat(1 << 20));
    let items: Vec<String> = (0..40).map(item).collect();
    let text = items.join("\n");
    for strategy in [Strategy::Random, Strategy::Last, Strategy::First] {
        let sample = Sample::new(query("$"), size(24)).strategy(strategy.clone());
        let answer =
            draw(sample.clone(), &mut Source::Reads(1 << 16).document(text.as_bytes(), Framing::Lines))
                .unwrap();
        assert_eq!(indices(&answer), expected(&strategy, Seed::new(0), 24, 40), "{strategy:?}");
        assert!(answer.items.iter().all(|found| found.value == items[found.index as usize].as_bytes()));
        let mut limits = trommel::reader::Limits::default();
        limits.spool_bytes = 4 << 20;
        let error = Analysis::new()
            .sample(sample)
            .limits(limits)
            .run(&mut Source::Reads(1 << 16).document(text.as_bytes(), Framing::Lines))
            .unwrap_err();
        assert!(error.to_string().contains(&(4 << 20).to_string()), "{error}");
    }
}

/// Draws all items of a sample on a stream of lines, for any number of threads.
fn drawn(text: &str, asked: &str, change: impl Fn(Analysis) -> Analysis) -> Result<Vec<String>, Error> {
    let mut answers = [1, 3].map(|threads| {
        let analysis = change(Analysis::new().threads(threads));
        let report =
            analysis.sample(Sample::new(query(asked), size(10_000))).run(&mut Document::from_bytes(text))?;
        Ok(values(sample_of(&report.answers[0])))
    });
    if let [Ok(one), Ok(other)] = &answers {
        assert_eq!(one, other);
    }
    std::mem::replace(&mut answers[1], Ok(Vec::new()))
}

/// On a stream, the first match of a singular query decides whether elements or values are sampled.
#[test]
fn first_match_decides_the_population() {
    let lines = |values: &[&str]| {
        values.iter().map(|value| format!("{{\"a\":{value}}}\n")).collect::<Vec<_>>().concat()
    };
    let plain = |analysis| analysis;
    assert_eq!(drawn(&lines(&["1", "\"x\"", "{}"]), "$.a", plain).unwrap(), ["1", "\"x\"", "{}"]);
    assert_eq!(drawn(&lines(&["[1,2]", "[]", "[3]"]), "$.a", plain).unwrap(), ["1", "2", "3"]);
    // Records without a match do not decide.
    let late = format!("{{}}\n{{\"b\":[1]}}\n{}", lines(&["7", "8"]));
    assert_eq!(drawn(&late, "$.a", plain).unwrap(), ["7", "8"]);
    let many: Vec<String> = (0..20_000).map(|n| n.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(drawn(&lines(&many[..9_000]), "$.a", plain).unwrap(), many[..9_000]);
    // Filters apply before.
    let filter = |analysis: Analysis| analysis.filter(Query::parse_filter("@.a != 1").unwrap());
    assert_eq!(drawn(&lines(&["1", "[4]"]), "$.a", filter).unwrap(), ["4"]);
    // Nodes are records, too.
    let each = |analysis: Analysis| analysis.each("$.r[*]".parse().unwrap());
    assert_eq!(drawn(r#"{"r":[{"a":5},{"a":6},{}]}"#, "$.a", each).unwrap(), ["5", "6"]);
    // With evenly spaced items, the population is counted the same way.
    let sample = Sample::new(query("$.a"), size(2)).strategy(Strategy::Systematic(None));
    let answer = draw(sample, &mut Document::from_bytes(lines(&["1", "2", "3", "4"]))).unwrap();
    assert_eq!(values(&answer), ["1", "3"]);
}

/// Of several documents, the first match decides.
#[test]
fn first_match_of_a_sequence_decides_the_population() {
    let drawn = |texts: &[&str]| {
        let mut sequence = Analysis::new().sample(Sample::new(query("$.a"), size(9))).sequence()?;
        for text in texts {
            sequence.run(&mut Document::from_bytes(*text))?;
        }
        Ok(values(sample_of(&sequence.finish()?.answers[0])))
    };
    assert_eq!(drawn(&["{}", "{\"a\":1}", "{\"a\":2}"]).unwrap(), ["1", "2"]);
    assert_eq!(drawn(&["{\"a\":[]}", "{\"a\":[1,2]}"]).unwrap(), ["1", "2"]);
    let error: Error = drawn(&["{\"a\":1}", "{\"a\":[2]}"]).unwrap_err();
    assert!(matches!(error, Error::MixedPopulation { record: 0, kind: Kind::Array, .. }), "{error}");
}

#[test]
fn mixed_populations_are_errors_with_the_record() {
    let plain = |analysis| analysis;
    let text = "{\"a\":[1]}\n{\"a\":[2]}\n{\"a\":3}\n";
    let error = drawn(text, "$.a", plain).unwrap_err();
    let is_third = |error: &Error| matches!(error, Error::MixedPopulation { record: 2, .. });
    assert!(is_third(&error), "{error}");
    assert!(error.to_string().contains("record 2: $.a selects a number, but an array before"), "{error}");
    let error = drawn("{\"a\":1}\n{\"a\":null}\n{\"a\":[2]}\n", "$.a", plain).unwrap_err();
    assert!(is_third(&error), "{error}");
    assert!(error.to_string().contains("selects an array, but no array before"), "{error}");
    // In one document, a value that is not an array stays an error.
    let error = drawn("{\"a\":1}", "$.a", plain).unwrap_err();
    assert!(matches!(error, Error::NotAnArray { kind: Kind::Number, .. }), "{error}");
}
