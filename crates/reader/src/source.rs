//! The bytes a cursor sees: a window that grows forward, over a slice or over a stream.
//!
//! Whatever is behind it, a source shows one contiguous piece of the input, and nothing beyond the
//! end of the current record where the framing has a delimiter. A cursor that reaches the end of
//! the piece asks for more.

use std::io::Read;

use crate::config::Config;
use crate::error::{Excerpt, Place, Result};
use crate::input::View;
use crate::meter::{CharMeter, Meter};
use crate::span::Span;
use crate::stream::Stream;

/// Called as bytes pass: at least once a MiB of them (bytes that are gone over again after a
/// [rewind](crate::Cursor::rewind) count again), once a read on a stream, and at the end of the
/// input. It is told the highest offset that was reached so far, which never decreases.
///
/// An error it returns ends the reading: every further move of the cursor returns it.
pub type Monitor<'a> = Box<dyn FnMut(u64) -> Result<()> + Send + 'a>;

/// Bytes shown at a time, and so half of what passes at most without a call of the monitor.
const STEP: usize = 512 << 10;

/// Bytes behind the cursor whose pages are kept, and pages are given back by so many bytes at
/// least.
const BEHIND: u64 = 1 << 20;

pub(crate) struct Source<'a> {
    storage: Storage<'a>,
    /// Absolute offset of the first byte of the window.
    base: u64,
    /// Bytes of the window that are shown.
    shown: usize,
    /// The byte that ends a record, if the framing has one.
    delimiter: Option<u8>,
    /// Whether nothing can be added to what is shown of this record.
    closed: bool,
    /// Pages before this offset were given back.
    given_back: u64,
    /// Absolute offset where the first line begins.
    origin: u64,
    meter: Meter,
    chars: Option<CharMeter>,
    monitor: Option<Monitor<'a>>,
    /// The offset that the monitor was told last.
    reached: u64,
    /// Bytes that passed since.
    passed: usize,
}

enum Storage<'a> {
    Slice(View<'a>),
    Stream(Stream<'a>),
}

/// What a cursor that asks for more has to say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Bytes from this offset on must stay.
    pub(crate) keep: u64,
    /// Offset of the next byte it looks at.
    pub(crate) at: u64,
    /// Whether it keeps them to come back to them, and not as part of a token.
    pub(crate) is_held: bool,
}

impl<'a> Source<'a> {
    pub(crate) fn slice(view: View<'a>) -> Self {
        Self::new(Storage::Slice(view), view.base())
    }

    pub(crate) fn stream(reader: Box<dyn Read + Send + 'a>, config: &Config) -> Self {
        Self::new(Storage::Stream(Stream::new(reader, config)), 0)
    }

    fn new(storage: Storage<'a>, base: u64) -> Self {
        Self {
            storage,
            base,
            shown: 0,
            delimiter: None,
            closed: false,
            given_back: base,
            origin: base,
            meter: Meter::new(base),
            chars: None,
            monitor: None,
            reached: base,
            passed: 0,
        }
    }

    pub(crate) fn set_monitor(&mut self, monitor: Monitor<'a>) {
        self.monitor = Some(monitor);
    }

    pub(crate) fn set_delimiter(&mut self, delimiter: Option<u8>) {
        self.delimiter = delimiter;
    }

    pub(crate) fn count_chars_from(&mut self, offset: u64, count: fn(&[u8]) -> u64) {
        self.chars = Some(CharMeter::new(offset, count));
    }

    /// Makes the first line begin behind a byte order mark of so many bytes.
    pub(crate) fn pass_mark(&mut self, length: usize) {
        self.origin = self.base + length as u64;
        self.meter = Meter::new(self.origin);
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// What is shown of the current record.
    #[inline]
    pub(crate) fn window(&self) -> &[u8] {
        &self.loaded()[..self.shown]
    }

    /// All bytes that are there, shown or not.
    #[inline]
    pub(crate) fn loaded(&self) -> &[u8] {
        match &self.storage {
            Storage::Slice(view) => view.bytes(),
            Storage::Stream(stream) => stream.bytes(),
        }
    }

    /// The bytes that are there, and the file behind them, if there is one.
    pub(crate) fn readable(&self) -> View<'_> {
        match &self.storage {
            Storage::Slice(view) => *view,
            Storage::Stream(stream) => stream.view(self.base),
        }
    }

