//! Several documents as one sequence of records.

use trommel::groups::{AggregateKind, Group, GroupError};
use trommel::path::Query;
use trommel::reader::Framing;
use trommel::sampler::Seed;
use trommel::{
    Analysis, Count, CountAs, Document, Error, Extract, Match, Measure, OnBadRecord, Report, Sample, Stats,
    Strategy,
};
use trommel_testkit::chunks::Chunks;
use trommel_testkit::generate::{Random, Shape, stream};
use trommel_testkit::naive;

use crate::support::{Memory, answer_text, cases, query, size};

/// A stream of records, divided into documents at random line ends.
fn documents(random: &mut Random, seed: u64) -> (Vec<u8>, Vec<Vec<u8>>) {
    let shape = Shape { duplicates: true, ..Shape::plain() };
    let all = stream(seed, &shape, naive::Framing::Lines, 30);
    let ends: Vec<usize> = (0..all.len()).filter(|&at| all[at] == b'\n').map(|at| at + 1).collect();
    let mut at: Vec<usize> =
        (0..3).map(|_| if ends.is_empty() { 0 } else { ends[random.below(ends.len())] }).collect();
    at.extend([0, all.len()]);
    at.sort_unstable();
    at.dedup();
    let parts = at.windows(2).map(|pair| all[pair[0]..pair[1]].to_vec()).collect();
    (all, parts)
}

fn measures() -> Analysis {
    let mut rich = Stats::new();
    (rich.schema, rich.values) = (true, true);
    let mut of_queries = Stats::new();
    of_queries.queries = vec![query("$.a"), query("$..b")];
    let sample = |strategy| Sample::new(Query::root(), size(5)).strategy(strategy).seed(Seed::new(7));
    Analysis::new()
        .count(query("$..a"))
        .ask(Measure::Count(Count::new(Query::root()).count_as(CountAs::NestedTotal).limit(40)))
        .ask(Measure::Stats(rich))
        .ask(Measure::Stats(of_queries))
        .sample(sample(Strategy::Random))
        .sample(sample(Strategy::Last))
        .sample(sample(Strategy::Stratified(query("$.a"))))
        .sample(sample(Strategy::Systematic(std::num::NonZeroU64::new(3))))
        .group(groups())
}

fn groups() -> Group {
    let group = Group::new().by("a", query("$.a")).by("b", query("$..b"));
    group.aggregate(AggregateKind::Distinct, "all", query("$..*"))
}

fn answers(report: &Report) -> Vec<String> {
    report.answers.iter().map(answer_text).collect()
}

/// The answers to several documents are those to their concatenation, whatever kind of input each
/// of them is, and for any number of threads.
#[test]
fn sequences_answer_like_the_concatenation() {
    for seed in 0..cases(60, 2_000) {
        let mut random = Random::new(seed);
        let (all, parts) = documents(&mut random, seed);
        let analysis = measures().threads(1 + random.below(3));
        let whole = analysis.run(&mut Document::from_bytes(all).framing(Framing::Lines)).unwrap();
        let mut sequence = analysis.sequence().unwrap();
        for (number, part) in parts.iter().enumerate() {
            let document = if number % 2 == 0 {
                Document::from_bytes(part.clone())
            } else {
                Document::from_reader(Chunks::new(std::io::Cursor::new(part.clone()), &[1, 7, 4096]))
            };
            sequence.run(&mut document.framing(Framing::Lines)).unwrap();
        }
        let report = sequence.finish().unwrap();
        assert_eq!(answers(&report), answers(&whole), "seed {seed}");
        assert_eq!(report.coverage.records, whole.coverage.records);
        assert_eq!(report.coverage.bytes_read, whole.coverage.bytes_read);
    }
}

