//! The text around a match, cut to a number of characters.

use std::ops::Range;

use crate::pattern::SearchPattern;

/// The maximum number of highlights in an excerpt.
const MAX_HIGHLIGHTS: usize = 100;

/// The size of excerpts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExcerptSize {
    /// The maximum number of characters, ellipses not included.
    pub(crate) max_chars: usize,
    /// The number of characters to show on each side of a match. If `None`, a line or string that
    /// is short enough is shown whole.
    pub(crate) around: Option<usize>,
}

/// A line or string, or a part of a long one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnitPart<'u> {
    pub(crate) bytes: &'u [u8],
    /// True if the part starts where the unit does.
    pub(crate) starts: bool,
    /// True if the part ends where the unit does.
    pub(crate) ends: bool,
}

impl<'u> UnitPart<'u> {
    pub(crate) fn whole(bytes: &'u [u8]) -> Self {
        Self { bytes, starts: true, ends: true }
    }
}

/// The text around a match.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Excerpt {
    /// The text. Bytes that are not UTF-8 are replaced by U+FFFD, and text that is left out by an
    /// ellipsis.
    pub(crate) text: String,
    /// The bytes of the text that match.
    pub(crate) highlights: Vec<Range<usize>>,
    /// The offset in the part after the bytes shown.
    pub(crate) end: usize,
}

impl ExcerptSize {
    /// The number of bytes on each side of the start of a match that its excerpt may show.
    pub(crate) fn reach(self) -> usize {
        4 * (self.max_chars + self.around.unwrap_or(0) + 1)
    }

    /// Returns the excerpt around the match at `found`.
    pub(crate) fn excerpt(self, part: UnitPart<'_>, found: Range<usize>, pattern: &SearchPattern) -> Excerpt {
        let bytes = part.bytes;
        let is_whole = self.fits(part);
        let from = if is_whole { 0 } else { found.start };
        let (mut text, shown) = if is_whole { (String::new(), 0) } else { self.before(part, from) };
        let start = text.len();
        let end = if is_whole { bytes.len() } else { self.end(bytes, &found, shown) };
        text.push_str(&String::from_utf8_lossy(&bytes[from..end]));
        let highlights = Highlights { part: bytes, from, start, end };
        let highlights = highlights.find(found, pattern);
        if end < bytes.len() || !part.ends {
            text.push('…');
        }
        Excerpt { text, highlights, end }
    }

    /// True if a part is shown whole.
    fn fits(self, part: UnitPart<'_>) -> bool {
        let UnitPart { bytes, starts, ends } = part;
        // A character takes at most four bytes.
        let may_fit = self.around.is_none() && starts && ends && bytes.len() <= 4 * self.max_chars;
        may_fit && lossy_chars(bytes).take(self.max_chars + 1).count() <= self.max_chars
    }

    /// Returns the shown text before a match, with an ellipsis if more precedes it, and its number
    /// of characters without the ellipsis.
    fn before(self, part: UnitPart<'_>, at: usize) -> (String, usize) {
        let max_chars = self.around.unwrap_or(self.max_chars / 3);
        let from = at.saturating_sub(4 * (max_chars + 1));
        let text = String::from_utf8_lossy(&part.bytes[from..at]);
        let cut = text.char_indices().rev().take(max_chars).last().map_or(text.len(), |(cut, _)| cut);
        let is_whole = cut == 0 && from == 0 && part.starts;
        let shown = &text[cut..];
        let count = shown.chars().count();
        (if is_whole { shown.to_owned() } else { format!("…{shown}") }, count)
    }

    /// Returns the end of the bytes that are shown from the start of a match, after `shown`
    /// characters.
    fn end(self, bytes: &[u8], found: &Range<usize>, shown: usize) -> usize {
        let Some(around) = self.around else {
            let left = self.max_chars.saturating_sub(shown).max(1);
            return found.start + length_of(&bytes[found.start..], left);
        };
        let matched = length_of(&bytes[found.clone()], self.max_chars);
        if found.start + matched < found.end {
            return found.start + matched;
        }
        found.end + length_of(&bytes[found.end..], around)
    }
}

