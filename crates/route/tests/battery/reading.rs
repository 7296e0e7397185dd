//! Reading of buffers: peeks, ranges, and searches, with short lines and a line longer than any
//! window.

use proptest::prelude::*;
use trommel_route::reading::{
    Excerpt, Expression, MAX_HIT_CHARS, MAX_HITS, Search, SearchResult, lines, peek, range,
};
use trommel_route::{BufferInfo, Content, ErrorClass, Result, WriteMode};

use crate::support::Bench;

/// A buffer with this content.
fn buffer(text: &str) -> (BufferInfo, Content) {
    let bench = Bench::new();
    bench.put("variable:b", WriteMode::Replace, text);
    bench.destinations.buffers().find("b", None).unwrap()
}

fn on(_: u64) -> bool {
    true
}

fn text(excerpt: Result<Excerpt>) -> String {
    excerpt.unwrap().text
}

fn search(text: &str, expression: &str, around: usize) -> SearchResult {
    let (info, content) = buffer(text);
    let expression = Expression::regex(expression).unwrap();
    Search::new(&expression).context(around).run(&info, &content, &mut on).unwrap()
}

#[test]
fn peeks_and_ranges_count_characters() {
    for unit in ["abcde", "äb€d😀"] {
        let (info, content) = buffer(&unit.repeat(1_000));
        let chars: Vec<char> = unit.chars().cycle().take(5_000).collect();
        let expected = |from: usize, count: usize| chars[from..from + count].iter().collect::<String>();
        assert_eq!(text(peek(&info, &content, 0, 3, &mut on)), expected(0, 3));
        assert_eq!(text(peek(&info, &content, 1_234, 9_999, &mut on)), expected(1_234, 2_000));
        assert_eq!(text(peek(&info, &content, 4_999, 10, &mut on)), expected(4_999, 1));
        assert_eq!(text(range(&info, &content, 3, 4_000, &mut on)), expected(3, 4_000));
        let last = range(&info, &content, 4_990, 8_000, &mut on).unwrap();
        assert_eq!((last.offset, last.chars), (4_990, 10));
    }
    let (info, content) = buffer("");
    assert_eq!(text(peek(&info, &content, 0, 10, &mut on)), "");
}

#[test]
fn lines_are_verbatim() {
    let (info, content) = buffer("one\ntwo\r\nthree\n\nfive");
    assert_eq!(text(lines(&info, &content, 1, 1, &mut on)), "one\n");
    let two = lines(&info, &content, 2, 3, &mut on).unwrap();
    assert_eq!((two.text.as_str(), two.offset, two.chars), ("two\r\nthree\n", 4, 11));
    assert_eq!(text(lines(&info, &content, 4, 999, &mut on)), "\nfive");
    let many = "äöü\n".repeat(100_000);
    let (info, content) = buffer(&many);
    let last = lines(&info, &content, 99_999, 100_000, &mut on).unwrap();
    assert_eq!((last.text.as_str(), last.offset), ("äöü\näöü\n", 399_992));
}

/// R45: a range beyond the limit is refused with the one that would fit.
#[test]
fn r45_too_long_ranges_report_what_fits() {
    let (info, content) = buffer(&"0123456789\n".repeat(2_000));
    let message = |excerpt: Result<Excerpt>| {
        let error = excerpt.unwrap_err();
        assert_eq!(error.class(), ErrorClass::Range);
        error.to_string()
    };
    let long = message(lines(&info, &content, 11, 1_500, &mut on));
    assert_eq!(
        long,
        "lines 11 to 1500 have more than 8,000 characters; narrow the range, lines 11 to 737 fit"
    );
    assert_eq!(lines(&info, &content, 11, 737, &mut on).unwrap().chars, 7_997);
    assert!(message(lines(&info, &content, 2_001, 2_002, &mut on)).contains("`b` has 2,000 lines"));
    assert!(message(lines(&info, &content, 0, 1, &mut on)).contains("count from 1"));
    assert!(message(lines(&info, &content, 5, 4, &mut on)).contains("must not be before the start"));
    assert!(message(range(&info, &content, 7, 8_001, &mut on)).contains("offset 8007"));
    assert!(message(range(&info, &content, 0, 0, &mut on)).contains("at least 1"));
    assert!(message(range(&info, &content, 22_000, 1, &mut on)).contains("has 22,000 characters"));
    assert!(message(peek(&info, &content, 22_000, 1, &mut on)).contains("past the end"));
    let (info, content) = buffer(&format!("a\n{}", "x".repeat(9_000)));
    let alone = message(lines(&info, &content, 2, 2, &mut on));
    assert!(alone.contains("more than 8,000") && alone.contains("starts at offset 2"), "{alone}");
}

#[test]
fn hits_have_a_position_and_context() {
    let found = search("zero\nLATE one\nämid LATE two\n\nlast", "LATE", 1);
    let hits: Vec<_> =
        found.hits.iter().map(|hit| (hit.line, hit.column, hit.offset, hit.text.as_str())).collect();
    assert_eq!(hits, [(2, 1, 5, "LATE one"), (3, 6, 19, "ämid LATE two")]);
    assert_eq!(
        (&found.hits[0].before, &found.hits[0].after),
        (&vec!["zero".to_owned()], &vec!["ämid LATE two".to_owned()])
    );
    assert_eq!(found.hits[1].after, [""]);
    assert_eq!(found.next, None);
    // Each line is searched separately.
    assert!(search("a\nb", "a[^x]*b", 0).hits.is_empty());
    assert_eq!(search("a\r\nb", "a$", 0).hits.len(), 1);
    assert_eq!(search("ab\nb", "^b", 0).hits[0].line, 2);
    assert_eq!(search("a b a b", "a", 0).hits.len(), 1, "a hit shows the second one as well");
}

