//! Parts of a document: byte ranges of record streams, cut anywhere.

use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use trommel::reader::{ErrorKind, Framing};
use trommel::{Analysis, Document, Error, Extract, Match, Measure, PartError, Partial, Sink};
use trommel_testkit::generate::{Random, Shape, damage, stream};
use trommel_testkit::naive;

use crate::support::{Scratch, answer_text, cases, gzip, query};

/// Opens the same bytes as each kind of input that has parts.
fn opened<'a>(file: &Scratch, bytes: &'a [u8], kind: u64) -> Document<'a> {
    match kind % 3 {
        0 => Document::from_bytes(bytes),
        1 => Document::open(file.path()).unwrap(),
        _ => Document::from_seekable(io::Cursor::new(bytes)).unwrap(),
    }
}

/// Ranges that cover the bytes, cut at random.
fn cuts(random: &mut Random, length: usize) -> Vec<Range<u64>> {
    let mut at: Vec<u64> = (0..random.below(8)).map(|_| random.below(length + 1) as u64).collect();
    at.extend([0, length as u64]);
    at.sort_unstable();
    at.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// Spans and values in order.
#[derive(Default)]
struct Values(Vec<(u64, Vec<u8>, Option<String>)>);

impl Sink for Values {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        let location = found.location.map(str::to_owned);
        self.0.push((found.span.start, found.value.to_vec(), location));
        Ok(())
    }

    fn wants_location(&self) -> bool {
        true
    }
}

/// Cut anywhere, as any kind of input and in any window, the parts contain each record once: values
/// with their offsets, statistics, and coverage are those of the whole.
#[test]
fn ranges_contain_each_record_once() {
    let analysis = Analysis::new().ask(Measure::Extract(Extract::new(query("$..a")))).stats();
    for seed in 0..cases(400, 4000) {
        let mut random = Random::new(seed);
        let (framing, naive) = if seed % 2 == 0 {
            (Framing::Lines, naive::Framing::Lines)
        } else {
            (Framing::JsonSeq, naive::Framing::JsonSeq)
        };
        let text = stream(seed, &Shape::plain(), naive, random.between(0, 20));
        let file = Scratch::new("ranges", &text);
        let analysis = analysis.clone().window(random.between(1, 300));
        let mut whole = Values::default();
        let report = analysis
            .run_with(&mut opened(&file, &text, seed).framing(framing), &mut whole)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let (mut parts, mut merged) = (Values::default(), None::<Partial>);
        for (range, number) in cuts(&mut random, text.len()).into_iter().zip(0..) {
            let document = opened(&file, &text, seed / 2 + number).framing(framing);
            let part = analysis.run_part(&mut document.range(range).unwrap(), number, &mut parts).unwrap();
            merged = Some(match merged {
                Some(merged) => merged.merge(part).unwrap(),
                None => part,
            });
        }
        assert_eq!(parts.0, whole.0, "seed {seed}");
        let finished = analysis.finish(merged.unwrap()).unwrap();
        let texts = |answers: &[trommel::Answer]| answers.iter().map(answer_text).collect::<Vec<_>>();
        assert_eq!(texts(&finished.answers), texts(&report.answers), "seed {seed}");
        assert_eq!(finished.coverage, report.coverage, "seed {seed}");
    }
}

/// Numbered parts, several threads within each, and parts of parts.
#[test]
fn parts_of_long_streams_are_divided_among_threads() {
    let line = |number: u64| format!("{{\"id\":{number},\"text\":\"{}\"}}\n", "x".repeat(700));
    let text: String = (0..6_000).map(line).collect();
    let analysis = Analysis::new().extract(query("$.id"));
    let mut whole = Values::default();
    analysis.run_with(&mut Document::from_bytes(&text).framing(Framing::Lines), &mut whole).unwrap();
    for (count, threads) in [(1, 2), (2, 2), (3, 1), (7, 4)] {
        let analysis = analysis.clone().threads(threads);
        let (mut parts, mut read) = (Values::default(), 0);
        for number in 0..count {
            let document = Document::from_bytes(&text).framing(Framing::Lines).part(number, count).unwrap();
            let length = document.len().unwrap();
            let mut located = 0;
            for half in 0..2 {
                let document = Document::from_bytes(&text).framing(Framing::Lines);
                let mut document = document.part(number, count).unwrap().part(half, 2).unwrap();
                let report = analysis.run_with(&mut document, &mut parts).unwrap();
                assert_eq!(Some(report.coverage.bytes_read), report.coverage.bytes_total);
                located += report.coverage.bytes_read;
            }
            assert_eq!(located, length);
            read += located;
        }
        assert!(parts.0 == whole.0, "{count} parts, {threads} threads");
        assert_eq!(read, text.len() as u64);
    }
}

