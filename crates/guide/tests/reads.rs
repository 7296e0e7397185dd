//! How much of an input is read with a guide, and the answers to samples. Reads are counted, not
//! timed.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use trommel::path::{Order, Query};
use trommel::reader::{Framing, Validation};
use trommel::sampler::Seed;
use trommel::{Analysis, Document, Match, Measure, Sample, Strategy};
use trommel_guide::{Guide, Identity, Index, IndexBuilder, Shape, without_skipped};
use trommel_testkit::effort::cases;

/// A reader that counts the bytes that it returns.
struct Counted {
    bytes: Cursor<Arc<[u8]>>,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(into)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.bytes.seek(to)
    }
}

/// A document with its guide.
struct Input {
    bytes: Arc<[u8]>,
    guide: Guide,
}

impl Input {
    fn new(text: &str) -> Self {
        let bytes: Arc<[u8]> = text.as_bytes().into();
        let document = Document::from_bytes(Arc::clone(&bytes));
        let index = Index::build(&document, IndexBuilder::default(), Box::new(|_| Ok(()))).unwrap();
        let guide = Guide::new(Identity::Output([0; 32]), Framing::Auto, index, Shape::default());
        Self { bytes, guide }
    }

    fn open(&self) -> (Document<'static>, Arc<AtomicU64>) {
        let read = Arc::new(AtomicU64::new(0));
        let counted = Counted { bytes: Cursor::new(Arc::clone(&self.bytes)), read: Arc::clone(&read) };
        (Document::from_seekable(counted).unwrap(), read)
    }

    /// The bytes read and the values of a query with the guide, after a comparison with those
    /// without it.
    fn read(&self, query: &str) -> (u64, Vec<String>) {
        let values = |document: &mut Document<'_>| {
            let mut values = Vec::new();
            let analysis = Analysis::new().validation(Validation::Structural).order(Order::Document);
            let analysis = analysis.extract(query.parse().unwrap());
            analysis
                .run_with(document, &mut |found: &Match<'_>| {
                    values.push(String::from_utf8(found.value.to_vec()).unwrap());
                    Ok(())
                })
                .unwrap();
            values
        };
        let (document, read) = self.open();
        let guided = values(&mut self.guide.guide(document));
        assert_eq!(guided, values(&mut Document::from_bytes(&self.bytes)), "{query}");
        (read.load(Ordering::Relaxed), guided)
    }
}

