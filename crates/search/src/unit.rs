//! The matches in one unit: a line of text, or a decoded JSON string.
//!
//! A unit of up to [`MAX_WHOLE_BYTES`] is searched as a whole. A longer one is searched in pieces
//! of [`PIECE_BYTES`], each together with the [`MARGIN_BYTES`] after it. So a match in it is found
//! at any offset if it is not longer than the margin. Pieces start at multiples of their size
//! within the unit, so the matches do not depend on how the input is read.

use std::io::{self, Read};

use crate::error::Halt;
use crate::excerpt::{Excerpt, ExcerptSize, UnitPart, length_of};
use crate::pattern::SearchPattern;

/// The part of a long unit in which matches of one search start.
const PIECE_BYTES: usize = 1 << 20;

/// The number of bytes after a piece that its matches may extend into.
const MARGIN_BYTES: usize = 64 << 10;

/// The longest unit that is searched as a whole.
pub(crate) const MAX_WHOLE_BYTES: usize = PIECE_BYTES + MARGIN_BYTES;

/// The number of bytes beyond the margin, so that assertions see the next character.
const GUARD_BYTES: usize = 4;

/// A match in a unit, with its excerpt.
#[derive(Debug)]
pub(crate) struct UnitMatch {
    /// The offset in the unit at which the match starts.
    pub(crate) at: u64,
    /// The offset in the unit after the bytes shown.
    pub(crate) end: u64,
    pub(crate) excerpt: Excerpt,
}

/// Receives the matches of a unit.
pub(crate) type OnMatch<'a> = &'a mut dyn FnMut(UnitMatch) -> Result<(), Halt>;

/// Searches units.
///
/// The first match of a unit is reported with its excerpt. If that does not show the whole unit, so
/// is the first match that starts after the excerpt, and so on.
#[derive(Clone, Copy)]
pub(crate) struct UnitSearch<'p> {
    pub(crate) pattern: &'p SearchPattern,
    pub(crate) size: ExcerptSize,
}

/// The range of a part in which matches may start, and the offset of the part in the unit.
#[derive(Clone, Copy)]
struct Bounds {
    base: u64,
    from: usize,
    until: usize,
}

impl UnitSearch<'_> {
    /// Reports the matches of a unit in memory, of at most [`MAX_WHOLE_BYTES`].
    pub(crate) fn whole(self, unit: &[u8], on_match: OnMatch<'_>) -> Result<(), Halt> {
        let bounds = Bounds { base: 0, from: 0, until: unit.len() + 1 };
        self.part(UnitPart::whole(unit), bounds, on_match).map(|_| ())
    }

    /// Reports the matches of a unit of any length.
    pub(crate) fn read(self, unit: &mut dyn Read, on_match: OnMatch<'_>) -> Result<(), Halt> {
        let mut window = UnitWindow { unit, bytes: Vec::new(), base: 0, ends: false };
        window.fill(MAX_WHOLE_BYTES + GUARD_BYTES)?;
        if window.ends && window.bytes.len() <= MAX_WHOLE_BYTES {
            return self.whole(&window.bytes, on_match);
        }
        let mut next = 0;
        for piece in 1.. {
            let piece_end = piece * PIECE_BYTES as u64;
            let kept = (piece_end - PIECE_BYTES as u64).saturating_sub(self.size.reach() as u64);
            window.drop_before(kept);
            window.fill((piece_end - window.base) as usize + MARGIN_BYTES + GUARD_BYTES)?;
            let length = window.bytes.len();
            let from = usize::try_from(next.max(piece_end - PIECE_BYTES as u64) - window.base);
            let until = (piece_end - window.base) as usize;
            let is_last = window.ends && until >= length;
            let until = if is_last { length + 1 } else { until };
            let part = UnitPart { bytes: &window.bytes, starts: window.base == 0, ends: window.ends };
            if let Some(from) = from.ok().filter(|from| *from < until) {
                next = self.part(part, Bounds { base: window.base, from, until }, on_match)?;
            }
            if is_last {
                break;
            }
        }
        Ok(())
    }

    /// Reports the matches that start within the bounds. Returns the offset in the unit at which
    /// the search continues.
    fn part(self, part: UnitPart<'_>, bounds: Bounds, on_match: OnMatch<'_>) -> Result<u64, Halt> {
        let Bounds { base, from: mut at, until } = bounds;
        let visible = if part.ends { part.bytes.len() } else { part.bytes.len() - GUARD_BYTES };
        while at <= visible {
            let found = self.pattern.find(part.bytes, at, visible);
            let Some(found) = found.filter(|found| found.start < until) else { break };
            let excerpt = self.size.excerpt(part, found.clone(), self.pattern);
            let end = excerpt.end;
            let is_last = part.ends && end == part.bytes.len();
            at = end.max(found.end);
            if at == found.start {
                at += length_of(&part.bytes[at..], 1).max(1);
            }
            let (start, end) = (base + found.start as u64, base + end as u64);
            on_match(UnitMatch { at: start, end, excerpt })?;
            if is_last {
                break;
            }
        }
        Ok(base + at as u64)
    }
}

/// A moving window over a long unit.
struct UnitWindow<'r> {
    unit: &'r mut dyn Read,
    bytes: Vec<u8>,
    /// The offset of the window in the unit.
    base: u64,
    /// True if the window contains the end of the unit.
    ends: bool,
}

impl UnitWindow<'_> {
    fn drop_before(&mut self, offset: u64) {
        self.bytes.drain(..offset.saturating_sub(self.base) as usize);
        self.base = self.base.max(offset);
    }

    /// Reads until the window has `length` bytes, or the unit ends.
    fn fill(&mut self, length: usize) -> io::Result<()> {
        let missing = length.saturating_sub(self.bytes.len());
        let read = (&mut self.unit).take(missing as u64).read_to_end(&mut self.bytes)?;
        self.ends |= read < missing;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(pattern: &str, unit: &[u8]) -> Vec<u64> {
        let pattern = SearchPattern::regex(pattern, false).unwrap();
        let size = ExcerptSize { max_chars: 100, around: None };
        let mut offsets = Vec::new();
        let search = UnitSearch { pattern: &pattern, size };
        search
            .read(&mut &unit[..], &mut |found| {
                assert!(found.end >= found.at);
                offsets.push(found.at);
                Ok(())
            })
            .unwrap();
        offsets
    }

    /// A long unit with words at each edge of a piece.
    #[test]
    fn matches_are_found_at_the_edges_of_pieces() {
        let mut unit = vec![b'.'; 3 * PIECE_BYTES + 100];
        let edges = [0, PIECE_BYTES - 3, 2 * PIECE_BYTES, 2 * PIECE_BYTES + 500, unit.len() - 4];
        for at in edges {
            unit[at..at + 4].copy_from_slice(b"word");
        }
        let expected = edges.map(|at| at as u64);
        assert_eq!(offsets("word", &unit), expected);
        assert_eq!(offsets(r"\bword\b", &unit), expected);
        assert_eq!(offsets("^word", &unit), [0]);
        assert_eq!(offsets("word$", &unit), [expected[4]]);
        assert_eq!(offsets(r"\A.|.\z", &unit), [0, unit.len() as u64 - 1]);
    }

    #[test]
    fn matches_that_an_excerpt_shows_are_not_repeated() {
        assert_eq!(offsets("x", b"xxx"), [0]);
        assert_eq!(offsets("^", b""), [0]);
        let long = "x".repeat(250);
        assert_eq!(offsets("x", long.as_bytes()), [0, 100, 167, 234]);
        assert_eq!(offsets("$", long.as_bytes()), [250]);
    }
}
