//! To the members of one name, at whatever depth, by masks.

use trommel_scan::{Carry, Seeking, Sought, Taken, Trace, is_space};

use super::{Cursor, Expect, Token};
use crate::error::{ErrorKind, Limit, Result, Syntax};
use crate::seek::{Seek, SeekStep};

/// Containers that there is room for at first.
const LEVELS: usize = 64;

/// Where members are taken without a look at each, tokens of so many bytes must be allowed.
const TAKEN: u64 = 4 << 10;

impl Cursor<'_> {
    /// Inside of a container: goes to the next member of the name that is looked for, in it or in
    /// any container below; or leaves containers until only `floor` are open. A value that was not
    /// looked at is gone through.
    ///
    /// What is passed is not checked but for the ends of strings, and its brackets: where a
    /// container is left, as many of each kind must have been closed as were opened. A stricter
    /// cursor must go by tokens. Costs masks.
    pub fn seek_name(&mut self, seek: &mut Seek, floor: u32) -> Result<SeekStep> {
        match self.expect {
            Expect::First | Expect::Next | Expect::Value
                if self.stack.depth() > floor || seek.pending.is_some() => {}
            _ => return self.failure(),
        }
        self.token = Token::None;
        if seek.opened.len() < LEVELS {
            seek.opened.resize(LEVELS, 0);
        }
        loop {
            let sought = self.pass_to_name(seek, floor)?;
            if !seek.hits.kept.is_empty() {
                return Ok(SeekStep::Kept);
            }
            match sought {
                Sought::Found { open, close, colon, escaped } => {
                    self.is_in_object(seek, colon)?;
                    (self.start, self.at) = (open, open);
                    self.expect = Expect::Value;
                    if escaped || (close - open) as u64 > self.limits.token_bytes {
                        self.read_name()?;
                        return Ok(SeekStep::Member);
                    }
                    (self.end, self.at) = (close + 1, colon + 1);
                    self.token = Token::Name { escaped: false };
                    return Ok(SeekStep::Member);
                }
                Sought::Left(index) if seek.surplus != 0 => {
                    return self.fail(Syntax::MismatchedBracket, index);
                }
                Sought::Left(index) => {
                    self.pass_end(index);
                    return Ok(SeekStep::Left);
                }
                // Where others would begin, all before has to be right.
                Sought::Between(index) if seek.surplus != 0 => self.pass_end(index),
                Sought::Between(index) => {
                    self.pass_end(index);
                    return Ok(SeekStep::Between);
                }
                Sought::Ebbed(index) => {
                    self.pass_end(index);
                    if seek.hits.waiting {
                        return Ok(SeekStep::Kept);
                    }
                }
                Sought::Edge { open, close } => {
                    if self.is_name_at_edge(open, close)? {
                        self.is_in_object(seek, self.at)?;
                        self.at = self.start;
                        self.expect = Expect::Value;
                        self.read_name()?;
                        return Ok(SeekStep::Member);
                    }
                }
                Sought::TooDeep(index) => {
                    let most = self.limits.depth as usize;
                    if seek.opened.len() >= most {
                        let limit = Limit::Depth(u64::from(self.limits.depth));
                        return self.refuse(ErrorKind::Limit(limit), index);
                    }
                    seek.opened.resize(most.min(2 * seek.opened.len()), 0);
                    self.at = index;
                }
                Sought::More => return self.ended(),
            }
        }
    }

    /// Past the bracket that ends a value.
    fn pass_end(&mut self, index: usize) {
        self.at = index + 1;
        (self.start, self.end) = (self.at, self.at);
        self.after_value();
    }

    /// From a place outside of strings to where masks alone do not tell how to go on, or to where
    /// members are to be read that were kept; from there to the same place.
    fn pass_to_name(&mut self, seek: &mut Seek, floor: u32) -> Result<Sought> {
        let reach = seek.needle.reach();
        seek.hits.kept.clear();
        let (mut sought, mut carry) = match seek.pending.take() {
            Some(pending) => pending,
            None => self.run_to_name(seek, floor, Carry::default()),
        };
        loop {
            if !seek.hits.kept.is_empty() {
                seek.pending = Some((sought, carry));
                return Ok(sought);
            }
            if sought != Sought::More {
                return Ok(sought);
            }
            self.at = self.source.window().len();
            // The string that ends next may be the name.
            self.start = self.at.saturating_sub(reach);
            if !self.more()? {
                let open =
                    if carry.in_string == 0 { Syntax::UnexpectedEnd } else { Syntax::UnterminatedString };
                return self.fail(open, self.at);
            }
            (sought, carry) = self.run_to_name(seek, floor, carry);
        }
    }

    /// The same within the window.
    fn run_to_name(&mut self, seek: &mut Seek, floor: u32, carry: Carry) -> (Sought, Carry) {
        seek.look(self.offset(), &self.stack, floor);
        let (window, base) = (self.source.window(), self.source.base());
        let turn = seek.turn.max(floor);
        let most = seek.opened.len().min(self.limits.depth as usize);
        let may_take = self.limits.token_bytes >= TAKEN.max(seek.needle.reach() as u64);
        let taken = if may_take { seek.taken } else { Taken::Alone };
        seek.hits.taken = taken;
        let mut state = Seeking {
            needle: &seek.needle,
            trace: Trace {
                stack: &mut self.stack,
                opened: &mut seek.opened[..most],
                lowest: &mut seek.lowest,
                surplus: &mut seek.surplus,
                passed: &mut seek.passed,
            },
            floor,
            turn,
            // A bracket before it ends at it.
            until: seek.until.saturating_sub(base + 1) as usize,
            ebb: seek.ebb,
            base,
            carry,
            hits: &mut seek.hits,
        };
        let sought = (self.kernels.seek)(window, self.at, &mut state);
        let (carry, ended) = (state.carry, state.turn < turn);
        if ended {
            // The array in which to stop has ended.
            seek.turn = 0;
        }
        (sought, carry)
    }

    /// A member, the colon behind whose name stands here, is in an object.
    fn is_in_object(&mut self, seek: &Seek, colon: usize) -> Result<()> {
        if self.stack.in_object() {
            return Ok(());
        }
        let wrong = if seek.surplus == 0 { Syntax::ExpectedCommaOrEnd } else { Syntax::MismatchedBracket };
        self.fail(wrong, colon)
    }

    /// Whether a string that says the name, and ends where the window did, is a member's name. If
    /// so, the cursor stands at the colon behind it.
    #[cold]
    fn is_name_at_edge(&mut self, open: usize, close: usize) -> Result<bool> {
        self.start = open;
        self.at = close + 1;
        loop {
            match self.source.window().get(self.at).copied() {
                Some(byte) if is_space(byte) => self.space(),
                Some(b':') => break,
                Some(_) => return Ok(false),
                None if self.more()? => {}
                None => return self.fail(Syntax::UnexpectedEnd, self.at),
            }
        }
        Ok(true)
    }
}
