//! Filters on records: the answers are those over the kept records alone, with positions in the
//! whole input.

use std::fmt::Write;
use std::num::NonZeroU64;

use trommel::path::{Duplicates, Logical, Order, Query, Selector};
use trommel::reader::{Framing, Limits, Validation};
use trommel::sampler::Seed;
use trommel::{
    Analysis, Answer, Count, CountAs, Document, Error, Extract, Match, Measure, OnBadRecord, Partial, Sample,
    Stats, Strategy,
};
use trommel_testkit::evaluate::{self, holds};
use trommel_testkit::generate::{self, QueryOptions, Random, Shape, stream};
use trommel_testkit::naive::{self, Record};

use crate::parallel::reported;
use crate::support::{
    Memory, Source, Value, answer_text, cases, naive_framing, nodes, query, run, sample_of, size, stats_of,
    values,
};

/// Parses a filter. A generated one may be a path from the root, which is valid in a query but not
/// alone.
fn filter(text: &str) -> Logical {
    let in_query = || {
        let query = query(&format!("$[?{}]", text.trim().trim_start_matches('?')));
        match query.segments().iter().next().map(|segment| segment.selectors.as_slice()) {
            Some([Selector::Filter(filter)]) => (**filter).clone(),
            _ => panic!("{text}"),
        }
    };
    Query::parse_filter(text).unwrap_or_else(|_| in_query())
}

fn filtered(analysis: Analysis, filters: &[Logical]) -> Analysis {
    filters.iter().cloned().fold(analysis, Analysis::filter)
}

/// A stream, its filters, and the numbers of the records that pass them according to the oracle.
struct Case {
    text: Vec<u8>,
    framing: Framing,
    duplicates: bool,
    filters: Vec<Logical>,
    kept: Vec<u64>,
    trees: Vec<naive::Document>,
}

impl Case {
    fn new(seed: u64, random: &mut Random, framings: &[Framing]) -> Self {
        let framing = framings[random.below(framings.len())];
        let duplicates = random.chance(30);
        let shape = Shape { duplicates: random.chance(30), ..Shape::plain() };
        let text = stream(seed, &shape, naive_framing(framing), random.between(1, 14));
        let records = naive::records(&text, naive_framing(framing)).into_iter();
        let trees: Vec<naive::Document> = records.map(|record: Record| record.outcome.unwrap()).collect();
        let filters: Vec<Logical> = (0..random.between(1, 2) as u64)
            .map(|number| {
                let tree = &trees[random.below(trees.len())];
                filter(&generate::filter(seed * 10 + number, tree, &QueryOptions::default()))
            })
            .collect();
        let policy = if duplicates { evaluate::Duplicates::All } else { evaluate::Duplicates::First };
        let passes = |tree: &naive::Document| filters.iter().all(|filter| holds(tree, filter, policy));
        let kept = trees.iter().zip(0..).filter(|(tree, _)| passes(tree)).map(|(_, number)| number).collect();
        Self { text, framing, duplicates, filters, kept, trees }
    }

    fn analysis(&self, random: &mut Random) -> Analysis {
        let validation = [Validation::Strict, Validation::Structural][random.below(2)];
        let duplicates = if self.duplicates { Duplicates::All } else { Duplicates::First };
        Analysis::new().duplicates(duplicates).validation(validation).window(random.between(1, 200))
    }

    /// The kept records alone, as a stream in the same framing.
    fn kept_alone(&self) -> Vec<u8> {
        let records = naive::records(&self.text, naive_framing(self.framing));
        let mut text = Vec::new();
        for number in &self.kept {
            if self.framing == Framing::JsonSeq {
                text.push(0x1E);
            }
            text.extend_from_slice(&self.text[records[*number as usize].span.range()]);
            text.push(b'\n');
        }
        text
    }
}

const STREAMS: [Framing; 3] = [Framing::Lines, Framing::Concatenated, Framing::JsonSeq];

