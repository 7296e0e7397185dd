//! A filter on JSON text that finds strings with a match at the speed of a search in plain text.

use memchr::memmem::Finder;
use regex_automata::Input;
use regex_automata::meta::Regex;
use regex_syntax::hir::Hir;

use crate::pattern::{PatternFault, compile};
use crate::rewrite::{Alphabet, alphabet, for_json};

/// The longest match for which a filter keeps all bytes that may begin one.
const MAX_KNOWN_LENGTH: usize = 4 << 10;

/// Finds the candidates in JSON text: offsets such that each string with a match contains one.
///
/// A match in a string without escapes appears verbatim in the text. A match that contains an
/// escape is found by the escape, because at least one character of the match is written as one.
#[derive(Clone, Debug)]
pub(crate) struct Prefilter {
    /// Matches the pattern in strings without escapes.
    verbatim: Regex,
    /// The start of every escape of a character that the pattern may match.
    escape: Finder<'static>,
    /// The maximum length of a verbatim match, if it is small.
    max_length: Option<usize>,
    /// True if every offset is a candidate, because the pattern matches the empty text.
    pub(crate) accepts_all: bool,
}

impl Prefilter {
    pub(crate) fn new(expression: &Hir) -> Result<Self, PatternFault> {
        let verbatim = for_json(expression);
        let escape: &[u8] = match alphabet(expression) {
            Alphabet::Ascii => b"\\u00",
            Alphabet::Unicode => b"\\u",
            Alphabet::Escapable => b"\\",
        };
        let properties = verbatim.properties();
        let max_length = properties.maximum_len().filter(|&length| length <= MAX_KNOWN_LENGTH);
        let accepts_all = properties.minimum_len() == Some(0);
        Ok(Self { verbatim: compile(&verbatim)?, escape: Finder::new(escape), max_length, accepts_all })
    }

    /// Returns the offset of the first verbatim match that starts at or after `from`.
    fn find_verbatim(&self, json: &[u8], from: usize) -> Option<usize> {
        Some(self.verbatim.search(&Input::new(json).range(from..))?.start())
    }

    /// Returns the offset of the first escape at or after `from`.
    fn find_escape(&self, json: &[u8], from: usize) -> Option<usize> {
        Some(from + self.escape.find(&json[from..])?)
    }

    /// Returns the number of bytes at the end of a block that may begin a candidate that continues
    /// after the block.
    pub(crate) fn unfinished(&self, json: &[u8]) -> usize {
        let escape = self.escape.needle().len() - 1;
        let verbatim = match self.max_length {
            Some(length) => length.saturating_sub(1),
            // A verbatim match contains none of these bytes.
            None => json.iter().rev().take_while(|byte| !matches!(byte, 0..=0x1F | b'"' | b'\\')).count(),
        };
        verbatim.max(escape).min(json.len())
    }
}

/// The candidates in one block, which are searched for in ascending order. Remembers the next ones,
/// so that each byte is searched once.
#[derive(Debug)]
pub(crate) struct BlockCandidates<'p> {
    prefilter: &'p Prefilter,
    verbatim: Next,
    escape: Next,
}

/// The next offset of one kind of candidate in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Unknown,
    At(usize),
    None,
}

impl Next {
    /// Returns the first offset at or after `from`. `find` searches for it.
    pub(crate) fn at_or_after(&mut self, from: usize, find: impl FnOnce() -> Option<usize>) -> Option<usize> {
        let is_passed = matches!(*self, Self::At(at) if at < from);
        if is_passed || *self == Self::Unknown {
            *self = find().map_or(Self::None, Self::At);
        }
        match *self {
            Self::At(at) => Some(at),
            Self::Unknown | Self::None => None,
        }
    }
}

impl<'p> BlockCandidates<'p> {
    pub(crate) fn new(prefilter: &'p Prefilter) -> Self {
        Self { prefilter, verbatim: Next::Unknown, escape: Next::Unknown }
    }

    /// Returns the first candidate at or after `from` in the block, which must be the same in every
    /// call. `from` must not decrease.
    pub(crate) fn find(&mut self, block: &[u8], from: usize) -> Option<usize> {
        let prefilter = self.prefilter;
        if prefilter.accepts_all {
            return Some(from);
        }
        let verbatim = self.verbatim.at_or_after(from, || prefilter.find_verbatim(block, from));
        let escape = self.escape.at_or_after(from, || prefilter.find_escape(block, from));
        verbatim.into_iter().chain(escape).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SearchPattern;

    #[test]
    fn strings_with_a_match_contain_a_candidate() {
        for (expression, json, expected) in [
            ("needle", r#"["hay", "a needle"]"#, Some(11)),
            ("needle", r#"["\u0020", "n\u0065edle"]"#, Some(2)),
            ("needle", r#"["\u4e00\n"]"#, None),
            ("ne/le", r#"["ne\/le"]"#, Some(4)),
            ("a.b", r#"["a", "b"]"#, None),
            ("^needle$", r#"["needles"]"#, Some(2)),
            ("日", r#"["\u65e5"]"#, Some(2)),
            (r"\bx", r#"["ax"]"#, Some(3)),
        ] {
            let pattern = SearchPattern::regex(expression, false).unwrap();
            let mut candidates = BlockCandidates::new(&pattern.prefilter);
            assert_eq!(candidates.find(json.as_bytes(), 0), expected, "{expression} in {json}");
        }
    }

    #[test]
    fn candidates_are_ascending() {
        let pattern = SearchPattern::text("ab", false).unwrap();
        let json = br#"["ab", "\u0061b", "ab"]"#;
        let mut candidates = BlockCandidates::new(&pattern.prefilter);
        let mut found = Vec::new();
        while let Some(at) = candidates.find(json, found.last().map_or(0, |last| last + 1)) {
            found.push(at);
        }
        assert_eq!(found, [2, 8, 19]);
    }
}
