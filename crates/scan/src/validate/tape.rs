//! Records the offsets of tokens.

use crate::backend::BLOCK;

/// The start of each token in order: brackets, names, strings, numbers, and literals, without
/// commas and colons.
///
/// Ends are not recorded. Between a token and the next one there are only white space, a comma, and
/// a colon, so a token ends right before these.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    starts: Vec<u16>,
    started: usize,
    kept: usize,
    end: u16,
}

impl Tape {
    /// Maximum bytes that can be recorded.
    pub const MAX_BYTES: usize = 1 << 14;

    /// The starts of all tokens.
    #[inline]
    pub fn starts(&self) -> &[u16] {
        &self.starts[..self.kept]
    }

    /// The end of the valid bytes: a comma, or the byte after a bracket.
    pub const fn end(&self) -> u16 {
        self.end
    }

    /// The start of a token and that of the next one, or the end of the valid bytes.
    #[inline]
    pub fn span(&self, number: usize) -> Option<(u16, u16)> {
        let mut rest = self.starts().get(number..)?.iter();
        Some((*rest.next()?, rest.next().copied().unwrap_or(self.end)))
    }

    /// Removes all tokens.
    pub const fn clear(&mut self) {
        (self.started, self.kept, self.end) = (0, 0, 0);
    }

    /// Removes all tokens, and allocates space for those of `bytes` bytes.
    pub fn begin(&mut self, bytes: usize) {
        self.clear();
        let capacity = bytes.next_multiple_of(BLOCK) + BLOCK;
        if self.starts.len() < capacity {
            self.starts.resize(capacity, 0);
        }
    }
}

/// The tokens to record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordedTokens {
    None,
    /// Names and brackets.
    Names,
    All,
}

/// Receives the offsets of tokens, block by block.
pub(crate) trait Tokens {
    const WANTED: RecordedTokens;

    /// Adds the starts of tokens in a block.
    fn add(&mut self, at: usize, starts: u64);

    /// The number of tokens so far, including incomplete ones.
    fn started(&self) -> usize;

    /// Keeps this number of tokens.
    fn keep(&mut self, count: usize);

    /// Keeps all started tokens except the last `last` ones, which are incomplete.
    fn keep_all_but(&mut self, last: u32);

    /// Ends the recording with the index of the end of the valid bytes.
    fn finish(&mut self, end: usize);
}

/// Records nothing.
pub(crate) struct NoTokens;

impl Tokens for NoTokens {
    const WANTED: RecordedTokens = RecordedTokens::None;

    #[inline]
    fn add(&mut self, _: usize, _: u64) {}

    #[inline]
    fn started(&self) -> usize {
        0
    }

    #[inline]
    fn keep(&mut self, _: usize) {}

    #[inline]
    fn keep_all_but(&mut self, _: u32) {}

    #[inline]
    fn finish(&mut self, _: usize) {}
}

/// Records only names and brackets.
pub(crate) struct Names<'t>(pub(crate) &'t mut Tape);

impl Tokens for Names<'_> {
    const WANTED: RecordedTokens = RecordedTokens::Names;

    // Must be inlined, to be compiled with the kernel's instructions.
    #[inline(always)]
    fn add(&mut self, at: usize, starts: u64) {
        self.0.add(at, starts);
    }

    #[inline]
    fn started(&self) -> usize {
        self.0.started()
    }

    #[inline]
    fn keep(&mut self, count: usize) {
        self.0.keep(count);
    }

    #[inline]
    fn keep_all_but(&mut self, last: u32) {
        self.0.keep_all_but(last);
    }

    #[inline]
    fn finish(&mut self, end: usize) {
        self.0.finish(end);
    }
}

impl Tokens for Tape {
    const WANTED: RecordedTokens = RecordedTokens::All;

    // Must be inlined, to be compiled with the kernel's instructions.
    #[inline(always)]
    fn add(&mut self, at: usize, starts: u64) {
        let (count, mut bits) = (starts.count_ones() as usize, starts);
        for slot in &mut self.starts[self.started..self.started + count] {
            *slot = at as u16 + bits.trailing_zeros() as u16;
            bits &= bits - 1;
        }
        self.started += count;
    }

    #[inline]
    fn started(&self) -> usize {
        self.started
    }

    #[inline]
    fn keep(&mut self, count: usize) {
        self.kept = count;
    }

    #[inline]
    fn keep_all_but(&mut self, last: u32) {
        self.kept = self.started - last as usize;
    }

    #[inline]
    fn finish(&mut self, end: usize) {
        self.end = end as u16;
    }
}
