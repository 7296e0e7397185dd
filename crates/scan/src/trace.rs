//! What is open, found out from brackets that were only counted.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::stack::Stack;

/// Blocks whose brackets are written down at most.
const MOST: usize = 128;

/// The brackets of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Brackets {
    pub(crate) open: u64,
    pub(crate) close: u64,
    /// Which are braces, if they are brackets.
    pub(crate) curly: u64,
}

impl Brackets {
    #[inline(always)]
    pub(crate) const fn only(self, bits: u64) -> Self {
        Self { open: self.open & bits, close: self.close & bits, curly: self.curly }
    }

    /// Visits the brackets that open a container and are not closed, from the last one back: the
    /// bit of each, and true for a brace. `closed` counts the closing brackets after these that
    /// have no opening one yet.
    #[inline(always)]
    pub(crate) fn each_unclosed<B>(
        self,
        closed: &mut u32,
        mut visit: impl FnMut(u32, bool) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let Self { open, close, curly } = self;
        let opens = open.count_ones();
        if opens <= *closed {
            // Each of them is closed later.
            *closed = *closed - opens + close.count_ones();
            return ControlFlow::Continue(());
        }
        let mut left = open | close;
        while left != 0 {
            let bit = left.ilog2();
            left ^= 1 << bit;
            if open >> bit & 1 == 0 {
                *closed += 1;
            } else if *closed > 0 {
                *closed -= 1;
            } else {
                visit(bit, curly >> bit & 1 == 1)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// The brackets of some blocks, each with the absolute offset of its first byte.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    pub(crate) blocks: Vec<(u64, Brackets)>,
}

/// The open containers, as they were, and the brackets that were passed since.
pub struct Trace<'s> {
    /// The kinds of the open containers.
    pub stack: &'s mut Stack,
    /// Absolute offsets where they begin, outermost first; as many as may be open.
    pub opened: &'s mut [u64],
    /// The fewest containers that were open at once.
    pub lowest: &'s mut u32,
    /// Objects opened less objects closed, those that are open aside: anything but 0 where a
    /// bracket closes one of another kind.
    pub surplus: &'s mut i64,
    /// What was passed.
    pub passed: &'s mut Passed,
}

/// What is counted of brackets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) depth: u32,
    /// Objects opened less objects closed, since counting began.
    objects: i64,
}

impl Count {
    #[inline(always)]
    pub(crate) fn pass(&mut self, Brackets { open, close, curly }: Brackets) {
        self.depth = self.depth + open.count_ones() - close.count_ones();
        self.objects += i64::from((open & curly).count_ones()) - i64::from((close & curly).count_ones());
    }
}

impl Trace<'_> {
    #[inline(always)]
    pub(crate) fn begin(&self) -> Count {
        Count { depth: self.stack.depth(), objects: 0 }
    }

    #[inline(always)]
    pub(crate) fn end(&mut self, count: Count) {
        self.settle(count.depth);
        *self.surplus += count.objects;
    }

    /// How many containers may be open.
    #[inline(always)]
    pub(crate) const fn room(&self) -> u32 {
        self.opened.len() as u32
    }

    /// Writes brackets down that were counted.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: u64, brackets: Brackets, depth: u32) {
        self.passed.blocks.push((at, brackets));
        if self.passed.blocks.len() >= MOST {
            self.settle(depth);
        }
    }

    /// Finds the brackets that opened what is open now, from the last one back.
    #[inline(always)]
    fn settle(&mut self, depth: u32) {
        let before = self.stack.depth();
        // Objects that are open, less those that were before. Deep down they are not all counted,
        // but those that were left and those that are entered anew: deep input must not take time
        // in the square.
        let mut objects = -i64::from(self.stack.shallow_objects(before));
        if before > Stack::SHALLOW {
            objects -= i64::from(self.stack.objects(depth.max(Stack::SHALLOW), before));
        }
        // What all brackets together have opened deepest, and closed of what comes before.
        let (mut level, mut closed) = (depth, 0);
        for &(at, brackets) in self.passed.blocks.iter().rev() {
            let visited = brackets.each_unclosed(&mut closed, |bit, object| {
                if level > Stack::SHALLOW {
                    objects += i64::from(object) - i64::from(self.stack.object_at(level) == Some(true));
                }
                self.stack.put(level, object);
                level -= 1;
                self.opened[level as usize] = at + u64::from(bit);
                ControlFlow::<Infallible>::Continue(())
            });
            let ControlFlow::Continue(()) = visited;
        }
        self.passed.blocks.clear();
        self.stack.set_depth(depth);
        *self.surplus -= objects + i64::from(self.stack.shallow_objects(depth));
        *self.lowest = level.min(*self.lowest);
    }
}
