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
        if number >= self.kept {
            return None;
        }
        let &[start, next] = self.starts.get(number..)?.first_chunk()?;
        Some((start, next))
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

    // Must be inlined, to be compiled with the kernel's instructions.
    /// Adds the starts of tokens in a block.
    #[inline(always)]
    pub(super) fn add(&mut self, at: usize, starts: u64) {
        let (count, mut bits) = (starts.count_ones() as usize, starts);
        for slot in &mut self.starts[self.started..self.started + count] {
            *slot = at as u16 + bits.trailing_zeros() as u16;
            bits &= bits - 1;
        }
        self.started += count;
    }

    /// The number of tokens so far, including incomplete ones.
    pub(super) const fn started(&self) -> usize {
        self.started
    }

    /// Keeps this number of tokens.
    pub(super) const fn keep(&mut self, count: usize) {
        self.kept = count;
    }

    /// Keeps all started tokens except the last `last` ones, which are incomplete.
    pub(super) const fn keep_all_but(&mut self, last: u32) {
        self.kept = self.started - last as usize;
    }

    /// Ends the recording with the index of the end of the valid bytes, which follows the last
    /// token.
    pub(crate) fn finish(&mut self, end: usize) {
        self.end = end as u16;
        self.starts[self.kept] = self.end;
    }
}

/// The tokens to record, and the tape that receives them, if there are any.
#[derive(Debug)]
pub struct Recording<'t> {
    pub(super) names_only: bool,
    pub(super) tape: Option<&'t mut Tape>,
}

impl<'t> Recording<'t> {
    /// Records nothing.
    pub(crate) const NONE: Recording<'static> = Recording { names_only: false, tape: None };

    /// Records all tokens.
    pub(crate) const fn all(tape: &'t mut Tape) -> Self {
        Self { names_only: false, tape: Some(tape) }
    }

    /// Records only names and brackets.
    pub(crate) const fn names(tape: &'t mut Tape) -> Self {
        Self { names_only: true, tape: Some(tape) }
    }
}
