//! The cursor: pull events, and moves that cost masks instead of tokens.

mod records;
mod skip;
mod token;
mod walk;

use std::io::Read;

use crate::config::{Config, Limits, Validation};
use crate::error::{Error, ErrorKind, Excerpt, Place, Result, Syntax};
use crate::event::{Kind, Payload, Scalar};
use crate::framing::Framing;
use crate::input::{Input, View};
use crate::number::Number;
use crate::scan::Kernels;
use crate::source::{Monitor, Source};
use crate::span::Span;
use crate::stack::Stack;
use crate::text::{Measure, Text};

/// A place in the input that reading moves forward: a slice, or a stream behind a window.
///
/// [`advance`](Self::advance) yields one event after the other. Who knows what it wants uses the moves instead:
/// [`next_member`](Self::next_member) and [`next_element`](Self::next_element) walk a container,
/// [`begin_value`](Self::begin_value) enters a value, [`skip_value`](Self::skip_value) and [`leave`](Self::leave) pass
/// over what does not matter. Both can be mixed.
///
/// An error is final for the record it stands in: every further move returns it, until
/// [`next_record`](Self::next_record) finds a later record, where the framing allows to.
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
    token: Token,
    long: Long,
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

/// A place to come back to. Valid while the hold it came from is not released and the container it was made in has not
/// been left for another.
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
    /// A cursor over one document in memory.
    pub fn new(bytes: &'a [u8], config: &Config) -> Self {
        Self::from_view(View::new(bytes), Framing::Single, config)
    }

    /// A cursor over borrowed bytes with a framing.
    pub fn from_view(view: View<'a>, framing: Framing, config: &Config) -> Self {
        Self::with_source(Source::slice(view), framing, config)
    }

    /// A cursor over anything that can be read, in a window of fixed size.
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
            token: Token::None,
            long: Long::default(),
            holds: Vec::new(),
            record: None,
            failure: None,
        }
    }

    /// Calls `monitor` as bytes pass, at least once a megabyte, with the offset reached; an error it returns ends the
    /// reading. This is where cancellation and progress live.
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

    /// Containers open around the current place.
    pub fn depth(&self) -> u32 {
        self.stack.depth()
    }

    /// Absolute offset of the next byte to be looked at.
    pub fn offset(&self) -> u64 {
        self.absolute(self.at)
    }

    /// Index of the current record, from 0.
    pub fn record(&self) -> u64 {
        self.record.unwrap_or(0)
    }

    /// Absolute offset where the current record begins.
    pub fn record_start(&self) -> u64 {
        self.record_start
    }

    /// Whether the record's value was read to its end.
    pub fn is_at_end(&self) -> bool {
        self.expect == Expect::End
    }

    /// The place of the current token.
    pub fn span(&self) -> Span {
        let start = match self.token {
            Token::LongString { .. } => self.long.offset,
            _ => self.absolute(self.start),
        };
        Span::new(start, self.absolute(self.end))
    }

    /// What the current event carries.
    pub fn payload(&self) -> Payload<'_> {
        match self.token {
            Token::None => Payload::None,
            Token::Name { escaped } => Payload::Name(Text::new(self.inside(), escaped)),
            Token::String { escaped } => Payload::Scalar(Scalar::String(Text::new(self.inside(), escaped))),
            Token::LongString { escaped } => {
                let text = Text::cut(&self.long.beginning, escaped, self.long.whole);
                Payload::Scalar(Scalar::String(text))
            }
            Token::Number => Payload::Scalar(Scalar::Number(Number::new(self.lexeme()))),
            Token::Bool(value) => Payload::Scalar(Scalar::Bool(value)),
            Token::Null => Payload::Scalar(Scalar::Null),
        }
    }

    /// The current name, when the last move or event was one.
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
        self.source.loaded().get(self.start + 1..self.end - 1).unwrap_or_default()
    }

    fn lexeme(&self) -> &str {
        let bytes = self.source.loaded().get(self.start..self.end).unwrap_or_default();
        // A number that passed the grammar is ASCII.
        std::str::from_utf8(bytes).unwrap_or("0")
    }

    /// The bytes of a span, if all of them are still there: on a slice always, on a stream as far as they are held.
    pub fn bytes(&self, span: Span) -> Option<&[u8]> {
        let base = self.source.base();
        let start = usize::try_from(span.start.checked_sub(base)?).ok()?;
        let end = usize::try_from(span.end.checked_sub(base)?).ok()?;
        self.source.loaded().get(start..end)
    }

    /// Gives back the memory of a span that was read and can be read again: of a mapped file, or of what is held in a
    /// temporary file.
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

    /// Keeps all bytes from the current token on readable until [`release`](Self::release), and returns the place. Holds
    /// nest, and end with the record. On a stream what is held beyond [`Limits::held_bytes`] goes to a temporary file.
    pub fn hold(&mut self) -> Mark {
        let mark = Mark {
            offset: self.offset(),
            start: self.absolute(self.start.min(self.at)),
            end: self.absolute(self.end.min(self.at)),
            token: self.token,
            expect: self.expect,
            depth: self.stack.depth(),
        };
        self.holds.push(mark.start);
        mark
    }

    /// Ends the innermost hold.
    pub fn release(&mut self) {
        self.holds.pop();
    }

    /// Returns to a mark.
    pub fn rewind(&mut self, mark: &Mark) {
        let base = self.source.base();
        let Some(start) = mark.start.checked_sub(base) else { return };
        self.at = (mark.offset - base) as usize;
        self.start = start as usize;
        self.end = mark.end.saturating_sub(base) as usize;
        self.token = mark.token;
        self.expect = mark.expect;
        self.stack.set_depth(mark.depth);
    }

    /// Begins to count characters at the current place, for [`chars`](Self::chars).
    pub fn count_chars(&mut self) {
        let offset = self.offset();
        self.source.count_chars_from(offset);
    }

    /// Unicode scalar values between the place where counting began and `offset`, which must not decrease from call to
    /// call. Linear in the bytes since the last call.
    pub fn chars(&mut self, offset: u64) -> u64 {
        self.source.chars_before(offset)
    }

    /// Line and column of an offset that is still readable.
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
        let grown = self.source.grow(keep, self.absolute(self.at));
        match grown {
            Ok(growth) => {
                self.at -= growth.shift;
                self.start = self.start.saturating_sub(growth.shift);
                self.end = self.end.saturating_sub(growth.shift);
                Ok(growth.more)
            }
            Err(error) => Err(self.failed(error)),
        }
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

    #[cold]
    fn fail<T>(&mut self, syntax: Syntax, index: usize) -> Result<T> {
        self.refuse(ErrorKind::Syntax(syntax), index)
    }

    /// An error at an index of the window.
    #[cold]
    fn refuse<T>(&mut self, kind: ErrorKind, index: usize) -> Result<T> {
        let offset = self.absolute(index);
        let excerpt = Excerpt::around(self.source.loaded(), index);
        let place = self.source.place(offset);
        Err(self.failed(Error::new(kind, offset, place, excerpt)))
    }

    fn failed(&mut self, error: Error) -> Error {
        self.expect = Expect::Failed;
        self.failure = Some(error.clone());
        error
    }

    /// The error that ended this record.
    #[cold]
    fn failure<T>(&mut self) -> Result<T> {
        match &self.failure {
            Some(error) => Err(error.clone()),
            None => self.fail(Syntax::ExpectedValue, self.at),
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
