//! The bytes a cursor sees: a window that grows forward, over a slice or over a stream.
//!
//! Whatever is behind it, a source shows one contiguous piece of the input, and nothing beyond the end of the current
//! record where the framing has a delimiter. A cursor that reaches the end of the piece asks for more.

use std::io::Read;

use crate::config::Config;
use crate::error::{Error, Place, Result};
use crate::input::View;
use crate::meter::{CharMeter, Meter};
use crate::spool::Spool;

/// Called as bytes pass, at least once in a [`CHECK`] of a slice and once a read of a stream, with the offset reached.
/// An error ends the reading.
pub type Monitor<'a> = Box<dyn FnMut(u64) -> Result<()> + Send + 'a>;

/// Bytes of a slice shown at a time; pages behind them are given back, and the monitor is called.
const CHECK: usize = 1 << 20;

/// Bytes behind the cursor whose pages are kept.
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
    released: u64,
    meter: Meter,
    chars: Option<CharMeter>,
    monitor: Option<Monitor<'a>>,
}

enum Storage<'a> {
    Slice(View<'a>),
    Stream(Stream<'a>),
}

struct Stream<'a> {
    reader: Box<dyn Read + Send + 'a>,
    held: Held,
    window: usize,
    held_limit: usize,
    spool_limit: u64,
    ended: bool,
}

enum Held {
    Heap { buffer: Vec<u8>, filled: usize },
    Spool(Spool),
}

/// What came of asking for more.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    /// Bytes by which what was shown before moved towards the window's start.
    pub(crate) shift: usize,
    /// Whether more is shown now.
    pub(crate) more: bool,
}

impl<'a> Source<'a> {
    pub(crate) fn slice(view: View<'a>) -> Self {
        Self::new(Storage::Slice(view), view.base())
    }

    pub(crate) fn stream(reader: Box<dyn Read + Send + 'a>, config: &Config) -> Self {
        let stream = Stream {
            reader,
            held: Held::Heap { buffer: vec![0; config.window], filled: 0 },
            window: config.window,
            held_limit: usize::try_from(config.limits.held_bytes).unwrap_or(usize::MAX).max(config.window),
            spool_limit: config.limits.spool_bytes,
            ended: false,
        };
        Self::new(Storage::Stream(stream), 0)
    }

    fn new(storage: Storage<'a>, base: u64) -> Self {
        let meter = Meter::new(base);
        Self {
            storage,
            base,
            shown: 0,
            delimiter: None,
            closed: false,
            released: base,
            meter,
            chars: None,
            monitor: None,
        }
    }

    pub(crate) fn set_monitor(&mut self, monitor: Monitor<'a>) {
        self.monitor = Some(monitor);
    }

    pub(crate) fn set_delimiter(&mut self, delimiter: Option<u8>) {
        self.delimiter = delimiter;
    }

