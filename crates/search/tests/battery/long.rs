//! Documents, lines, strings, and records of any length.

use std::fmt::Write;
use std::io::Read;

use trommel::path::Query;
use trommel::reader::Framing;
use trommel_search::{MatchSite, PatternSearch, SearchContent, SearchPattern, SearchSource};
use trommel_testkit::generate::Random;
use trommel_testkit::naive as parsed;

use crate::json::Case;
use crate::naive::{NaivePattern, Size};
use crate::support::{run, search, value};

fn naive(text: &str, is_regex: bool) -> NaivePattern {
    NaivePattern { text: text.into(), is_regex, ignore_case: false }
}

/// A document of a few megabytes: nested arrays and objects of many sizes, with few needles, some
/// of them escaped, in names and in numbers as well.
fn large_document(random: &mut Random) -> String {
    let mut text = String::from(r#"{"head": "needle 0", "data": {"records": ["#);
    for number in 0..random.between(500, 2_000) {
        let needle = match random.below(60) {
            0 => "a needle here",
            1 => r"a n\u0065edle here",
            2 => r"a needle\n\u2028",
            3 => r"\ud83d\ude00 needle",
            _ => "hay",
        };
        let name = if random.below(50) == 0 { "needle" } else { "text" };
        let most = if random.below(100) == 0 { 20_000 } else { 20 };
        let numbers = "1234567, ".repeat(random.below(most));
        let _ = write!(
            text,
            r#"{{"id": {number}, "{name}": "x{needle}", "list": [{numbers}[["{needle}"], {{"é": {{}}}}]], "pad": "{}"}}, "#,
            "p".repeat(random.below(200)),
        );
    }
    text.push_str(r#"null]}, "tail": ["needle", "needle"]}"#);
    text
}

#[test]
fn large_documents_are_searched_like_small_ones() {
    for seed in 0..2 {
        let mut random = Random::new(seed);
        let text = large_document(&mut random);
        let tree = parsed::parse(text.as_bytes()).unwrap();
        for (pattern, within) in [
            (naive("needle", false), None),
            (naive("needle", false), Some("$.data.records[*].list")),
            (naive("needle", false), Some("$..text")),
            (naive("x[a-z ]+e$|needle 0", true), Some("$.data")),
            (naive(r"needle\n", true), None),
            (naive("e{2}dle$", true), None),
        ] {
            let within: Option<Query> = within.map(|query| query.parse().unwrap());
            let size = Size { max_chars: 30, around: None };
            let case = Case { pattern: &pattern, size, within: within.as_ref() };
            let rows = case.rows(text.as_bytes(), &tree, None);
            assert!(!rows.is_empty());
            case.check(text.as_bytes(), Framing::Single, &rows, &mut random);
        }
    }
}

/// A string of `length` characters with a needle at each of the offsets.
fn hay(length: usize, needles: &[usize], needle: &str) -> String {
    let mut text = String::new();
    let mut at = 0;
    for &offset in needles {
        text.push_str(&".".repeat(offset - at));
        text.push_str(needle);
        at = offset;
    }
    text.push_str(&".".repeat(length - at));
    text
}

#[test]
fn long_lines_have_a_match_for_each_part() {
    let needles = [0, 100, 999_999, 1_048_570, 2_500_000, 2_500_250, 3_999_999];
    for end in ["", "\n", "\r\nneedle\n"] {
        let text = format!("short\n{}{end}", hay(4_000_000, &needles, "needle"));
        let search = search(&naive("needle", false), Size { max_chars: 300, around: None });
        for page in [usize::MAX, 2] {
            let found = run(&search, &text.as_bytes(), SearchContent::Text, page);
            // Two needles are visible in the excerpt of the one before.
            let offsets: Vec<u64> = found.iter().map(|found| found.offset).collect();
            let at = |index: usize| 6 + (needles[index] + 6 * index) as u64;
            let mut expected = vec![at(0), at(2), at(3), at(4), at(5), at(6)];
            if end.len() > 2 {
                expected.push(text.len() as u64 - 7);
            }
            assert_eq!(offsets, expected);
            for found in found {
                assert!(found.text.chars().count() <= 302 && found.text.contains("needle"));
                assert!(matches!(found.site, MatchSite::Line { line: 2 | 3, .. }));
            }
        }
    }
}

#[test]
fn long_strings_are_searched_in_pieces() {
    let needles = [5, 1_048_560, 1_500_000, 2_999_990];
    let string = hay(3_000_000, &needles, r"n\u0065edle").replacen('.', r"\n", 3);
    for (text, framing) in [
        (format!(r#"{{"a": [0, "{string}"], "b": "needle"}}"#), Framing::Single),
        (format!("{{\"x\": 1}}\n\n{{\"a\": [0, \"{string}\"], \"b\": \"needle\"}}\n"), Framing::Lines),
        (format!("{{\"x\": 1}} {{\"a\": [0, \"{string}\"], \"b\": \"needle\"}}"), Framing::Concatenated),
    ] {
        let record = (framing != Framing::Single).then_some(1);
        let size = Size { max_chars: 100, around: Some(10) };
        for page in [usize::MAX, 1] {
            let search = search(&naive("needle", false), size);
            let found = run(&search, &text.as_bytes(), SearchContent::Json(framing), page);
            assert_eq!(found.len(), 5, "{framing:?}");
            for (found, index) in found.iter().zip(0..) {
                let path = if index < 4 { "$['a'][1]" } else { "$['b']" };
                assert_eq!(value(found), (Some(path), record));
                let written = &text[found.offset as usize..];
                assert!(written.starts_with(if index < 4 { r"n\u0065edle" } else { "needle" }));
                assert!(found.text.contains("needle"), "{}", found.text);
            }
        }
    }
}

#[test]
fn malformed_records_may_be_long() {
    let text = format!("{{\"a\": \"needle\"}}\n{}needle\r\n[\"needle\"]", "[".repeat(2_000_000));
    let search = search(&naive("needle", false), Size { max_chars: 10, around: None });
    let found = run(&search, &text.as_bytes(), SearchContent::Json(Framing::Lines), usize::MAX);
    let found: Vec<_> = found.iter().map(|found| (value(found), &*found.text)).collect();
    let expected = [
        ((Some("$['a']"), Some(0)), "needle"),
        ((None, Some(1)), "…[[[needle"),
        ((Some("$[0]"), Some(2)), "needle"),
    ];
    assert_eq!(found, expected);
}

/// A document with one string that is longer than a cursor holds.
struct Huge {
    length: u64,
}

impl SearchSource for Huge {
    fn reader_at(&self, offset: u64) -> std::io::Result<Box<dyn Read + Send + '_>> {
        let fill = |byte| std::io::repeat(byte).take(self.length);
        let start = br#"["first", ""#.chain(fill(b'x'));
        let mut whole = start.chain(&br" n\u0065edle"[..]).chain(fill(b'y')).chain(&br#"", "needle"]"#[..]);
        std::io::copy(&mut (&mut whole).take(offset), &mut std::io::sink())?;
        Ok(Box::new(whole))
    }
}

#[test]
fn strings_longer_than_the_window_are_read_again() {
    let source = Huge { length: 17 << 20 };
    let search = PatternSearch::new(SearchPattern::text("needle", false).unwrap()).context(3);
    let found = run(&search, &source, SearchContent::Json(Framing::Single), usize::MAX);
    let found: Vec<_> = found.iter().map(|found| (value(found).0, found.offset, &*found.text)).collect();
    let length = source.length;
    assert_eq!(
        found,
        [(Some("$[1]"), 12 + length, "…xx needleyyy…"), (Some("$[2]"), 2 * length + 27, "needle"),]
    );
}
