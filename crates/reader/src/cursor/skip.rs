//! Skips values and leaves containers, by masks if validation allows it.
//!
//! Under structural validation a skip counts brackets outside strings: all of them together to find
//! the end, and objects separately to check at the end that both kinds balance. It keeps no other
//! state, so the result is the same on a slice and on a stream.

use trommel_scan::{Kernels, Skip, Skipped, Tallier};

use super::shared::BracketState;
use super::{Cursor, Expect, Token};
use crate::error::{ErrorKind, Limit, Result, Syntax};
use crate::event::Kind;
use crate::span::Span;
use crate::tally::Tally;

impl Cursor<'_> {
    /// Skips the next value and returns its span. Costs a few masks per block of 64 bytes under
    /// structural validation, many under strict.
    pub fn skip_value(&mut self) -> Result<Span> {
        self.expect_value()?;
        if self.quick_scalar().is_some() {
            return Ok(Span::new(self.absolute(self.start), self.absolute(self.end)));
        }
        let Some(byte) = self.next_byte()? else { return self.ended() };
        let start = self.offset();
        if !matches!(byte, b'{' | b'[') {
            self.begin_value()?;
            return Ok(self.span());
        }
        let outside = self.stack.depth();
        if self.skips_by_masks() {
            let remaining = self.limits.depth - outside;
            let kind = if byte == b'{' { Kind::Object } else { Kind::Array };
            self.leave_brackets(&mut Skip::new(0, 0, u64::from(remaining)), (outside + 1, kind))?;
            self.after_value();
        } else {
            self.begin_value()?;
            self.leave_to(outside)?;
        }
        Ok(Span::new(start, self.offset()))
    }

    /// Skips the next value if it is a container that ends at or before offset `end`, and returns
    /// true. Otherwise stays before the value, whose name stays available, and returns false.
    ///
    /// The skip is structural, also under strict validation. It reads no byte after `end`. On a
    /// stream, it holds the bytes up to there.
    pub fn skip_container_before(&mut self, end: u64) -> Result<bool> {
        self.expect_value()?;
        let before = self.hold();
        let skipped = self.skip_if_before(end);
        if matches!(skipped, Ok(false)) {
            self.rewind(&before);
        }
        self.release();
        skipped
    }

    fn skip_if_before(&mut self, end: u64) -> Result<bool> {
        if !matches!(self.next_byte()?, Some(b'{' | b'[')) {
            return Ok(false);
        }
        let remaining = self.limits.depth - self.stack.depth();
        let skipped = self.skip_brackets(&mut Skip::new(0, 0, u64::from(remaining)), end, None)?;
        if skipped {
            self.after_value();
        }
        Ok(skipped)
    }

    /// Leaves the innermost open container: moves past its closing bracket. Does nothing outside
    /// all containers.
    pub fn leave(&mut self) -> Result<()> {
        if self.expect == Expect::Failed {
            return self.failure();
        }
        let Some(outside) = self.stack.depth().checked_sub(1) else { return Ok(()) };
        if !self.skips_by_masks() {
            return self.leave_to(outside);
        }
        let remaining = self.limits.depth - outside;
        let in_object = self.stack.in_object();
        // The container's own opening bracket was passed before: it counts as open.
        let mut state = Skip::new(1, i64::from(in_object), u64::from(remaining));
        let kind = if in_object { Kind::Object } else { Kind::Array };
        self.leave_brackets(&mut state, (outside + 1, kind))?;
        self.stack.set_depth(outside);
        self.after_value();
        Ok(())
    }

    /// Moves past the end of a container of this depth and kind.
    fn leave_brackets(&mut self, state: &mut Skip, container: (u32, Kind)) -> Result<()> {
        self.skip_brackets(state, u64::MAX, Some(container)).map(|_| ())
    }

    /// Skips the next value and counts the values in it by type. Under structural validation this
    /// costs masks, and the counts of malformed JSON are undefined; under strict validation it
    /// costs tokens.
    pub fn tally_value(&mut self) -> Result<Tally> {
        self.expect_value()?;
        let Some(byte) = self.next_byte()? else { return self.ended() };
        let mut tally = Tally::default();
        if !matches!(byte, b'{' | b'[') || !self.skips_by_masks() {
            let outside = self.stack.depth();
            tally.observe(self.begin_value()?, 0);
            while self.stack.depth() > outside {
                let above = self.stack.depth() - outside;
                if let Some(event) = self.advance()? {
                    tally.observe(event, above);
                }
            }
            return Ok(tally);
        }
        let remaining = self.limits.depth - self.stack.depth();
        let mut state = Tallier::new(Skip::new(0, 0, u64::from(remaining)));
        self.skip_brackets(&mut state, u64::MAX, None)?;
        self.after_value();
        Ok(Tally::of(&state))
    }

    /// Moves from a position outside strings past the bracket that brings the depth to zero.
    /// Returns false if no such bracket is before offset `end`; the cursor must then rewind.
    /// `container` is the one to be left, if a guide may pass the rest of it.
    fn skip_brackets(
        &mut self,
        state: &mut impl BracketKernel,
        end: u64,
        container: Option<(u32, Kind)>,
    ) -> Result<bool> {
        self.token = Token::None;
        let began = self.offset();
        // A skip that may have to be undone is short.
        let mut may_share = end == u64::MAX;
        loop {
            let window = self.source.window();
            let before_end = usize::try_from(end.saturating_sub(self.source.base())).unwrap_or(usize::MAX);
            let window = &window[..window.len().min(before_end)];
            if self.at >= before_end {
                return Ok(false);
            }
            match state.run(self.kernels, window, self.at) {
                Skipped::Done(end) => {
                    self.at = end;
                    break;
                }
                Skipped::TooDeep(index) => {
                    let limit = Limit::Depth(u64::from(self.limits.depth));
                    return self.refuse(ErrorKind::Limit(limit), index);
                }
                Skipped::More => {
                    self.at = window.len();
                    // Skipped bytes are not needed again: a stream may drop all that are not held.
                    self.start = self.at;
                    if let Some((depth, kind)) = container
                        && self.pass_container(depth, Some(kind))?
                    {
                        (self.start, self.end) = (self.at, self.at);
                        return Ok(true);
                    }
                    if may_share {
                        may_share = !self.share(state, began)?;
                    }
                    if self.at < before_end && !self.more()? {
                        let open = if state.brackets().in_string() {
                            Syntax::UnterminatedString
                        } else {
                            Syntax::UnexpectedEnd
                        };
                        return self.fail(open, self.at);
                    }
                }
            }
        }
        if state.brackets().objects != 0 {
            return self.fail(Syntax::MismatchedBracket, self.at - 1);
        }
        self.end = self.at;
        self.start = self.at;
        Ok(true)
    }
}