/// Measures whose answers are compared with those over the kept records alone.
fn measures(random: &mut Random, seed: u64, tree: &naive::Document) -> Vec<Measure> {
    let queries = |number: u64| query(&generate::query(seed * 100 + number, tree, &QueryOptions::default()));
    let strategies = [
        Strategy::Random,
        Strategy::First,
        Strategy::Last,
        Strategy::Systematic(None),
        Strategy::Systematic(NonZeroU64::new(2)),
        Strategy::Stratified(query("$.a")),
    ];
    (0..random.between(1, 5) as u64)
        .map(|number| match random.below(7) {
            0 => Measure::Extract(Extract::new(queries(number))),
            1 => Measure::Extract(Extract::new(queries(number)).limit(2)),
            2 => Measure::Count(Count::new(queries(number)).count_as(CountAs::NestedTotal)),
            3 => Measure::Count(Count::new(query("$")).filter(filter("@.a"))),
            4 => {
                let strategy = strategies[random.below(strategies.len())].clone();
                let query = query(["$", "$..*", "$..a", "$[*]"][random.below(4)]);
                Measure::Sample(Sample::new(query, size(3)).strategy(strategy).seed(Seed::new(seed)))
            }
            5 => {
                let mut stats = Stats::new();
                // Without queries the size is that of the input, but with filters that of the kept
                // records' values.
                stats.queries = vec![query("$")];
                (stats.values, stats.schema) = (random.chance(30), random.chance(30));
                Measure::Stats(stats)
            }
            _ => Measure::Count(Count::new(queries(number))),
        })
        .collect()
}

/// R4: for any measures over any stream from any source, the answers and the values are those of a
/// run without filters over the kept records.
#[test]
fn answers_are_those_to_the_kept_records() {
    let (mut some, mut all) = (0, 0);
    for seed in 0..cases(600, 8000) {
        let mut random = Random::new(seed);
        let case = Case::new(seed, &mut random, &STREAMS);
        let analysis = case.analysis(&mut random).order([Order::Rfc, Order::Document][random.below(2)]);
        let tree = &case.trees[random.below(case.trees.len())];
        let measures = measures(&mut random, seed, tree);
        let analysis = measures.iter().cloned().fold(analysis, Analysis::ask);
        let source = Source::pick(seed);
        let (report, memory) =
            run(&filtered(analysis.clone(), &case.filters), &mut source.document(&case.text, case.framing))
                .unwrap();
        let (expected, alone) =
            run(&analysis, &mut Source::Bytes.document(&case.kept_alone(), case.framing)).unwrap();
        let note = format!("seed {seed} {source:?} {} {measures:?}", case.filters[0]);
        for (answer, expected) in report.answers.iter().zip(&expected.answers) {
            assert_eq!(answer_text(answer), answer_text(expected), "{note}");
        }
        let seen = |value: Value| (value.measure, value.text, value.location);
        let (values, alone) = (memory.values().into_iter().map(seen), alone.values().into_iter().map(seen));
        assert_eq!(values.collect::<Vec<_>>(), alone.collect::<Vec<_>>(), "{note}");
        let coverage = report.coverage;
        if coverage.complete {
            assert_eq!(coverage.records, case.trees.len() as u64, "{note}");
            assert_eq!(coverage.records - coverage.dropped_records, case.kept.len() as u64, "{note}");
        }
        some += usize::from(!case.kept.is_empty() && case.kept.len() < case.trees.len());
        all += usize::from(case.kept.len() == case.trees.len());
    }
    assert!(some > 40 && all > 30, "{some} {all}");
}

/// Values keep the record numbers, spans, and locations that they have in the whole input.
#[test]
fn values_keep_their_positions_in_the_input() {
    for seed in 0..cases(400, 4000) {
        let mut random = Random::new(seed);
        let case = Case::new(seed, &mut random, &STREAMS);
        let asked = query(&generate::query(seed, &case.trees[0], &QueryOptions::default()));
        let analysis = case.analysis(&mut random).extract(asked.clone());
        let source = Source::pick(seed);
        let mut document = source.document(&case.text, case.framing);
        let (_, memory) = run(&filtered(analysis, &case.filters), &mut document).unwrap();
        let mut expected = nodes(&case.text, case.framing, &asked, case.duplicates);
        expected.retain(|(record, _)| case.kept.contains(record));
        assert_eq!(memory.values(), values(&case.text, 0, &expected), "seed {seed} {source:?} {asked}");
    }
}

