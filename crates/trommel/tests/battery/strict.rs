//! Strict validation reads every record to its end, in every framing.

use trommel::path::Query;
use trommel::reader::{ErrorKind, Framing, Validation};
use trommel::{Analysis, Count, Document, Error, Extract, Measure, OnBadRecord, Sample, Stats, Strategy};

use crate::support::{Memory, Source, query, size};

/// Records that are decided by their first member, and malformed after it.
const BAD: [&[u8]; 7] = [
    b"{\"level\": \"warn\" GARBAGE ]]]",
    b"{\"level\": \"warn\", \"x\": tru}",
    b"{\"level\": \"warn\", \"x\": [1,]}",
    b"{\"level\": \"warn\", \"x\": [1}",
    b"{\"level\": \"warn\", \"x\": \"\xFF\"}",
    b"{\"level\": \"warn\", \"x\": 01}",
    b"{\"level\": \"warn\", \"x\": {\"y\": \"\\q\"}, \"z\": 1}",
];

/// Measures that are decided early: values, counts, samples, and statistics of a query's values,
/// with limits and without.
fn commands() -> Vec<(&'static str, Measure)> {
    let level = || query("$.level");
    let several: Query = query("$['level','level']");
    let mut stats = Stats::new();
    stats.queries = vec![level()];
    vec![
        ("values", Measure::Extract(Extract::new(level()))),
        ("two values", Measure::Extract(Extract::new(level()).limit(2))),
        ("sorted values", Measure::Extract(Extract::new(several.clone()).limit(3))),
        ("count", Measure::Count(Count::new(level()))),
        ("count of two", Measure::Count(Count::new(level()).limit(2))),
        ("sample", Measure::Sample(Sample::new(several, size(9)).strategy(Strategy::First))),
        ("stats", Measure::Stats(stats)),
    ]
}

/// A valid, a malformed, and a valid record; for a framing with one record, the malformed one
/// alone.
fn input(framing: Framing, bad: &[u8]) -> (Vec<u8>, u64) {
    let (good, later) = (&b"{\"level\": \"info\"}"[..], &b"{\"level\": \"error\"}"[..]);
    match framing {
        Framing::Single => (bad.to_vec(), 0),
        Framing::JsonSeq => ([b"\x1E", good, b"\n\x1E", bad, b"\n\x1E", later, b"\n"].concat(), 1),
        _ => ([good, b"\n", bad, b"\n", later, b"\n"].concat(), 1),
    }
}

fn position(error: &Error) -> (ErrorKind, u64, Option<u64>) {
    match error {
        Error::Read { error, record } => (error.kind(), error.offset(), *record),
        other => panic!("no error of the input: {other:?}"),
    }
}

fn at_most_values(heard: &Memory, most: usize) -> bool {
    heard.damages().is_empty() && heard.values().len() <= most
}

#[test]
fn decided_records_are_validated_to_their_end() {
    let framings = [Framing::Single, Framing::Auto, Framing::Lines, Framing::Concatenated, Framing::JsonSeq];
    for framing in framings {
        for bad in BAD {
            let (bytes, number) = input(framing, bad);
            let check = Analysis::new().stats();
            let expected =
                position(&check.run(&mut Document::from_bytes(&*bytes).framing(framing)).unwrap_err());
            for (name, measure) in commands() {
                for (source, threads) in Source::all().iter().zip([1, 2, 8].iter().cycle()) {
                    let context = format!("{name}, {framing:?}, {source:?}, {}", bad.escape_ascii());
                    let analysis = Analysis::new().ask(measure.clone()).threads(*threads);
                    let mut heard = Memory::default();
                    let ran = analysis.run_with(&mut source.document(&bytes, framing), &mut heard);
                    assert_eq!(position(&ran.expect_err(&context)), expected, "{context}");
                    assert!(expected.2.is_none_or(|record| record == number), "{context}");
                    assert!(at_most_values(&heard, 2 * (number as usize + 1)), "{context}: {heard:?}");

                    // Which records are malformed does not depend on the measure.
                    let skips = analysis.on_bad_record(OnBadRecord::Skip { at_most: u64::MAX });
                    let mut heard = Memory::default();
                    let ran = skips.run_with(&mut source.document(&bytes, framing), &mut heard);
                    if matches!(framing, Framing::Lines | Framing::JsonSeq) {
                        assert_eq!(ran.expect(&context).coverage.bad_records, 1, "{context}");
                        assert_eq!(heard.damages()[0].record, number, "{context}");
                    } else {
                        assert_eq!(position(&ran.expect_err(&context)).0, expected.0, "{context}");
                    }
                }
            }
        }
    }
}

