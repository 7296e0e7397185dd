//! The cursor: pull events, and moves that cost masks instead of tokens.
//!
//! It is one small machine: what may come next ([`Expect`]), which containers are open (a bit
//! each), and three indices into the window of its source. [`walk`] moves it by the grammar,
//! [`quick`] does so for what most tokens are like, [`ahead`] for many tokens at once, [`skip`] and
//! [`seek`] move it by masks, [`token`] reads what has no parts, [`records`] goes from one document
//! to the next; here is what they stand on: the window's edge, holds, and errors. [`apart`] makes
//! cursors that begin in the middle.

mod ahead;
mod apart;
mod buffer;
mod named;
mod quick;
mod records;
mod seek;
mod skip;
mod token;
mod walk;

use std::io::{self, Read};

use trommel_scan::{Kernels, Stack};

use buffer::TokenBuffer;

use crate::config::{Config, Limits, Validation};
use crate::error::{Error, ErrorKind, Excerpt, Place, Result, Syntax};
use crate::event::{Kind, Payload, Scalar};
use crate::foreign::Foreign;
use crate::framing::Framing;
use crate::input::{Input, View};
use crate::number::Number;
use crate::source::{Monitor, Needs, Source};
use crate::span::Span;
use crate::text::{Measure, Text};

pub use apart::{Alike, Between};

/// A place in the input that reading moves forward: a slice, or a stream behind a window.
///
/// [`advance`](Self::advance) yields one event after the other. Who knows what it wants uses the
/// moves instead: [`next_member`](Self::next_member) and [`next_element`](Self::next_element) walk
/// a container, [`begin_value`](Self::begin_value) enters a value, [`skip_value`](Self::skip_value)
/// and [`leave`](Self::leave) pass over what does not matter. Both can be mixed: every move is
/// defined by the place where the cursor stands.
///
/// | the cursor stands | `advance` | `begin_value`, `skip_value` | `next_member`, `next_element` | `leave` |
/// | --- | --- | --- | --- | --- |
/// | before a value | enters it | enters it, passes it | pass it, then as below | ends the container around it |
/// | in an object, between members | the next name, or its end | | the next name, or its end | ends the object |
/// | in an array, between elements | the next element, or its end | | before the next element, or its end | ends the array |
/// | behind the record's value | `None`, after a check of what follows | | | nothing |
///
/// The empty fields are moves that cannot be made there; they end the record with an error, and
/// never do harm. A cursor that was just made stands before its first record's value;
/// [`next_record`](Self::next_record) may be called first or left out. An error is final for the
/// record it stands in: every further move returns it, until [`next_record`](Self::next_record)
/// finds a later record, where the framing allows to.
///
/// Moving takes constant memory beyond the window: one bit a level of nesting, and nothing a token.
pub struct Cursor<'a> {
    source: Source<'a>,
    kernels: &'static Kernels,
    limits: Limits,
    validation: Validation,
    framing: Framing,
    stack: Stack,
    expect: Expect,
    /// Index of the next byte in the window.
    at: usize,
    /// Index where the current token starts; what stands before it may go.
    start: usize,
    /// Index where the current token ends.
    end: usize,
    /// Index from which on the bytes of the string that is being read have not passed the check for
    /// UTF-8.
    unchecked: usize,
    token: Token,
    long: Long,
    ahead: TokenBuffer,
    /// Offsets from which on bytes must stay readable, innermost last.
    holds: Vec<u64>,
    record: Option<u64>,
    record_start: u64,
    failure: Option<Error>,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// The first record.
    Start,
    /// A value.
    Value,
    /// A container has just begun.
    First,
    /// A value inside a container has just ended.
    Next,
    /// The record's value has ended.
    End,
    /// There is no further record.
    Done,
    /// An error was returned.
    Failed,
}

/// What the current token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    None,
    Name { escaped: bool },
    String { escaped: bool },
    LongString { escaped: bool },
    Number,
    Bool(bool),
    Null,
}

/// A string that is too long to be held: what was passed over of it.
#[derive(Debug, Default)]
struct Long {
    /// Absolute offset of its opening quote.
    offset: u64,
    whole: Measure,
    beginning: Vec<u8>,
}

