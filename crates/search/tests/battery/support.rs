//! Running searches, and random patterns.

use std::ops::ControlFlow;

use trommel_search::{
    MatchSite, PatternMatch, PatternSearch, SearchContent, SearchPattern, SearchPosition, SearchSource,
};
use trommel_testkit::generate::Random;

use crate::naive::{NaivePattern, Size};

/// A source of bytes whose readers return few bytes at a time.
pub(crate) struct SlowSource<'b>(pub(crate) &'b [u8], pub(crate) Vec<usize>);

impl SearchSource for SlowSource<'_> {
    fn reader_at(&self, offset: u64) -> std::io::Result<Box<dyn std::io::Read + Send + '_>> {
        let rest = &self.0[(offset as usize).min(self.0.len())..];
        Ok(Box::new(trommel_testkit::chunks::Chunks::new(rest, &self.1)))
    }
}

/// Returns the pattern of a naive one.
pub(crate) fn pattern(pattern: &NaivePattern) -> SearchPattern {
    let NaivePattern { text, is_regex, ignore_case } = pattern;
    if *is_regex { SearchPattern::regex(text, *ignore_case) } else { SearchPattern::text(text, *ignore_case) }
        .unwrap()
}

/// Returns a search with excerpts of a size.
pub(crate) fn search(naive: &NaivePattern, size: Size) -> PatternSearch {
    let search = PatternSearch::new(pattern(naive)).max_chars(size.max_chars);
    match size.around {
        Some(around) => search.context(around),
        None => search,
    }
}

/// Returns all matches, in one run or continued after every few matches.
pub(crate) fn run(
    search: &PatternSearch,
    source: &dyn SearchSource,
    content: SearchContent,
    page: usize,
) -> Vec<PatternMatch> {
    let mut all: Vec<PatternMatch> = Vec::new();
    loop {
        let position = all.last().map_or(SearchPosition::default(), |last| last.next);
        let before = all.len();
        let report = search.run(source, content, position, &mut |found| {
            all.push(found);
            Ok(if all.len() - before == page { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        let report = report.unwrap();
        assert_eq!(report.is_complete, all.len() - before < page);
        if report.is_complete {
            return all;
        }
    }
}

/// The path and the record of a match in a string.
pub(crate) fn value(found: &PatternMatch) -> (Option<&str>, Option<u64>) {
    match &found.site {
        MatchSite::Value { path, record } => (Some(path), *record),
        MatchSite::MalformedRecord { record } => (None, Some(*record)),
        MatchSite::Line { .. } => panic!("a line was found in JSON"),
    }
}

const TEXTS: [&str; 14] =
    ["a", "ab", "b", "xa", "0", "é", "日", "\"", "\\", "/", " ", "{\"a\":1}", "first", "😀"];

const EXPRESSIONS: [&str; 22] = [
    "a+b?",
    "^a",
    "b$",
    "^$",
    "^",
    "",
    r"\bab\b",
    r"\Ba",
    "[^b]",
    ".*a",
    "a.",
    r"\s",
    r"\W+",
    "(?s)a.b",
    "(?m)^b$",
    "a|日|\"",
    r"\p{Greek}|é",
    r"(?i)B|\\",
    "[a-z]{3,}",
    r"\x00|\x1F",
    r"\A.\z",
    r"(?-u:[a-z])\n?",
];

pub(crate) fn random_pattern(random: &mut Random) -> NaivePattern {
    let is_regex = random.chance(60);
    let text = if is_regex { random.pick(&EXPRESSIONS) } else { random.pick(&TEXTS) };
    NaivePattern { text: text.to_owned(), is_regex, ignore_case: random.chance(30) }
}