/// The same in parts of a long file of lines, which several threads read.
#[test]
fn parts_of_a_long_stream_are_validated_to_their_end() {
    let good = format!("{{\"level\": \"info\", \"pad\": \"{}\"}}\n", "x".repeat(2000));
    let count = (9 << 20) / good.len();
    for bad in [BAD[0], BAD[4]] {
        let mut bytes = good.repeat(count).into_bytes();
        bytes.extend_from_slice(bad);
        bytes.push(b'\n');
        bytes.extend_from_slice(good.repeat(10).as_bytes());
        let mut commands = commands();
        let last = count as u64 + 1;
        commands
            .push(("values to the bad one", Measure::Extract(Extract::new(query("$.level")).limit(last))));
        commands.push(("count to the bad one", Measure::Count(Count::new(query("$.level")).limit(last))));
        commands.push(("values up to it", Measure::Extract(Extract::new(query("$.level")).limit(last - 1))));
        for (name, measure) in commands {
            let run = |threads| {
                let mut heard = Memory::default();
                let analysis = Analysis::new().ask(measure.clone()).threads(threads);
                let ran = analysis
                    .run_with(&mut Document::from_bytes(&*bytes).framing(Framing::Lines), &mut heard)
                    .map(|report| report.coverage)
                    .map_err(|error| position(&error));
                (ran, heard.values())
            };
            let one = run(1);
            let is_before =
                matches!(name, "two values" | "count of two" | "values up to it" | "sorted values");
            assert_eq!(one.0.is_ok(), is_before, "{name}: {:?}", one.0);
            if let Err((_, _, record)) = one.0 {
                assert_eq!(record, Some(count as u64), "{name}");
            }
            for threads in [2, 8] {
                assert!(run(threads) == one, "{name} with {threads} threads");
            }
        }
    }
}

/// A limit ends a strict run at the end of a record, not before.
#[test]
fn limits_stop_at_the_end_of_a_record() {
    let text = "{\"a\": 1, \"b\": [2]}\n";
    let limited = Analysis::new().ask(Measure::Extract(Extract::new(query("$.a")).limit(1)));
    let loose = limited.clone().validation(Validation::Structural);
    let read = |analysis: &Analysis, text: &str, framing| {
        let mut document = Document::from_bytes(text).framing(framing);
        let coverage = analysis.run(&mut document).unwrap().coverage;
        (coverage.bytes_read, coverage.records, coverage.complete)
    };
    for (framing, complete) in [
        (Framing::Single, true),
        (Framing::Auto, true),
        (Framing::Lines, false),
        (Framing::Concatenated, false),
    ] {
        let end = if matches!(framing, Framing::Single | Framing::Lines) { 19 } else { 18 };
        let end = if framing == Framing::Lines { 18 } else { end };
        assert_eq!(read(&limited, text, framing), (end, 1, complete), "{framing:?}");
        assert_eq!(read(&loose, text, framing), (7, 1, false), "{framing:?}");
        // Later records are not read.
        if framing != Framing::Single {
            let stream = format!("{text}{text}nonsense");
            assert_eq!(read(&limited, &stream, framing).1, 1, "{framing:?}");
        }
    }
    // Bytes after a document are part of it; bytes after a record are not.
    let trailing = |framing| limited.run(&mut Document::from_bytes("{\"a\": 1} x").framing(framing));
    assert!(trailing(Framing::Single).is_err() && trailing(Framing::Auto).is_err());
    assert!(trailing(Framing::Lines).is_err() && trailing(Framing::Concatenated).is_ok());
    let touching = limited.run(&mut Document::from_bytes("{\"a\": 1}{\"a\": 2}"));
    assert!(touching.is_err());
}

/// Without strict validation the run leaves a decided record, and the coverage reports it.
#[test]
fn structural_validation_leaves_decided_records() {
    let (bytes, _) = input(Framing::Lines, BAD[0]);
    let analysis = Analysis::new().extract(query("$.level")).validation(Validation::Structural);
    let report = analysis.run(&mut Document::from_bytes(bytes).framing(Framing::Lines)).unwrap();
    assert_eq!(report.answers[0].count(), Some(3));
    assert!(!report.coverage.complete && !report.coverage.strict);
}
