//! Malformed records: skipped and reported, or the end of the run.

use trommel::path::Query;
use trommel::reader::{ErrorKind, Framing, Syntax, Validation};
use trommel::{Analysis, Document, Error, OnBadRecord, Sample, Strategy};
use trommel_testkit::generate::{Random, Shape, damage, document};
use trommel_testkit::naive::{self, Record};

use crate::support::{Memory, Source, answer_text, cases, naive_framing, query, run, sample_of, size};

fn everything() -> Analysis {
    Analysis::new()
        .extract(query("$..a"))
        .count(query("$..*"))
        .sample(Sample::new(Query::root(), size(5)).strategy(Strategy::Last))
        .stats()
}

/// A stream with some malformed records, and the stream of the others alone.
fn damaged_stream(seed: u64, framing: Framing) -> Vec<u8> {
    let mut random = Random::new(seed);
    let shape = Shape { layout: generate_layout(), ..Shape::plain() };
    let mut text = Vec::new();
    for number in 0..random.between(1, 12) as u64 {
        let record = document(seed * 100 + number, &shape);
        let bad = random.chance(40);
        let mut record = if bad { damage(seed * 100 + number, &record) } else { record };
        record.retain(|&byte| byte != b'\n' && byte != 0x1E);
        if framing == Framing::JsonSeq {
            text.push(0x1E);
        }
        text.extend(record);
        text.push(b'\n');
    }
    text
}

fn generate_layout() -> trommel_testkit::generate::Layout {
    trommel_testkit::generate::Layout::OneLine
}

/// One-based line and column of an offset.
fn position(text: &[u8], offset: u64) -> (u64, u64) {
    let before = &text[..offset as usize];
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = before.split(|&byte| byte == b'\n').count() as u64;
    let column = before[start..].iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64 + 1;
    (line, column)
}

/// A malformed record adds nothing to any answer, and is reported with its number and position. The
/// other records keep their numbers.
#[test]
fn malformed_records_add_nothing_to_any_answer() {
    let mut bad = 0;
    for seed in 0..cases(400, 5000) {
        let framing = [Framing::Lines, Framing::JsonSeq][seed as usize % 2];
        let text = damaged_stream(seed, framing);
        let records = naive::records(&text, naive_framing(framing));
        let (good, damaged): (Vec<(usize, &Record)>, Vec<_>) =
            records.iter().enumerate().partition(|(_, record)| record.outcome.is_ok());
        bad += damaged.len();
        let separator = if framing == Framing::JsonSeq { "\u{1e}" } else { "" };
        let alone: Vec<u8> = good
            .iter()
            .flat_map(|(_, record)| [separator.as_bytes(), &text[record.span.range()], b"\n"].concat())
            .collect();
        let validation = [Validation::Strict, Validation::Structural][seed as usize / 2 % 2];
        let skip = everything().on_bad_record(OnBadRecord::Skip { at_most: u64::MAX }).validation(validation);
        let note = format!("seed {seed} {framing:?}");
        let (report, memory) = run(&skip, &mut Source::pick(seed).document(&text, framing)).unwrap();
        let (clean, heard) = run(&skip, &mut Document::from_bytes(alone).framing(framing)).unwrap();
        for number in 0..2 {
            assert_eq!(answer_text(&report.answers[number]), answer_text(&clean.answers[number]), "{note}");
        }
        let (found, expected) = (sample_of(&report.answers[2]), sample_of(&clean.answers[2]));
        assert_eq!(found, expected, "{note}");
        let stats = |report: &trommel::Report| {
            let stats = crate::support::stats_of(&report.answers[3]);
            (stats.records, format!("{:?}", stats.summary))
        };
        assert_eq!(stats(&report), stats(&clean), "{note}");
        let mut values = heard.values();
        for (value, found) in values.iter_mut().zip(memory.values()) {
            assert_eq!(
                text[found.span.start as usize..found.span.end as usize],
                *value.text.as_bytes(),
                "{note}"
            );
            (value.span, value.record) = (found.span, good[value.record as usize].0 as u64);
        }
        assert_eq!(memory.values(), values, "{note}");
        assert_eq!(
            (report.coverage.records, report.coverage.bad_records),
            (good.len() as u64, damaged.len() as u64)
        );
        assert_eq!(report.coverage.bytes_read, text.len() as u64, "{note}");
        let reported: Vec<u64> = memory.damages().iter().map(|reported| reported.record).collect();
        assert_eq!(reported, damaged.iter().map(|(number, _)| *number as u64).collect::<Vec<_>>(), "{note}");
    }
    assert!(bad > 300, "malformed records: {bad}");
}

