//! Finds the members with a given name at any depth, by masks.

use trommel_scan::{Carry, DescendantSearch, PlainMembers, SearchStop, Trace, is_space};

use super::{Cursor, Expect, MIN_TOKEN_LIMIT, Token};
use crate::error::{ErrorKind, Limit, Result, Syntax};
use crate::seek::{Seek, SeekStep};

/// The number of nesting levels for which a search initially reserves space.
const LEVELS: usize = 64;

impl Cursor<'_> {
    /// Finds the next member with the searched name, in the innermost open container or anywhere
    /// below it. If the cursor is before a value, searches that value too. If there is no further
    /// member, leaves containers until only `floor` are open. Must be called in a container, with
    /// more than `floor` containers open.
    ///
    /// Validates only structurally, even under strict validation: it checks that strings end, and,
    /// when it leaves a container, that each kind of bracket was closed as often as opened. A
    /// caller that needs stricter checks must read the tokens instead. Costs a few masks per block
    /// of 64 bytes.
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
            let stop = self.pass_to_name(seek, floor)?;
            if !seek.hits.collected.is_empty() {
                return Ok(SeekStep::Collected);
            }
            match stop {
                SearchStop::Found { open, close, colon, escaped } => {
                    self.check_in_object(seek, colon)?;
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
                SearchStop::Left(index) if seek.surplus != 0 => {
                    return self.fail(Syntax::MismatchedBracket, index);
                }
                SearchStop::Left(index) => {
                    self.pass_end(index);
                    return Ok(SeekStep::Left);
                }
                // Other cursors may start at a pause, so the brackets before it must match. If they
                // do not, the search continues and fails when it leaves the container.
                SearchStop::Between(index) if seek.surplus != 0 => self.pass_end(index),
                SearchStop::Between(index) => {
                    self.pass_end(index);
                    return Ok(SeekStep::Between);
                }
                SearchStop::Flush(index) => {
                    self.pass_end(index);
                    if seek.hits.waiting {
                        return Ok(SeekStep::Collected);
                    }
                }
                SearchStop::Edge { open, close } => {
                    if self.is_name_at_edge(open, close)? {
                        self.check_in_object(seek, self.at)?;
                        self.at = self.start;
                        self.expect = Expect::Value;
                        self.read_name()?;
                        return Ok(SeekStep::Member);
                    }
                }
                SearchStop::TooDeep(index) => {
                    // The kernel's limit is the length of `opened`, which grows on demand.
                    let max_depth = self.limits.depth as usize;
                    if seek.opened.len() >= max_depth {
                        let limit = Limit::Depth(u64::from(self.limits.depth));
                        return self.refuse(ErrorKind::Limit(limit), index);
                    }
                    seek.opened.resize(max_depth.min(2 * seek.opened.len()), 0);
                    self.at = index;
                }
                SearchStop::More => return self.ended(),
            }
        }
    }

    /// Moves past the closing bracket at an index.
    fn pass_end(&mut self, index: usize) {
        self.at = index + 1;
        (self.start, self.end) = (self.at, self.at);
        self.after_value();
    }

    /// Searches until the kernel stops, and refills the window on the way. The cursor must be
    /// outside strings. Returns the reason for the stop.
    ///
    /// If members were collected before the stop, the caller must report them first. The reason is
    /// then also stored in `seek.pending`, and the next call returns it again.
    fn pass_to_name(&mut self, seek: &mut Seek, floor: u32) -> Result<SearchStop> {
        let max_len = seek.needle.max_len();
        seek.hits.collected.clear();
        let (mut stop, mut carry) = match seek.pending.take() {
            Some(pending) => pending,
            None => self.run_to_name(seek, floor, Carry::default()),
        };
        loop {
            if !seek.hits.collected.is_empty() {
                seek.pending = Some((stop, carry));
                return Ok(stop);
            }
            if stop != SearchStop::More {
                return Ok(stop);
            }
            self.at = self.source.window().len();
            // The window may end inside a string that is the name. The bytes at which that string
            // can start are kept.
            self.start = self.at.saturating_sub(max_len);
            if self.may_pass() && self.pass_search(seek, floor)? {
                (stop, carry) = self.run_to_name(seek, floor, Carry::default());
                continue;
            }
            if !self.more()? {
                let syntax =
                    if carry.in_string == 0 { Syntax::UnexpectedEnd } else { Syntax::UnterminatedString };
                return self.fail(syntax, self.at);
            }
            (stop, carry) = self.run_to_name(seek, floor, carry);
        }
    }

    /// Passes bytes in which the name does not occur.
    #[cold]
    fn pass_search(&mut self, seek: &mut Seek, floor: u32) -> Result<bool> {
        if seek.surplus != 0 || seek.pause_depth > 0 {
            return Ok(false);
        }
        // Where members wait, the search must see the ends of the containers around its flush
        // depth.
        let floor = if seek.hits.waiting { floor.max(seek.flush_depth) } else { floor };
        if !self.pass_to_names(floor + 1, &[seek.needle.name()])? {
            return Ok(false);
        }
        seek.lowest = seek.lowest.min(self.stack.depth());
        Ok(true)
    }

    /// Runs the kernel until it stops or the window ends. Returns the reason, and the state with
    /// which to continue after the window is refilled.
    fn run_to_name(&mut self, seek: &mut Seek, floor: u32, carry: Carry) -> (SearchStop, Carry) {
        seek.check_long_array(self.offset(), &self.stack, floor);
        let (window, base) = (self.source.window(), self.source.base());
        let pause_depth = seek.pause_depth.max(floor);
        let max_depth = seek.opened.len().min(self.limits.depth as usize);
        let may_handle = self.limits.token_bytes >= MIN_TOKEN_LIMIT.max(seek.needle.max_len() as u64);
        let plain = if may_handle { seek.plain } else { PlainMembers::Stop };
        seek.hits.plain = plain;
        let mut state = DescendantSearch {
            needle: &seek.needle,
            trace: Trace {
                stack: &mut self.stack,
                opened: &mut seek.opened[..max_depth],
                lowest: &mut seek.lowest,
                surplus: &mut seek.surplus,
                passed: &mut seek.passed,
            },
            floor,
            pause_depth,
            // The kernel compares the index of a bracket, and the search pauses right after it.
            pause_from: seek.pause_from.saturating_sub(base + 1) as usize,
            flush_depth: seek.flush_depth,
            base,
            carry,
            hits: &mut seek.hits,
        };
        let stop = (self.kernels.seek)(window, self.at, &mut state);
        let (carry, has_array_ended) = (state.carry, state.pause_depth < pause_depth);
        if has_array_ended {
            // The search has left the array in which it was to pause.
            seek.pause_depth = 0;
        }
        (stop, carry)
    }

    /// Returns an error if the innermost open container is an array. `colon` is the index of the
    /// colon after the name that was found.
    fn check_in_object(&mut self, seek: &Seek, colon: usize) -> Result<()> {
        if self.stack.in_object() {
            return Ok(());
        }
        let syntax = if seek.surplus == 0 { Syntax::ExpectedCommaOrEnd } else { Syntax::MismatchedBracket };
        self.fail(syntax, colon)
    }

    /// Decides if a string that equals the searched name is the name of a member. The window ends
    /// before the token after the string, so this reads on. Returns true if that token is a colon,
    /// and leaves the cursor at the colon.
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