#[test]
fn plain_texts_match_verbatim() {
    let (info, content) = buffer("a.c abc (x");
    let plain = Expression::plain("(x").unwrap();
    assert_eq!(Search::new(&plain).run(&info, &content, &mut on).unwrap().hits[0].column, 9);
    assert_eq!(Expression::plain("").unwrap_err().class(), ErrorClass::Expression);
    let error = Expression::regex("(x").unwrap_err().to_string();
    assert!(error.contains("not a valid regular expression") && error.contains("pass plain"), "{error}");
    assert!(Expression::regex("x*").unwrap_err().to_string().contains("everywhere"));
    assert!(Expression::regex(r"\w{9999}{9999}").is_err());
}

#[test]
fn long_lines_are_truncated_around_the_hit() {
    let found = search(&format!("{}needle{}", "ä".repeat(5_000), "b".repeat(5_000)), "needle", 0);
    let hit = &found.hits[0];
    assert_eq!((hit.line, hit.column), (1, 5_001));
    assert_eq!(hit.text.chars().count(), MAX_HIT_CHARS);
    assert!(
        hit.text.starts_with("…ä") && hit.text.ends_with("b…") && hit.text.contains("äneedleb"),
        "{}",
        hit.text
    );
    let around = search(&format!("{}\nneedle\n{}", "x".repeat(100_000), "y".repeat(100_000)), "needle", 2);
    assert_eq!(around.hits[0].before, [format!("…{}", "x".repeat(MAX_HIT_CHARS - 1))]);
    assert_eq!(around.hits[0].after, [format!("{}…", "y".repeat(MAX_HIT_CHARS - 1))]);
}

#[test]
fn searches_stop_and_continue() {
    let (info, content) = buffer(&"needle\n".repeat(250));
    let expression = Expression::regex("needle").unwrap();
    let mut seen = Vec::new();
    let mut from = 0;
    loop {
        let found = Search::new(&expression).from(from).run(&info, &content, &mut on).unwrap();
        assert!(found.hits.len() <= MAX_HITS);
        seen.extend(found.hits.iter().map(|hit| hit.line));
        let Some(next) = found.next else { break };
        from = next;
    }
    assert_eq!(seen, (1..=250).collect::<Vec<_>>());
    let cancelled = Search::new(&expression).run(
        &buffer(&"x".repeat(3 << 20)).0,
        &buffer(&"x".repeat(3 << 20)).1,
        &mut |_| false,
    );
    assert_eq!(cancelled.unwrap_err().class(), ErrorClass::Cancelled);
}

/// A match is found at any position, including the ends of windows, with one line or many.
#[test]
fn searches_a_long_line_completely() {
    const WINDOW: usize = (1 << 20) + (4 << 10);
    for filler in ["x", "é", "x\n"] {
        for at in
            [0, 1, WINDOW - 7, WINDOW - 3, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW - 4_099, (3 << 20) - 2]
        {
            let at = at / filler.len();
            let text = format!("{}needle{}", filler.repeat(at), filler.repeat(100_000));
            let found = search(&text, "n[e]+dle", 0);
            let hits: Vec<_> = found.hits.iter().map(|hit| hit.offset).collect();
            assert_eq!(hits, [(at * filler.chars().count()) as u64], "{filler:?} {at}");
            let lines = if filler.ends_with('\n') { at as u64 + 1 } else { 1 };
            assert_eq!(found.hits[0].line, lines);
            assert_eq!(found.hits[0].column, if lines > 1 { 1 } else { found.hits[0].offset + 1 });
        }
    }
    let anchored = format!("{}needle", "x".repeat(2 << 20));
    assert!(search(&anchored, "^needle", 0).hits.is_empty());
    assert_eq!(search(&anchored, "needle$", 0).hits.len(), 1);
}

proptest! {
    /// For any text, the lines with hits equal those found by searching each line separately.
    #[test]
    fn search_equals_searching_each_line(text in "([ab]{0,5}\n|[ab é]{0,9}\r\n|x{0,400}){0,12}", expression in prop::sample::select(&["a", "b", "^b", "a$", "ab+", "[^a]b", "é.", "x{300}", "(?i)A"][..])) {
        let found = search(&text, expression, 0);
        let regex = regex::bytes::RegexBuilder::new(expression).multi_line(true).build().unwrap();
        let expected: Vec<_> = text
            .split('\n')
            .enumerate()
            .filter(|(_, line)| regex.is_match(line.strip_suffix('\r').unwrap_or(line).as_bytes()))
            .map(|(at, _)| at as u64 + 1)
            .collect();
        let mut lines: Vec<_> = found.hits.iter().map(|hit| hit.line).collect();
        lines.dedup();
        prop_assert_eq!(lines, expected);
    }

    /// Excerpts equal the corresponding characters of the text.
    #[test]
    fn excerpts_equal_the_characters(text in "[aé€😀\n]{1,60}", offset in 0..60_u64, length in 1..70_u64) {
        let (info, content) = buffer(&text);
        let excerpt = range(&info, &content, offset, length, &mut on);
        let chars: Vec<char> = text.chars().collect();
        if offset as usize >= chars.len() {
            prop_assert_eq!(excerpt.unwrap_err().class(), ErrorClass::Range);
        } else {
            let expected: String = chars.iter().skip(offset as usize).take(length as usize).collect();
            prop_assert_eq!(excerpt.unwrap().text, expected);
        }
    }
}
