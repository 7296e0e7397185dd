//! Reconstructs the open containers from brackets that were only counted.
#![expect(
    clippy::inline_always,
    reason = "the algorithms must become part of the entry points, which are compiled with a backend's features"
)]

use std::convert::Infallible;
use std::ops::ControlFlow;

use crate::stack::Stack;

/// Maximum blocks that are recorded before they are resolved.
const MAX_BLOCKS: usize = 128;

/// The brackets of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Brackets {
    pub(crate) open: u64,
    pub(crate) close: u64,
    /// The bits of braces; meaningless for other bytes.
    pub(crate) curly: u64,
}

impl Brackets {
    #[inline(always)]
    pub(crate) const fn only(self, bits: u64) -> Self {
        Self { open: self.open & bits, close: self.close & bits, curly: self.curly }
    }

    /// Visits the opening brackets that are not closed, from the last one back, with the bit of
    /// each and true for a brace. `closed` counts closing brackets after this block that have no
    /// opening bracket yet.
    #[inline(always)]
    pub(crate) fn each_unclosed<B>(
        self,
        closed: &mut u32,
        mut visit: impl FnMut(u32, bool) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let Self { open, close, curly } = self;
        let opens = open.count_ones();
        if opens <= *closed {
            // All of them are closed later.
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

/// The brackets of passed blocks, each with the absolute offset of its first byte.
#[derive(Clone, Debug, Default)]
pub struct PassedBrackets {
    pub(crate) blocks: Vec<(u64, Brackets)>,
}

/// The open containers at the last resolution, and the brackets passed since.
pub struct Trace<'s> {
    /// The kinds of the open containers.
    pub stack: &'s mut Stack,
    /// Absolute offsets of their opening brackets, outermost first; its length is the depth limit.
    pub opened: &'s mut [u64],
    /// The smallest number of containers that were open at once.
    pub lowest: &'s mut u32,
    /// Opened objects minus closed objects, except those that are open: not zero if a bracket
    /// closes one of another kind.
    pub surplus: &'s mut i64,
    /// The brackets passed since.
    pub passed: &'s mut PassedBrackets,
}

/// The running counts of brackets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) depth: u32,
    /// Opened objects minus closed objects, since counting started.
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
        self.resolve(count.depth);
        *self.surplus += count.objects;
    }

    /// The maximum number of open containers.
    #[inline(always)]
    pub(crate) const fn max_depth(&self) -> u32 {
        self.opened.len() as u32
    }

    /// Records brackets that were counted.
    #[inline(always)]
    pub(crate) fn push(&mut self, at: u64, brackets: Brackets, depth: u32) {
        self.passed.blocks.push((at, brackets));
        if self.passed.blocks.len() >= MAX_BLOCKS {
            self.resolve(depth);
        }
    }

    /// Finds the brackets that opened the containers that are open now, from the last one back.
    #[inline(always)]
    fn resolve(&mut self, depth: u32) {
        let before = self.stack.depth();
        // Open objects now, minus those before. Below `SHALLOW` levels only left and entered
        // containers are counted: counting all of them each time would take quadratic time on deep
        // input.
        let mut objects = -i64::from(self.stack.shallow_objects(before));
        if before > Stack::SHALLOW {
            objects -= i64::from(self.stack.objects(depth.max(Stack::SHALLOW), before));
        }
        // The level to fill next, and the closing brackets without an opening one so far.
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