/// One document is kept or dropped as a whole.
#[test]
fn one_document_is_kept_or_dropped_whole() {
    for seed in 0..cases(300, 3000) {
        let mut random = Random::new(seed);
        let case = Case::new(seed, &mut random, &[Framing::Single]);
        let measures = measures(&mut random, seed, &case.trees[0]);
        let sampled = |measure: &Measure| matches!(measure, Measure::Sample(_));
        let measures: Vec<Measure> = measures.into_iter().filter(|measure| !sampled(measure)).collect();
        let analysis = measures.iter().cloned().fold(case.analysis(&mut random), Analysis::ask);
        let mut document = Source::pick(seed).document(&case.text, case.framing);
        let (report, memory) = run(&filtered(analysis.clone(), &case.filters), &mut document).unwrap();
        if case.kept.is_empty() {
            assert_eq!(memory.heard, [], "seed {seed}");
            assert_eq!(report.coverage.dropped_records, report.coverage.records, "seed {seed}");
            assert!(report.answers.iter().all(|answer| match answer {
                Answer::Stats(stats) => stats.summary.structure.total_values == 0 && stats.bytes == 0,
                answer => answer.count() == Some(0),
            }));
            continue;
        }
        let (expected, whole) =
            run(&analysis, &mut Source::pick(seed + 1).document(&case.text, case.framing)).unwrap();
        let answers = report.answers.iter().map(answer_text);
        assert_eq!(answers.collect::<Vec<_>>(), expected.answers.iter().map(answer_text).collect::<Vec<_>>());
        assert_eq!(memory.heard, whole.heard, "seed {seed}");
    }
}

const LOG: &str = "{\"level\":\"info\",\"n\":1}\n{\"level\":\"error\",\"n\":2}\n\n{\"level\":\"error\",\"n\":\"ü\"}\n{\"n\":4}\n";

fn errors() -> Analysis {
    Analysis::new().filter(filter("@.level == 'error'"))
}

fn log() -> Document<'static> {
    Document::from_bytes(LOG).framing(Framing::Lines)
}

/// `@` and `$` are both the record; all notations of a filter are equivalent.
#[test]
fn root_and_current_node_are_the_record() {
    for text in ["@.level == 'error'", "$.level == 'error'", "?@.level=='error'", "[?($.level=='error')]"] {
        let analysis = Analysis::new().filter(filter(text)).count(query("$.n"));
        assert_eq!(analysis.run(&mut log()).unwrap().answers[0].count(), Some(2), "{text}");
    }
    let nested = Analysis::new().filter(filter("@[?@ == $.level]")).extract(query("$.n"));
    assert_eq!(run(&nested, &mut log()).unwrap().1.texts(), ["1", "2", "\"ü\""]);
}

/// Limits count kept matches only, and end the run after the last of them.
#[test]
fn limits_count_kept_matches() {
    let limited = errors().ask(Measure::Extract(Extract::new(query("$.n")).limit(1)));
    let (report, memory) = run(&limited, &mut log()).unwrap();
    assert_eq!(memory.texts(), ["2"]);
    assert_eq!((report.coverage.records, report.coverage.complete), (2, false));
    let count = errors().ask(Measure::Count(Count::new(query("$")).limit(2)));
    assert_eq!(count.run(&mut log()).unwrap().answers[0].count(), Some(2));
}

/// Sizes are those of the kept records' values, also for statistics that read masks alone.
#[test]
fn sizes_cover_the_kept_records() {
    let mut overview = Stats::new();
    (overview.per_path, overview.duplicate_names, overview.item_types) = (false, false, false);
    for stats in [Stats::new(), overview] {
        for validation in [Validation::Strict, Validation::Structural] {
            let analysis = errors().validation(validation).ask(Measure::Stats(stats.clone()));
            let report = analysis.run(&mut log()).unwrap();
            let described = stats_of(&report.answers[0]);
            assert_eq!((described.bytes, described.characters, described.records), (49, 48, Some(2)));
            assert_eq!(described.summary.structure.total_values, 6);
        }
    }
}

