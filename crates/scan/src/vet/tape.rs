//! Where the tokens are.

use crate::backend::BLOCK;

/// Set in the end of a token that is a string with escapes.
const ESCAPED: u16 = 1 << 15;

/// Where tokens begin and end: brackets, names, strings, numbers and literals, in their order.
/// Commas and colons are none.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    starts: Vec<u16>,
    ends: Vec<u16>,
    begun: usize,
    ended: usize,
    kept: usize,
}

impl Tape {
    /// So many bytes can be looked at for tokens.
    pub const MOST: usize = 1 << 14;

    /// How many tokens there are.
    pub const fn len(&self) -> usize {
        self.kept
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.kept == 0
    }

    /// Where a token begins and ends, and whether it is a string with escapes.
    #[inline]
    pub fn token(&self, number: usize) -> Option<(u16, u16, bool)> {
        if number >= self.kept {
            return None;
        }
        let (start, end) = (self.starts[number], self.ends[number]);
        Some((start, end & !ESCAPED, end & ESCAPED != 0))
    }

    /// The tokens from a number on, which is at most how many there are.
    #[inline]
    pub fn tokens(&self, first: usize) -> impl Iterator<Item = (usize, usize, bool)> {
        let (starts, ends) = (&self.starts[first..self.kept], &self.ends[first..self.kept]);
        let token =
            |(&start, &end): (&u16, &u16)| (start.into(), (end & !ESCAPED).into(), end & ESCAPED != 0);
        starts.iter().zip(ends).map(token)
    }

    /// Where a token begins.
    #[inline]
    pub fn start(&self, number: usize) -> Option<u16> {
        (number < self.kept).then(|| self.starts[number])
    }

    /// Takes all tokens away.
    pub const fn clear(&mut self) {
        (self.begun, self.ended, self.kept) = (0, 0, 0);
    }

    /// Takes all tokens away, and makes room for those of so many bytes.
    pub fn begin(&mut self, bytes: usize) {
        self.clear();
        // One more begins and ends in a block than has bytes there, if it began before.
        let room = bytes.next_multiple_of(BLOCK) + BLOCK;
        if self.starts.len() < room {
            self.starts.resize(room, 0);
            self.ends.resize(room, 0);
        }
    }
}

/// Which tokens are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    None,
    /// Names and brackets.
    Names,
    All,
}

/// Who is told where tokens are, block by block.
pub(crate) trait Tokens {
    const WANTED: Wanted;

    /// The bytes of a block at which tokens begin; those right behind tokens; and those right
    /// behind strings with escapes.
    fn add(&mut self, at: usize, starts: u64, behind: u64, behind_escaped: u64);

    /// All that began are whole, but for so many of the last.
    fn keep_but(&mut self, last: u32);

    /// There will be no more.
    fn finish(&mut self);
}

/// Nobody wants to know.
pub(crate) struct Nowhere;

impl Tokens for Nowhere {
    const WANTED: Wanted = Wanted::None;

    #[inline]
    fn add(&mut self, _: usize, _: u64, _: u64, _: u64) {}

    #[inline]
    fn keep_but(&mut self, _: u32) {}

    #[inline]
    fn finish(&mut self) {}
}

/// A tape for names and brackets alone.
pub(crate) struct Names<'t>(pub(crate) &'t mut Tape);

impl Tokens for Names<'_> {
    const WANTED: Wanted = Wanted::Names;

    // Always: only inside of the kernel it is compiled with the kernel's instructions.
    #[inline(always)]
    fn add(&mut self, at: usize, starts: u64, behind: u64, behind_escaped: u64) {
        self.0.add(at, starts, behind, behind_escaped);
    }

    #[inline]
    fn keep_but(&mut self, last: u32) {
        self.0.keep_but(last);
    }

    #[inline]
    fn finish(&mut self) {
        self.0.finish();
    }
}

impl Tokens for Tape {
    const WANTED: Wanted = Wanted::All;

    // Always: only inside of the kernel it is compiled with the kernel's instructions.
    #[inline(always)]
    fn add(&mut self, at: usize, starts: u64, behind: u64, behind_escaped: u64) {
        let first = self.ended;
        write(&mut self.starts, &mut self.begun, at, starts);
        write(&mut self.ends, &mut self.ended, at, behind);
        if behind_escaped != 0 {
            self.mark(first, behind, behind_escaped);
        }
    }

    #[inline]
    fn keep_but(&mut self, last: u32) {
        self.kept = self.begun - last as usize;
    }

    #[inline]
    fn finish(&mut self) {
        // A last bracket may have no end so far, for want of a byte behind it.
        if self.ended < self.kept {
            self.ends[self.kept - 1] = self.starts[self.kept - 1] + 1;
        }
    }
}

impl Tape {
    /// Notes which of the ends that were written last are those of strings with escapes.
    fn mark(&mut self, first: usize, behind: u64, mut escaped: u64) {
        while escaped != 0 {
            let below = (escaped & escaped.wrapping_neg()) - 1;
            let number = first + (behind & below).count_ones() as usize;
            self.ends[number] |= ESCAPED;
            escaped &= escaped - 1;
        }
    }
}

/// Writes the places of the set bits behind what is there.
#[inline(always)]
fn write(places: &mut [u16], length: &mut usize, at: usize, mut bits: u64) {
    let count = bits.count_ones() as usize;
    for slot in &mut places[*length..*length + count] {
        *slot = at as u16 + bits.trailing_zeros() as u16;
        bits &= bits - 1;
    }
    *length += count;
}
