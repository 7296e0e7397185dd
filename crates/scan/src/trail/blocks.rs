//! The masks of the current block, which stay while levels are entered and left.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use std::ops::ControlFlow::{self, Break, Continue};

use crate::backend::{BLOCK, Lanes};
use crate::blocks::{escaped, is_space, padded};
use crate::hits::plain_value;

/// The window, and the masks of one of its blocks.
pub(super) struct Blocks<'b, L: Lanes> {
    proof: L::Proof,
    pub(super) bytes: &'b [u8],
    /// The index of the first block.
    from: usize,
    whole: &'b [[u8; BLOCK]],
    /// The bytes after the whole blocks, padded.
    rest: [u8; BLOCK],
    /// The colons in it.
    rest_colons: u64,
    /// The number of blocks.
    count: usize,
    /// The number of the current block, and its masks.
    number: usize,
    pub(super) masks: Masks,
    carry: Carry,
}

/// The masks of a block.
#[derive(Clone, Copy, Debug)]
pub struct Masks {
    /// The bytes in strings.
    inside: u64,
    /// The brackets outside strings.
    pub(super) open: u64,
    pub(super) close: u64,
    pub(super) curly: u64,
}

/// A block of which the members of an object are inspected.
#[derive(Clone, Copy)]
pub(super) struct View {
    /// The index of its first byte.
    pub(super) at: usize,
    pub(super) masks: Masks,
    /// The colons outside strings.
    pub(super) colons: u64,
    /// The colons and brackets outside strings.
    pub(super) marks: u64,
}

/// The state between blocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Carry {
    /// All ones while inside a string.
    in_string: u64,
    /// 1 if a backslash escapes the next byte.
    escaped: u64,
    /// The address of the last block with a backslash.
    backslash: usize,
}

impl Masks {
    /// Classifies a block. `address` is where it is, or would be without padding.
    #[inline(always)]
    fn new<L: Lanes>(lanes: L, address: usize, carry: &mut Carry) -> Self {
        let backslashes = lanes.eq(b'\\');
        let mut quotes = lanes.eq(b'"');
        if backslashes | carry.escaped != 0 {
            let (escaped, next) = escaped(backslashes, carry.escaped);
            quotes &= !escaped;
            carry.escaped = next;
            carry.backslash = address;
        }
        let inside = lanes.prefix_xor(quotes) ^ carry.in_string;
        carry.in_string = (inside.cast_signed() >> 63).cast_unsigned();
        let folded = lanes.with_bit5();
        let (open, close) = (folded.eq(b'{') & !inside, folded.eq(b'}') & !inside);
        Self { inside, open, close, curly: lanes.bit5() }
    }
}

impl<'b, L: Lanes> Blocks<'b, L> {
    /// Starts outside strings.
    #[inline(always)]
    pub(super) fn new(proof: L::Proof, bytes: &'b [u8], from: usize) -> Self {
        let (whole, rest) = bytes[from..].as_chunks::<BLOCK>();
        let count = whole.len() + usize::from(!rest.is_empty());
        let rest = padded(rest);
        let rest_colons = L::load(proof, &rest).eq(b':');
        let mut carry = Carry::default();
        let lanes = L::load(proof, whole.first().unwrap_or(&rest));
        let masks = Masks::new(lanes, whole.as_ptr().addr(), &mut carry);
        Self { proof, bytes, from, whole, rest, rest_colons, count, number: 0, masks, carry }
    }

    /// The current block, with its colons.
    #[inline(always)]
    pub(super) fn view(&self) -> View {
        let (at, masks) = (self.at(), self.masks);
        let colons = match self.whole.get(self.number) {
            Some(block) => L::load(self.proof, block).eq(b':'),
            None => self.rest_colons,
        };
        let colons = colons & !masks.inside;
        View { at, masks, colons, marks: colons | masks.open | masks.close }
    }

    /// Starts again, outside strings. Returns false if less than a block is visible.
    #[inline(always)]
    pub(super) fn restart(&mut self, from: usize) -> bool {
        let (whole, _) = self.bytes[from..].as_chunks::<BLOCK>();
        let Some(first) = whole.first() else { return false };
        self.carry = Carry::default();
        self.masks = Masks::new(L::load(self.proof, first), first.as_ptr().addr(), &mut self.carry);
        // Without the rest, which would have to be copied each time.
        (self.from, self.number, self.whole, self.count) = (from, 0, whole, whole.len());
        true
    }