    pub(crate) fn count_chars_from(&mut self, offset: u64) {
        self.chars = Some(CharMeter::new(offset));
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    /// What is shown of the current record.
    #[inline]
    pub(crate) fn window(&self) -> &[u8] {
        self.loaded().get(..self.shown).unwrap_or_default()
    }

    /// All bytes that are there, shown or not.
    #[inline]
    pub(crate) fn loaded(&self) -> &[u8] {
        match &self.storage {
            Storage::Slice(view) => view.bytes(),
            Storage::Stream(stream) => stream.held.bytes(),
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

    /// Gives back the memory of a span, which stays readable.
    pub(crate) fn forget(&self, span: crate::Span) {
        match &self.storage {
            Storage::Slice(view) => view.release(span),
            Storage::Stream(Stream { held: Held::Spool(spool), .. }) => {
                spool.release(span.start.saturating_sub(self.base), span.end.saturating_sub(self.base));
            }
            Storage::Stream(_) => {}
        }
    }

    /// Shows a new record that begins at index `at`.
    pub(crate) fn start_record(&mut self, at: usize) {
        if self.delimiter.is_some() {
            self.shown = at;
            self.closed = false;
        }
    }

    /// Whether the record shown ended at the delimiter, which stands behind the window.
    pub(crate) fn at_delimiter(&self) -> bool {
        self.closed && self.loaded().get(self.shown).copied() == self.delimiter && self.delimiter.is_some()
    }

    /// Shows more of the record. Bytes before offset `keep` need not stay; `at` is where the cursor is.
    pub(crate) fn grow(&mut self, keep: u64, at: u64) -> Result<Growth> {
        let mut shift = 0;
        loop {
            if self.closed {
                return Ok(Growth { shift, more: false });
            }
            if self.shown < self.loaded().len() {
                let more = self.show();
                self.passed(keep.min(at))?;
                return Ok(Growth { shift, more });
            }
            let (moved, more) = self.load(keep, at)?;
            shift += moved;
            if !more {
                self.closed = true;
                self.passed(keep.min(at))?;
            }
        }
    }

    /// Shows what is loaded, up to the delimiter and at most a step.
    fn show(&mut self) -> bool {
        let loaded = self.loaded();
        let end = loaded.len().min(self.shown + CHECK);
        let fresh = loaded.get(self.shown..end).unwrap_or_default();
        let found = self.delimiter.and_then(|delimiter| memchr::memchr(delimiter, fresh));
        let end = found.map_or(end, |at| self.shown + at);
        let more = end > self.shown;
        self.closed = found.is_some();
        self.shown = end;
        more
    }

    /// Tells the monitor how far we are, and gives back the pages behind.
    fn passed(&mut self, keep: u64) -> Result<()> {
        if let Storage::Slice(view) = &self.storage {
            let behind = keep.saturating_sub(BEHIND);
            if behind >= self.released + BEHIND {
                view.release(crate::Span::new(self.released, behind));
                self.released = behind;
            }
        }
        let reached = self.base + self.shown as u64;
        self.monitor.as_mut().map_or(Ok(()), |monitor| monitor(reached))
    }

    /// Reads once into the window, making room first. Returns how far the window moved and whether anything came.
    fn load(&mut self, keep: u64, at: u64) -> Result<(usize, bool)> {
        let Storage::Stream(stream) = &mut self.storage else { return Ok((0, false)) };
        if stream.ended {
            return Ok((0, false));
        }
        let keep = (keep - self.base) as usize;
        let drop = stream.droppable(keep);
        if drop > 0 {
            let dropped = self.base + drop as u64;
            self.meter.pass(stream.held.bytes(), self.base, dropped);
            if let Some(chars) = &mut self.chars {
                chars.chars_before(stream.held.bytes(), self.base, dropped);
            }
            stream.drop_front(drop);
            self.base = dropped;
            self.shown -= drop;
        }
        stream.make_room(self.base)?;
        if let Held::Spool(spool) = &stream.held {
            spool.release(0, (at - self.base).saturating_sub(BEHIND));
        }
        let end = self.base + stream.held.bytes().len() as u64;
        let more = stream.fill(end)?;
        Ok((drop, more))
    }

    /// Line and column of an offset at or after the window's start.
    pub(crate) fn place(&mut self, offset: u64) -> Option<Place> {
        let (base, mut meter) = (self.base, self.meter);
        if offset < meter.offset() {
            meter = match &self.storage {
                Storage::Slice(view) => Meter::new(view.base()),
                Storage::Stream(_) => return None,
            };
        }
        meter.pass(self.loaded(), base, offset);
        if !self.is_stream() {
            // The next error of this slice is further on: go on from here.
            self.meter = meter;
        }
        Some(meter.place())
    }

    /// Unicode scalar values between the place where counting began and `offset`.
    pub(crate) fn chars_before(&mut self, offset: u64) -> u64 {
        let Some(mut chars) = self.chars.take() else { return 0 };
        let count = chars.chars_before(self.loaded(), self.base, offset);
        self.chars = Some(chars);
        count
    }
}

impl Held {
    #[inline]
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Heap { buffer, filled } => buffer.get(..*filled).unwrap_or_default(),
            Self::Spool(spool) => spool.bytes(),
        }
    }
}

impl Stream<'_> {
    /// How many of the first `keep` bytes to drop now: moving the rest must not cost more than was read.
    fn droppable(&self, keep: usize) -> usize {
        match &self.held {
            Held::Heap { buffer, filled } => {
                let full = filled + self.window / 4 > buffer.len();
                if full && keep >= filled / 2 { keep } else { 0 }
            }
            // Leaving the temporary file is worth it when hardly anything has to be kept.
            Held::Spool(spool) if spool.bytes().len() - keep <= self.window / 2 => keep,
            Held::Spool(_) => 0,
        }
    }

    fn drop_front(&mut self, count: usize) {
        match &mut self.held {
            Held::Heap { buffer, filled } if buffer.len() == self.window || *filled - count > buffer.len() / 4 => {
                buffer.copy_within(count..*filled, 0);
                *filled -= count;
            }
            held => {
                let kept = held.bytes().get(count..).unwrap_or_default();
                let mut buffer = Vec::with_capacity(self.window.max(kept.len() * 2));
                buffer.extend_from_slice(kept);
                let filled = kept.len();
                buffer.resize(buffer.capacity(), 0);
                *held = Held::Heap { buffer, filled };
            }
        }
    }

    /// Makes room for a read: a larger buffer, and beyond the limit a temporary file.
    fn make_room(&mut self, base: u64) -> Result<()> {
        let Held::Heap { buffer, filled } = &mut self.held else { return Ok(()) };
        if *filled + self.window / 4 <= buffer.len() {
            return Ok(());
        }
        if buffer.len() * 2 <= self.held_limit {
            buffer.resize(buffer.len() * 2, 0);
        } else if *filled == buffer.len() {
            let held = buffer.get(..*filled).unwrap_or_default();
            self.held = Held::Spool(Spool::new(held, self.spool_limit, base)?);
        }
        Ok(())
    }

    /// Reads once. `false` when the input has ended.
    fn fill(&mut self, offset: u64) -> Result<bool> {
        loop {
            let read = match &mut self.held {
                Held::Heap { buffer, filled } => {
                    let end = buffer.len().min(*filled + self.window);
                    let read = self.reader.read(buffer.get_mut(*filled..end).unwrap_or_default());
                    if let Ok(count) = read {
                        *filled += count;
                    }
                    read
                }
                Held::Spool(spool) => spool.fill(&mut *self.reader, offset)?,
            };
            match read {
                Ok(0) => {
                    self.ended = true;
                    return Ok(false);
                }
                Ok(_) => return Ok(true),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(error, offset)),
            }
        }
    }
}
