//! Skipping: past values and out of containers, by masks where validation allows it.

use super::{Cursor, Expect};
use crate::config::Validation;
use crate::error::{ErrorKind, Limit, Result, Syntax};
use crate::scan::{Skip, Skipped};
use crate::span::Span;

impl Cursor<'_> {
    /// Passes over the value that comes next and returns its place. Costs masks under structural validation, tokens
    /// under strict.
    pub fn skip_value(&mut self) -> Result<Span> {
        if self.expect == Expect::Start {
            self.start_input()?;
        }
        if self.expect != Expect::Value {
            return self.failure();
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
                self.skip_brackets(Skip::new(0, 0, u64::from(free)))?;
                self.after_value();
            }
        }
        Ok(Span::new(start, self.offset()))
    }

    /// Leaves the innermost open container: goes past its closing bracket. Outside of all containers, nothing happens.
    pub fn leave(&mut self) -> Result<()> {
        if self.expect == Expect::Failed {
            return self.failure();
        }
        let Some(outside) = self.stack.depth().checked_sub(1) else { return Ok(()) };
        match self.validation {
            Validation::Strict => self.leave_to(outside),
            Validation::Structural => {
                let free = self.limits.depth - outside;
                self.skip_brackets(Skip::new(1, i64::from(self.stack.in_object()), u64::from(free)))?;
                self.stack.set_depth(outside);
                self.after_value();
                Ok(())
            }
        }
    }

    fn leave_to(&mut self, depth: u32) -> Result<()> {
        while self.stack.depth() > depth {
            self.advance()?;
        }
        Ok(())
    }

    /// From a place outside of strings to behind the bracket that brings the depth to zero.
    fn skip_brackets(&mut self, mut state: Skip) -> Result<()> {
        let started = self.offset();
        let opened = (state.depth > 0).then(|| self.stack.in_object());
        let limit = u64::from(self.limits.depth);
        loop {
            let window = self.source.window();
            match (self.kernels.skip)(window, self.at, &mut state) {
                Skipped::Done(end) => {
                    self.at = end;
                    break;
                }
                Skipped::TooDeep(index) => return self.refuse(ErrorKind::Limit(Limit::Depth(limit)), index),
                Skipped::More => {
                    self.at = window.len();
                    self.start = self.at;
                    if !self.more()? {
                        let open = if state.in_string() { Syntax::UnterminatedString } else { Syntax::UnexpectedEnd };
                        return self.fail(open, self.at);
                    }
                }
            }
        }
        if state.objects != 0 {
            let wrong = self.mismatch(started, opened).unwrap_or(self.at - 1);
            return self.fail(Syntax::MismatchedBracket, wrong);
        }
        self.end = self.at;
        self.start = self.at;
        Ok(())
    }

    /// Index of the first bracket between offset `from` and here that closes what is not open, if the bytes are there.
    fn mismatch(&self, from: u64, opened: Option<bool>) -> Option<usize> {
        let bytes = self.bytes(Span::new(from, self.offset()))?;
        let mut open: Vec<bool> = opened.into_iter().collect();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => at = string_end(bytes, at + 1)?,
                b'{' | b'[' => open.push(byte == b'{'),
                b'}' | b']' if open.pop() != Some(byte == b'}') => {
                    return Some((from - self.source.base()) as usize + at);
                }
                _ => {}
            }
            at += 1;
        }
        None
    }
}

/// Index of the quote that ends a string.
fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}