fn records(count: u64) -> String {
    let mut text = String::from(r#"{"head":{"n":1},"data":{"records":["#);
    for id in 0..count {
        let rare = if id % 5000 == 99 { r#","rare":{"why":"x"}"# } else { "" };
        let comma = if id == 0 { "" } else { "," };
        let _ = write!(
            text,
            r#"{comma}{{"id":{id},"name":"name {id}","tags":["a","b",{id}],"in":{{"a":1}}{rare}}}"#
        );
    }
    text + r#"]},"end":{"ok":true}}"#
}

#[test]
fn questions_read_what_they_need() {
    let count = 100_000;
    let input = Input::new(&records(count));
    let level = 3 * (64 << 10);
    for (query, values, most) in [
        ("$.data.records[0].id", 1, level),
        ("$.data.records[70000].id", 1, 2 * level),
        ("$.data.records[-5].id", 1, 2 * level),
        ("$.data.records[50000:50010].name", 10, 2 * level),
        ("$.data.records[-3:]", 3, 2 * level),
        ("$.end.ok", 1, 2 * level),
        ("$.head.n", 1, level),
        ("$..why", 20, 21 * level),
        ("$.data.records[*].rare", 20, u64::MAX),
        ("$..nothing", 0, 2 * level),
    ] {
        let (read, found) = input.read(query);
        assert_eq!(found.len(), values, "{query}");
        assert!(read <= most, "{query} read {read} of {} bytes", input.bytes.len());
    }
    // Without a guide, every byte is read.
    let (mut document, read) = input.open();
    let counting = Analysis::new().count("$.data.records[*]".parse().unwrap());
    assert_eq!(counting.run(&mut document).unwrap().answers[0].count(), Some(count));
    assert!(read.load(Ordering::Relaxed) >= input.bytes.len() as u64);
    let (document, read) = input.open();
    let mut document = input.guide.guide(document);
    assert_eq!(counting.run(&mut document).unwrap().answers[0].count(), Some(count));
    assert!(read.load(Ordering::Relaxed) <= 2 * level);
}

/// An object whose names ascend is searched by halves.
#[test]
fn members_in_order_read_what_they_need() {
    let count = cases(400_000, 10_000_000);
    for width in [0, 8] {
        let mut text = String::from(r#"{"o":{"#);
        for number in 0..count {
            let comma = if number == 0 { "" } else { "," };
            let _ = write!(text, r#"{comma}"key{number:0width$}":{{"v":[{number}]}}"#);
        }
        let input = Input::new(&(text + r#"},"z":1}"#));
        for (number, values) in [(0, 1), (70, 1), (count / 2, 1), (count - 1, 1), (count, 0)] {
            let query = format!("$.o['key{number:0width$}'].v[0]");
            let (read, found) = input.read(&query);
            assert_eq!(found.len(), values, "{query}");
            assert!(read <= 2 << 20, "{query} read {read} of {} bytes", input.bytes.len());
        }
    }
}

/// The elements before a page are not visited.
#[test]
fn pages_read_what_they_need() {
    let input = Input::new(&records(100_000));
    for (query, skip) in [("$.data.records[*]", 70_000), ("$.data.records[*].id", 70_000)] {
        let page = trommel::Extract::new(query.parse().unwrap()).skip(skip).limit(20);
        let analysis = Analysis::new().validation(Validation::Structural).ask(Measure::Extract(page));
        let values = |document: &mut Document<'_>| {
            let shorter = without_skipped(&analysis, document).unwrap();
            let (mut values, is_shorter) = (Vec::new(), shorter.is_some());
            let report =
                shorter.unwrap_or_else(|| analysis.clone()).run_with(document, &mut |found: &Match<'_>| {
                    values.push((found.span, found.value.to_vec()));
                    Ok(())
                });
            assert_eq!(report.unwrap().answers[0].count(), Some(20));
            (values, is_shorter)
        };
        let (document, read) = input.open();
        let (guided, is_shorter) = values(&mut input.guide.guide(document));
        assert_eq!(guided, values(&mut Document::from_bytes(&input.bytes)).0);
        let read = read.load(Ordering::Relaxed);
        // Only the elements themselves have numbers.
        assert_eq!(is_shorter, query.ends_with("[*]"));
        assert_eq!(read < 8 * (64 << 10), is_shorter, "{read}");
    }
}

#[test]
fn keys_of_large_objects_are_found() {
    let mut text = String::from("{");
    for key in 0..200_000_u64 {
        let key = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let _ = write!(
            text,
            r#"{}"k{key:x}":{{"value":{key},"text":"{}"}}"#,
            if text.len() > 1 { "," } else { "" },
            "x".repeat(400)
        );
    }
    text.push('}');
    let input = Input::new(&text);
    for key in [0, 7, 100_000, 199_999_u64] {
        let name = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let (read, found) = input.read(&format!("$.k{name:x}.value"));
        assert_eq!(found, [name.to_string()]);
        assert!(read < 5 << 20, "{read} of {} bytes", input.bytes.len());
    }
    let (read, found) = input.read("$.missing");
    assert!(found.is_empty() && read < 5 << 20, "{read}");
}

#[test]
fn samples_are_those_of_a_run() {
    let input = Input::new(&records(60_000));
    let size = |size: usize| NonZeroUsize::new(size).unwrap();
    for (number, query) in
        ["$.data.records", "$.data.records[*]", "$.data.records[7].tags"].into_iter().enumerate()
    {
        for strategy in [Strategy::Random, Strategy::First, Strategy::Last, Strategy::Systematic(None)] {
            let query: Query = query.parse().unwrap();
            let mut sample = Sample::new(query, size(5)).strategy(strategy).seed(Seed::new(9));
            sample.origins = number == 0;
            let analysis = Analysis::new().ask(Measure::Sample(sample));
            let (document, read) = input.open();
            let known = input.guide.answer(&analysis, &mut input.guide.guide(document)).unwrap().unwrap();
            let read = read.load(Ordering::Relaxed);
            let ran = analysis.run(&mut Document::from_bytes(&input.bytes)).unwrap();
            assert_eq!(format!("{:?}", known.answers), format!("{:?}", ran.answers));
            assert!(read < 2 << 20, "{read}");
        }
    }
    for query in ["$", "$.data", "$..tags", "$.data.records[*].id"] {
        let sample = Sample::new(query.parse().unwrap(), size(5));
        let (document, _) = input.open();
        let analysis = Analysis::new().ask(Measure::Sample(sample));
        let known = input.guide.answer(&analysis, &mut input.guide.guide(document)).unwrap();
        assert!(known.is_none(), "{query}");
    }
}
