//! Removes insignificant white space.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Backend, Lanes};
use crate::blocks::{padded, strings};

/// Removes insignificant white space from a value that arrives in pieces, cut anywhere.
///
/// Does not validate: malformed bytes are copied verbatim. White space between two numbers or
/// literals, which no valid value has side by side, becomes one space: `[1 2]` does not become
/// `[12]`.
#[derive(Clone, Debug, Default)]
pub struct Compactor {
    /// All ones inside a string.
    in_string: u64,
    /// 1 if the next byte is escaped.
    escape: u64,
    /// The last byte that was appended.
    last: u8,
    /// True if white space was removed after it.
    is_spaced: bool,
}

impl Compactor {
    /// Appends the next piece without its insignificant white space. Linear in its length.
    pub fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        (Backend::detect().kernels().compact)(piece, self, out);
    }
}

#[inline(always)]
pub(crate) fn without_space<L: Lanes>(
    proof: L::Proof,
    bytes: &[u8],
    state: &mut Compactor,
    out: &mut Vec<u8>,
) {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let Compactor { mut in_string, mut escape, .. } = *state;
    for block in blocks {
        let lanes = L::load(proof, block);
        let (inside, _) = strings(lanes, BLOCK, &mut in_string, &mut escape);
        state.keep(block, !(lanes.spaces() & !inside), BLOCK, out);
    }
    if !rest.is_empty() {
        let block = padded(rest);
        let lanes = L::load(proof, &block);
        let (inside, _) = strings(lanes, rest.len(), &mut in_string, &mut escape);
        // Inside an unfinished string the padding would be kept.
        let real = u64::MAX >> (BLOCK - rest.len());
        state.keep(&block, !(lanes.spaces() & !inside) & real, rest.len(), out);
    }
    (state.in_string, state.escape) = (in_string, escape);
}

impl Compactor {
    /// Appends the bytes whose bits are set. Bits of the padding must not be set.
    #[inline(always)]
    fn keep(&mut self, block: &[u8; BLOCK], mut kept: u64, length: usize, out: &mut Vec<u8>) {
        if kept == u64::MAX {
            self.separate(block[0], out);
            out.extend_from_slice(block);
            self.last = block[BLOCK - 1];
            return;
        }
        let mut to = 0;
        while kept != 0 {
            let start = kept.trailing_zeros();
            let run = (kept >> start).trailing_ones();
            let from = start as usize;
            self.is_spaced |= from > to;
            self.separate(block[from], out);
            to = (start + run) as usize;
            out.extend_from_slice(&block[from..to]);
            self.last = block[to - 1];
            if to >= BLOCK {
                return;
            }
            kept = kept >> to << to;
        }
        self.is_spaced |= to < length;
    }

    /// Appends a space if the white space before `next` was removed, and `next` and the byte before
    /// would become one token. White space in strings is not removed, so both are outside.
    #[inline(always)]
    fn separate(&mut self, next: u8, out: &mut Vec<u8>) {
        if self.is_spaced {
            self.is_spaced = false;
            if is_token(self.last) && is_token(next) {
                out.push(b' ');
            }
        }
    }
}

/// True for the bytes of numbers and literals.
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}
