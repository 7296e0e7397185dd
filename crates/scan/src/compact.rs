//! Removes insignificant white space.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use crate::backend::{BLOCK, Backend, Lanes};
use crate::blocks::{padded, strings};

/// Removes insignificant white space from a value that arrives in pieces, cut anywhere.
///
/// Does not validate: malformed bytes are copied verbatim.
#[derive(Clone, Debug, Default)]
pub struct Compactor {
    /// All ones inside a string.
    in_string: u64,
    /// 1 if the next byte is escaped.
    escape: u64,
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
    let Compactor { mut in_string, mut escape } = *state;
    for block in blocks {
        let lanes = L::load(proof, block);
        let (inside, _) = strings(lanes, BLOCK, &mut in_string, &mut escape);
        let dropped = lanes.spaces() & !inside;
        if dropped == 0 {
            out.extend_from_slice(block);
        } else {
            keep(block, !dropped, out);
        }
    }
    if !rest.is_empty() {
        let lanes = L::load(proof, &padded(rest));
        let (inside, _) = strings(lanes, rest.len(), &mut in_string, &mut escape);
        // Inside an unfinished string the padding would be kept.
        let real = u64::MAX >> (BLOCK - rest.len());
        keep(rest, !(lanes.spaces() & !inside) & real, out);
    }
    *state = Compactor { in_string, escape };
}

/// Appends the bytes whose bits are set, run by run. Bits of the padding must not be set.
fn keep(block: &[u8], mut kept: u64, out: &mut Vec<u8>) {
    while kept != 0 {
        let start = kept.trailing_zeros();
        let run = (kept >> start).trailing_ones();
        let (from, to) = (start as usize, (start + run) as usize);
        out.extend_from_slice(&block[from..to]);
        if to >= BLOCK {
            return;
        }
        kept = kept >> to << to;
    }
}
