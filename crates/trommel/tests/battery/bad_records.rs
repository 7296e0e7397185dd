//! Records that are no JSON: left out of every answer and reported, or the end of the run.

use trommel::path::Query;
use trommel::reader::{ErrorKind, Framing, Syntax, Validation};
use trommel::{Analysis, Document, Error, OnBadRecord, Sample, Strategy};
use trommel_testkit::generate::{Random, Shape, damage, document};
use trommel_testkit::naive::{self, Record};

use crate::support::{Memory, Source, cases, naive_framing, query, run, sample_of, shown, size};

fn everything() -> Analysis {
    Analysis::new()
        .extract(query("$..a"))
        .count(query("$..*"))
        .sample(Sample::new(Query::root(), size(5)).strategy(Strategy::Last))
        .stats()
}

/// A stream some of whose records are damaged, and one of the good ones alone.
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

/// Line and column of an offset, counted from 1.
fn place(text: &[u8], offset: u64) -> (u64, u64) {
    let before = &text[..offset as usize];
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = before.split(|&byte| byte == b'\n').count() as u64;
    let column = before[start..].iter().filter(|&&byte| byte & 0xC0 != 0x80).count() as u64 + 1;
    (line, column)
}

/// A bad record adds nothing to any answer, is reported with its number and place, and the good
/// ones keep their numbers.
#[test]
fn bad_records_are_left_out_of_every_answer() {
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
            assert_eq!(shown(&report.answers[number]), shown(&clean.answers[number]), "{note}");
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
        let told: Vec<u64> = memory.damages().iter().map(|told| told.record).collect();
        assert_eq!(told, damaged.iter().map(|(number, _)| *number as u64).collect::<Vec<_>>(), "{note}");
    }
    assert!(bad > 300, "records were bad: {bad}");
}

/// Without leave to skip, the first bad record ends the run, at its byte, line and column; what
/// came before was handed out.
#[test]
fn the_first_bad_record_ends_the_run() {
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
                // Of a wrong word we name the first byte, the oracle the first wrong one.
                let word = error.kind() == ErrorKind::Syntax(Syntax::Literal);
                // A record that ends within a character ends too early; to the oracle the character
                // is bad.
                let cut = error.kind() == ErrorKind::Syntax(Syntax::UnterminatedString)
                    && (offset..offset + 4).contains(&error.offset());
                let is_there = error.offset() == offset || word && error.offset() < offset || cut;
                assert!(is_there, "seed {seed}: {error}, not at {offset} of {}", text.escape_ascii());
                let found = error.place().unwrap();
                assert_eq!((found.line, found.column), place(&text, error.offset()), "seed {seed}");
            }
            other => panic!("seed {seed}: {other}"),
        }
        assert!(memory.values().iter().all(|value| value.record <= bad as u64));
    }
}

#[test]
fn more_than_allowed_are_too_many() {
    let text = "1\nx\n2\ny\n3\nz\n4\n";
    for at_most in 0..5 {
        let skip = Analysis::new().extract(Query::root()).on_bad_record(OnBadRecord::Skip { at_most });
        let mut memory = Memory::default();
        let ran = skip.run_with(&mut Document::from_bytes(text).framing(Framing::Lines), &mut memory);
        let told = memory.damages();
        if at_most >= 3 {
            assert_eq!(ran.unwrap().coverage.bad_records, 3);
            assert_eq!((memory.texts().join(""), told.len()), ("1234".into(), 3));
        } else {
            assert!(matches!(ran, Err(Error::TooManyBadRecords { at_most: found }) if found == at_most));
            assert_eq!(told.len() as u64, at_most + 1, "the one too many is told of");
        }
    }
}

/// Only a delimiter tells where the next record begins.
#[test]
fn without_delimiters_nothing_is_skipped() {
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
    // In `auto`, a text sequence is found by its first byte, and has delimiters.
    let (report, memory) = run(&skip, &mut Document::from_bytes("\u{1e}x\n\u{1e}2\n")).unwrap();
    assert_eq!((memory.texts(), report.coverage.bad_records), (vec!["2".to_owned()], 1));
}

/// An error that is none of the content is never skipped.
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

/// A record that breaks a limit is as bad as one that is no JSON.
#[test]
fn records_beyond_a_limit_are_bad_ones() {
    let mut limits = trommel::reader::Limits::default();
    limits.depth = 3;
    let skip =
        Analysis::new().extract(Query::root()).on_bad_record(OnBadRecord::Skip { at_most: 1 }).limits(limits);
    let text = "[[[1]]]\n[[[[1]]]]\n2\n";
    let (_, memory) = run(&skip, &mut Document::from_bytes(text).framing(Framing::Lines)).unwrap();
    assert_eq!(memory.texts(), ["[[[1]]]", "2"]);
    assert!(memory.damages()[0].error.contains('3'), "{:?}", memory.damages());
}
