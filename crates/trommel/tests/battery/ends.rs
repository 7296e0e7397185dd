//! Ends of records: a run that may end after any record goes from step to step, and is the oracle
//! of the faster ways. These match whole lines, or use one matcher for nodes and the matches in
//! them.

use std::fmt::Write as _;
use std::io;

use trommel::path::{Duplicates, Order};
use trommel::reader::{Framing, Span, Validation};
use trommel::{Analysis, Answer, Document, Match, Sink};
use trommel_testkit::generate::{Random, Shape, damage, stream};
use trommel_testkit::naive;

use crate::support::{Source, cases, query};

const EACH: [&str; 9] =
    ["$[*]", "$.a[*]", "$.a", "$", "$[0]", "$.b.a", "$.a[*][*]", "$[:]", "$.data.records[*]"];

const WITHIN: [&str; 10] =
    ["$.a", "$.b", "$.a.b", "$.a[0]", "$.a[*]", "$", "$.b[*].a", "$[1]", "$[*]", "$.id"];

/// A match, with its measure and record, or the end of a record.
#[derive(Debug, PartialEq)]
enum Heard {
    Match(usize, Span, u64),
    End(u64),
}

#[derive(Debug, Default)]
struct Listener {
    heard: Vec<Heard>,
    /// True if the sink may end the run after any record.
    may_end: bool,
    ignores_ends: bool,
}

impl Sink for Listener {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.heard.push(Heard::Match(found.measure, found.span, found.record));
        Ok(())
    }

    fn record_ended(&mut self, record: u64) -> io::Result<()> {
        self.heard.push(Heard::End(record));
        Ok(())
    }

    fn wants_records(&self) -> bool {
        !self.ignores_ends
    }

    fn records_left(&self) -> Option<u64> {
        self.may_end.then_some(u64::MAX)
    }
}

/// The matches and ends, and the answers or the error.
fn hear(analysis: &Analysis, document: &mut Document<'_>, mut listener: Listener) -> (Vec<Heard>, String) {
    let ran = analysis.run_with(document, &mut listener);
    let end = match ran {
        Ok(report) => {
            let counts: Vec<_> = report.answers.iter().map(Answer::count).collect();
            format!("{counts:?} {} of {}", report.coverage.records, report.coverage.bytes_read)
        }
        Err(error) => format!("{error:?}"),
    };
    (listener.heard, end)
}

/// Asserts that the other ways hear the same as the oracle. Returns the number of ends.
fn assert_same(analysis: &Analysis, bytes: &[u8], source: &Source, framing: Framing) -> usize {
    let context = format!("{analysis:?} in {}", String::from_utf8_lossy(&bytes[..bytes.len().min(400)]));
    let document = || source.document(bytes, framing);
    let oracle = Listener { may_end: true, ..Listener::default() };
    let expected = hear(&analysis.clone().threads(1), &mut document(), oracle);
    for threads in [1, 2] {
        let analysis = analysis.clone().threads(threads);
        assert_eq!(hear(&analysis, &mut document(), Listener::default()), expected, "{context}");
        let deaf = Listener { ignores_ends: true, ..Listener::default() };
        let (heard, end) = hear(&analysis, &mut document(), deaf);
        let is_match = |heard: &&Heard| matches!(heard, Heard::Match(..));
        assert!(heard.iter().eq(expected.0.iter().filter(is_match)), "{context}");
        assert_eq!(end, expected.1, "{context}");
    }
    expected.0.iter().filter(|heard| matches!(heard, Heard::End(_))).count()
}

/// Extractions and counts of some queries, with any options.
fn analysis(random: &mut Random) -> Analysis {
    let mut analysis = Analysis::new();
    for _ in 0..=random.below(3) {
        let within = query(random.pick(&WITHIN));
        analysis = if random.chance(75) { analysis.extract(within) } else { analysis.count(within) };
    }
    let duplicates = [Duplicates::First, Duplicates::All, Duplicates::Last][random.weighted(&[6, 2, 1])];
    analysis
        .duplicates(duplicates)
        .order(if random.chance(50) { Order::Rfc } else { Order::Document })
        .validation(if random.chance(30) { Validation::Strict } else { Validation::Structural })
}

/// Nodes end where the matcher of their own would end them, and so do lines.
#[test]
fn records_end_as_they_do_one_by_one() {
    let mut ends = 0;
    for seed in 0..cases(3_000, 100_000) {
        let mut random = Random::new(seed);
        let shape = Shape { duplicates: random.chance(40), ..Shape::plain() };
        let mut bytes = stream(seed, &shape, naive::Framing::Lines, 1 + random.below(4));
        if random.chance(30) {
            bytes = damage(seed, &bytes);
        }
        let mut analysis = analysis(&mut random);
        if random.chance(80) {
            analysis = analysis.each(query(random.pick(&EACH)));
        }
        ends += assert_same(&analysis, &bytes, &Source::pick(seed), Framing::Lines);
    }
    assert!(ends > 1_000, "{ends}");
}

/// An array of many records of any kind within a document, in which some are not objects, repeat
/// names, or have names with escapes.
fn long_document(seed: u64, bytes: usize) -> Vec<u8> {
    let mut random = Random::new(seed);
    let mut text = String::from(r#"{"id":0,"data":{"x":[1,{"records":2}],"records":["#);
    let mut number = 0;
    while text.len() < bytes {
        text.push_str(if number == 0 { "" } else { "," });
        let other = "y".repeat(random.below(90));
        match random.below(12) {
            0 => write!(text, r#"[{number},{{"id":1}}]"#),
            1 => write!(text, "{number}"),
            2 => write!(text, r#"{{"i\u0064":{number},"other":"{other}"}}"#),
            3 => write!(text, r#"{{"id":{number},"id":"{other}","a":{{"b":1}}}}"#),
            4 => write!(text, "{{}}"),
            _ => write!(
                text,
                r#"{{"id":{number},"other":[{{"id":2}},"{other}"],"a":{{"c":[1],"b":"{number}"}}}}"#
            ),
        }
        .unwrap();
        number += 1;
    }
    (text + r#"],"records":[{"id":1}]},"data":{"records":[{"id":2}]}}"#).into_bytes()
}

/// The same for a document that is divided among threads, and for one that is read through a
/// window.
#[test]
fn nodes_of_a_long_document_end_as_they_do_one_by_one() {
    for seed in 0..cases(4, 60) {
        let bytes = long_document(seed, 3 << 20);
        let mut random = Random::new(seed);
        let mut analysis = analysis(&mut random).each(query("$.data.records[*]"));
        analysis = analysis.duplicates([Duplicates::First, Duplicates::All][random.below(2)]);
        if random.chance(50) {
            analysis = Analysis::new().extract(query("$.id")).extract(query("$.a.b"));
            analysis = analysis.validation(Validation::Structural).each(query("$.data.records[*]"));
        }
        let ends = assert_same(&analysis, &bytes, &Source::Bytes, Framing::Single);
        assert!(ends > 10_000, "seed {seed}: {ends}");
        assert_same(&analysis, &bytes, &Source::pick(seed), Framing::Single);
    }
}
