//! A stream behind a window: what was read and must stay readable, in memory or, when that is too
//! much, in a temporary file.

use std::io::Read;

use crate::config::Config;
use crate::error::{Error, Excerpt, Result};
use crate::input::View;
use crate::spool::Spool;

/// The least room for bytes: what an error shows of what stands before it must not be most of it.
const LEAST_ROOM: usize = 8 * Excerpt::SIDE;

pub(crate) struct Stream<'a> {
    reader: Box<dyn Read + Send + 'a>,
    held: Held,
    /// Bytes asked for at a time.
    read: usize,
    /// Bytes of memory that are there from the start.
    room: usize,
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
        let room = config.window.max(LEAST_ROOM);
        Self {
            reader,
            held: Held::Heap { buffer: vec![0; room], filled: 0 },
            read: config.window,
            room,
            held_limit: usize::try_from(config.limits.held_bytes).unwrap_or(usize::MAX).max(room),
            spool_limit: config.limits.spool_bytes,
            ended: false,
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

    /// The same, with the temporary file behind them if there is one; `base` is where they stand in
    /// the input.
    pub(crate) fn view(&self, base: u64) -> View<'_> {
        match &self.held {
            Held::Heap { .. } => View::at(self.bytes(), base),
            Held::Spool(spool) => spool.view(base),
        }
    }

    /// Whether the reader has said that nothing more comes.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// How many of the first `unneeded` bytes to drop now: moving the rest must not cost more than
    /// was read.
    pub(crate) fn droppable(&self, unneeded: usize) -> usize {
        let worth_it = match &self.held {
            Held::Heap { buffer, filled } => {
                filled + self.room / 4 > buffer.len() && unneeded > 0 && unneeded >= filled / 2
            }
            // Leaving the temporary file is worth it when hardly anything has to be kept.
            Held::Spool(spool) => spool.bytes().len() - unneeded <= self.room / 2,
        };
        if worth_it { unneeded } else { 0 }
    }

    /// Lets go of the first `count` bytes.
    pub(crate) fn drop_front(&mut self, count: usize) {
        match &mut self.held {
            Held::Heap { buffer, filled }
                if buffer.len() == self.room || *filled - count > buffer.len() / 4 =>
            {
                buffer.copy_within(count..*filled, 0);
                *filled -= count;
            }
            held => {
                let kept = match held {
                    Held::Heap { buffer, filled } => &buffer[count..*filled],
                    Held::Spool(spool) => &spool.bytes()[count..],
                };
                let (filled, room) = (kept.len(), self.room.max(kept.len() * 2));
                let mut buffer = Vec::with_capacity(room);
                buffer.extend_from_slice(kept);
                buffer.resize(room, 0);
                *held = Held::Heap { buffer, filled };
            }
        }
    }

    /// Makes room for a read. What is held beyond the limit goes to a temporary file; what the
    /// current token takes stays in memory, as tokens have a limit of their own.
    pub(crate) fn make_room(&mut self, is_held: bool, base: u64) -> Result<()> {
        let Held::Heap { buffer, filled } = &mut self.held else { return Ok(()) };
        if *filled + self.room / 4 <= buffer.len() {
            return Ok(());
        }
        let larger = buffer.len() * 2;
        if !is_held || larger <= self.held_limit {
            buffer.resize(larger, 0);
        } else if *filled == buffer.len() {
            self.held = Held::Spool(Spool::new(buffer, self.spool_limit, base)?);
        }
        Ok(())
    }

    /// Reads once, with at least a byte of room; `offset` is where the bytes will stand in the
    /// input, for errors. `false` when the input has ended.
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