/// Long documents are divided among threads, and continue the state of earlier ones.
#[test]
fn long_documents_of_a_sequence_are_divided_among_threads() {
    let line = |n: usize| format!("{{\"id\":{n},\"tags\":[\"a\",\"b{}\"]}}\n", n % 7);
    let parts: Vec<String> =
        (0..3).map(|part| (0..60_000).map(|n| line(part * 60_000 + n)).collect()).collect();
    let all: String = parts.concat();
    let whole = Analysis::run(
        &measures().count(query("$.id")).threads(1),
        &mut Document::from_bytes(all).framing(Framing::Lines),
    )
    .unwrap();
    for threads in [1, 2, 4] {
        let analysis = measures().count(query("$.id")).threads(threads);
        let mut sequence = analysis.sequence().unwrap();
        for part in &parts {
            sequence.run(&mut Document::from_bytes(part.as_bytes()).framing(Framing::Lines)).unwrap();
        }
        assert_eq!(answers(&sequence.finish().unwrap()), answers(&whole), "{threads} threads");
    }
}

/// Long arrays are divided among threads, too.
#[test]
fn long_arrays_of_a_sequence_are_divided_among_threads() {
    let element = |n: usize| format!("{{\"id\":{n},\"tags\":[\"a\",\"b{}\"],\"n{}\":1}}", n % 7, n / 50_000);
    let array = |part: usize| {
        let elements: Vec<String> = (0..100_000).map(|n| element(part * 100_000 + n)).collect();
        format!("[{}]\n", elements.join(","))
    };
    let parts: Vec<String> = (0..2).map(array).collect();
    let mut documents = Stats::new();
    documents.schema = true;
    let found = [
        Analysis::new()
            .count(query("$[*].id"))
            .ask(Measure::Extract(Extract::new(query("$[?@.id > 150000].tags")))),
        Analysis::new().ask(Measure::Stats(documents)),
        Analysis::new().sample(Sample::new(query("$[*]"), size(5)).seed(Seed::new(3))),
    ];
    for analysis in found {
        let all = Document::from_bytes(parts.concat());
        let whole = analysis.clone().threads(1).run(&mut all.framing(Framing::Concatenated)).unwrap();
        for threads in [1, 4] {
            let mut sequence = analysis.clone().threads(threads).sequence().unwrap();
            for part in &parts {
                sequence.run(&mut Document::from_bytes(part.as_bytes())).unwrap();
            }
            assert_eq!(answers(&sequence.finish().unwrap()), answers(&whole), "{threads} threads");
        }
    }
}

/// Limits cover the whole sequence, and end it. Records and offsets count within their document.
#[test]
fn limits_cover_the_whole_sequence() {
    let analysis = Analysis::new().ask(Measure::Extract(Extract::new(query("$.a")).limit(3)));
    let mut sequence = analysis.sequence().unwrap();
    let mut memory = Memory::located();
    for (text, done) in
        [("{\"a\":1}\n{\"a\":2}\n", false), ("{\"b\":1}\n{\"a\":3}\n{\"a\":4}\n", true), ("{\"a\":5}", true)]
    {
        let mut document = Document::from_bytes(text);
        sequence.run_with(&mut document, &mut memory).unwrap();
        assert_eq!(sequence.is_done(), done);
    }
    assert_eq!(memory.texts(), ["1", "2", "3"]);
    assert_eq!(memory.values().iter().map(|value| value.record).collect::<Vec<_>>(), [0, 1, 1]);
    let report = sequence.finish().unwrap();
    assert_eq!(report.answers[0].count(), Some(3));
    assert!(!report.coverage.complete);
}

/// With several documents, `$` of a sample stands for the documents, even if they are arrays.
#[test]
fn the_root_of_a_sample_is_the_records() {
    let analysis = Analysis::new().sample(Sample::new(Query::root(), size(9)));
    let mut sequence = analysis.sequence().unwrap();
    for text in ["[1,2]", "[3]\n{\"a\":1}"] {
        sequence.run(&mut Document::from_bytes(text)).unwrap();
    }
    let report = sequence.finish().unwrap();
    assert_eq!(
        answer_text(&report.answers[0]).matches("index").count(),
        3,
        "{}",
        answer_text(&report.answers[0])
    );
}