/// A place to come back to, from [`Cursor::hold`] for [`Cursor::rewind`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    offset: u64,
    start: u64,
    end: u64,
    token: Token,
    expect: Expect,
    depth: u32,
}

impl Mark {
    /// The absolute offset.
    pub const fn offset(&self) -> u64 {
        self.offset
    }
}

impl<'a> Cursor<'a> {
    /// A cursor over one document in memory, with the framing [`Single`](Framing::Single).
    pub fn new(bytes: &'a [u8], config: &Config) -> Self {
        Self::from_view(View::new(bytes), Framing::Single, config)
    }

    /// A cursor over borrowed bytes with a framing. Its offsets are those of the input that the
    /// view is a part of; only at the start of the input a byte order mark is passed over.
    pub fn from_view(view: View<'a>, framing: Framing, config: &Config) -> Self {
        Self::with_source(Source::slice(view), framing, config)
    }

    /// A cursor over anything that can be read, in a window of fixed size: compressed data,
    /// standard input, a socket. It is read only when the next move needs it, and never behind the
    /// end that it reports first. Interrupted reads are repeated; any other failure ends the
    /// reading.
    pub fn from_reader(reader: impl Read + Send + 'a, framing: Framing, config: &Config) -> Self {
        Self::with_source(Source::stream(Box::new(reader), config), framing, config)
    }

    /// A cursor over an input: a view of it where there is one, else a stream.
    pub fn from_input(input: &'a Input, framing: Framing, config: &Config) -> Self {
        match input.view() {
            Some(view) => Self::from_view(view, framing, config),
            None => Self::from_reader(input.reader(), framing, config),
        }
    }

    fn with_source(mut source: Source<'a>, framing: Framing, config: &Config) -> Self {
        source.set_delimiter(framing.delimiter());
        Self {
            record_start: source.base(),
            source,
            kernels: config.backend.kernels(),
            limits: config.limits,
            validation: config.validation,
            framing,
            stack: Stack::default(),
            expect: Expect::Start,
            at: 0,
            start: 0,
            end: 0,
            unchecked: 0,
            token: Token::None,
            long: Long::default(),
            ahead: TokenBuffer::default(),
            holds: Vec::new(),
            record: None,
            failure: None,
        }
    }

    /// Calls `monitor` as bytes pass, at least once a MiB, with the offset reached; an error it
    /// returns ends the reading. This is where cancellation and progress live.
    #[must_use]
    pub fn monitored(mut self, monitor: Monitor<'a>) -> Self {
        self.source.set_monitor(monitor);
        self
    }

    /// The framing; `Auto` until a text sequence was recognised.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// How what is skipped is checked.
    pub fn validation(&self) -> Validation {
        self.validation
    }

    /// Containers open around the current place; 0 outside of all, 1 inside of the outermost.
    pub fn depth(&self) -> u32 {
        self.stack.depth()
    }

    /// The kind of the open container that is so many deep, the outermost one being 1; nothing
    /// where none is open.
    pub fn kind_at(&self, depth: u32) -> Option<Kind> {
        let object = self.stack.object_at(depth)?;
        Some(if object { Kind::Object } else { Kind::Array })
    }

    /// Absolute offset of the next byte to be looked at; behind the current token, before any white
    /// space.
    pub fn offset(&self) -> u64 {
        self.absolute(self.at)
    }

    /// Index of the current record, from 0; bad ones count.
    pub fn record(&self) -> u64 {
        self.record.unwrap_or(0)
    }

    /// Absolute offset where the current record's value begins.
    pub fn record_start(&self) -> u64 {
        self.record_start
    }

    /// Whether the record's value was read to its end, or there is no further record. A single
    /// document that was left before its end is neither.
    pub fn is_at_end(&self) -> bool {
        matches!(self.expect, Expect::End | Expect::Done)
    }

    /// The place of the current token: a name or string with its quotes, a number, a word, or a
    /// bracket. After a move that passes over things, an empty span behind them.
    pub fn span(&self) -> Span {
        let start = match self.token {
            Token::LongString { .. } => self.long.offset,
            _ => self.absolute(self.start),
        };
        Span::new(start, self.absolute(self.end))
    }