    /// The index of the current block's first byte.
    #[inline(always)]
    pub(super) const fn at(&self) -> usize {
        self.from + self.number * BLOCK
    }

    /// The address of the current block.
    #[inline(always)]
    fn address(&self) -> usize {
        self.whole.as_ptr().addr() + self.number * BLOCK
    }

    /// The index after the current block.
    pub(super) fn end(&self) -> usize {
        self.bytes.len().min(self.at() + BLOCK)
    }

    /// Moves to the next block. Returns false at the end of the window.
    #[inline(always)]
    pub(super) fn advance(&mut self) -> bool {
        let next = self.number + 1;
        if next >= self.count {
            return false;
        }
        self.number = next;
        match self.whole.get(next) {
            Some(block) => {
                let address = self.address();
                self.masks = Masks::new(L::load_ahead(self.proof, block), address, &mut self.carry);
            }
            None => self.enter_rest(),
        }
        true
    }

    /// Classifies the bytes after the whole blocks. It is a function of its own: otherwise the
    /// compiler classifies them in advance, at every start.
    #[cold]
    fn enter_rest(&mut self) {
        let address = self.address();
        self.masks = (L::kernels(self.proof).classify)(&self.rest, address, &mut self.carry);
    }

    /// Moves to the block of an index that is outside strings. Returns false beyond the window.
    #[inline(always)]
    pub(super) fn reach(&mut self, index: usize) -> bool {
        while index - self.at() >= BLOCK {
            if !self.advance() {
                return false;
            }
        }
        true
    }

    /// The bits of the block from an index on.
    #[inline(always)]
    pub(super) const fn from(&self, index: usize) -> u64 {
        let bit = index - self.at();
        if bit < BLOCK { u64::MAX << bit } else { 0 }
    }

    /// True if a backslash may be at most `reach` bytes before a byte of the block.
    #[inline(always)]
    pub(super) fn has_backslash_near(&self, reach: usize) -> bool {
        self.address() - self.carry.backslash < reach + BLOCK
    }

    /// The index of the next byte from `index` on that is not white space, if it is visible.
    #[inline(always)]
    pub(super) fn space(&self, index: usize) -> Option<usize> {
        let mut next = index;
        while is_space(*self.bytes.get(next)?) {
            next += 1;
            if next - index == NEAR {
                next = (L::kernels(self.proof).space)(self.bytes, next);
                return (next < self.bytes.len()).then_some(next);
            }
        }
        Some(next)
    }

    /// The index after a valid scalar, if all of it is visible and plain to see.
    #[inline(always)]
    pub(super) fn scalar(&self, start: usize) -> Option<usize> {
        if self.bytes[start] != b'"' {
            return plain_value(self.bytes, start);
        }
        // Most strings end within a block.
        let end = match self.bytes[start + 1..].first_chunk::<BLOCK>() {
            Some(block) => start + 1 + L::load(self.proof, block).special().trailing_zeros() as usize,
            None => start,
        };
        if end > start && self.bytes.get(end) == Some(&b'"') {
            return Some(end + 1);
        }
        (L::kernels(self.proof).string)(self.bytes, start)
    }

    /// Leaves a container, from an index within it. Returns the index after its closing bracket, if
    /// it is visible, the brackets balance, and at most `limit` containers are open on the way.
    #[inline(always)]
    pub(super) fn leave(&mut self, index: usize, object: bool, limit: u64) -> Option<usize> {
        if !self.reach(index) {
            return None;
        }
        let mut open = Open { depth: 1, objects: i64::from(object), limit };
        let keep = self.from(index);
        let Masks { open: opening, close: closing, curly, .. } = self.masks;
        if let Break(bit) = open.pass(opening & keep, closing & keep, curly) {
            return self.after(bit);
        }
        // As a function of its own, the loop over many blocks has its state in registers.
        let first = self.number + 1;
        let whole = self.whole.get(first..).unwrap_or(&[]);
        let mut state = Leave { open, carry: self.carry, masks: self.masks, bit: None };
        let stop = (L::kernels(self.proof).leave)(whole, &mut state);
        self.carry = state.carry;
        let Some(passed) = stop else { return self.leave_in_rest(state.open) };
        self.number = first + passed;
        self.masks = state.masks;
        self.after(state.bit)
    }

    /// Leaves a container in the bytes after the whole blocks.
    #[inline(always)]
    fn leave_in_rest(&mut self, mut open: Open) -> Option<usize> {
        if self.number >= self.whole.len() {
            return None;
        }
        self.number = self.whole.len() - 1;
        if !self.advance() {
            return None;
        }
        match open.pass(self.masks.open, self.masks.close, self.masks.curly) {
            Break(bit) => self.after(bit),
            Continue(()) => None,
        }
    }