    /// The whole slice, when the source is one.
    pub(crate) fn view(&self) -> Option<View<'a>> {
        match &self.storage {
            Storage::Slice(view) => Some(*view),
            Storage::Stream(_) => None,
        }
    }

    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.storage, Storage::Stream(_))
    }

    /// Shows a new record that begins at index `at`.
    pub(crate) fn start_record(&mut self, at: usize) {
        self.shown = at;
        self.closed = false;
    }

    /// Whether the record shown ended at the delimiter, which stands behind the window.
    pub(crate) fn at_delimiter(&self) -> bool {
        self.closed && self.delimiter.is_some() && self.loaded().get(self.shown).copied() == self.delimiter
    }

    /// Goes back from index `from` to index `to`, or forward again to where the cursor was before.
    /// What is between is work done twice, of which the monitor hears. Returns `true` if nothing
    /// from there on is shown any more, until more is asked for.
    pub(crate) fn rewind(&mut self, from: usize, to: usize) -> bool {
        self.passed += from.saturating_sub(to);
        self.given_back = self.given_back.min(self.base + to as u64);
        // What is not shown now was shown before: the cursor was there.
        let hides = self.passed >= STEP || to > self.shown || self.shown - to > STEP;
        if hides {
            self.shown = to;
            self.closed = false;
        }
        hides
    }

    /// The offset up to which the monitor was told of bytes.
    pub(crate) fn told(&self) -> u64 {
        self.reached
    }

    /// Goes on at index `at` of a slice, all before it having been looked at by others.
    pub(crate) fn go_on_at(&mut self, at: usize) {
        self.start_record(at);
        self.given_back = self.base + at as u64;
        self.reached = self.given_back;
        self.passed = 0;
    }

    /// Shows more of the record. Returns by how much what was shown before moved towards the
    /// window's start, and whether more is shown now; `false` at the record's end.
    pub(crate) fn grow(&mut self, needs: Needs) -> (usize, Result<bool>) {
        let base = self.base;
        let more = self.show_more(needs);
        ((self.base - base) as usize, more)
    }

    fn show_more(&mut self, needs: Needs) -> Result<bool> {
        loop {
            if self.closed {
                return Ok(false);
            }
            if self.shown < self.loaded().len() {
                let more = self.show();
                self.give_back(needs.at);
                if self.passed >= STEP {
                    self.tell()?;
                }
                return Ok(more);
            }
            if !self.load(needs)? {
                self.closed = true;
            }
            self.tell()?;
        }
    }

    /// Shows what is loaded, up to the delimiter and at most a step.
    fn show(&mut self) -> bool {
        let loaded = self.loaded();
        let end = loaded.len().min(self.shown + STEP);
        let fresh = &loaded[self.shown..end];
        let found = self.delimiter.and_then(|delimiter| memchr::memchr(delimiter, fresh));
        let end = found.map_or(end, |at| self.shown + at);
        let fresh = end - self.shown;
        self.closed = found.is_some();
        self.shown = end;
        self.passed += fresh;
        fresh > 0
    }

    /// Gives back the memory of the pages far behind offset `at`.
    fn give_back(&mut self, at: u64) {
        let behind = at.saturating_sub(BEHIND);
        if behind < self.given_back + BEHIND {
            return;
        }
        if let (Some(chars), Storage::Slice(view)) = (&mut self.chars, &self.storage) {
            // While the bytes are in memory.
            chars.pass(view.bytes(), self.base, behind);
        }
        self.forget(Span::new(self.given_back, behind));
        self.given_back = behind;
    }

    /// Gives back the memory of a span, which stays readable.
    pub(crate) fn forget(&self, span: Span) {
        self.readable().release(span);
    }

    /// Tells the monitor how far we are.
    fn tell(&mut self) -> Result<()> {
        self.passed = 0;
        self.reached = self.reached.max(self.base + self.shown as u64);
        let reached = self.reached;
        self.monitor.as_mut().map_or(Ok(()), |monitor| monitor(reached))
    }

    /// Reads once into the window, making room first. `false` when nothing came.
    fn load(&mut self, needs: Needs) -> Result<bool> {
        let Storage::Stream(stream) = &mut self.storage else { return Ok(false) };
        if stream.has_ended() {
            return Ok(false);
        }
        // What an error shows of the bytes before it stays as well.
        let keep = (needs.keep - self.base) as usize;
        let count = stream.droppable(keep.saturating_sub(Excerpt::SIDE));
        if count > 0 {
            let dropped = self.base + count as u64;
            let mut passed = self.base;
            while passed < dropped {
                // In parts, so that what lies in a temporary file is not in memory all at once.
                let part = Span::new(passed, dropped.min(passed + BEHIND));
                self.meter.pass(stream.bytes(), self.base, part.end);
                if let Some(chars) = &mut self.chars {
                    chars.pass(stream.bytes(), self.base, part.end);
                }
                stream.view(self.base).release(part);
                passed = part.end;
            }
            stream.drop_front(count);
            self.base = dropped;
            self.shown -= count;
        }
        stream.make_room(needs.is_held, self.base)?;
        stream.fill(self.base + stream.bytes().len() as u64)
    }

    /// Line and column of an offset at or after the window's start.
    pub(crate) fn place(&mut self, offset: u64) -> Option<Place> {
        let (base, mut meter) = (self.base, self.meter);
        if offset < meter.offset() {
            if self.is_stream() {
                return None;
            }
            meter = Meter::new(self.origin);
        }
        // In parts, so that a file is not in memory all at once.
        while meter.offset() < offset {
            let part = Span::new(meter.offset(), offset.min(meter.offset() + BEHIND));
            meter.pass(self.loaded(), base, part.end);
            self.forget(part);
            if meter.offset() < part.end {
                break;
            }
        }
        if !self.is_stream() {
            // The next error of this slice is further on: go on from here.
            self.meter = meter;
        }
        Some(meter.place())
    }

    /// Takes it that there are so many characters from offset `from` to offset `to`.
    pub(crate) fn pass_chars(&mut self, from: u64, to: u64, chars: u64) {
        if let Some(mut meter) = self.chars.take() {
            meter.pass(self.loaded(), self.base, from);
            meter.jump(Span::new(from, to), chars);
            self.chars = Some(meter);
        }
    }

    /// Unicode scalar values between the place where counting began and `offset`.
    pub(crate) fn chars_before(&mut self, offset: u64) -> u64 {
        let Some(mut chars) = self.chars.take() else { return 0 };
        let count = chars.chars_before(self.loaded(), self.base, offset);
        self.chars = Some(chars);
        count
    }
}
