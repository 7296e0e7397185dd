//! The bytes that a cursor sees: a window that grows forward, over a slice or a stream.
//!
//! A source shows one contiguous part of the input, and nothing after the end of the current record
//! if the framing has a delimiter. A cursor that reaches the end of the window requests more.

use std::io::Read;

use crate::config::Config;
use crate::error::{Excerpt, LineColumn, Result};
use crate::input::{Input, View};
use crate::meter::{CharCounter, LineCounter};
use crate::span::Span;
use crate::stream::Stream;

/// Called while bytes pass: at least once per MiB (bytes that are read again after a
/// [rewind](crate::Cursor::rewind) count again), once per read on a stream, and at the end of the
/// input. The argument is the highest offset so far, which never decreases.
///
/// An error that it returns ends the reading: every further move of the cursor returns it.
pub type Monitor<'a> = Box<dyn FnMut(u64) -> Result<()> + Send + 'a>;

/// Returns a reader of the same input from an offset.
type Restart<'a> = Box<dyn Fn(u64) -> Box<dyn Read + Send + 'a> + Send + 'a>;

/// Bytes that are shown at a time. At most twice as many pass without a call of the monitor.
const STEP: usize = 512 << 10;

/// The same if more may turn out to be needless.
const SMALL_STEP: usize = 32 << 10;

/// Bytes that are shown beyond an offset at which a guide is asked.
const BEYOND: usize = 128;

/// Bytes before the cursor whose pages are kept. Pages are released in steps of at least this size.
const KEEP: u64 = 2 << 20;

pub(crate) struct Source<'a> {
    storage: Storage<'a>,
    /// Absolute offset of the first byte of the window.
    base: u64,
    /// The number of bytes of the window that are shown.
    shown: usize,
    /// The byte that ends a record, if the framing has one.
    delimiter: Option<u8>,
    /// True if no bytes can be added to the shown part of this record.
    closed: bool,
    /// Pages before this offset have been released.
    released: u64,
    /// Absolute offset of the first line.
    origin: u64,
    meter: LineCounter,
    chars: Option<CharCounter>,
    monitor: Option<Monitor<'a>>,
    /// The offset of the last call of the monitor.
    reached: u64,
    /// Bytes that have passed since.
    passed: usize,
    step: usize,
    /// The same if more may turn out to be needless.
    small_step: usize,
    /// Reads a stream from an offset, if it can.
    restart: Option<Restart<'a>>,
    /// True if the number of lines before the window is unknown.
    has_passed_lines: bool,
}

enum Storage<'a> {
    Slice(View<'a>),
    Stream(Stream<'a>),
}

/// The needs of a cursor that requests more bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Needs {
    /// Bytes from this offset must stay.
    pub(crate) keep: u64,
    /// Offset of the next byte to read.
    pub(crate) at: u64,
    /// True if the bytes are held to return to them, and not as part of a token.
    pub(crate) is_held: bool,
}

impl<'a> Source<'a> {
    pub(crate) fn slice(view: View<'a>) -> Self {
        Self::new(Storage::Slice(view), view.base())
    }

    /// A stream whose first byte is at offset `base` of its input.
    pub(crate) fn stream(reader: Box<dyn Read + Send + 'a>, base: u64, config: &Config) -> Self {
        Self::new(Storage::Stream(Stream::new(reader, config)), base)
    }

    /// The bytes of an input that is read through a window.
    pub(crate) fn input(input: &'a Input<'_>, config: &Config) -> Self {
        let restart: Restart<'a> = Box::new(move |offset| input.reader_from(offset));
        Self { restart: Some(restart), ..Self::stream(input.reader(), input.start(), config) }
    }

    fn new(storage: Storage<'a>, base: u64) -> Self {
        Self {
            storage,
            base,
            shown: 0,
            delimiter: None,
            closed: false,
            released: base,
            origin: base,
            meter: LineCounter::new(base),
            chars: None,
            monitor: None,
            reached: base,
            passed: 0,
            step: STEP,
            small_step: SMALL_STEP,
            restart: None,
            has_passed_lines: false,
        }
    }

    /// Shows few bytes at a time: more may turn out to be needless.
    pub(crate) fn show_little(&mut self) {
        self.step = self.small_step;
    }

    /// Shows many bytes at a time.
    pub(crate) fn show_much(&mut self) {
        self.step = STEP;
    }

    /// Shows twice as many bytes at a time.
    pub(crate) fn show_more_at_once(&mut self) {
        self.step = STEP.min(2 * self.step);
    }

    /// Shows few bytes at a time, the next ones just beyond an offset.
    pub(crate) fn show_until(&mut self, offset: u64) {
        let needed = offset.saturating_sub(self.base + self.shown as u64) as usize;
        self.step = (needed + BEYOND).min(self.small_step);
    }

    /// Bytes that are shown at a time.
    pub(crate) fn step(&self) -> usize {
        self.step
    }

    /// Shows at most a window at a time, where it shows few bytes.
    pub(crate) fn set_window(&mut self, bytes: usize) {
        self.small_step = bytes.clamp(1, SMALL_STEP);
    }

