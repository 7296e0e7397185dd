//! The line index of a stored text: the number of line ends in each block of the payload.
//!
//! It is a member of the description, `"line_index"`, and sealed with it:
//!
//! ```text
//! {"version":1,"lines":62000,"block":65536,"ends":[801,795,…]}
//! ```
//!
//! | member | meaning |
//! | --- | --- |
//! | `version` | 1; a reader ignores an index of another version, or one that does not fit the payload |
//! | `lines` | number of lines; bytes after the last line end are a line |
//! | `block` | bytes per block: 65,536 times a power of two |
//! | `ends` | number of line ends (LF) in each block, in order; at most 2,048 |
//!
//! Blocks are as small as the maximum number of blocks allows, so the index of a text of any length
//! takes at most about 20 KB. Finding a line reads one block.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The version that this release writes and reads.
const VERSION: u32 = 1;

/// The smallest block in bytes.
const MIN_BLOCK_BYTES: u64 = 64 << 10;

/// The maximum number of blocks. It is even, because blocks are merged in pairs.
const MAX_BLOCKS: usize = 2_048;

/// The number of lines of a stored text, and of line ends in each block of it.
///
/// Outputs of earlier releases have none, and are scanned instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineIndex {
    version: u32,
    lines: u64,
    block: u64,
    ends: Vec<u64>,
}

/// The start of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the two members describe a position completely")]
pub struct BlockStart {
    /// The offset of the block in the payload.
    pub offset: u64,
    /// The number of line ends before it.
    pub line_ends: u64,
}

impl LineIndex {
    /// The number of lines. Bytes after the last line end are a line.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns the start of the block that contains line end number `number`, counted from 1.
    /// Returns the last block if there are fewer line ends.
    pub fn block_of_line_end(&self, number: u64) -> BlockStart {
        let mut start = BlockStart::default();
        for (ends, block) in self.ends.iter().zip(1..self.ends.len() as u64) {
            if start.line_ends + ends >= number {
                break;
            }
            start = BlockStart { offset: block * self.block, line_ends: start.line_ends + ends };
        }
        start
    }

    /// Returns the start of the block that contains an offset.
    pub fn block_of_offset(&self, offset: u64) -> BlockStart {
        let last = (self.ends.len() as u64).saturating_sub(1);
        let block = (offset / self.block).min(last);
        let line_ends = self.ends.iter().zip(0..block).map(|(ends, _)| ends).sum();
        BlockStart { offset: block * self.block, line_ends }
    }

    /// True if the index can belong to a payload of `bytes` bytes.
    pub(crate) fn fits(&self, bytes: u64) -> bool {
        let Self { version, lines, block, ends } = self;
        let is_block = *block >= MIN_BLOCK_BYTES && block.is_power_of_two();
        let sum = ends.iter().try_fold(0_u64, |sum, ends| sum.checked_add(*ends));
        *version == VERSION
            && is_block
            && ends.len() as u64 == bytes.div_ceil(*block)
            && ends.iter().all(|ends| ends <= block)
            && sum.and_then(|sum| lines.checked_sub(sum)).is_some_and(|unended| unended <= 1)
    }

    /// Deserializes the member of a description. An index that this release cannot read is ignored.
    pub(crate) fn deserialize_known<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Self>, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Ok(Self::deserialize(value).ok())
    }
}

/// Counts the line ends of a payload while it is written.
#[derive(Debug)]
pub(crate) struct LineCounter {
    block: u64,
    ends: Vec<u64>,
    /// The number of bytes and of line ends in the last block.
    filled: u64,
    current: u64,
    ends_with_line: bool,
}

impl LineCounter {
    pub(crate) fn new() -> Self {
        Self { block: MIN_BLOCK_BYTES, ends: Vec::new(), filled: 0, current: 0, ends_with_line: true }
    }