    /// What the current event carries. Costs nothing; text is decoded only when it is asked for.
    pub fn payload(&self) -> Payload<'_> {
        match self.token {
            Token::None => Payload::None,
            Token::Name { escaped } => Payload::Name(Text::new(self.inside(), escaped)),
            Token::String { escaped } => Payload::Scalar(Scalar::String(Text::new(self.inside(), escaped))),
            Token::LongString { escaped } => {
                let text = Text::cut(&self.long.beginning, escaped, self.long.whole);
                Payload::Scalar(Scalar::String(text))
            }
            Token::Number => {
                let lexeme = &self.source.loaded()[self.start..self.end];
                Payload::Scalar(Scalar::Number(Number::of_digits(lexeme)))
            }
            Token::Bool(value) => Payload::Scalar(Scalar::Bool(value)),
            Token::Null => Payload::Scalar(Scalar::Null),
        }
    }

    /// The current name, when the last move or event was one; it stays until the cursor moves
    /// behind it.
    #[inline]
    pub fn name(&self) -> Option<Text<'_>> {
        match self.token {
            Token::Name { escaped } => Some(Text::new(self.inside(), escaped)),
            _ => None,
        }
    }

    /// The bytes between the current token's quotes.
    #[inline]
    fn inside(&self) -> &[u8] {
        &self.source.loaded()[self.start + 1..self.end - 1]
    }

    /// The bytes of a span, if all of them are still there: on a slice always, on a stream as far
    /// as they are held.
    pub fn bytes(&self, span: Span) -> Option<&[u8]> {
        self.source.readable().get(span)
    }

    /// The same as a view, whose memory can be [given back](View::release) while it is gone
    /// through.
    pub fn part(&self, span: Span) -> Option<View<'_>> {
        self.source.readable().narrow(span)
    }

    /// Gives back the memory of a span that was read and can be read again: of a mapped file, or of
    /// what is held in a temporary file.
    pub fn forget(&self, span: Span) {
        self.source.forget(span);
    }

    /// The whole input, when it is in memory or mapped: its bytes outlive the cursor.
    pub fn view(&self) -> Option<View<'a>> {
        self.source.view()
    }

    /// Whether bytes that pass are gone unless they are held.
    pub fn is_stream(&self) -> bool {
        self.source.is_stream()
    }

    /// Keeps all bytes from the current token on readable until [`release`](Self::release), and
    /// returns the place to [`rewind`](Self::rewind) to.
    ///
    /// Holds nest, and end with the record. On a slice they are free. On a stream what is held
    /// stays in memory up to [`Limits::held_bytes`]; beyond it goes to an unlinked temporary file,
    /// up to [`Limits::spool_bytes`]. While there is a hold no string is [cut](Text::is_cut).
    pub fn hold(&mut self) -> Mark {
        let mark = self.mark();
        self.holds.push(mark.start);
        mark
    }

    /// The place where the cursor stands, to [`rewind`](Self::rewind) to while a hold lasts that
    /// was made before. Costs nothing to speak of.
    pub fn mark(&self) -> Mark {
        Mark {
            offset: self.offset(),
            start: self.absolute(self.start.min(self.at)),
            end: self.absolute(self.end.min(self.at)),
            token: self.token,
            expect: self.expect,
            depth: self.stack.depth(),
        }
    }

    /// Ends the innermost hold.
    pub fn release(&mut self) {
        self.holds.pop();
    }

    /// Returns to a mark whose hold was not released: the current token and everything after it
    /// come again.
    ///
    /// A mark is good until its record is left, or until the container it was made in is left and
    /// another is entered in its stead. An error is not undone by going back. On a stream, a mark
    /// whose bytes are gone is an error, which the next move returns.
    pub fn rewind(&mut self, mark: &Mark) {
        if self.expect == Expect::Failed {
            return;
        }
        let base = self.source.base();
        if mark.start < base {
            let cause = io::Error::new(io::ErrorKind::InvalidInput, "rewind to a mark that was released");
            self.failed(Error::io(cause, mark.offset));
            return;
        }
        let at = (mark.offset - base) as usize;
        if self.source.rewind(self.at, at) {
            // What was written down is not in the window.
            self.ahead.forget();
        }
        self.at = at;
        self.start = (mark.start - base) as usize;
        // The end of a token that was passed before the mark may be gone.
        self.end = mark.end.saturating_sub(base) as usize;
        self.token = mark.token;
        self.expect = mark.expect;
        self.stack.set_depth(mark.depth);
        if mark.expect == Expect::Start {
            self.record = None;
        }
    }

    /// Begins to count characters at the current place, for [`chars`](Self::chars). The bytes are
    /// taken as UTF-8.
    pub fn count_chars(&mut self) {
        let offset = self.offset();
        self.source.count_chars_from(offset, self.kernels.chars);
    }

    /// Unicode scalar values between the place where counting began and `offset`, whose bytes must
    /// be readable. Linear in the bytes passed since the last call, or gone back.
    pub fn chars(&mut self, offset: u64) -> u64 {
        self.source.chars_before(offset)
    }

    /// Line and column of an offset that is still readable. Linear in the bytes since the last
    /// call, or since the start of the window.
    pub fn place(&mut self, offset: u64) -> Option<Place> {
        self.source.place(offset)
    }

    #[inline]
    fn absolute(&self, index: usize) -> u64 {
        self.source.base() + index as u64
    }

    /// Asks for more of the record. `false` at its end.
    #[cold]
    fn more(&mut self) -> Result<bool> {
        let start = self.absolute(self.start.min(self.at));
        let keep = self.holds.first().map_or(start, |&held| held.min(start));
        let needs = Needs { keep, at: self.absolute(self.at), is_held: !self.holds.is_empty() };
        let (shift, more) = self.source.grow(needs);
        self.at -= shift;
        self.start -= shift;
        // These may be of a token that was passed.
        self.end = self.end.saturating_sub(shift);
        self.unchecked = self.unchecked.saturating_sub(shift);
        more.map_err(|error| self.failed(error))
    }

    /// Makes `count` bytes from the current place visible, if the record has them.
    fn want(&mut self, count: usize) -> Result<bool> {
        while self.source.window().len() < self.at + count {
            if !self.more()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Something is wrong with the byte at an index of the window, or the record ends there.
    #[cold]
    fn fail<T>(&mut self, syntax: Syntax, index: usize) -> Result<T> {
        self.refuse(ErrorKind::Syntax(syntax), index)
    }

    /// An error at an index of the window.
    #[cold]
    fn refuse<T>(&mut self, kind: ErrorKind, index: usize) -> Result<T> {
        let offset = self.absolute(index);
        let foreign = if offset == 0 && matches!(kind, ErrorKind::Syntax(_)) { self.foreign() } else { None };
        let excerpt = Excerpt::around(self.source.loaded(), index);
        let place = self.source.place(offset);
        let error = Error::new(kind, offset, place, excerpt);
        Err(self.failed(match foreign {
            Some(foreign) => error.of_foreign(foreign),
            None => error,
        }))
    }

    /// The format of an input that is malformed at its first byte. A few more bytes are read if
    /// they can decide it.
    #[cold]
    fn foreign(&mut self) -> Option<Foreign> {
        let needed = Foreign::needed(self.source.loaded().first().copied()?);
        if self.source.loaded().len() < needed {
            // Whatever stops the reading is not the first thing that is wrong.
            let _ = self.want(needed);
        }
        Foreign::of(self.source.loaded())
    }

    fn failed(&mut self, error: Error) -> Error {
        self.expect = Expect::Failed;
        self.ahead.forget();
        self.failure = Some(error.clone());
        error
    }

    /// The error that ended this record; where there is none, a move was made that cannot be made
    /// here.
    #[cold]
    fn failure<T>(&mut self) -> Result<T> {
        let misuse =
            || io::Error::new(io::ErrorKind::InvalidInput, "a move that cannot be made at this place");
        match &self.failure {
            Some(error) => Err(error.clone()),
            None => Err(self.failed(Error::io(misuse(), self.offset()))),
        }
    }
}

/// The type of the value that begins with `byte`.
#[inline]
fn kind_of(byte: u8) -> Option<Kind> {
    match byte {
        b'{' => Some(Kind::Object),
        b'[' => Some(Kind::Array),
        b'"' => Some(Kind::String),
        b'-' | b'0'..=b'9' => Some(Kind::Number),
        b't' | b'f' => Some(Kind::Bool),
        b'n' => Some(Kind::Null),
        _ => None,
    }
}