    /// True if a stream can continue at another offset.
    pub(crate) fn can_restart(&self) -> bool {
        self.restart.is_some()
    }

    /// Continues a stream at a later offset, or back at one that it has dropped since. Shows the
    /// bytes from there on: at first `count` bytes, among which no record ends. Returns false if
    /// there are fewer.
    pub(crate) fn restart(&mut self, offset: u64, count: usize) -> Result<bool> {
        if let (Storage::Stream(stream), Some(restart)) = (&mut self.storage, &self.restart) {
            stream.restart(restart(offset));
            self.base = offset;
            self.start_record(0);
            (self.meter, self.has_passed_lines) = (LineCounter::new(offset), true);
            self.show_little();
        }
        let needs = Needs { keep: offset, at: offset, is_held: false };
        while self.loaded().len() < count {
            if !self.load(needs)? {
                return Ok(false);
            }
        }
        self.start_record(count);
        Ok(true)
    }

    /// Continues a slice at index `to`, without the bytes from index `from` on.
    pub(crate) fn pass_to(&mut self, from: usize, to: usize) {
        self.forget(Span::new(self.released, self.base + from as u64));
        let reached = self.reached;
        self.resume_at(to);
        // The monitor is called with the next bytes.
        self.reached = reached;
        self.show_little();
    }

    pub(crate) fn set_monitor(&mut self, monitor: Monitor<'a>) {
        self.monitor = Some(monitor);
    }

