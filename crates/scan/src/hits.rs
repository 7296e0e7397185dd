//! Members that are only counted: where all of one is plain to see, a search for its name need not stop at it.

use crate::blocks::is_space;
use crate::trace::{Brackets, Trace};

/// Bytes of a value, at most, that is looked at here.
const SHORT: usize = 256;

/// What was found of a name.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// Whether members whose values are plain are counted, without stopping at them.
    pub counting: bool,
    /// Whether of the members of an object only the first is.
    pub unique: bool,
    /// How many were.
    pub counted: u64,
    /// Objects in which a member was found: how many containers are open in each, and where it begins. Those deeper than the
    /// current place have ended, and so may others have.
    found: Vec<(u32, u64)>,
}

impl Hits {
    /// Forgets what was found.
    pub fn clear(&mut self) {
        self.found.clear();
        self.counted = 0;
    }

    /// Notes a member in the object that begins at an offset, and in which so many containers are open; `false` if it is not
    /// the first.
    #[inline]
    pub fn note(&mut self, depth: u32, start: u64) -> bool {
        let object = (depth, start);
        while self.found.last().is_some_and(|last| last.0 > depth || last.0 == depth && *last != object) {
            self.found.pop();
        }
        let is_first = self.found.last() != Some(&object);
        if is_first {
            self.found.push(object);
        }
        is_first
    }

    /// Whether a member was found in the object that begins at an offset, and in which so many containers are open.
    pub fn has_found(&self, depth: u32, start: u64) -> bool {
        self.found.binary_search(&(depth, start)).is_ok()
    }

    /// Counts a member, behind whose name a colon stands at this index, and so many containers are open, if all of it is in
    /// sight and there is nothing to find fault with.
    #[inline]
    pub(crate) fn count(
        &mut self,
        bytes: &[u8],
        colon: usize,
        depth: u32,
        innermost: Option<(u64, bool)>,
    ) -> bool {
        let Some((start, true)) = innermost else { return false };
        if !is_plain(bytes, colon + 1) {
            return false;
        }
        let is_first = self.note(depth, start);
        self.counted += u64::from(is_first || !self.unique);
        true
    }
}

impl Trace<'_> {
    /// Where the innermost container begins, and whether it is an object, when so many are open behind the first brackets of
    /// the block that begins at an offset.
    pub(crate) fn innermost(&self, at: u64, brackets: Brackets, depth: u32) -> Option<(u64, bool)> {
        let mut closed = 0;
        let passed = self.passed.blocks.iter().rev().copied();
        for (at, Brackets { open, close, curly }) in std::iter::once((at, brackets)).chain(passed) {
            let opens = open.count_ones();
            if opens <= closed {
                closed = closed - opens + close.count_ones();
                continue;
            }
            let mut left = open | close;
            while left != 0 {
                let bit = left.ilog2();
                left ^= 1 << bit;
                if open >> bit & 1 == 0 {
                    closed += 1;
                } else if closed > 0 {
                    closed -= 1;
                } else {
                    return Some((at + u64::from(bit), curly >> bit & 1 == 1));
                }
            }
        }
        let level = (depth as usize).checked_sub(1)?;
        Some((*self.opened.get(level)?, self.stack.object_at(depth)?))
    }
}

/// Whether a value that is no container begins at an index, behind white space or none, and is right as far as it goes: a short
/// string of ASCII without escapes, a whole number, a word. A strict reader would say the same.
#[inline]
fn is_plain(bytes: &[u8], at: usize) -> bool {
    let mut at = at;
    while bytes.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    match bytes.get(at..).unwrap_or_default() {
        [b'"', text @ ..] => is_plain_text(text),
        [b'1'..=b'9', digits @ ..] => {
            let end = digits.iter().take(SHORT).position(|byte| !byte.is_ascii_digit());
            let next = end.and_then(|end| digits.get(end));
            next.is_some_and(|byte| !matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
        }
        rest => [&b"true"[..], b"false", b"null"].iter().any(|word| rest.starts_with(word)),
    }
}

/// Whether of all bytes that are special in a string, or not ASCII, a quote comes first.
#[inline]
fn is_plain_text(text: &[u8]) -> bool {
    for word in text.as_chunks::<8>().0.iter().take(SHORT / 8) {
        let special = special(u64::from_le_bytes(*word));
        if special != 0 {
            return word.get(special.trailing_zeros() as usize / 8) == Some(&b'"');
        }
    }
    false
}

/// The highest bit of each of eight bytes that is special in a string or not ASCII, up to the first; of later ones perhaps of
/// others, too.
#[inline]
fn special(word: u64) -> u64 {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    // Borrowing begins at the first byte that is too small, so that it is right about that one.
    let quotes = word ^ (LOW * u64::from(b'"'));
    let backslashes = word ^ (LOW * u64::from(b'\\'));
    let below = |bytes: u64, least: u64| bytes.wrapping_sub(LOW * least) & !bytes;
    (word | below(word, 0x20) | below(quotes, 1) | below(backslashes, 1)) & HIGH
}