/// Reports of single documents are those of runs of their own, and their sum is the whole.
#[test]
fn documents_have_reports_of_their_own() {
    for seed in 0..cases(30, 1_000) {
        let mut random = Random::new(seed);
        let (all, parts) = documents(&mut random, seed);
        let mut rich = Stats::new();
        (rich.schema, rich.values) = (true, true);
        let analysis = Analysis::new().count(query("$..a")).ask(Measure::Stats(rich)).group(groups());
        let whole = analysis.run(&mut Document::from_bytes(all).framing(Framing::Lines)).unwrap();
        let mut sequence = analysis.sequence().unwrap();
        for part in &parts {
            let mut document = Document::from_bytes(part.as_slice()).framing(Framing::Lines);
            let apart = sequence.run_apart(&mut document, &mut |_: &Match<'_>| Ok(())).unwrap();
            let own = analysis.run(&mut document).unwrap();
            assert_eq!(answers(&apart), answers(&own), "seed {seed}");
        }
        assert_eq!(answers(&sequence.finish().unwrap()), answers(&whole), "seed {seed}");
    }
}

#[test]
fn a_sequence_ends_with_its_first_error() {
    let analysis = Analysis::new().count(query("$.a"));
    let mut sequence = analysis.sequence().unwrap();
    sequence.run(&mut Document::from_bytes("{\"a\":1}")).unwrap();
    assert!(matches!(sequence.run(&mut Document::from_bytes("{\"a\":")), Err(Error::Read { .. })));
    assert!(matches!(sequence.run(&mut Document::from_bytes("{}")), Err(Error::Sequence(_))));
    assert!(matches!(sequence.finish(), Err(Error::Sequence(_))));
    let systematic = Sample::new(Query::root(), size(2)).strategy(Strategy::Systematic(None));
    assert!(matches!(Analysis::new().sample(systematic).sequence(), Err(Error::Sequence(_))));
}

/// The number of malformed records that may be skipped covers the whole sequence.
#[test]
fn skipped_records_are_counted_over_the_whole_sequence() {
    let (bad, lines) = ("tru\n{}\nfals\n", Framing::Lines);
    for (at_most, documents) in [(1, 0), (2, 1), (3, 1), (4, 2), (5, 2)] {
        let analysis = Analysis::new().count(Query::root()).on_bad_record(OnBadRecord::Skip { at_most });
        let mut sequence = analysis.sequence().unwrap();
        let ran = (0..3).find_map(|number| {
            let mut document = Document::from_bytes(bad).framing(lines);
            sequence.run(&mut document).err().map(|error| (number, error))
        });
        let (number, error) = ran.unwrap();
        assert!(
            matches!(error, Error::TooManyBadRecords { at_most: limit } if limit == at_most),
            "{at_most}: {error}"
        );
        assert_eq!(number, documents, "{at_most}");
    }
}

/// Groups of several documents have one limit, and one type of compared values.
#[test]
fn groups_cover_the_whole_sequence() {
    let group = |max| Group::new().by("a", query("$.a")).max_groups(max);
    let group = |max| group(max).aggregate(AggregateKind::Max, "m", query("$.m"));
    let run = |group: Group, texts: &[&str], apart: bool| -> Result<Report, Error> {
        let analysis = Analysis::new().group(group);
        let mut sequence = analysis.sequence()?;
        for text in texts {
            let document = &mut Document::from_bytes(*text);
            if apart {
                sequence.run_apart(document, &mut |_: &Match<'_>| Ok(()))?;
            } else {
                sequence.run(document)?;
            }
        }
        sequence.finish()
    };
    let texts = ["{\"a\":1}\n{\"a\":2,\"m\":1}", "{\"a\":1.0}\n{\"a\":3}"];
    for apart in [false, true] {
        assert!(run(group(3), &texts, apart).is_ok());
        let error = run(group(2), &texts, apart).unwrap_err();
        assert!(matches!(error, Error::Group { error: GroupError::Groups { limit: 2 }, .. }), "{error}");
        let error = run(group(9), &[texts[0], "{\"m\":\"x\"}"], apart).unwrap_err();
        assert!(matches!(error, Error::Group { .. }), "{error}");
        let approximate = run(group(2).approximate(true), &texts, apart).unwrap();
        let again = run(group(2).approximate(true), &texts, apart).unwrap();
        assert_eq!(answers(&approximate), answers(&again));
    }
}
