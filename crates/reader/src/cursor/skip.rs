//! Skipping: past values and out of containers, by masks where validation allows it.
//!
//! Under structural validation a skip counts brackets outside of strings, all of them together to
//! find the end, and objects apart from arrays to know at the end that both balance. It remembers
//! nothing of what it passed, so that it finds the same on a slice and on a stream.

use trommel_scan::{Kernels, Skip, Skipped, Tallying};

use super::{Cursor, Expect, Token};
use crate::config::Validation;
use crate::error::{ErrorKind, Limit, Result, Syntax};
use crate::span::Span;
use crate::tally::Tally;

impl Cursor<'_> {
    /// Passes over the value that comes next and returns its place. Costs a few masks a block of 64
    /// bytes under structural validation, many under strict.
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
        match self.validation {
            Validation::Strict => {
                let outside = self.stack.depth();
                self.begin_value()?;
                self.leave_to(outside)?;
            }
            Validation::Structural => {
                let free = self.limits.depth - self.stack.depth();
                self.pass(&mut Skip::new(0, 0, u64::from(free)))?;
                self.after_value();
            }
        }
        Ok(Span::new(start, self.offset()))
    }

    /// Leaves the innermost open container: goes past its closing bracket. Outside of all
    /// containers, nothing happens.
    pub fn leave(&mut self) -> Result<()> {
        if self.expect == Expect::Failed {
            return self.failure();
        }
        let Some(outside) = self.stack.depth().checked_sub(1) else { return Ok(()) };
        match self.validation {
            Validation::Strict => self.leave_to(outside),
            Validation::Structural => {
                let free = self.limits.depth - outside;
                self.pass(&mut Skip::new(1, i64::from(self.stack.in_object()), u64::from(free)))?;
                self.stack.set_depth(outside);
                self.after_value();
                Ok(())
            }
        }
    }

    /// Passes over the value that comes next and tells what it is made of. Under structural
    /// validation this costs masks, and of what is not JSON it tells something else; under strict
    /// it costs tokens.
    pub fn tally_value(&mut self) -> Result<Tally> {
        self.expect_value()?;
        let Some(byte) = self.next_byte()? else { return self.ended() };
        let mut tally = Tally::default();
        if !matches!(byte, b'{' | b'[') || self.validation == Validation::Strict {
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
        let free = self.limits.depth - self.stack.depth();
        let mut state = Tallying::new(Skip::new(0, 0, u64::from(free)));
        self.pass(&mut state)?;
        self.after_value();
        Ok(Tally::of(&state))
    }

    /// From a place outside of strings to behind the bracket that brings the depth to zero.
    fn pass(&mut self, state: &mut impl Passing) -> Result<()> {
        self.token = Token::None;
        loop {
            let window = self.source.window();
            match state.pass(self.kernels, window, self.at) {
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
                    self.start = self.at;
                    if !self.more()? {
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
        Ok(())
    }
}

/// A way to pass over what stands in brackets.
trait Passing {
    fn pass(&mut self, kernels: &Kernels, window: &[u8], at: usize) -> Skipped;

    /// What was counted of the brackets so far.
    fn brackets(&self) -> &Skip;
}

impl Passing for Skip {
    fn pass(&mut self, kernels: &Kernels, window: &[u8], at: usize) -> Skipped {
        (kernels.skip)(window, at, self)
    }

    fn brackets(&self) -> &Skip {
        self
    }
}

impl Passing for Tallying {
    fn pass(&mut self, kernels: &Kernels, window: &[u8], at: usize) -> Skipped {
        (kernels.tally)(window, at, self)
    }

    fn brackets(&self) -> &Skip {
        &self.skip
    }
}
