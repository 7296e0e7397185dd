//! Members whose values are plain to see: a search for their name need not stop at them.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use std::ops::ControlFlow;

use crate::blocks::is_space;
use crate::trace::{Brackets, Trace};

/// Bytes of a value, at most, that is looked at here.
const SHORT: usize = 256;

/// Members that are kept at once, at most.
const MOST: usize = 256;

/// What is done with members whose values are plain to see.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the reader chooses one")]
pub enum Taken {
    /// The search stops at each, as at any other.
    #[default]
    Alone,
    /// They are counted.
    Counted,
    /// They are kept, some at a time.
    Kept,
}

/// A member that was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "where its object and its value are is all there is to tell")]
pub struct Hit {
    /// Absolute offset of its object.
    pub object: u64,
    /// Absolute offset of its value.
    pub start: u64,
    /// Absolute offset behind its value.
    pub end: u64,
}

/// What was found of a name.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// What is done with members whose values are plain to see.
    pub taken: Taken,
    /// Whether of the members of an object only the first is taken.
    pub unique: bool,
    /// How many were counted.
    pub counted: u64,
    /// Those that were kept.
    pub kept: Vec<Hit>,
    /// Whether some wait that were kept earlier.
    pub waiting: bool,
    /// Objects in which a member was found: how many containers are open in each, and where it
    /// begins. Those deeper than the current place have ended, and so may others have.
    found: Vec<(u32, u64)>,
}

/// Where a member may be found.
#[derive(Clone, Copy)]
pub(crate) struct Spot<'b> {
    pub(crate) bytes: &'b [u8],
    /// Absolute offset of the first of them.
    pub(crate) base: u64,
    /// The index of the colon behind its name.
    pub(crate) colon: usize,
    /// How many containers are open there.
    pub(crate) depth: u32,
}

impl Hits {
    /// Forgets what was found.
    pub fn clear(&mut self) {
        self.found.clear();
        self.kept.clear();
        self.counted = 0;
    }

    /// Notes a member in the object that begins at an offset, and in which so many containers are
    /// open; `false` if it is not the first.
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

    /// Whether a member was found in the object that begins at an offset, and in which so many
    /// containers are open.
    pub fn has_found(&self, depth: u32, start: u64) -> bool {
        self.found.binary_search(&(depth, start)).is_ok()
    }

    /// Takes a member of the innermost container, if that is an object, all of the member is in
    /// sight, and there is nothing to find fault with.
    #[inline(always)]
    pub(crate) fn take(&mut self, spot: Spot<'_>, innermost: Option<(u64, bool)>) -> bool {
        let Some((object, true)) = innermost else { return false };
        if self.kept.len() >= MOST {
            return false;
        }
        let Some((start, end)) = plain_scalar(spot.bytes, spot.colon + 1) else { return false };
        let is_first = self.note(spot.depth, object);
        if !is_first && self.unique {
            return true;
        }
        if self.taken == Taken::Kept {
            self.kept.push(Hit { object, start: spot.base + start as u64, end: spot.base + end as u64 });
        } else {
            self.counted += 1;
        }
        true
    }
}

impl Trace<'_> {
    /// Where the innermost container begins, and whether it is an object, when so many are open
    /// behind the first brackets of the block that begins at an offset.
    #[inline(always)]
    pub(crate) fn innermost(&self, at: u64, brackets: Brackets, depth: u32) -> Option<(u64, bool)> {
        let mut closed = 0;
        let passed = self.passed.blocks.iter().rev().copied();
        for (at, brackets) in std::iter::once((at, brackets)).chain(passed) {
            let last = brackets
                .each_unclosed(&mut closed, |bit, object| ControlFlow::Break((at + u64::from(bit), object)));
            if let ControlFlow::Break(innermost) = last {
                return Some(innermost);
            }
        }
        let level = (depth as usize).checked_sub(1)?;
        Some((self.opened[level], self.stack.object_at(depth)?))
    }
}

/// Where a value that is no container begins and ends, behind white space or none, if it is right
/// and something else follows: a short string without escapes, a number without an exponent, a
/// word. A strict reader would say the same.
#[inline]
fn plain_scalar(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let mut start = at;
    while is_space(*bytes.get(start)?) {
        start += 1;
    }
    let value = bytes.get(start..)?;
    let length = match value {
        [b'"', text @ ..] => plain_text(text)? + 2,
        [b'-' | b'0'..=b'9', ..] => plain_number(value)?,
        _ => [&b"true"[..], b"false", b"null"].into_iter().find(|word| value.starts_with(word))?.len(),
    };
    let next = *value.get(length)?;
    (matches!(next, b',' | b'}') || is_space(next)).then_some((start, start + length))
}

/// Bytes of a number, if it has no exponent.
#[inline]
fn plain_number(value: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let digits = value[from..].iter().take(SHORT);
        digits.take_while(|byte| byte.is_ascii_digit()).count()
    };
    let first = usize::from(value.first() == Some(&b'-'));
    let whole = digits(first);
    if whole == 0 || whole > 1 && value.get(first) == Some(&b'0') {
        return None;
    }
    let end = first + whole;
    if value.get(end) != Some(&b'.') {
        return Some(end);
    }
    let fraction = digits(end + 1);
    (fraction > 0).then_some(end + 1 + fraction)
}

/// Bytes before the quote that ends a string, if of all bytes that are special in a string it comes
/// first.
#[inline]
fn plain_text(text: &[u8]) -> Option<usize> {
    let mut seen = 0;
    for (number, word) in text.as_chunks::<8>().0.iter().take(SHORT / 8).enumerate() {
        let word = u64::from_le_bytes(*word);
        seen |= word;
        let special = special(word);
        if special != 0 {
            let length = 8 * number + special.trailing_zeros() as usize / 8;
            // What follows the quote was looked at, too, if it is in the same word.
            let is_text = || seen & HIGH == 0 || std::str::from_utf8(&text[..length]).is_ok();
            return (text[length] == b'"' && is_text()).then_some(length);
        }
    }
    None
}

/// The lowest bit of each of eight bytes.
const LOW: u64 = 0x0101_0101_0101_0101;

/// The highest one.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The highest bit of each of eight bytes that is special in a string, up to the first; of later
/// ones perhaps of others, too.
#[inline]
fn special(word: u64) -> u64 {
    // Borrowing begins at the first byte that is too small, so that it is right about that one.
    let quotes = word ^ (LOW * u64::from(b'"'));
    let backslashes = word ^ (LOW * u64::from(b'\\'));
    let below = |bytes: u64, least: u64| bytes.wrapping_sub(LOW * least) & !bytes;
    (below(word, 0x20) | below(quotes, 1) | below(backslashes, 1)) & HIGH
}
