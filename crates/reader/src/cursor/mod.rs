//! The cursor: pull events, and moves that cost masks instead of tokens.
//!
//! The cursor is a small state machine: the token that may come next ([`Expect`]), the open
//! containers (a bit each), and three indices into the window of its source. [`walk`] moves it by
//! the grammar, [`quick`] reads common tokens, and [`ahead`] reads many tokens at once. [`skip`],
//! [`seek`], and [`trail`] move it by masks, [`token`] reads single tokens, [`pieces`] reads
//! strings without holding them, and [`records`] moves from one document to the next. This module
//! has the common parts: the edge of the window, holds, and errors. [`apart`] creates cursors that
//! start inside a document, and [`guided`] passes bytes that were read before.

mod ahead;
mod apart;
mod buffer;
mod guided;
mod named;
mod pieces;
mod quick;
mod records;
mod seek;
mod shared;
mod skip;
mod token;
mod trail;
mod walk;

use std::io::{self, Read};

use trommel_scan::{Foreign, Kernels, MAX_PASSED, Stack, Text, TextLength};

use buffer::TokenBuffer;

use crate::config::{Config, Limits, Validation};
use crate::error::{Error, ErrorKind, Excerpt, LineColumn, Result, Syntax};
use crate::event::{Kind, Payload, Scalar};
use crate::framing::Framing;
use crate::guide::Guide;
use crate::input::{Input, View};
use crate::number::Number;
use crate::source::{Monitor, Needs, Source};
use crate::span::Span;

pub use apart::{Between, ElementFinder};
pub use pieces::TextPieces;
pub use shared::{LongSkip, SkipHelper, SkippedStretch, StretchReader};
pub use trail::TrailStep;

/// A position in the input, which moves forward: over a slice, or over a stream through a window.
///
/// [`advance`](Self::advance) yields one event after the other. Callers that need less use moves:
/// [`next_member`](Self::next_member) and [`next_element`](Self::next_element) walk a container,
/// [`begin_value`](Self::begin_value) enters a value, [`skip_value`](Self::skip_value) and
/// [`leave`](Self::leave) skip the rest. Both can be mixed: the effect of a move depends only on
/// the cursor's position.
///
/// | position | `advance` | `begin_value`, `skip_value` | `next_member`, `next_element` | `leave` |
/// | --- | --- | --- | --- | --- |
/// | before a value | enters it | enters it, skips it | skip it, then as below | ends the container around it |
/// | in an object, between members | the next name, or its end | | the next name, or its end | ends the object |
/// | in an array, between elements | the next element, or its end | | before the next element, or its end | ends the array |
/// | after the record's value | `None`, after a check of the following bytes | | | nothing |
///
/// Empty fields are moves that are not possible there: such a move fails, and the error ends the
/// record. A new cursor is before its first record's value, so calling
/// [`next_record`](Self::next_record) first is optional. An error is final for its record: every
/// further move returns it, until [`next_record`](Self::next_record) finds a later record, if the
/// framing allows that.
///
/// A cursor takes constant memory beyond the window: one bit per level of nesting, and nothing per
/// token.
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
    /// Index of the current token's start; bytes before it may be dropped.
    start: usize,
    /// Index of the current token's end.
    end: usize,
    /// Index of the first byte in the current string that has not been checked for UTF-8.
    unchecked: usize,
    token: Token,
    long: Long,
    ahead: TokenBuffer,
    /// The start offset of each hold, innermost last. Bytes from there on must stay readable.
    holds: Vec<u64>,
    record: Option<u64>,
    record_start: u64,
    failure: Option<Error>,
    helper: Option<&'a dyn SkipHelper>,
    guide: Option<&'a dyn Guide>,
    /// The offset before which the guide is known to have no answer.
    guide_from: u64,
}

/// The smallest `Limits::token_bytes` with which a move by masks may deal with values and names
/// without reading their tokens.
const MIN_TOKEN_LIMIT: u64 = MAX_PASSED as u64;

/// The next expected token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// The first record.
    Start,
    /// A value.
    Value,
    /// The start of a container's content.
    First,
    /// The position after a value in a container.
    Next,
    /// The end of the record's value.
    End,
    /// No further record.
    Done,
    /// An error was returned.
    Failed,
}

/// The kind of the current token. `escaped` is false if a string is known to have no escapes.
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