/// A dropped record is validated like a skipped value: in full if strict, otherwise its structure.
#[test]
fn dropped_records_are_validated() {
    let text = "{\"n\":1,\"x\":tru}\n{\"level\":\"error\",\"n\":2}\n";
    let document = || Document::from_bytes(text).framing(Framing::Lines);
    let first = Analysis::new().filter(filter("@.n > 1")).extract(query("$.n"));
    let error = first.clone().run(&mut document()).unwrap_err();
    assert!(matches!(&error, Error::Read { error, record: Some(0) } if error.is_syntax()), "{error}");
    let structural = first.clone().validation(Validation::Structural);
    assert_eq!(run(&structural, &mut document()).unwrap().1.texts(), ["2"]);
    let unbalanced = Document::from_bytes(text.replace("tru}", "[}")).framing(Framing::Lines);
    assert!(structural.run(&mut { unbalanced }).unwrap_err().to_string().contains("byte"));
    let trailing = Document::from_bytes(text.replace("tru}", "true} x")).framing(Framing::Lines);
    assert!(first.run(&mut { trailing }).is_err());
}

/// Malformed records are reported whatever the filter drops, and their numbers count dropped
/// records.
#[test]
fn bad_records_are_reported_beside_dropped_ones() {
    let text = "{\"n\":1}\n{\"n\":2]\n{\"n\":3}\n{\"n\":4,}\n{\"n\":5}\n";
    let analysis = Analysis::new()
        .on_bad_record(OnBadRecord::Skip { at_most: 10 })
        .filter(filter("@.n > 1"))
        .filter(filter("@.n < 5"))
        .extract(query("$.n"));
    for source in Source::all() {
        let (report, memory) = run(&analysis, &mut source.document(text.as_bytes(), Framing::Lines)).unwrap();
        assert_eq!(memory.texts(), ["3"]);
        assert_eq!(memory.values()[0].record, 2);
        assert_eq!(memory.damages().iter().map(|reported| reported.record).collect::<Vec<_>>(), [1, 3]);
        let coverage = report.coverage;
        assert_eq!((coverage.records, coverage.dropped_records, coverage.bad_records), (3, 2, 2));
        assert!(coverage.complete);
    }
}

/// The population of `$` is the kept records. Dropping the only value is not an error.
#[test]
fn samples_draw_from_kept_records() {
    let draw = |strategy| Sample::new(query("$"), size(2)).strategy(strategy);
    let by_n = Strategy::Stratified(query("$.level"));
    for strategy in [Strategy::Random, Strategy::Systematic(None), Strategy::Last, by_n] {
        let report = errors().sample(draw(strategy)).run(&mut log()).unwrap();
        let sample = sample_of(&report.answers[0]);
        assert_eq!((sample.total, sample.items.len()), (2, 2));
        assert_eq!(sample.items.iter().map(|item| item.index).collect::<Vec<_>>(), [0, 1]);
    }
    let lone = || Document::from_bytes("{\"n\":1}");
    let elements = Analysis::new().sample(draw(Strategy::Random));
    assert!(matches!(elements.run(&mut lone()), Err(Error::NotAnArray { .. })));
    let dropped = elements.filter(filter("@.n > 1")).run(&mut lone()).unwrap();
    assert_eq!(sample_of(&dropped.answers[0]).total, 0);
    let arrays = Analysis::new().sample(draw(Strategy::First)).filter(filter("@[0] > 1"));
    let report = arrays.run(&mut Document::from_bytes("[1, 2]\n[3, 4]\n[5]\n")).unwrap();
    assert_eq!(sample_of(&report.answers[0]).total, 2);
}

/// Lines of a given length, of which a filter keeps some in every part.
fn lines(bytes: usize, odd: impl Fn(u64) -> Option<&'static str>) -> String {
    let mut random = Random::new(2);
    let mut text = String::new();
    let mut number = 0;
    while text.len() < bytes {
        let level = ["info", "warn", "error"][random.below(3)];
        let pad = "x".repeat(random.below(300));
        match odd(number) {
            Some(odd) => text.push_str(odd),
            None => write!(
                text,
                r#"{{"id": {number}, "level": "{level}", "tags": [{}, "ü"], "pad": "{pad}"}}"#,
                random.below(50)
            )
            .unwrap(),
        }
        text.push('\n');
        number += 1;
    }
    text
}