/// Returns the first characters of a unit, with an ellipsis if more follow. `bytes` holds at least
/// the first `4 * (max_chars + 1)` bytes.
pub(crate) fn head(bytes: &[u8], max_chars: usize) -> String {
    let end = length_of(bytes, max_chars);
    let mut text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    if end < bytes.len() {
        text.push('…');
    }
    text
}

/// Returns the number of bytes of the first characters.
pub(crate) fn length_of(bytes: &[u8], max_chars: usize) -> usize {
    lossy_chars(bytes).take(max_chars).sum()
}

/// Returns the length in bytes of each character. A sequence that U+FFFD replaces is one character.
fn lossy_chars(bytes: &[u8]) -> impl Iterator<Item = usize> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let invalid = Some(chunk.invalid().len()).filter(|length| *length > 0);
        chunk.valid().chars().map(char::len_utf8).chain(invalid)
    })
}

/// The matches in the shown part of a unit.
struct Highlights<'a> {
    part: &'a [u8],
    /// The shown bytes are `from..end`; the first of them is at `start` of the text.
    from: usize,
    start: usize,
    end: usize,
}

impl Highlights<'_> {
    /// Returns the matches from the one at `found`.
    fn find(&self, found: Range<usize>, pattern: &SearchPattern) -> Vec<Range<usize>> {
        let mut highlights = Vec::new();
        let mut found = Some(found);
        while let Some(range) = found.filter(|range| range.start < self.end) {
            if range.start < range.end {
                highlights.push(self.position(range.start)..self.position(range.end.min(self.end)));
            }
            if highlights.len() == MAX_HIGHLIGHTS {
                break;
            }
            let next = if range.is_empty() { range.end + 1 } else { range.end };
            found = (next < self.end).then(|| pattern.find(self.part, next, self.part.len())).flatten();
        }
        highlights
    }

    /// Returns the position in the text of a shown byte.
    fn position(&self, at: usize) -> usize {
        self.start + String::from_utf8_lossy(&self.part[self.from..at]).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn excerpt(text: &str, word: &str, size: ExcerptSize) -> Excerpt {
        let pattern = SearchPattern::text(word, false).unwrap();
        let part = UnitPart::whole(text.as_bytes());
        size.excerpt(part, pattern.find(part.bytes, 0, text.len()).unwrap(), &pattern)
    }

    #[test]
    fn short_units_are_shown_whole() {
        let size = ExcerptSize { max_chars: 9, around: None };
        let found = excerpt("üabüabüüü", "ab", size);
        assert_eq!((&*found.text, found.end), ("üabüabüüü", 14));
        assert_eq!(found.highlights, [2..4, 6..8]);
        let found = excerpt("üabüabüüüü", "ab", size);
        assert_eq!((&*found.text, found.end), ("üabüabüüü…", 14));
    }

    #[test]
    fn long_units_are_cut_around_the_match() {
        let size = ExcerptSize { max_chars: 9, around: None };
        let text = format!("{}ab{}", "ü".repeat(50), "ä".repeat(50));
        let found = excerpt(&text, "ab", size);
        assert_eq!((&*found.text, found.end), ("…üüüabääää…", 110));
        assert_eq!(found.highlights, vec![9..11; 1]);
        let size = ExcerptSize { max_chars: 9, around: Some(2) };
        assert_eq!(excerpt(&text, "ab", size).text, "…üüabää…");
        assert_eq!(excerpt("xaby", "ab", size).text, "xaby");
        assert_eq!(excerpt("xxxab", "ab", ExcerptSize { max_chars: 9, around: Some(0) }).text, "…ab");
        let long = excerpt("xxxabababababab", "abababababab", size);
        assert_eq!((&*long.text, long.end), ("…xxababababa…", 12));
    }

    #[test]
    fn invalid_bytes_are_replaced() {
        let pattern = SearchPattern::text("ab", false).unwrap();
        let part = UnitPart::whole(b"\xFFab\xC3");
        let size = ExcerptSize { max_chars: 9, around: None };
        let found = size.excerpt(part, 1..3, &pattern);
        assert_eq!((&*found.text, found.highlights), ("\u{FFFD}ab\u{FFFD}", vec![3..5; 1]));
        assert_eq!(head(b"a\xFF\xFFb", 3), "a\u{FFFD}\u{FFFD}…");
    }
}
