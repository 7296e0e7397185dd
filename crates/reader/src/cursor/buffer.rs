//! The buffer of tokens that a cursor has read ahead.

use trommel_scan::{Stack, Tape};

/// The length of a batch in bytes.
pub(super) const MIN_BATCH: usize = 1 << 10;
pub(super) const MAX_BATCH: usize = Tape::MAX_BYTES / 2;

/// The next tokens.
#[derive(Debug, Default)]
pub(super) struct TokenBuffer {
    pub(super) tape: Tape,
    /// The number of the next token.
    pub(super) next: usize,
    /// Absolute offset that the offsets on the tape are relative to.
    pub(super) base: u64,
    /// Offset of the cursor before the next token, relative to `base`. At any other offset, the
    /// tape is useless.
    pub(super) expected_at: u16,
    /// Tokens that were read one by one since the tape was last used.
    pub(super) waited: u32,
    /// Bytes of the next batch.
    pub(super) batch_len: usize,
    /// Absolute offset up to which tokens may be buffered.
    pub(super) until: Option<u64>,
    /// The open containers at the end of the tape, or those to restore.
    pub(super) stack: Stack,
}

impl TokenBuffer {
    /// Drops all tokens, because they are not the next ones.
    pub(super) fn forget(&mut self) {
        self.tape.clear();
        (self.waited, self.batch_len) = (0, MIN_BATCH);
    }
}