fn observe(analysis: &Analysis, text: &str, threads: usize) -> (Memory, Result<String, String>) {
    let mut memory = Memory::located();
    let mut document = Document::from_bytes(text).framing(Framing::Lines);
    let ran = analysis.clone().threads(threads).run_with(&mut document, &mut memory);
    (memory, reported(ran))
}

/// Asserts equal results for 1, 2, and 8 threads, and returns them.
fn same(analysis: &Analysis, text: &str) -> (Memory, Result<String, String>) {
    let (memory, end) = observe(analysis, text, 1);
    for threads in [2, 8] {
        let (other, other_end) = observe(analysis, text, threads);
        assert_eq!(other_end, end, "{threads} threads");
        assert!(other.heard == memory.heard, "{threads} threads");
    }
    (memory, end)
}

#[test]
fn filters_are_the_same_for_any_number_of_threads() {
    let text = lines(5 << 20, |_| None);
    let kept: String = text.split_inclusive('\n').filter(|line| line.contains("\"error\"")).collect();
    let mut described = Stats::new();
    described.queries = vec![query("$")];
    let all_measures = [
        Analysis::new().extract(query("$.tags[*]")).count(query("$..id")).extract(query("$..level")),
        Analysis::new().extract(query("$..['tags','id']")).order(Order::Document),
        Analysis::new().sample(Sample::new(query("$"), size(100))).count(query("$")),
        Analysis::new()
            .sample(Sample::new(query("$.tags[*]"), size(50)).strategy(Strategy::Systematic(None))),
        Analysis::new()
            .sample(Sample::new(query("$"), size(9)).strategy(Strategy::Stratified(query("$.tags[0]")))),
        Analysis::new().ask(Measure::Stats(described)),
        Analysis::new().ask(Measure::Extract(Extract::new(query("$.id")).limit(2000))),
    ];
    for analysis in all_measures {
        let (memory, end) = same(&analysis.clone().filter(filter("@.level == 'error'")), &text);
        assert!(end.unwrap().contains("dropped_records"));
        let (alone, _) = observe(&analysis, &kept, 1);
        assert_eq!(memory.texts(), alone.texts());
        let answers = |analysis: &Analysis, text: &str| {
            let report = analysis.run(&mut Document::from_bytes(text).framing(Framing::Lines)).unwrap();
            report.answers.iter().map(answer_text).collect::<Vec<_>>()
        };
        let filtered = analysis.clone().filter(filter("@.level == 'error'"));
        assert_eq!(answers(&filtered, &text), answers(&analysis, &kept));
    }
}

#[test]
fn errors_in_dropped_records_are_the_same_for_any_number_of_threads() {
    let odd = |number| [None, Some("{\"level\": \"info\", \"id\": ]}")][usize::from(number % 3000 == 2999)];
    let text = lines(3 << 20, odd);
    let analysis = errors().extract(query("$.id"));
    let (_, end) = same(&analysis, &text);
    assert!(end.unwrap_err().contains("Some(2999)"));
    let skips = analysis.on_bad_record(OnBadRecord::Skip { at_most: 100 });
    let (memory, end) = same(&skips, &text);
    assert!(end.is_ok() && memory.damages().len() > 2);
}