/// A string that is too long to be held, and its skipped part.
#[derive(Debug, Default)]
struct Long {
    /// Absolute offset of its opening quote.
    offset: u64,
    whole: TextLength,
    prefix: Vec<u8>,
}

/// A position to return to: from [`Cursor::hold`], for [`Cursor::rewind`].
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

    /// A cursor over borrowed bytes with a framing. Its offsets are those of the input that
    /// contains the view; a byte order mark is skipped only at the start of the input.
    pub fn from_view(view: View<'a>, framing: Framing, config: &Config) -> Self {
        Self::with_source(Source::slice(view), framing, config)
    }

    /// A cursor over any reader, in a window of fixed size: compressed data, standard input, a
    /// socket. It reads only when the next move needs bytes, and never again after the reader has
    /// reported its end. Interrupted reads are repeated; any other failure ends the reading.
    pub fn from_reader(reader: impl Read + Send + 'a, framing: Framing, config: &Config) -> Self {
        Self::with_source(Source::stream(Box::new(reader), 0, config), framing, config)
    }

    /// A cursor over an input: over a view of it if possible, else over a stream.
    pub fn from_input(input: &'a Input<'_>, framing: Framing, config: &Config) -> Self {
        match input.view() {
            Some(view) => Self::from_view(view, framing, config),
            None => Self::with_source(Source::input(input, config), framing, config),
        }
    }

    fn with_source(mut source: Source<'a>, framing: Framing, config: &Config) -> Self {
        source.set_delimiter(framing.delimiter());
        source.set_window(config.window);
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
            helper: None,
            guide: None,
            guide_from: 0,
        }
    }

    /// Calls `monitor` while bytes pass, at least once per MiB, with the current offset. An error
    /// that it returns ends the reading. Use this for cancellation and progress.
    #[must_use]
    pub fn monitored(mut self, monitor: Monitor<'a>) -> Self {
        self.source.set_monitor(monitor);
        self
    }

    /// The framing; `Auto` until a text sequence is recognized.
    pub fn framing(&self) -> Framing {
        self.framing
    }

    /// The checks of skipped bytes.
    pub fn validation(&self) -> Validation {
        self.validation
    }

    /// The number of containers open around the current position; 0 outside all, 1 inside the
    /// outermost.
    pub fn depth(&self) -> u32 {
        self.stack.depth()
    }

    /// The kind of the open container at this depth, the outermost one having depth 1; `None` if
    /// fewer are open.
    pub fn kind_at(&self, depth: u32) -> Option<Kind> {
        let object = self.stack.object_at(depth)?;
        Some(if object { Kind::Object } else { Kind::Array })
    }

    /// Absolute offset of the next byte to read; after the current token, before any white space.
    pub fn offset(&self) -> u64 {
        self.absolute(self.at)
    }

    /// Index of the current record, from 0, including malformed records.
    pub fn record(&self) -> u64 {
        self.record.unwrap_or(0)
    }

    /// Absolute offset of the current record's value.
    pub fn record_start(&self) -> u64 {
        self.record_start
    }

    /// True if the record's value was read to its end, or no further record follows. False for a
    /// single document that was left early.
    pub fn is_at_end(&self) -> bool {
        matches!(self.expect, Expect::End | Expect::Done)
    }

    /// The span of the current token: a name or string with its quotes, a number, a literal, or a
    /// bracket. After a skip, an empty span at its end.
    pub fn span(&self) -> Span {
        let start = match self.token {
            Token::LongString { .. } => self.long.offset,
            _ => self.absolute(self.start),
        };
        Span::new(start, self.absolute(self.end))
    }

    /// The text or value of the current event. Costs nothing; text is decoded on request.
    pub fn payload(&self) -> Payload<'_> {
        match self.token {
            Token::None => Payload::None,
            Token::Name { escaped } => Payload::Name(self.text(escaped)),
            Token::String { escaped } => Payload::Scalar(Scalar::String(self.text(escaped))),
            Token::LongString { escaped } => {
                let text = Text::cut(&self.long.prefix, escaped, self.long.whole);
                Payload::Scalar(Scalar::String(text))
            }
            Token::Number => {
                let lexeme = &self.source.loaded()[self.start..self.end];
                Payload::Scalar(Scalar::Number(Number::valid(lexeme)))
            }
            Token::Bool(value) => Payload::Scalar(Scalar::Bool(value)),
            Token::Null => Payload::Scalar(Scalar::Null),
        }
    }

    /// The current name, if the last move or event was one. It is available until the cursor moves
    /// past it.
    #[inline]
    pub fn name(&self) -> Option<Text<'_>> {
        match self.token {
            Token::Name { escaped } => Some(self.text(escaped)),
            _ => None,
        }
    }

    /// The text between the current token's quotes.
    #[inline]
    fn text(&self, escaped: bool) -> Text<'_> {
        let raw = &self.source.loaded()[self.start + 1..self.end - 1];
        if escaped { Text::valid(raw) } else { Text::from_raw(raw, false) }
    }

    /// The bytes of a span if all of them are readable: always on a slice, and while they are held
    /// on a stream.
    pub fn bytes(&self, span: Span) -> Option<&[u8]> {
        self.source.readable().get(span)
    }

    /// The bytes of a span as a view, whose memory can be [released](View::release) while it is
    /// read.
    pub fn part(&self, span: Span) -> Option<View<'_>> {
        self.source.readable().narrow(span)
    }

    /// Releases the memory of a span that was read and can be read again: of a mapped file, or of
    /// held bytes in a temporary file.
    pub fn forget(&self, span: Span) {
        self.source.forget(span);
    }

    /// The whole input, if it is in memory or mapped: its bytes outlive the cursor.
    pub fn view(&self) -> Option<View<'a>> {
        self.source.view()
    }

    /// True if the cursor drops bytes that it has passed, unless they are held.
    pub fn is_stream(&self) -> bool {
        self.source.is_stream()
    }

    /// Holds the bytes from the start of the current token: they stay readable until
    /// [`release`](Self::release). Returns the position to [`rewind`](Self::rewind) to.
    ///
    /// Holds nest, and end with the record. They are free on a slice. On a stream, held bytes stay
    /// in memory up to [`Limits::held_bytes`]; more go to an unlinked temporary file, up to
    /// [`Limits::spool_bytes`]. During a hold no string is [cut](Text::is_cut).
    pub fn hold(&mut self) -> Mark {
        let mark = self.mark();
        self.holds.push(mark.start);
        mark
    }

    /// The current position, to [`rewind`](Self::rewind) to while a hold is active that started at
    /// or before it. The cost is negligible.
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

    /// The number of active holds.
    pub fn holds(&self) -> usize {
        self.holds.len()
    }

    /// Ends the innermost holds, until at most `holds` are active.
    pub fn release_to(&mut self, holds: usize) {
        self.holds.truncate(holds);
    }

    /// Returns to a mark whose hold has not been released. The token at the mark is the current one
    /// again, and the tokens after it can be read again.
    ///
    /// A mark is valid until its record is left, or until the container around it is left and
    /// another one is entered at that depth. Going back does not undo an error. On a stream, a mark
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
            // The buffered tokens are no longer in the window.
            self.ahead.forget();
        }
        self.at = at;
        self.start = (mark.start - base) as usize;
        // The end of a token before the mark may be gone.
        self.end = mark.end.saturating_sub(base) as usize;
        self.token = mark.token;
        self.expect = mark.expect;
        // The stack still has the kinds of these levels: a mark becomes invalid when another
        // container overwrites one of them.
        self.stack.set_depth(mark.depth);
        // The next move starts the first record again, and would count it twice.
        if mark.expect == Expect::Start {
            self.record = None;
        }
    }

    /// Starts counting characters at the current position, for [`chars`](Self::chars). Assumes that
    /// the bytes are UTF-8.
    pub fn count_chars(&mut self) {
        // Characters are counted in every byte.
        self.drop_guide();
        let offset = self.offset();
        self.source.count_chars_from(offset, self.kernels.chars);
    }

    /// The number of Unicode scalar values between the start of counting and `offset`, whose bytes
    /// must be readable. Linear in the bytes since the last call, or the distance back.
    pub fn chars(&mut self, offset: u64) -> u64 {
        self.source.chars_before(offset)
    }

    /// Line and column of an offset that is still readable. Linear in the bytes since the last
    /// call, or since the start of the window.
    pub fn line_column(&mut self, offset: u64) -> Option<LineColumn> {
        self.source.line_column(offset)
    }

    #[inline]
    fn absolute(&self, index: usize) -> u64 {
        self.source.base() + index as u64
    }

    /// Reads more of the record. Returns false at its end.
    #[cold]
    fn more(&mut self) -> Result<bool> {
        let start = self.absolute(self.start.min(self.at));
        // Marks are only valid during a hold, so no hold starts before the outermost one.
        let keep = self.holds.first().map_or(start, |&held| held.min(start));
        let needs = Needs { keep, at: self.absolute(self.at), is_held: !self.holds.is_empty() };
        let (shift, more) = self.source.grow(needs);
        self.at -= shift;
        self.start -= shift;
        // The end may belong to a token that has passed.
        self.end = self.end.saturating_sub(shift);
        self.unchecked = self.unchecked.saturating_sub(shift);
        more.map_err(|error| self.failed(error))
    }

    /// Makes `count` bytes from the current position visible. Returns false if the record has
    /// fewer.
    fn want(&mut self, count: usize) -> Result<bool> {
        while self.source.window().len() < self.at + count {
            if !self.more()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Fails at the byte at an index of the window, or at the end of the record.
    #[cold]
    fn fail<T>(&mut self, syntax: Syntax, index: usize) -> Result<T> {
        self.refuse(ErrorKind::Syntax(syntax), index)
    }

    /// Fails at an index of the window.
    #[cold]
    fn refuse<T>(&mut self, kind: ErrorKind, index: usize) -> Result<T> {
        let offset = self.absolute(index);
        let foreign = match (offset, &kind) {
            (0, ErrorKind::Syntax(_)) => self.foreign().or_else(|| self.foreign_text()),
            // YAML may begin with `---`, whose second byte is the error.
            (1, ErrorKind::Syntax(_)) => self.foreign_text(),
            _ => None,
        };
        let excerpt = Excerpt::around(self.source.loaded(), index);
        let position = self.source.line_column(offset);
        let error = Error::new(kind, offset, position, excerpt);
        Err(self.failed(match foreign {
            Some(foreign) => error.of_foreign(foreign),
            None => error,
        }))
    }

    /// The format of an input that is malformed at its first byte. Reads a few more bytes if they
    /// can decide it.
    #[cold]
    fn foreign(&mut self) -> Option<Foreign> {
        let needed = Foreign::needed(self.source.window().first().copied()?);
        let found = Foreign::of(self.start(needed));
        // The name at the start of a tar archive is padded with zeros. Other inputs must not wait
        // for a whole header.
        if found.is_none() && self.first_line(Foreign::TAR_NAME_BYTES).contains(&0) {
            return Foreign::of(self.start(Foreign::TAR_BYTES));
        }
        found
    }

    /// The text format of an input that is malformed at its start.
    #[cold]
    fn foreign_text(&mut self) -> Option<Foreign> {
        Foreign::of_text(self.first_line(Foreign::TEXT_BYTES))
    }

    /// Returns the first bytes of the window, or all of the record if it has fewer. Reads them
    /// first, so that they do not depend on the sizes in which bytes arrive.
    fn start(&mut self, count: usize) -> &[u8] {
        // An error of the reader must not replace the syntax error, which comes first.
        while self.source.window().len() < count && self.more().unwrap_or(false) {}
        let window = self.source.window();
        window.get(..count).unwrap_or(window)
    }

    /// Returns the first line of the window, or its first bytes if it is longer.
    fn first_line(&mut self, at_most: usize) -> &[u8] {
        let end = |window: &[u8]| window.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        loop {
            let length = self.source.window().len();
            let start = self.start(at_most.min(length));
            let is_complete = end(start).is_some() || length >= at_most;
            if is_complete || !self.more().unwrap_or(false) {
                let start = self.start(at_most.min(length));
                return end(start).and_then(|end| start.get(..end)).unwrap_or(start);
            }
        }
    }

    fn failed(&mut self, error: Error) -> Error {
        self.expect = Expect::Failed;
        // `advance` returns buffered tokens before it checks for an error.
        self.ahead.forget();
        self.failure = Some(error.clone());
        error
    }

    /// Returns the error that ended this record; without one, the error of a move that is not
    /// possible here.
    #[cold]
    fn failure<T>(&mut self) -> Result<T> {
        let misuse = || {
            io::Error::new(io::ErrorKind::InvalidInput, "this move is not possible at the cursor's position")
        };
        match &self.failure {
            Some(error) => Err(error.clone()),
            None => Err(self.failed(Error::io(misuse(), self.offset()))),
        }
    }
}

/// The kind of the value that starts with `byte`.
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
