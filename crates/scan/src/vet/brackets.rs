//! The brackets of a block, one after the other.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::{Masks, Vetting};
use crate::stack::Stack;

/// What the brackets say of a block.
#[derive(Clone, Copy)]
pub(super) struct Brackets {
    /// The places whose innermost open container is an object.
    pub(super) in_object: u64,
    /// Whether it is one behind the block.
    pub(super) ends_within: bool,
    /// The places that are looked at: up to the bracket that ends the container, or all.
    pub(super) until: u64,
    pub(super) has_left: bool,
    /// Whether one does not fit, or opens one container too many.
    pub(super) is_wrong: bool,
    /// Those that were taken to the stack.
    taken: u64,
}

impl Brackets {
    /// Goes through them; `within` tells whether the innermost container is an object at the
    /// beginning.
    #[inline(always)]
    pub(super) fn pass(masks: &Masks, within: bool, state: &mut Vetting<'_>) -> Self {
        let all = masks.open | masks.close;
        let in_object = if within { u64::MAX } else { 0 };
        let mut passed = Self {
            in_object,
            ends_within: within,
            until: u64::MAX,
            has_left: false,
            is_wrong: false,
            taken: all,
        };
        let mut left = all;
        while left != 0 {
            let bit = left.trailing_zeros();
            let one = 1 << bit;
            let object = masks.curly & one != 0;
            let fits = if masks.open & one != 0 {
                state.stack.depth() < state.limit
            } else {
                passed.ends_within == object
            };
            if !fits {
                passed.is_wrong = true;
                passed.taken &= one - 1;
                return passed;
            }
            if masks.open & one != 0 {
                state.stack.push(object);
                passed.ends_within = object;
            } else {
                state.stack.pop();
                passed.ends_within = state.stack.in_object();
            }
            if state.stack.depth() == state.floor {
                passed.has_left = true;
                passed.until = u64::MAX >> (63 - bit);
                passed.taken &= passed.until;
                return passed;
            }
            let behind = u64::MAX << bit << 1;
            passed.in_object &= !behind;
            if passed.ends_within {
                passed.in_object |= behind;
            }
            left &= left - 1;
        }
        passed
    }

    /// Brings the stack to what it was before.
    #[cold]
    pub(super) fn undo(self, open: u64, curly: u64, stack: &mut Stack) {
        let mut left = self.taken;
        while left != 0 {
            let bit = left.ilog2();
            if open >> bit & 1 == 1 {
                stack.pop();
            } else {
                stack.push(curly >> bit & 1 == 1);
            }
            left &= !(1 << bit);
        }
    }
}