/// By default the first malformed record ends the run, at its byte, line, and column. The values
/// before it were emitted.
#[test]
fn stops_at_the_first_malformed_record() {
    for seed in 0..cases(300, 5000) {
        let framing = [Framing::Lines, Framing::JsonSeq][seed as usize % 2];
        let text = damaged_stream(seed, framing);
        let records = naive::records(&text, naive_framing(framing));
        let Some(bad) = records.iter().position(|record| record.outcome.is_err()) else { continue };
        let offset = records[bad].outcome.as_ref().unwrap_err().offset;
        let mut memory = Memory::default();
        let mut document = Source::pick(seed).document(&text, framing);
        match everything().run_with(&mut document, &mut memory).unwrap_err() {
            Error::Read { error, record } => {
                assert_eq!(record, Some(bad as u64), "seed {seed} {error}");
                // In an invalid literal, trommel reports its first byte, the oracle the first
                // differing one.
                let word = error.kind() == ErrorKind::Syntax(Syntax::Literal);
                // A record that ends within a character is truncated; for the oracle the character
                // is invalid.
                let cut = error.kind() == ErrorKind::Syntax(Syntax::UnterminatedString)
                    && (offset..offset + 4).contains(&error.offset());
                let is_there = error.offset() == offset || word && error.offset() < offset || cut;
                assert!(is_there, "seed {seed}: {error}, not at {offset} of {}", text.escape_ascii());
                let found = error.line_column().unwrap();
                assert_eq!((found.line, found.column), position(&text, error.offset()), "seed {seed}");
            }
            other => panic!("seed {seed}: {other}"),
        }
        assert!(memory.values().iter().all(|value| value.record <= bad as u64));
    }
}

#[test]
fn fails_beyond_the_allowed_number() {
    let text = "1\nx\n2\ny\n3\nz\n4\n";
    for at_most in 0..5 {
        let skip = Analysis::new().extract(Query::root()).on_bad_record(OnBadRecord::Skip { at_most });
        let mut memory = Memory::default();
        let ran = skip.run_with(&mut Document::from_bytes(text).framing(Framing::Lines), &mut memory);
        let reported = memory.damages();
        if at_most >= 3 {
            assert_eq!(ran.unwrap().coverage.bad_records, 3);
            assert_eq!((memory.texts().join(""), reported.len()), ("1234".into(), 3));
        } else {
            assert!(matches!(ran, Err(Error::TooManyBadRecords { at_most: found }) if found == at_most));
            assert_eq!(reported.len() as u64, at_most + 1, "the record beyond the limit is reported");
        }
    }
}

/// Only a delimiter shows where the next record begins.
#[test]
fn skips_only_in_framings_with_delimiters() {
    let skip = Analysis::new().extract(Query::root()).on_bad_record(OnBadRecord::Skip { at_most: 9 });
    for (text, framing) in [
        ("1\nx\n2", Framing::Concatenated),
        ("1\nx\n2", Framing::Auto),
        ("{\"a\": tru}", Framing::Auto),
        ("nul", Framing::Single),
    ] {
        let mut memory = Memory::default();
        let error = skip.run_with(&mut Document::from_bytes(text).framing(framing), &mut memory).unwrap_err();
        assert!(matches!(error, Error::Read { .. }), "{framing:?}");
        assert!(memory.damages().is_empty());
    }
    // In `auto`, a text sequence is detected by its first byte, and has delimiters.
    let (report, memory) = run(&skip, &mut Document::from_bytes("\u{1e}x\n\u{1e}2\n")).unwrap();
    assert_eq!((memory.texts(), report.coverage.bad_records), (vec!["2".to_owned()], 1));
}

/// An error that is not in the content is never skipped.
#[test]
fn failures_of_the_input_are_not_skipped() {
    let skip = Analysis::new().count(query("$..*")).on_bad_record(OnBadRecord::Skip { at_most: u64::MAX });
    let text = std::io::Cursor::new(b"1\n2\n3\n".to_vec());
    let failing = trommel_testkit::chunks::FailAfter::new(text, 3, std::io::ErrorKind::ConnectionReset);
    let error = skip.run(&mut Document::from_reader(failing).framing(Framing::Lines)).unwrap_err();
    assert!(error.to_string().contains("injected failure"), "{error}");
    let error = skip.run(&mut Document::from_bytes("{\0\"\0").framing(Framing::Lines)).unwrap_err();
    assert!(error.to_string().contains("UTF-16"), "{error}");
}

/// A record that exceeds a limit is skipped like a malformed one.
#[test]
fn records_beyond_a_limit_are_malformed() {
    let mut limits = trommel::reader::Limits::default();
    limits.depth = 3;
    let skip =
        Analysis::new().extract(Query::root()).on_bad_record(OnBadRecord::Skip { at_most: 1 }).limits(limits);
    let text = "[[[1]]]\n[[[[1]]]]\n2\n";
    let (_, memory) = run(&skip, &mut Document::from_bytes(text).framing(Framing::Lines)).unwrap();
    assert_eq!(memory.texts(), ["[[[1]]]", "2"]);
    assert!(memory.damages()[0].error.contains('3'), "{:?}", memory.damages());
}
