//! Records the offsets of tokens.

use crate::backend::BLOCK;

/// The flag in the end of a token for a string with escapes.
const ESCAPED: u16 = 1 << 15;

/// The start and end of each token in order: brackets, names, strings, numbers, and literals,
/// without commas and colons.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    starts: Vec<u16>,
    ends: Vec<u16>,
    started: usize,
    ended: usize,
    kept: usize,
}

impl Tape {
    /// Maximum bytes that can be recorded.
    pub const MAX_BYTES: usize = 1 << 14;

    /// The number of tokens.
    pub const fn len(&self) -> usize {
        self.kept
    }

    /// True if no tokens are recorded.
    pub const fn is_empty(&self) -> bool {
        self.kept == 0
    }

    /// The start and end of a token, and true if it is a string with escapes.
    #[inline]
    pub fn token(&self, number: usize) -> Option<(u16, u16, bool)> {
        if number >= self.kept {
            return None;
        }
        let (start, end) = (self.starts[number], self.ends[number]);
        Some((start, end & !ESCAPED, end & ESCAPED != 0))
    }

    /// The tokens from a number, which is at most the number of tokens.
    #[inline]
    pub fn tokens(&self, first: usize) -> impl Iterator<Item = (usize, usize, bool)> {
        let (starts, ends) = (&self.starts[first..self.kept], &self.ends[first..self.kept]);
        let token =
            |(&start, &end): (&u16, &u16)| (start.into(), (end & !ESCAPED).into(), end & ESCAPED != 0);
        starts.iter().zip(ends).map(token)
    }

    /// The start of a token.
    #[inline]
    pub fn start(&self, number: usize) -> Option<u16> {
        (number < self.kept).then(|| self.starts[number])
    }

    /// Removes all tokens.
    pub const fn clear(&mut self) {
        (self.started, self.ended, self.kept) = (0, 0, 0);
    }

    /// Removes all tokens, and allocates space for those of `bytes` bytes.
    pub fn begin(&mut self, bytes: usize) {
        self.clear();
        // A block may have one more start and end than bytes, if a token started earlier.
        let capacity = bytes.next_multiple_of(BLOCK) + BLOCK;
        if self.starts.len() < capacity {
            self.starts.resize(capacity, 0);
            self.ends.resize(capacity, 0);
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

    /// Adds the starts of tokens in a block, the bytes right after tokens, and those right after
    /// strings with escapes.
    fn add(&mut self, at: usize, starts: u64, after: u64, after_escaped: u64);

    /// Keeps all started tokens except the last `last` ones, which are incomplete.
    fn keep_all_but(&mut self, last: u32);

    /// Ends the recording.
    fn finish(&mut self);
}

/// Records nothing.
pub(crate) struct NoTokens;

impl Tokens for NoTokens {
    const WANTED: RecordedTokens = RecordedTokens::None;

    #[inline]
    fn add(&mut self, _: usize, _: u64, _: u64, _: u64) {}

    #[inline]
    fn keep_all_but(&mut self, _: u32) {}

    #[inline]
    fn finish(&mut self) {}
}

/// Records only names and brackets.
pub(crate) struct Names<'t>(pub(crate) &'t mut Tape);

impl Tokens for Names<'_> {
    const WANTED: RecordedTokens = RecordedTokens::Names;

    // Must be inlined, to be compiled with the kernel's instructions.
    #[inline(always)]
    fn add(&mut self, at: usize, starts: u64, after: u64, after_escaped: u64) {
        self.0.add(at, starts, after, after_escaped);
    }

    #[inline]
    fn keep_all_but(&mut self, last: u32) {
        self.0.keep_all_but(last);
    }

    #[inline]
    fn finish(&mut self) {
        self.0.finish();
    }
}

impl Tokens for Tape {
    const WANTED: RecordedTokens = RecordedTokens::All;

    // Must be inlined, to be compiled with the kernel's instructions.
    #[inline(always)]
    fn add(&mut self, at: usize, starts: u64, after: u64, after_escaped: u64) {
        let first = self.ended;
        write(&mut self.starts, &mut self.started, at, starts);
        write(&mut self.ends, &mut self.ended, at, after);
        if after_escaped != 0 {
            self.mark(first, after, after_escaped);
        }
    }

    #[inline]
    fn keep_all_but(&mut self, last: u32) {
        self.kept = self.started - last as usize;
    }

    #[inline]
    fn finish(&mut self) {
        // A bracket at the end of the input has no byte after it, so its end was not added.
        if self.ended < self.kept {
            self.ends[self.kept - 1] = self.starts[self.kept - 1] + 1;
        }
    }
}

impl Tape {
    /// Flags those of the last added ends that end strings with escapes.
    fn mark(&mut self, first: usize, after: u64, mut escaped: u64) {
        while escaped != 0 {
            let below = (escaped & escaped.wrapping_neg()) - 1;
            let number = first + (after & below).count_ones() as usize;
            self.ends[number] |= ESCAPED;
            escaped &= escaped - 1;
        }
    }
}

/// Appends the offsets of the set bits.
#[inline(always)]
fn write(offsets: &mut [u16], length: &mut usize, at: usize, mut bits: u64) {
    let count = bits.count_ones() as usize;
    for slot in &mut offsets[*length..*length + count] {
        *slot = at as u16 + bits.trailing_zeros() as u16;
        bits &= bits - 1;
    }
    *length += count;
}
