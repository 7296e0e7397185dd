//! Lines of text, compared with a naive search.

use trommel_search::{MatchSite, PatternMatch, SearchContent};
use trommel_testkit::effort::cases;
use trommel_testkit::generate::Random;

use crate::naive::{self, NaivePattern, Size};
use crate::support::{SlowSource, random_pattern, run, search};

/// A random text: with line ends of both kinds, blank lines, and bytes that are not UTF-8.
fn random_text(random: &mut Random) -> Vec<u8> {
    let mut text = Vec::new();
    for _ in 0..random.below(40) {
        for _ in 0..random.below(12) {
            let piece: &[u8] = match random.weighted(&[8, 2, 1]) {
                0 => random.pick(&["a", "b", "ab", "x", " ", "0", "B"]).as_bytes(),
                1 => random.pick(&["é", "日", "😀", "\"", "\\", "\r", "/", "\0", "first"]).as_bytes(),
                _ => [&b"\xFF"[..], b"\xC3", b"\xE6\x97"][random.below(3)],
            };
            text.extend_from_slice(piece);
        }
        text.extend_from_slice(match random.weighted(&[6, 2]) {
            0 => b"\n",
            _ => b"\r\n",
        });
    }
    if random.chance(50) {
        text.extend_from_slice(b"last ab");
    }
    text
}

/// A line without its end, and its offset.
fn lines(text: &[u8]) -> Vec<(usize, &[u8])> {
    let mut at = 0;
    let lines = text.split_inclusive(|&byte| byte == b'\n').map(|line| {
        at += line.len();
        let content = line.strip_suffix(b"\r\n").or(line.strip_suffix(b"\n")).unwrap_or(line);
        (at - line.len(), content)
    });
    lines.collect()
}

/// Returns a line in the form that the context shows.
fn shown(line: &[u8], max_chars: usize) -> String {
    let text = String::from_utf8_lossy(line);
    let head: String = text.chars().take(max_chars).collect();
    if head.len() < text.len() { format!("{head}…") } else { head }
}

/// A match: line, offset, text, lines before, and lines after.
type Row = (u64, u64, String, Vec<String>, Vec<String>);

/// The expected matches.
fn expected(pattern: &NaivePattern, text: &[u8], max_chars: usize, context: usize) -> Vec<Row> {
    let lines = lines(text);
    let compiled = pattern.compile();
    let size = Size { max_chars, around: None };
    let matched: Vec<_> = lines.iter().map(|(_, line)| naive::matches(&compiled, line, size)).collect();
    let is_match = |index: usize| !matched[index].is_empty();
    let mut rows = Vec::new();
    let mut shown_to = 0;
    for (index, found) in matched.iter().enumerate() {
        for (number, one) in found.iter().enumerate() {
            let (mut before, mut after) = (Vec::new(), Vec::new());
            if number == 0 {
                let from = index.saturating_sub(context).max(shown_to);
                before = (from..index).map(|index| shown(lines[index].1, max_chars)).collect();
            }
            if number + 1 == found.len() {
                let to = (index + 1..lines.len()).take(context).take_while(|&index| !is_match(index));
                after = to.map(|index| shown(lines[index].1, max_chars)).collect();
                shown_to = index + 1 + after.len();
            }
            let offset = (lines[index].0 + one.at) as u64;
            rows.push((index as u64 + 1, offset, one.text.clone(), before, after));
        }
    }
    rows
}

fn row(found: PatternMatch) -> Row {
    let MatchSite::Line { line, before, after } = found.site else { panic!("not a line") };
    (line, found.offset, found.text, before, after)
}

#[test]
fn lines_with_a_match_are_those_of_a_naive_search() {
    for seed in 0..cases(1_500, 100_000) {
        let mut random = Random::new(seed);
        let text = random_text(&mut random);
        let pattern = random_pattern(&mut random);
        let (max_chars, context) = (random.between(10, 20), random.below(4));
        let rows = expected(&pattern, &text, max_chars, context);
        let search = search(&pattern, Size { max_chars, around: Some(context) });
        let sizes = [[1, 5], [4096, 1], [7, 3]][random.below(3)].to_vec();
        for page in [usize::MAX, random.between(1, 3)] {
            let found = run(&search, &SlowSource(&text, sizes.clone()), SearchContent::Text, page);
            let found: Vec<_> = found.into_iter().map(row).collect();
            assert_eq!(found, rows, "seed {seed}, {pattern:?} in {:?}", String::from_utf8_lossy(&text));
        }
    }
}

#[test]
fn highlights_are_the_matches() {
    let pattern = NaivePattern { text: "ab".into(), is_regex: false, ignore_case: true };
    let search = search(&pattern, Size { max_chars: 12, around: None });
    let text = "é ab AB\n0123456789012345 ab\nxab\u{FFFD}Ab\n";
    for found in run(&search, &text.as_bytes(), SearchContent::Text, usize::MAX) {
        assert!(!found.highlights.is_empty());
        for range in found.highlights {
            assert!(found.text[range].eq_ignore_ascii_case("ab"), "{}", found.text);
        }
    }
}

#[test]
fn context_is_cut_to_the_size_of_excerpts() {
    let pattern = NaivePattern { text: "needle".into(), is_regex: false, ignore_case: false };
    let long = "日".repeat(2_000_000);
    let text = format!("{long}\nneedle\n{long}\r\n\nneedle");
    let search = search(&pattern, Size { max_chars: 10, around: Some(2) });
    let found: Vec<_> =
        run(&search, &text.as_bytes(), SearchContent::Text, usize::MAX).into_iter().map(row).collect();
    let cut = format!("{}…", "日".repeat(10));
    let second = 6_000_001;
    assert_eq!(
        found,
        [
            (2, second, "needle".into(), vec![cut.clone()], vec![cut, String::new()]),
            (5, text.len() as u64 - 6, "needle".into(), vec![], vec![]),
        ]
    );
}
