//! Reads many tokens at once, by masks: to skip them strictly, or to buffer them before they are
//! requested.
//!
//! Masks check a range of bytes by the same rules as the token reader. All bytes up to some offset
//! are then valid: they are skipped, or their tokens are buffered for [`Cursor::advance`]. The
//! bytes after that offset may be malformed, cut off by the end of the window, or too long. They
//! are read token by token, and only that code reports errors.

use trommel_scan::{Tape, Validated, Validator};

use super::buffer::{MAX_BATCH, MIN_BATCH};
use super::{Cursor, Expect, Token};
use crate::error::Result;
use crate::event::{Event, Kind, Listener, NameTokens, Tokens, number_end, string_end, string_or_name};

/// Bytes that are skipped at a time, so that they are still in the cache when their encoding is
/// checked.
const MAX_SKIP: usize = 1 << 16;
/// Maximum containers that buffered tokens may leave, so that the cost of a batch does not grow
/// with the depth.
const MAX_LEAVE: u32 = 1 << 10;
/// Tokens that are read one by one after masks failed, before masks are tried again.
const RETRY_AFTER: u32 = 16;

impl Cursor<'_> {
    /// Leaves containers until `depth` are open, and checks everything in them.
    pub(super) fn leave_to(&mut self, depth: u32) -> Result<()> {
        while self.stack.depth() > depth {
            if self.validate_to(depth) {
                continue;
            }
            // A failed attempt may cost a whole window, so some tokens are read before the next
            // one.
            for _ in 0..RETRY_AFTER {
                if self.stack.depth() > depth {
                    self.advance()?;
                }
            }
        }
        self.token = Token::None;
        (self.start, self.end) = (self.at, self.at);
        Ok(())
    }

    /// Skips the bytes that masks find valid, at most until `depth` containers are open. Returns
    /// false if it skipped nothing.
    fn validate_to(&mut self, depth: u32) -> bool {
        // The validator can only start after an opening bracket or after a value.
        if !matches!(self.expect, Expect::First | Expect::Next) {
            return false;
        }
        let mut length = self.available(MAX_SKIP);
        loop {
            // Masks change the stack, and this copy restores it if the bytes are not UTF-8. Levels
            // up to `depth` cannot change, so only those above are copied.
            self.ahead.stack.copy_above(&self.stack, depth);
            let bytes = &self.source.window()[self.at..self.at + length];
            let mut state = Validator {
                stack: &mut self.stack,
                floor: depth,
                limit: self.limits.depth,
                first: self.expect == Expect::First,
            };
            let validated = (self.kernels.validate)(bytes, 0, &mut state);
            // Masks do not check UTF-8. If it is invalid, try again with the valid bytes before it.
            if let Some(valid) = first_invalid(bytes, validated) {
                self.stack.copy_above(&self.ahead.stack, depth);
                length = valid;
                continue;
            }
            if validated.at == 0 {
                return false;
            }
            // `clear` instead of `forget`: a skip does not interrupt the sequence of requested
            // tokens.
            self.ahead.tape.clear();
            self.at += validated.at;
            (self.start, self.end) = (self.at, self.at);
            if validated.first {
                self.expect = Expect::First;
            } else {
                self.after_value();
            }
            return true;
        }
    }

    /// The number of visible bytes, at most `max`, in which no token can exceed the limit.
    fn available(&self, max: usize) -> usize {
        let max = max.min(usize::try_from(self.limits.token_bytes).unwrap_or(max));
        max.min(self.source.window().len() - self.at)
    }

    /// The next event, if its token is buffered.
    pub(super) fn step_ahead(&mut self) -> Option<Event> {
        let (start, next) = self.ahead.tape.span(self.ahead.next)?;
        // Offsets on the tape count from the batch, which the window may have left since.
        let base = self.ahead.base.wrapping_sub(self.source.base()) as usize;
        // After any other move, the buffered tokens are not the next ones.
        if self.at != base.wrapping_add(usize::from(self.ahead.expected_at)) {
            self.ahead.forget();
            return None;
        }
        let index = |offset: u16| base.wrapping_add(usize::from(offset));
        let (at, next_at) = (index(start), index(next));
        let bytes = self.source.loaded();
        let byte = bytes[at];
        self.ahead.next += 1;
        self.start = at;
        let (kind, token) = match byte {
            b'"' => {
                let (end, is_name) = string_or_name(bytes, next_at);
                self.end = end;
                if is_name {
                    // A batch ends at a comma or after a bracket, so it never separates a name from
                    // its value. Masks have checked the colon between them.
                    self.at = next_at;
                    self.ahead.expected_at = next;
                    self.token = Token::Name { escaped: true };
                    self.expect = Expect::Value;
                    return Some(Event::Name);
                }
                (Kind::String, Token::String { escaped: true })
            }
            b'{' | b'}' | b'[' | b']' => return Some(self.bracket_ahead(byte, start)),
            _ => {
                self.end = number_end(bytes, next_at);
                match byte {
                    b't' => (Kind::Bool, Token::Bool(true)),
                    b'f' => (Kind::Bool, Token::Bool(false)),
                    b'n' => (Kind::Null, Token::Null),
                    _ => (Kind::Number, Token::Number),
                }
            }
        };
        self.at = self.end;
        self.ahead.expected_at = start + (self.end - at) as u16;
        self.token = token;
        self.after_value();
        Some(Event::Scalar(kind))
    }

    /// Passes a buffered bracket, whose index is that of the current token. A function of its own,
    /// so that the other tokens save fewer registers.
    #[inline(never)]
    fn bracket_ahead(&mut self, byte: u8, start: u16) -> Event {
        self.end = self.start + 1;
        self.at = self.end;
        self.ahead.expected_at = start + 1;
        self.token = Token::None;
        let kind = if matches!(byte, b'{' | b'}') { Kind::Object } else { Kind::Array };
        if matches!(byte, b'{' | b'[') {
            self.stack.push(kind == Kind::Object);
            self.expect = Expect::First;
            return Event::Begin(kind);
        }
        self.stack.pop();
        self.after_value();
        Event::End(kind)
    }

    /// Passes every event to the listener until at most `depth` containers are open, or the offset
    /// `until` is reached. Does nothing if at most `depth` are open already.
    ///
    /// The events are those of [`advance`](Self::advance), without those that the listener does
    /// [not want](Listener::wants_scalars). This is the fastest way to get all events.
    pub fn listen(&mut self, depth: u32, until: u64, listener: &mut impl Listener) -> Result<()> {
        self.ahead.until = Some(until);
        let result = self.listen_on(depth, until, listener);
        self.ahead.until = None;
        result
    }

    fn listen_on(&mut self, depth: u32, until: u64, listener: &mut impl Listener) -> Result<()> {
        let names_alone = !listener.wants_scalars();
        while self.stack.depth() > depth && self.offset() < until {
            if if names_alone {
                self.forward_names(depth, listener)
            } else {
                self.forward_buffered(depth, listener) || self.forward_tokens(depth, listener)
            } {
                continue;
            }
            let Some(event) = self.advance()? else { return Ok(()) };
            listener.receive(event, self.payload(), self.span().start);
        }
        Ok(())
    }

    /// Passes the buffered tokens to the listener, until at most `depth` containers are open.
    /// Returns false if no token is buffered.
    fn forward_buffered(&mut self, depth: u32, listener: &mut impl Listener) -> bool {
        let ahead = &mut self.ahead;
        let starts = ahead.tape.starts();
        let expected = ahead.base + u64::from(ahead.expected_at);
        if expected != self.source.base() + self.at as u64 || ahead.next >= starts.len() {
            return false;
        }
        // After a move and a rewind, the window may start after the first token of the tape.
        // `step_ahead` handles the rest of the tape then.
        let Some(first) = ahead.base.checked_sub(self.source.base()) else { return false };
        let bytes = &self.source.loaded()[first as usize..];
        let tokens = Tokens::new(bytes, starts, ahead.base, ahead.tape.end().into());
        let mut in_object = self.stack.in_object();
        let mut expects_name = in_object && self.expect != Expect::Value;
        let (mut number, mut is_opening) = (ahead.next, false);
        while let Some(&start) = starts.get(number) {
            let at = ahead.base + u64::from(start);
            is_opening = false;
            match bytes[usize::from(start)] {
                b'"' if expects_name => {
                    listener.name(tokens.name(number), at);
                    (number, expects_name) = (number + 1, false);
                    continue;
                }
                byte @ (b'{' | b'[') => {
                    in_object = byte == b'{';
                    self.stack.push(in_object);
                    is_opening = true;
                    listener.begin(if in_object { Kind::Object } else { Kind::Array }, at);
                }
                byte @ (b'}' | b']') => {
                    self.stack.pop();
                    listener.end(if byte == b'}' { Kind::Object } else { Kind::Array }, at);
                    in_object = self.stack.in_object();
                }
                _ => {
                    if let Some(scalar) = tokens.scalar(number) {
                        listener.scalar(scalar, at);
                    }
                }
            }
            (number, expects_name) = (number + 1, in_object);
            if self.stack.depth() <= depth {
                break;
            }
        }
        ahead.next = number;
        // The buffered tokens end after a value or an opening bracket.
        let Some((start, next)) = ahead.tape.span(number - 1) else { return false };
        let last = usize::from(start);
        let end = match bytes[last] {
            b'"' => string_end(bytes, next.into()),
            b'{' | b'}' | b'[' | b']' => last + 1,
            _ => number_end(bytes, next.into()),
        };
        self.move_past(LastToken { start: last, end, is_opening });
        true
    }

    /// Passes the next tokens to the listener all at once, until at most `depth` containers are
    /// open. Returns false if masks find no valid bytes, or if too few tokens have been read in
    /// sequence.
    fn forward_tokens(&mut self, depth: u32, listener: &mut impl Listener) -> bool {
        if self.ahead.waited < RETRY_AFTER || !matches!(self.expect, Expect::First | Expect::Next) {
            return false;
        }
        let floor = depth.max(self.lowest_ahead());
        let Some(validated) = self.buffer(floor, self.kernels.index).filter(|validated| validated.at > 0)
        else {
            self.ahead.forget();
            return false;
        };
        let bytes = &self.source.loaded()[self.at..];
        let tokens = Tokens::new(bytes, self.ahead.tape.starts(), self.ahead.base, validated.at);
        if !listener.tokens(&tokens) {
            tokens.each(listener);
        }
        self.ahead.tape.clear();
        self.stack.copy_above(&self.ahead.stack, floor);
        let (at, is_opening) = (validated.at, validated.first);
        self.move_past(LastToken { start: at, end: at, is_opening });
        true
    }

    /// Passes the next names and brackets to the listener, until at most `depth` containers are
    /// open. Returns false if masks find no valid bytes, or if too few tokens have been read in
    /// sequence.
    fn forward_names(&mut self, depth: u32, listener: &mut impl Listener) -> bool {
        if self.ahead.waited < RETRY_AFTER || !matches!(self.expect, Expect::First | Expect::Next) {
            return false;
        }
        let floor = depth.max(self.lowest_ahead());
        let Some(validated) = self.buffer(floor, self.kernels.names).filter(|validated| validated.at > 0)
        else {
            self.ahead.forget();
            return false;
        };
        let bytes = &self.source.loaded()[self.at..];
        let names = NameTokens::new(bytes, self.ahead.tape.starts(), self.ahead.base);
        if !listener.names(&names) {
            names.each(listener);
        }
        self.ahead.tape.clear();
        self.stack.copy_above(&self.ahead.stack, floor);
        let (at, is_opening) = (validated.at, validated.first);
        self.move_past(LastToken { start: at, end: at, is_opening });
        true
    }

    /// Moves the cursor past the last token that was passed to a listener.
    fn move_past(&mut self, last: LastToken) {
        let LastToken { start, end, is_opening } = last;
        let first = (self.ahead.base - self.source.base()) as usize;
        (self.start, self.end, self.at) = (first + start, first + end, first + end);
        self.ahead.expected_at = end as u16;
        self.token = Token::None;
        if is_opening {
            self.expect = Expect::First;
        } else {
            self.after_value();
        }
    }

    /// Buffers the next tokens, if many have been requested in sequence. Returns false if it
    /// buffered nothing.
    #[inline]
    pub(super) fn read_ahead(&mut self) -> bool {
        self.ahead.waited += 1;
        self.ahead.waited > RETRY_AFTER && self.buffer_next()
    }

    fn buffer_next(&mut self) -> bool {
        let validated = self.buffer(self.lowest_ahead(), self.kernels.index);
        if validated.is_none() || self.ahead.tape.starts().is_empty() {
            self.ahead.forget();
            return false;
        }
        true
    }

    /// The smallest depth at the end of the buffered tokens.
    fn lowest_ahead(&self) -> u32 {
        self.stack.depth().saturating_sub(MAX_LEAVE)
    }

    /// Runs `kernel` over the window and buffers its tokens, until at most `floor` containers are
    /// open. Returns `None` if the window is empty.
    fn buffer(&mut self, floor: u32, kernel: IndexKernel) -> Option<Validated> {
        let requested = self.ahead.batch_len.clamp(MIN_BATCH, MAX_BATCH);
        // A listener receives a batch as a whole, so a batch must not extend beyond `until`.
        let until = self.ahead.until.map_or(requested as u64, |until| until.saturating_sub(self.offset()));
        let mut length = self.available(requested.min(usize::try_from(until).unwrap_or(requested)));
        let ahead = &mut self.ahead;
        loop {
            ahead.stack.copy_above(&self.stack, floor);
            ahead.tape.begin(requested);
            let bytes = self.source.window().get(self.at..self.at + length)?;
            let mut state = Validator {
                stack: &mut ahead.stack,
                floor,
                limit: self.limits.depth,
                first: self.expect == Expect::First,
            };
            let validated = kernel(bytes, 0, &mut state, &mut ahead.tape);
            if let Some(valid) = first_invalid(bytes, validated) {
                length = valid;
                continue;
            }
            ahead.next = 0;
            ahead.base = self.source.base() + self.at as u64;
            ahead.expected_at = 0;
            // Batches grow while the input has enough visible bytes.
            ahead.batch_len = if length < requested { requested } else { 2 * requested };
            return Some(validated);
        }
    }
}

/// The last token that was passed to a listener. Its offsets are relative to the base of the tape.
#[derive(Clone, Copy)]
struct LastToken {
    start: usize,
    end: usize,
    /// True for an opening bracket.
    is_opening: bool,
}

/// A kernel that records the offsets of tokens.
type IndexKernel = fn(&[u8], usize, &mut Validator<'_>, &mut Tape) -> Validated;

/// The index of the first byte that is not UTF-8, among those that masks accepted.
fn first_invalid(bytes: &[u8], validated: Validated) -> Option<usize> {
    if !validated.high {
        return None;
    }
    simdutf8::compat::from_utf8(&bytes[..validated.at]).err().map(|error| error.valid_up_to())
}