/// A long document that is kept is divided among threads as without a filter; a dropped one adds
/// nothing.
#[test]
fn a_divided_document_is_kept_or_dropped_whole() {
    let elements: Vec<String> =
        (0..60_000).map(|id| format!("{{\"id\": {id}, \"text\": \"some text in it {id}\"}}")).collect();
    let text = format!("{{\"kind\": \"log\", \"events\": [{}], \"end\": 1}}", elements.join(","));
    let all_measures = [
        Analysis::new().extract(query("$.events[*].id")).count(query("$.events[?@.id > 10]")),
        Analysis::new().sample(Sample::new(query("$.events"), size(20))),
        Analysis::new().stats(),
    ];
    for analysis in all_measures {
        for threads in [1, 2, 8] {
            let run_with = |analysis: Analysis| {
                let (report, memory) =
                    run(&analysis.threads(threads), &mut Document::from_bytes(text.clone())).unwrap();
                (report.answers.iter().map(answer_text).collect::<Vec<_>>(), memory.texts(), report.coverage)
            };
            let whole = run_with(analysis.clone());
            let kept = run_with(analysis.clone().filter(filter("@.end == 1 && count(@.events[*]) == 60000")));
            assert_eq!(kept.1, whole.1);
            if !matches!(
                analysis.clone().run(&mut Document::from_bytes(text.clone())).unwrap().answers[0],
                Answer::Stats(_)
            ) {
                assert_eq!(kept.0, whole.0);
            }
            let (_, texts, coverage) = run_with(analysis.clone().filter(filter("@.kind == 'other'")));
            assert_eq!((texts.len(), coverage.dropped_records, coverage.records), (0, 1, 1));
        }
    }
}

/// A record on a pipe is held while its filter is undecided, within the limits.
#[test]
fn undecided_records_are_held_within_limits() {
    let record = format!("{{\"id\": 1, \"pad\": \"{}\", \"level\": \"error\"}}\n", "x".repeat(300_000));
    let text = record.repeat(3);
    let mut limits = Limits::default();
    limits.held_bytes = 64 << 10;
    let analysis = errors().extract(query("$.id")).window(4096).limits(limits);
    let (_, memory) =
        run(&analysis, &mut Source::Reads(997).document(text.as_bytes(), Framing::Lines)).unwrap();
    assert_eq!(memory.texts(), ["1", "1", "1"]);
    limits.spool_bytes = 100_000;
    let refused =
        run(&analysis.limits(limits), &mut Source::Reads(997).document(text.as_bytes(), Framing::Lines));
    assert!(matches!(refused.unwrap_err(), Error::Read { error, .. } if error.is_limit()));
}

/// Parts are filtered like the whole. Parts with different filters do not merge.
#[test]
fn partials_belong_to_their_filters() {
    let mut described = Stats::new();
    (described.schema, described.values) = (true, true);
    let analysis = errors()
        .count(query("$..*"))
        .ask(Measure::Stats(described))
        .extract(query("$.n"))
        .filter(filter("@.n"));
    let text = LOG.repeat(7);
    let part = |analysis: &Analysis, text: &str, number| {
        let mut document = Document::from_bytes(text).framing(Framing::Lines);
        let partial = analysis.run_part(&mut document, number, &mut |_: &Match<'_>| Ok(())).unwrap();
        Partial::from_bytes(&partial.to_bytes().unwrap()).unwrap()
    };
    let whole = analysis.run(&mut Document::from_bytes(text.clone()).framing(Framing::Lines)).unwrap();
    for cut in text.match_indices('\n').map(|(at, _)| at + 1) {
        let (first, second) = text.split_at(cut);
        let merged = part(&analysis, first, 0).merge(part(&analysis, second, 1)).unwrap();
        let report = analysis.finish(merged).unwrap();
        assert_eq!(
            report.answers.iter().map(answer_text).collect::<Vec<_>>(),
            whole.answers.iter().map(answer_text).collect::<Vec<_>>()
        );
        assert_eq!(report.coverage, whole.coverage);
    }
    let counting = |filters: &[&str]| {
        filters.iter().fold(Analysis::new().count(query("$")), |analysis, text| analysis.filter(filter(text)))
    };
    let made = |filters: &[&str]| part(&counting(filters), LOG, 0);
    assert!(made(&["@.n > 1"]).merge(made(&["@.n > 1"])).is_ok());
    for (one, other) in
        [(&["@.n > 1"][..], &["@.n > 2"][..]), (&["@.n > 1"], &[]), (&["@.n", "@.m"], &["@.n"])]
    {
        assert!(matches!(made(one).merge(made(other)), Err(Error::Partial(_))), "{one:?} {other:?}");
        assert!(matches!(counting(other).finish(made(one)), Err(Error::Partial(_))), "{one:?} {other:?}");
    }
}
