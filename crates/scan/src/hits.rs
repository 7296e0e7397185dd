//! Members with plain values, which a search by name can handle without stopping.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use std::ops::ControlFlow;

use crate::blocks::is_space;
use crate::trace::{Brackets, Trace};

/// Maximum length of a plain value, in bytes.
const MAX_LEN: usize = 256;

/// Maximum members that are collected before they are reported.
const MAX_COLLECTED: usize = 256;

/// The handling of members with plain values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the reader chooses one")]
pub enum PlainMembers {
    /// The search stops at each of them, as at any other member.
    #[default]
    Stop,
    /// They are counted.
    Count,
    /// They are collected, and reported together.
    Collect,
}

/// A collected member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a member is fully described by its object and value")]
pub struct Hit {
    /// Absolute offset of its object.
    pub object: u64,
    /// Absolute offset of its value.
    pub start: u64,
    /// Absolute offset after its value.
    pub end: u64,
}

/// The members that a search handled without stopping.
#[derive(Clone, Debug, Default)]
pub struct Hits {
    /// The handling of members with plain values.
    pub plain: PlainMembers,
    /// True if only the first such member of an object counts.
    pub unique: bool,
    /// The number of counted members.
    pub counted: u64,
    /// The collected members.
    pub collected: Vec<Hit>,
    /// True if members that were collected earlier are waiting to be reported.
    pub waiting: bool,
    /// Objects in which a member was found: the depth and the absolute offset of each. Deeper ones
    /// than the current position have ended; others may have.
    found: Vec<(u32, u64)>,
}

/// A colon after a name that was found.
#[derive(Clone, Copy)]
pub(crate) struct ColonAt<'b> {
    pub(crate) bytes: &'b [u8],
    /// Absolute offset of the first byte.
    pub(crate) base: u64,
    /// The index of the colon.
    pub(crate) colon: usize,
    /// The depth at the colon.
    pub(crate) depth: u32,
}

impl Hits {
    /// Removes all members.
    pub fn clear(&mut self) {
        self.found.clear();
        self.collected.clear();
        self.counted = 0;
    }

    /// Records a member of the object at this depth and offset. Returns false if the object already
    /// had one.
    #[inline]
    pub fn record(&mut self, depth: u32, start: u64) -> bool {
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

    /// True if a member was found in the object at this depth and offset.
    pub fn has_found(&self, depth: u32, start: u64) -> bool {
        self.found.binary_search(&(depth, start)).is_ok()
    }

    /// Counts or collects a member of the innermost container. Returns false if that is not an
    /// object, or the value is not plain and entirely visible: then the search must stop at the
    /// member.
    #[inline(always)]
    pub(crate) fn add(&mut self, colon: ColonAt<'_>, innermost: Option<(u64, bool)>) -> bool {
        let Some((object, true)) = innermost else { return false };
        if self.collected.len() >= MAX_COLLECTED {
            return false;
        }
        let Some((start, end)) = plain_member(colon.bytes, colon.colon + 1) else { return false };
        let is_first = self.record(colon.depth, object);
        if !is_first && self.unique {
            return true;
        }
        if self.plain == PlainMembers::Collect {
            self.collected.push(Hit {
                object,
                start: colon.base + start as u64,
                end: colon.base + end as u64,
            });
        } else {
            self.counted += 1;
        }
        true
    }
}

impl Trace<'_> {
    /// Returns the offset of the innermost container, and true if it is an object. `depth` is the
    /// depth after these first brackets of the block at offset `at`.
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

/// Returns the start and end of a [plain value](plain_value) of a member, after optional white
/// space.
#[inline]
fn plain_member(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let mut start = at;
    while is_space(*bytes.get(start)?) {
        start += 1;
    }
    let end = plain_value(bytes, start)?;
    (bytes.get(end) != Some(&b']')).then_some((start, end))
}

/// Returns the end of a plain scalar: a short string without escapes, a number without an exponent,
/// or a literal, if another token follows in sight. A strict reader accepts the same value.
#[inline]
pub(crate) fn plain_value(bytes: &[u8], start: usize) -> Option<usize> {
    let value = bytes.get(start..)?;
    let length = match value {
        [b'"', text @ ..] => plain_text(text)? + 2,
        [b'-' | b'0'..=b'9', ..] => plain_number(value)?,
        _ => [&b"true"[..], b"false", b"null"].into_iter().find(|word| value.starts_with(word))?.len(),
    };
    let next = *value.get(length)?;
    (matches!(next, b',' | b'}' | b']') || is_space(next)).then_some(start + length)
}

/// Length of a number in bytes, if it has no exponent.
#[inline]
fn plain_number(value: &[u8]) -> Option<usize> {
    let digits = |from: usize| {
        let digits = value[from..].iter().take(MAX_LEN);
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

/// Length of a string in bytes, if the quote is the first special byte.
#[inline]
fn plain_text(text: &[u8]) -> Option<usize> {
    let mut seen = 0;
    for (number, word) in text.as_chunks::<8>().0.iter().take(MAX_LEN / 8).enumerate() {
        let word = u64::from_le_bytes(*word);
        seen |= word;
        let special = special(word);
        if special != 0 {
            let length = 8 * number + special.trailing_zeros() as usize / 8;
            // `seen` may include bytes after the quote, so a non-ASCII text is validated again
            // exactly.
            let is_text = || seen & HIGH == 0 || std::str::from_utf8(&text[..length]).is_ok();
            return (text[length] == b'"' && is_text()).then_some(length);
        }
    }
    None
}

/// The lowest bit of each of eight bytes.
const LOW: u64 = 0x0101_0101_0101_0101;

/// The highest bit of each of eight bytes.
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Sets the highest bit of each of eight bytes that is special in a string, exactly up to the first
/// one; later bits may be wrong.
#[inline]
fn special(word: u64) -> u64 {
    // Borrows start at the first byte that is too small, so they only affect later bits.
    let quotes = word ^ (LOW * u64::from(b'"'));
    let backslashes = word ^ (LOW * u64::from(b'\\'));
    let below = |bytes: u64, least: u64| bytes.wrapping_sub(LOW * least) & !bytes;
    (below(word, 0x20) | below(quotes, 1) | below(backslashes, 1)) & HIGH
}
