//! The tokens that a cursor has read ahead.

use trommel_scan::{Stack, Tape};

/// Bytes whose tokens are written down at a time, at least and at most.
pub(super) const SHORTEST: usize = 1 << 10;
pub(super) const LONGEST: usize = Tape::MOST / 2;

/// The tokens that come next.
#[derive(Debug, Default)]
pub(super) struct TokenBuffer {
    pub(super) tape: Tape,
    /// The number of the next token.
    pub(super) next: usize,
    /// Absolute offset from which the places on the tape are counted.
    pub(super) base: u64,
    /// Absolute offset of the cursor when the next token is due; anywhere else the tape is worth
    /// nothing.
    pub(super) due: u64,
    /// Tokens that were read one by one since the tape was of use.
    pub(super) waited: u32,
    /// Bytes that are looked at next time.
    pub(super) stretch: usize,
    /// Absolute offset behind which nothing is to be written down.
    pub(super) room: Option<u64>,
    /// The containers open at the end of the tape, or what to go back to.
    pub(super) stack: Stack,
}

impl TokenBuffer {
    /// Takes everything away that was written down: it will not come next.
    pub(super) fn forget(&mut self) {
        self.tape.clear();
        (self.waited, self.stretch) = (0, SHORTEST);
    }
}