    /// The index after the byte of a bit.
    #[inline(always)]
    fn after(&self, bit: Option<u32>) -> Option<usize> {
        Some(self.at() + bit? as usize + 1)
    }
}

/// The bytes of white space that are inspected one by one.
const NEAR: usize = 4;

/// A container that is being left.
#[derive(Clone, Copy, Debug)]
pub struct Leave {
    open: Open,
    carry: Carry,
    /// The masks of the block in which it stopped.
    masks: Masks,
    /// The bit there that ends the container, unless that needs a closer look.
    bit: Option<u32>,
}

/// Classifies a block. `address` is where it would be without padding.
#[inline(always)]
pub(crate) fn classify<L: Lanes>(
    proof: L::Proof,
    block: &[u8; BLOCK],
    address: usize,
    carry: &mut Carry,
) -> Masks {
    Masks::new(L::load(proof, block), address, carry)
}

/// Passes whole blocks. Returns the number of the one in which it stopped.
#[inline(always)]
pub(crate) fn leave<L: Lanes>(proof: L::Proof, blocks: &[[u8; BLOCK]], state: &mut Leave) -> Option<usize> {
    let Leave { mut open, mut carry, .. } = *state;
    let mut left = blocks.iter();
    let stop = loop {
        // In the inner loop, only what every block needs is live.
        let masks = loop {
            let Some(block) = left.next() else { break None };
            let masks = Masks::new(L::load_ahead(proof, block), block.as_ptr().addr(), &mut carry);
            if masks.open | masks.close == 0 {
                continue;
            }
            if !open.count(masks.open, masks.close, masks.curly) {
                break Some(masks);
            }
        };
        let Some(masks) = masks else { break None };
        if let Break(bit) = open.pass(masks.open, masks.close, masks.curly) {
            (state.masks, state.bit) = (masks, bit);
            break Some(blocks.len() - left.len() - 1);
        }
    };
    (state.open, state.carry) = (open, carry);
    stop
}

/// The open containers of which one is to be left.
#[derive(Clone, Copy, Debug)]
struct Open {
    depth: u64,
    /// The number of opened objects minus closed objects.
    objects: i64,
    limit: u64,
}

impl Open {
    /// Counts the brackets of a block, unless one of them may end the outermost container or exceed
    /// the limit.
    #[inline(always)]
    fn count(&mut self, open: u64, close: u64, curly: u64) -> bool {
        let (opens, closes) = (u64::from(open.count_ones()), u64::from(close.count_ones()));
        // One comparison decides both: a difference below zero wraps around.
        let inner = self.depth.wrapping_sub(closes + 1);
        if inner >= self.limit.saturating_sub(2 * BLOCK as u64) {
            return false;
        }
        self.depth = inner + 1 + opens;
        self.objects += balance(open, close, curly);
        true
    }

    /// Passes the brackets of a block. Breaks with the one that ends the outermost container, or
    /// with none if that container does not balance or the limit may be exceeded.
    #[inline(always)]
    fn pass(&mut self, open: u64, close: u64, curly: u64) -> ControlFlow<Option<u32>> {
        let (opens, closes) = (u64::from(open.count_ones()), u64::from(close.count_ones()));
        if self.depth + opens > self.limit {
            return Break(None);
        }
        if let Some(last) = closing(open, close, self.depth) {
            let passed = last | (last - 1);
            self.objects += balance(open & passed, close & passed, curly);
            return Break((self.objects == 0).then_some(last.trailing_zeros()));
        }
        self.depth = self.depth + opens - closes;
        self.objects += balance(open, close, curly);
        Continue(())
    }
}

/// The number of opened objects minus closed objects.
#[inline(always)]
fn balance(open: u64, close: u64, curly: u64) -> i64 {
    i64::from((open & curly).count_ones()) - i64::from((close & curly).count_ones())
}

/// The bracket of a block that ends a container at this depth.
#[inline(always)]
fn closing(open: u64, close: u64, depth: u64) -> Option<u64> {
    let (mut left, mut closed) = (close, 1);
    while left != 0 {
        let one = left & left.wrapping_neg();
        if depth + u64::from((open & (one - 1)).count_ones()) == closed {
            return Some(one);
        }
        closed += 1;
        left ^= one;
    }
    None
}