impl Cursor<'_> {
    /// Lets other threads help to skip a value that began at an offset, if it is long. Returns true
    /// if they were asked.
    #[cold]
    #[inline(never)]
    pub(super) fn share(&mut self, state: &mut impl BracketKernel, began: u64) -> Result<bool> {
        let mut shared = state.get();
        let asked = self.skip_with_help(self.offset() - began, &mut shared)?;
        state.set(&shared);
        Ok(asked)
    }
}

/// A kernel that skips brackets, with its state.
pub(super) trait BracketKernel {
    fn run(&mut self, kernels: &Kernels, window: &[u8], at: usize) -> Skipped;

    /// The brackets that were counted so far.
    fn brackets(&self) -> &Skip;

    /// The state, for other threads.
    fn get(&self) -> BracketState;

    /// Continues from a state of the same kernel.
    fn set(&mut self, state: &BracketState);
}

impl BracketKernel for Skip {
    fn run(&mut self, kernels: &Kernels, window: &[u8], at: usize) -> Skipped {
        (kernels.skip)(window, at, self)
    }

    fn brackets(&self) -> &Skip {
        self
    }

    fn get(&self) -> BracketState {
        BracketState::Brackets(*self)
    }

    fn set(&mut self, state: &BracketState) {
        let BracketState::Brackets(skip) = state else { unreachable!("a skip stays a skip") };
        *self = *skip;
    }
}

impl BracketKernel for Tallier {
    fn run(&mut self, kernels: &Kernels, window: &[u8], at: usize) -> Skipped {
        (kernels.tally)(window, at, self)
    }

    fn brackets(&self) -> &Skip {
        &self.skip
    }

    fn get(&self) -> BracketState {
        BracketState::Tally(*self)
    }

    fn set(&mut self, state: &BracketState) {
        let BracketState::Tally(tallier) = state else { unreachable!("a tally stays a tally") };
        *self = *tallier;
    }
}