/// The first error of the whole is the first error of its parts, at the same offset.
#[test]
fn errors_of_parts_have_offsets_in_the_whole() {
    let offset = |error: Error| match error {
        Error::Read { error, .. } => error.offset(),
        error => panic!("{error}"),
    };
    let analysis = Analysis::new().count(query("$..a"));
    let mut failed = 0;
    for seed in 0..cases(200, 2000) {
        let mut random = Random::new(seed);
        let text = damage(seed, &stream(seed, &Shape::plain(), naive::Framing::Lines, 10));
        let file = Scratch::new("ranges", &text);
        let whole = analysis.run(&mut opened(&file, &text, seed).framing(Framing::Lines));
        let mut ranges = cuts(&mut random, text.len()).into_iter();
        let parts = ranges.find_map(|range| {
            let document = opened(&file, &text, seed + 1).framing(Framing::Lines);
            analysis.run(&mut document.range(range).unwrap()).err()
        });
        failed += u64::from(whole.is_err());
        assert_eq!(parts.map(offset), whole.err().map(offset), "seed {seed}");
    }
    assert!(failed > 20, "only {failed} texts had an error");
}

#[test]
fn documents_without_parts_say_why() {
    let lines = "{\"a\":1}\n{\"a\":2}\n";
    let error = |document: Document<'_>, range| match document.range(range) {
        Err(Error::Part(error)) => error,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("has parts"),
    };
    assert_eq!(error(Document::from_bytes("[1]"), 0..1), PartError::SingleDocument);
    let with_lines = |document: Document<'static>| document.framing(Framing::Lines);
    assert_eq!(
        error(with_lines(Document::from_bytes(gzip(lines.as_bytes()))), 0..1),
        PartError::Packed("gzip")
    );
    assert_eq!(error(with_lines(Document::from_reader(lines.as_bytes())), 0..1), PartError::Reader);
    let texts = [
        (PartError::SingleDocument, "trommel guide build"),
        (PartError::Packed("gzip"), "compressed input (gzip) cannot be read alone; decompress it first"),
        (PartError::Reader, "store it in a file first"),
        (PartError::UnknownLength, "a file that does not report its length has no parts"),
        (PartError::Changed, "divide it again"),
    ];
    for (error, advice) in texts {
        assert!(error.to_string().contains(advice), "{error}");
    }
    let outside = PartError::Outside { range: 3..99, all: 0..16 };
    assert_eq!(error(with_lines(Document::from_bytes(lines)), 3..99), outside);
    assert_eq!(outside.to_string(), "bytes 3 to 99 are not in the document, which has bytes 0 to 16");
    let part = with_lines(Document::from_bytes(lines)).part(2, 2).err().unwrap();
    assert_eq!(part.to_string(), "there is no part 2 of 2 parts; the first is part 0");
    // A part of no records, as a range within one line is.
    let empty = Analysis::new()
        .count(query("$.a"))
        .run(&mut with_lines(Document::from_bytes(lines)).range(2..5).unwrap());
    assert_eq!(empty.unwrap().answers[0].count(), Some(0));
}

/// Returns no more bytes once the flag is set.
struct Shrinking(io::Cursor<&'static [u8]>, Arc<AtomicBool>);

impl io::Read for Shrinking {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.1.load(Ordering::Relaxed) { Ok(0) } else { self.0.read(into) }
    }
}

impl io::Seek for Shrinking {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

/// A reader that seeks is read any number of times, and must not become shorter.
#[test]
fn readers_that_seek_are_read_again() {
    let shrinks = Arc::new(AtomicBool::new(false));
    let reader = Shrinking(io::Cursor::new(b"{\"a\":{\"a\":[1,2]}}"), Arc::clone(&shrinks));
    let mut document = Document::from_seekable(reader).unwrap();
    assert!(document.is_repeatable());
    let analysis = Analysis::new().count(query("$..a"));
    for _ in 0..2 {
        assert_eq!(analysis.run(&mut document).unwrap().answers[0].count(), Some(2));
    }
    shrinks.store(true, Ordering::Relaxed);
    match analysis.run(&mut document) {
        Err(Error::Read { error, .. }) => assert_eq!(error.kind(), ErrorKind::SourceChanged),
        other => panic!("{other:?}"),
    }
}
