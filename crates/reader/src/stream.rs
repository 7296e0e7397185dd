//! A stream with a window: the bytes that must stay readable, in memory or, if they are too many,
//! in a temporary file.

use std::io::Read;

use crate::config::Config;
use crate::error::{Error, Excerpt, Result};
use crate::input::View;
use crate::spool::Spool;

/// The smallest capacity. The bytes that errors show before them must be a small part of it.
const MIN_CAPACITY: usize = 8 * Excerpt::SIDE;

pub(crate) struct Stream<'a> {
    reader: Box<dyn Read + Send + 'a>,
    held: Held,
    /// Bytes per read.
    read: usize,
    /// The initial capacity in bytes.
    capacity: usize,
    held_limit: usize,
    spool_limit: u64,
    ended: bool,
}

enum Held {
    Heap { buffer: Vec<u8>, filled: usize },
    Spool(Spool),
}

impl<'a> Stream<'a> {
    pub(crate) fn new(reader: Box<dyn Read + Send + 'a>, config: &Config) -> Self {
        let capacity = config.window.max(MIN_CAPACITY);
        Self {
            reader,
            held: Held::Heap { buffer: vec![0; capacity], filled: 0 },
            read: config.window,
            capacity,
            held_limit: usize::try_from(config.limits.held_bytes).unwrap_or(usize::MAX).max(capacity),
            spool_limit: config.limits.spool_bytes,
            ended: false,
        }
    }

    /// Drops all bytes, and continues with those of another reader.
    pub(crate) fn restart(&mut self, reader: Box<dyn Read + Send + 'a>) {
        self.reader = reader;
        self.ended = false;
        match &mut self.held {
            Held::Heap { filled, .. } => *filled = 0,
            held @ Held::Spool(_) => *held = Held::Heap { buffer: vec![0; self.capacity], filled: 0 },
        }
    }

    /// All bytes that were read and not dropped.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        match &self.held {
            Held::Heap { buffer, filled } => &buffer[..*filled],
            Held::Spool(spool) => spool.bytes(),
        }
    }

    /// The bytes as a view, with their temporary file if there is one. `base` is their offset in
    /// the input.
    pub(crate) fn view(&self, base: u64) -> View<'_> {
        match &self.held {
            Held::Heap { .. } => View::at(self.bytes(), base),
            Held::Spool(spool) => spool.view(base),
        }
    }

    /// True if the reader has reported its end.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// The number of bytes to drop now, at most `unneeded` from the front: moving the rest must not
    /// cost more than was read.
    pub(crate) fn droppable(&self, unneeded: usize) -> usize {
        let is_worth_it = match &self.held {
            Held::Heap { buffer, filled } => {
                filled + self.capacity / 4 > buffer.len() && unneeded > 0 && unneeded >= filled / 2
            }
            // Leave the temporary file if hardly anything has to be kept.
            Held::Spool(spool) => spool.bytes().len() - unneeded <= self.capacity / 2,
        };
        if is_worth_it { unneeded } else { 0 }
    }

    /// Drops the first `count` bytes.
    pub(crate) fn drop_front(&mut self, count: usize) {
        match &mut self.held {
            Held::Heap { buffer, filled }
                if buffer.len() == self.capacity || *filled - count > buffer.len() / 4 =>
            {
                buffer.copy_within(count..*filled, 0);
                *filled -= count;
            }
            // The bytes were kept for a token or a hold that has ended: a smaller buffer replaces
            // the large one or the file.
            held => {
                let kept = match held {
                    Held::Heap { buffer, filled } => &buffer[count..*filled],
                    Held::Spool(spool) => &spool.bytes()[count..],
                };
                let (filled, capacity) = (kept.len(), self.capacity.max(kept.len() * 2));
                let mut buffer = Vec::with_capacity(capacity);
                buffer.extend_from_slice(kept);
                buffer.resize(capacity, 0);
                *held = Held::Heap { buffer, filled };
            }
        }
    }

    /// Makes space for a read. Held bytes beyond the limit go to a temporary file; the current
    /// token stays in memory, because tokens have a limit of their own.
    pub(crate) fn reserve(&mut self, is_held: bool, base: u64) -> Result<()> {
        let Held::Heap { buffer, filled } = &mut self.held else { return Ok(()) };
        if *filled + self.capacity / 4 <= buffer.len() {
            return Ok(());
        }
        let larger = buffer.len() * 2;
        if !is_held || larger <= self.held_limit {
            buffer.resize(larger, 0);
        } else if *filled == buffer.len() {
            // Only a full buffer moves to a file; until then, reads continue in its free rest.
            self.held = Held::Spool(Spool::new(buffer, self.spool_limit, base)?);
        }
        Ok(())
    }

    /// Reads once, with space for at least a byte. `offset` is the offset of the bytes in the
    /// input, for errors. Returns false at the end of the input.
    pub(crate) fn fill(&mut self, offset: u64) -> Result<bool> {
        loop {
            let read = match &mut self.held {
                Held::Heap { buffer, filled } => {
                    let end = buffer.len().min(*filled + self.read);
                    let free = &mut buffer[*filled..end];
                    let read = self.reader.read(free).map(|count| count.min(free.len()));
                    *filled += read.as_ref().map_or(0, |count| *count);
                    read
                }
                Held::Spool(spool) => spool.fill(&mut *self.reader, offset)?,
            };
            match read {
                Ok(count) => {
                    self.ended = count == 0;
                    return Ok(!self.ended);
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(error, offset)),
            }
        }
    }
}