    pub(crate) fn take_monitor(&mut self) -> Option<Monitor<'a>> {
        self.monitor.take()
    }

    pub(crate) fn put_monitor(&mut self, monitor: Option<Monitor<'a>>) {
        self.monitor = monitor;
    }

    pub(crate) fn counts_chars(&self) -> bool {
        self.chars.is_some()
    }

    pub(crate) fn set_delimiter(&mut self, delimiter: Option<u8>) {
        self.delimiter = delimiter;
    }

    pub(crate) fn count_chars_from(&mut self, offset: u64, count: fn(&[u8]) -> u64) {
        self.chars = Some(CharCounter::new(offset, count));
    }

    /// Starts the first line after a byte order mark of this length.
    pub(crate) fn skip_mark(&mut self, length: usize) {
        self.origin = self.base + length as u64;
        self.meter = LineCounter::new(self.origin);
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// The shown part of the current record.
    #[inline]
    pub(crate) fn window(&self) -> &[u8] {
        &self.loaded()[..self.shown]
    }

    /// The loaded bytes up to a step after an index, shown or not.
    pub(crate) fn next_loaded(&self, at: usize) -> &[u8] {
        let loaded = self.loaded();
        loaded.get(..at + STEP).unwrap_or(loaded)
    }

    /// Ends the record at the delimiter at index `end`. Records before it were read.
    pub(crate) fn pass_lines(&mut self, end: usize) {
        self.passed += end.saturating_sub(self.shown);
        (self.shown, self.closed) = (end, true);
        self.release_pages(self.base + end as u64);
    }

    /// All loaded bytes, shown or not.
    #[inline]
    pub(crate) fn loaded(&self) -> &[u8] {
        match &self.storage {
            Storage::Slice(view) => view.bytes(),
            Storage::Stream(stream) => stream.bytes(),
        }
    }

    /// The loaded bytes, with their file if there is one.
    pub(crate) fn readable(&self) -> View<'_> {
        match &self.storage {
            Storage::Slice(view) => *view,
            Storage::Stream(stream) => stream.view(self.base),
        }
    }

    /// The whole slice, if the source is one.
    pub(crate) fn view(&self) -> Option<View<'a>> {
        match &self.storage {
            Storage::Slice(view) => Some(*view),
            Storage::Stream(_) => None,
        }
    }

    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.storage, Storage::Stream(_))
    }

    /// Starts a new record at index `at`.
    pub(crate) fn start_record(&mut self, at: usize) {
        self.shown = at;
        self.closed = false;
    }

    /// True if the current record ended at a delimiter, which is the byte after the window.
    pub(crate) fn at_delimiter(&self) -> bool {
        self.closed && self.delimiter.is_some() && self.loaded().get(self.shown).copied() == self.delimiter
    }

    /// Moves from index `from` back to index `to`, or forward again to an earlier position. Bytes
    /// between them count again for the monitor. Returns true if the bytes from `to` on are hidden
    /// until more is requested.
    pub(crate) fn rewind(&mut self, from: usize, to: usize) -> bool {
        self.passed += from.saturating_sub(to);
        // Pages that are read again must be released again.
        self.released = self.released.min(self.base + to as u64);
        // Only `grow` calls the monitor and releases pages, so a long stretch is hidden, to be
        // shown again in steps. `to` is after the shown part if an earlier rewind hid it; the
        // cursor has passed those bytes, so they contain no delimiter.
        let hides = self.passed >= STEP || to > self.shown || self.shown - to > STEP;
        if hides {
            self.shown = to;
            self.closed = false;
        }
        hides
    }

    /// The offset of the last call of the monitor.
    pub(crate) fn monitored_until(&self) -> u64 {
        self.reached
    }

    /// Continues at index `at` of a slice; other cursors have read the bytes before it.
    pub(crate) fn resume_at(&mut self, at: usize) {
        self.start_record(at);
        self.released = self.base + at as u64;
        self.reached = self.released;
        self.passed = 0;
    }

    /// Shows more of the record. Returns the distance by which the shown bytes moved towards the
    /// start of the window, and true if more is shown now; false at the end of the record.
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
                self.release_pages(needs.at);
                if self.passed >= STEP {
                    self.call_monitor()?;
                }
                return Ok(more);
            }
            if !self.load(needs)? {
                self.closed = true;
            }
            self.call_monitor()?;
        }
    }

    /// Shows loaded bytes, up to the delimiter and at most a step.
    fn show(&mut self) -> bool {
        let loaded = self.loaded();
        let end = loaded.len().min(self.shown + self.step);
        let fresh = &loaded[self.shown..end];
        let found = self.delimiter.and_then(|delimiter| memchr::memchr(delimiter, fresh));
        let end = found.map_or(end, |at| self.shown + at);
        let fresh = end - self.shown;
        self.closed = found.is_some();
        self.shown = end;
        self.passed += fresh;
        fresh > 0
    }

    /// Releases the pages far before offset `at`.
    fn release_pages(&mut self, at: u64) {
        let end = at.saturating_sub(KEEP);
        if end < self.released + KEEP {
            return;
        }
        if let (Some(chars), Storage::Slice(view)) = (&mut self.chars, &self.storage) {
            // Count the characters while the bytes are in memory.
            chars.advance(view.bytes(), self.base, end);
        }
        self.forget(Span::new(self.released, end));
        self.released = end;
    }

    /// Releases the memory of a span, which stays readable.
    pub(crate) fn forget(&self, span: Span) {
        self.readable().release(span);
    }

    /// Reports the progress to the monitor.
    fn call_monitor(&mut self) -> Result<()> {
        self.passed = 0;
        self.reached = self.reached.max(self.base + self.shown as u64);
        let reached = self.reached;
        self.monitor.as_mut().map_or(Ok(()), |monitor| monitor(reached))
    }

    /// Makes space and reads once into the window. Returns false if no bytes came.
    fn load(&mut self, needs: Needs) -> Result<bool> {
        let Storage::Stream(stream) = &mut self.storage else { return Ok(false) };
        if stream.has_ended() {
            return Ok(false);
        }
        // Bytes before an error are shown with it, so they stay as well.
        let keep = (needs.keep - self.base) as usize;
        let count = stream.droppable(keep.saturating_sub(Excerpt::SIDE));
        if count > 0 {
            let dropped = self.base + count as u64;
            let mut passed = self.base;
            while passed < dropped {
                // In parts, so that a temporary file is not in memory all at once.
                let part = Span::new(passed, dropped.min(passed + KEEP));
                self.meter.advance(stream.bytes(), self.base, part.end);
                if let Some(chars) = &mut self.chars {
                    chars.advance(stream.bytes(), self.base, part.end);
                }
                stream.view(self.base).release(part);
                passed = part.end;
            }
            stream.drop_front(count);
            self.base = dropped;
            self.shown -= count;
        }
        stream.reserve(needs.is_held, self.base)?;
        stream.fill(self.base + stream.bytes().len() as u64)
    }

    /// Line and column of an offset at or after the start of the window.
    pub(crate) fn line_column(&mut self, offset: u64) -> Option<LineColumn> {
        if self.has_passed_lines {
            return None;
        }
        let (base, mut meter) = (self.base, self.meter);
        if offset < meter.offset() {
            if self.is_stream() {
                return None;
            }
            meter = LineCounter::new(self.origin);
        }
        // In parts, so that a file is not in memory all at once.
        while meter.offset() < offset {
            let part = Span::new(meter.offset(), offset.min(meter.offset() + KEEP));
            meter.advance(self.loaded(), base, part.end);
            self.forget(part);
            // `offset` is after the loaded bytes.
            if meter.offset() < part.end {
                break;
            }
        }
        if !self.is_stream() {
            // The next error of this slice is at a later offset: continue from here.
            self.meter = meter;
        }
        Some(meter.line_column())
    }

    /// Adds the characters from offset `from` to offset `to`, which other cursors have counted.
    pub(crate) fn add_chars(&mut self, from: u64, to: u64, chars: u64) {
        if let Some(mut meter) = self.chars.take() {
            meter.advance(self.loaded(), self.base, from);
            meter.jump(Span::new(from, to), chars);
            self.chars = Some(meter);
        }
    }

    /// The number of Unicode scalar values between the start of counting and `offset`.
    pub(crate) fn chars_before(&mut self, offset: u64) -> u64 {
        let Some(mut chars) = self.chars.take() else { return 0 };
        let count = chars.chars_before(self.loaded(), self.base, offset);
        self.chars = Some(chars);
        count
    }
}
