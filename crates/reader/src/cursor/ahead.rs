//! Many tokens at once, by masks: to pass over them strictly, and to have them at hand before they
//! are asked for.
//!
//! Masks judge a stretch of bytes by every rule that tokens are read by. Where it is right up to
//! some place, all up to there is passed, or its tokens are written down for [`Cursor::advance`].
//! What lies behind that place, be it wrong, cut off by the end of the window, or too long, is read
//! token by token, which alone knows errors.

use trommel_scan::{Tape, Vetted, Vetting};

use super::buffer::{LONGEST, SHORTEST};
use super::{Cursor, Expect, Token};
use crate::error::Result;
use crate::event::{Event, Kind, Listener, Scalar};
use crate::number::Number;
use crate::text::Text;

/// Bytes that are passed over at a time, so that they are still near when their encoding is
/// checked.
const STRETCH: usize = 1 << 16;
/// Containers that are left at most in what is written down, so that its cost does not grow with
/// the depth.
const LEVELS: u32 = 1 << 10;
/// Tokens that are read one by one where masks did not help, before they are tried again.
const PATIENCE: u32 = 16;

impl Cursor<'_> {
    /// Leaves containers, checking everything in them, until so many are open.
    pub(super) fn leave_to(&mut self, depth: u32) -> Result<()> {
        while self.stack.depth() > depth {
            if self.vet_to(depth) {
                continue;
            }
            for _ in 0..PATIENCE {
                if self.stack.depth() > depth {
                    self.advance()?;
                }
            }
        }
        self.token = Token::None;
        (self.start, self.end) = (self.at, self.at);
        Ok(())
    }

    /// Passes over what masks find right, at most until so many containers are open; whether there
    /// was any.
    fn vet_to(&mut self, depth: u32) -> bool {
        if !matches!(self.expect, Expect::First | Expect::Next) {
            return false;
        }
        let mut stretch = self.stretch(STRETCH);
        loop {
            self.ahead.stack.copy_above(&self.stack, depth);
            let bytes = &self.source.window()[self.at..self.at + stretch];
            let mut state = Vetting {
                stack: &mut self.stack,
                floor: depth,
                limit: self.limits.depth,
                first: self.expect == Expect::First,
            };
            let vetted = (self.kernels.vet)(bytes, 0, &mut state);
            if let Some(valid) = invalid_behind(bytes, vetted) {
                self.stack.copy_above(&self.ahead.stack, depth);
                stretch = valid;
                continue;
            }
            if vetted.at == 0 {
                return false;
            }
            self.ahead.tape.clear();
            self.at += vetted.at;
            (self.start, self.end) = (self.at, self.at);
            if vetted.first {
                self.expect = Expect::First;
            } else {
                self.after_value();
            }
            return true;
        }
    }

    /// Bytes that are visible and that no token in them can be too long for, but no more than
    /// `most`.
    fn stretch(&self, most: usize) -> usize {
        let most = most.min(usize::try_from(self.limits.token_bytes).unwrap_or(most));
        most.min(self.source.window().len() - self.at)
    }

    /// The next event, if its token was written down.
    #[inline]
    pub(super) fn step_ahead(&mut self) -> Option<Event> {
        let (start, end, escaped) = self.ahead.tape.token(self.ahead.next)?;
        let base = self.source.base();
        if self.ahead.due != base + self.at as u64 {
            self.ahead.forget();
            return None;
        }
        let index = |place: u16| (self.ahead.base + u64::from(place) - base) as usize;
        (self.start, self.end) = (index(start), index(end));
        self.ahead.next += 1;
        let value = self.ahead.tape.start(self.ahead.next).map(index);
        self.at = self.end;
        let event = match self.source.window()[self.start] {
            b'"' if self.expect != Expect::Value && self.stack.in_object() => {
                debug_assert!(value.is_some(), "a name that was written down has a value that was");
                self.at = value?;
                self.token = Token::Name { escaped };
                self.expect = Expect::Value;
                Event::Name
            }
            b'"' => self.scalar_ahead(Kind::String, Token::String { escaped }),
            byte @ (b'{' | b'[') => {
                self.stack.push(byte == b'{');
                self.token = Token::None;
                self.expect = Expect::First;
                Event::Begin(if byte == b'{' { Kind::Object } else { Kind::Array })
            }
            byte @ (b'}' | b']') => {
                self.stack.pop();
                self.token = Token::None;
                self.after_value();
                Event::End(if byte == b'}' { Kind::Object } else { Kind::Array })
            }
            b't' => self.scalar_ahead(Kind::Bool, Token::Bool(true)),
            b'f' => self.scalar_ahead(Kind::Bool, Token::Bool(false)),
            b'n' => self.scalar_ahead(Kind::Null, Token::Null),
            _ => self.scalar_ahead(Kind::Number, Token::Number),
        };
        self.ahead.due = base + self.at as u64;
        Some(event)
    }

    /// Goes on event by event until no more than `depth` containers are open, or the offset `until`
    /// is reached, and tells of each. Where no more are open, nothing happens.
    ///
    /// The events are those of [`advance`](Self::advance), those aside that the listener does [not
    /// want](Listener::wants_scalars). Where all are wanted, this is the faster way to have them.
    pub fn listen(&mut self, depth: u32, until: u64, listener: &mut impl Listener) -> Result<()> {
        self.ahead.room = Some(until);
        let heard = self.listen_on(depth, until, listener);
        self.ahead.room = None;
        heard
    }

    fn listen_on(&mut self, depth: u32, until: u64, listener: &mut impl Listener) -> Result<()> {
        let names_alone = !listener.wants_scalars();
        while self.stack.depth() > depth && self.offset() < until {
            if if names_alone { self.tell_names(depth, listener) } else { self.tell_ahead(depth, listener) } {
                continue;
            }
            let Some(event) = self.advance()? else { return Ok(()) };
            listener.hear(event, self.payload(), self.span().start);
        }
        Ok(())
    }

    /// Tells of all that was written down, or until no more than `depth` containers are open;
    /// whether there was anything.
    fn tell_ahead(&mut self, depth: u32, listener: &mut impl Listener) -> bool {
        let ahead = &mut self.ahead;
        if ahead.due != self.source.base() + self.at as u64 || ahead.next >= ahead.tape.len() {
            return false;
        }
        // After a move and a rewind the window may begin behind the first token of the tape; then
        // the rest of the tape is for `step_ahead`.
        let Some(first) = ahead.base.checked_sub(self.source.base()) else { return false };
        let bytes = &self.source.loaded()[first as usize..];
        let mut in_object = self.stack.in_object();
        let mut name_due = in_object && self.expect != Expect::Value;
        let (mut told, mut last, mut begun) = (0, (0, 0), false);
        for (start, end, escaped) in ahead.tape.tokens(ahead.next) {
            let at = ahead.base + start as u64;
            let byte = bytes[start];
            told += 1;
            last = (start, end);
            begun = false;
            match byte {
                b'"' => {
                    let text = Text::new(&bytes[start + 1..end - 1], escaped);
                    if name_due {
                        name_due = false;
                        listener.name(text, at);
                        continue;
                    }
                    listener.scalar(Scalar::String(text), at);
                }
                b'{' | b'[' => {
                    in_object = byte == b'{';
                    self.stack.push(in_object);
                    begun = true;
                    listener.begin(if in_object { Kind::Object } else { Kind::Array }, at);
                }
                b'}' | b']' => {
                    self.stack.pop();
                    listener.end(if byte == b'}' { Kind::Object } else { Kind::Array }, at);
                    if self.stack.depth() <= depth {
                        break;
                    }
                    in_object = self.stack.in_object();
                }
                b't' => listener.scalar(Scalar::Bool(true), at),
                b'f' => listener.scalar(Scalar::Bool(false), at),
                b'n' => listener.scalar(Scalar::Null, at),
                _ => {
                    listener.scalar(Scalar::Number(Number::of_digits(&bytes[start..end])), at);
                }
            }
            name_due = in_object;
        }
        ahead.next += told;
        // What was written down ends behind a value or an opening bracket.
        self.passed(Passed { start: last.0, end: last.1, behind_opening: begun });
        true
    }

    /// Tells of the names and brackets that come next, until no more than `depth` containers are
    /// open, where many tokens were read one after the other; whether there was anything.
    fn tell_names(&mut self, depth: u32, listener: &mut impl Listener) -> bool {
        if self.ahead.waited < PATIENCE || !matches!(self.expect, Expect::First | Expect::Next) {
            return false;
        }
        let floor = depth.max(self.lowest_ahead());
        let Some(vetted) = self.write_down(floor, self.kernels.names).filter(|vetted| vetted.at > 0) else {
            self.ahead.forget();
            return false;
        };
        let bytes = &self.source.loaded()[self.at..];
        let base = self.ahead.base;
        for (start, end, escaped) in self.ahead.tape.tokens(0) {
            let at = base + start as u64;
            match bytes[start] {
                b'"' => {
                    listener.name(Text::new(&bytes[start + 1..end - 1], escaped), at);
                }
                b'{' => listener.begin(Kind::Object, at),
                b'}' => listener.end(Kind::Object, at),
                b'[' => listener.begin(Kind::Array, at),
                _ => listener.end(Kind::Array, at),
            }
        }
        self.ahead.tape.clear();
        self.stack.copy_above(&self.ahead.stack, floor);
        self.passed(Passed { start: vetted.at, end: vetted.at, behind_opening: vetted.first });
        true
    }

    /// Takes in that all was told up to a token, and where that is, counted from the base of what
    /// was written down.
    fn passed(&mut self, passed: Passed) {
        let Passed { start, end, behind_opening } = passed;
        let first = (self.ahead.base - self.source.base()) as usize;
        (self.start, self.end, self.at) = (first + start, first + end, first + end);
        self.ahead.due = self.ahead.base + end as u64;
        self.token = Token::None;
        if behind_opening {
            self.expect = Expect::First;
        } else {
            self.after_value();
        }
    }

    #[inline]
    fn scalar_ahead(&mut self, kind: Kind, token: Token) -> Event {
        self.token = token;
        self.after_value();
        Event::Scalar(kind)
    }

    /// Writes down the tokens that come next, where many were asked for one after the other;
    /// whether there are any.
    #[inline]
    pub(super) fn look_ahead(&mut self) -> bool {
        self.ahead.waited += 1;
        self.ahead.waited > PATIENCE && self.write_ahead()
    }

    fn write_ahead(&mut self) -> bool {
        let written = self.write_down(self.lowest_ahead(), self.kernels.index);
        if written.is_none() || self.ahead.tape.is_empty() {
            self.ahead.forget();
            return false;
        }
        true
    }

    /// How many containers are open at least at the end of what is written down.
    fn lowest_ahead(&self) -> u32 {
        self.stack.depth().saturating_sub(LEVELS)
    }

    /// Writes down what a kernel finds, until no more than `floor` containers are open. Nothing
    /// where nothing is visible.
    fn write_down(&mut self, floor: u32, kernel: Index) -> Option<Vetted> {
        let wanted = self.ahead.stretch.clamp(SHORTEST, LONGEST);
        let room = self.ahead.room.map_or(wanted as u64, |until| until.saturating_sub(self.offset()));
        let mut stretch = self.stretch(wanted.min(usize::try_from(room).unwrap_or(wanted)));
        let ahead = &mut self.ahead;
        loop {
            ahead.stack.copy_above(&self.stack, floor);
            ahead.tape.begin(wanted);
            let bytes = self.source.window().get(self.at..self.at + stretch)?;
            let mut state = Vetting {
                stack: &mut ahead.stack,
                floor,
                limit: self.limits.depth,
                first: self.expect == Expect::First,
            };
            let vetted = kernel(bytes, 0, &mut state, &mut ahead.tape);
            if let Some(valid) = invalid_behind(bytes, vetted) {
                stretch = valid;
                continue;
            }
            ahead.next = 0;
            ahead.base = self.source.base() + self.at as u64;
            ahead.due = ahead.base;
            ahead.stretch = if stretch < wanted { wanted } else { 2 * wanted };
            return Some(vetted);
        }
    }
}

/// The last token of which a listener was told. Its place is counted from the base of the tape.
#[derive(Clone, Copy)]
struct Passed {
    start: usize,
    end: usize,
    /// True if it is an opening bracket.
    behind_opening: bool,
}

/// A kernel that writes down where tokens are.
type Index = fn(&[u8], usize, &mut Vetting<'_>, &mut Tape) -> Vetted;

/// Where bytes that masks have passed stop being UTF-8, if they do.
fn invalid_behind(bytes: &[u8], vetted: Vetted) -> Option<usize> {
    if !vetted.high {
        return None;
    }
    simdutf8::compat::from_utf8(&bytes[..vetted.at]).err().map(|error| error.valid_up_to())
}