    pub(crate) fn update(&mut self, mut bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.ends_with_line = *last == b'\n';
        }
        while !bytes.is_empty() {
            let free = usize::try_from(self.block - self.filled).unwrap_or(usize::MAX);
            let (part, rest) = bytes.split_at(bytes.len().min(free));
            self.current += memchr::memchr_iter(b'\n', part).count() as u64;
            self.filled += part.len() as u64;
            bytes = rest;
            if self.filled == self.block {
                self.end_block();
            }
        }
    }

    fn end_block(&mut self) {
        self.ends.push(std::mem::take(&mut self.current));
        self.filled = 0;
        if self.ends.len() == MAX_BLOCKS {
            self.ends = self.ends.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.block *= 2;
        }
    }

    pub(crate) fn finish(mut self) -> LineIndex {
        if self.filled > 0 {
            self.ends.push(self.current);
        }
        let lines = self.ends.iter().sum::<u64>() + u64::from(!self.ends_with_line);
        LineIndex { version: VERSION, lines, block: self.block, ends: self.ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(text: &[u8], chunk: usize) -> LineIndex {
        let mut counter = LineCounter::new();
        text.chunks(chunk).for_each(|chunk| counter.update(chunk));
        counter.finish()
    }

    fn text(bytes: usize) -> Vec<u8> {
        (0..bytes).map(|at| if at.is_multiple_of(37) || at % 1000 > 990 { b'\n' } else { b'x' }).collect()
    }

    #[test]
    fn blocks_are_found_by_line_and_by_offset() {
        let text = text(300_000);
        let index = index(&text, 7_000);
        assert_eq!(index, self::index(&text, 300_000));
        assert!(index.fits(300_000) && !index.fits(300_000 + 65_536));
        assert_eq!(index.lines(), text.split_inclusive(|&byte| byte == b'\n').count() as u64);
        let ends: Vec<u64> = (0..).zip(&text).filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        for (number, at) in (1..).zip(&ends) {
            let start = index.block_of_line_end(number);
            assert_eq!(start.offset, at / 65_536 * 65_536, "line end {number}");
            assert_eq!(start, index.block_of_offset(*at));
            assert_eq!(start.line_ends, ends.iter().filter(|end| **end < start.offset).count() as u64);
        }
        assert_eq!(index.block_of_line_end(u64::MAX).offset, 4 * 65_536);
        assert_eq!(index.block_of_offset(u64::MAX).offset, 4 * 65_536);
    }

    #[test]
    fn lines_are_counted_with_and_without_a_final_line_end() {
        for (text, lines) in [("", 0), ("\n", 1), ("a", 1), ("a\n", 1), ("a\n\nb", 3)] {
            let index = index(text.as_bytes(), 2);
            assert_eq!(index.lines(), lines, "{text:?}");
            assert!(index.fits(text.len() as u64));
            assert_eq!(index.block_of_line_end(1), BlockStart::default());
        }
    }

    #[test]
    fn long_texts_have_larger_blocks() {
        let mut block = vec![b'x'; MIN_BLOCK_BYTES as usize];
        block[7] = b'\n';
        let mut counter = LineCounter::new();
        for _ in 0..=3 * MAX_BLOCKS {
            counter.update(&block);
        }
        let index = counter.finish();
        let bytes = (3 * MAX_BLOCKS as u64 + 1) * MIN_BLOCK_BYTES;
        assert!(index.fits(bytes) && index.ends.len() <= MAX_BLOCKS);
        assert_eq!(index.block, 4 * MIN_BLOCK_BYTES);
        assert!(serde_json::to_string(&index).unwrap().len() < 20_000);
    }

    #[test]
    fn unknown_and_inconsistent_indexes_do_not_fit() {
        let whole = serde_json::to_value(index(&text(100_000), 1_000)).unwrap();
        let read = |value: Value| LineIndex::deserialize_known(value).unwrap();
        assert!(read(whole.clone()).is_some_and(|index| index.fits(100_000)));
        for (member, value) in [
            ("version", 2.into()),
            ("lines", 7.into()),
            ("block", 65_537.into()),
            ("block", 0.into()),
            ("ends", serde_json::json!([1, u64::MAX])),
            ("ends", serde_json::json!([1])),
        ] {
            let mut changed = whole.clone();
            changed[member] = value;
            assert!(!read(changed).is_some_and(|index| index.fits(100_000)), "{member}");
        }
        let ends = [1_u64 << 63, (1 << 63) - 1];
        let huge = serde_json::json!({"version": 1, "lines": u64::MAX, "block": 1_u64 << 63, "ends": ends});
        assert!(read(huge).is_some_and(|index| index.fits(u64::MAX) && !index.fits(100_000)));
        for other in [Value::Null, serde_json::json!({"version": 2, "more": []}), 5.into()] {
            assert_eq!(read(other), None);
        }
    }
}
