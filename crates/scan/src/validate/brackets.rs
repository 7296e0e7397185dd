//! Passes the brackets of a block one by one.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use super::Validator;
use super::single::Masks;
use crate::stack::Stack;

/// The result of passing the brackets of a block.
#[derive(Clone, Copy)]
pub(super) struct Brackets {
    /// The bytes whose innermost open container is an object.
    pub(super) in_object: u64,
    /// True if the innermost container after the block is an object.
    pub(super) ends_within: bool,
    /// The valid range: up to the bracket that ends the container, or the whole block.
    pub(super) until: u64,
    pub(super) has_left: bool,
    /// True if a bracket does not match or exceeds the depth limit.
    pub(super) is_invalid: bool,
    /// The brackets that changed the stack.
    applied: u64,
}

impl Brackets {
    /// Passes the brackets. `within` is true if the innermost container at the start is an object.
    #[inline(always)]
    pub(super) fn pass(masks: &Masks, within: bool, state: &mut Validator<'_>) -> Self {
        let all = masks.open | masks.close;
        let in_object = if within { u64::MAX } else { 0 };
        let mut passed = Self {
            in_object,
            ends_within: within,
            until: u64::MAX,
            has_left: false,
            is_invalid: false,
            applied: all,
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
                passed.is_invalid = true;
                passed.applied &= one - 1;
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
                passed.applied &= passed.until;
                return passed;
            }
            let after = u64::MAX << bit << 1;
            passed.in_object &= !after;
            if passed.ends_within {
                passed.in_object |= after;
            }
            left &= left - 1;
        }
        passed
    }

    /// Restores the stack from before the block.
    #[cold]
    pub(super) fn undo(self, open: u64, curly: u64, stack: &mut Stack) {
        let mut left = self.applied;
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
