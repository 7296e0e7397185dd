//! What a session has here that a storage has not, and the other way round.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::assemble::{Assembler, Depth, Found, NoLines};
use crate::block::{Block, BlockType};
use crate::error::{Error, ErrorKind, Result};
use crate::folder::Pending;
use crate::replay::late;
use crate::retry::sleep;
use crate::rows::{Hidden, Kind, Row};
use crate::storage::{Selection, Want};
use crate::sync::{ROUNDS, Side, State};

/// What two sides have that the other has not.
pub(crate) struct Compared {
    pub(crate) pending: Pending,
    /// What the storage has behind what is known here.
    pub(super) news: Option<News>,
    pub(crate) head: u64,
    /// A record at the end that has not all of its pieces, where nothing else is new.
    pub(super) tail: Option<Tail>,
}

/// Blocks that are new here.
pub(crate) struct News {
    pub(super) found: Found,
    pub(super) blocks: u64,
}

/// A record at the end that has not all of its pieces: whoever began it is about to go on, or never will.
pub(super) struct Tail {
    pub(super) row: Row,
    pub(super) is_ours: bool,
}

impl Compared {
    pub(crate) fn state(&self) -> State {
        match (self.pending.is_empty(), &self.news) {
            (true, None) => State::Synced,
            (false, None) => State::Ahead,
            (true, Some(_)) => State::Behind,
            (false, Some(_)) => State::Conflict,
        }
    }

    /// Blocks that the storage has and this side has not.
    pub(crate) fn news(&self) -> u64 {
        self.news.as_ref().map_or(0, |news| news.blocks)
    }
}

/// How often it is looked whether a record at the end goes on, and whether blocks are shown that are there.
const TICK: Duration = Duration::from_millis(200);

/// Times that blocks are looked for that a storage does not show yet.
const LOOKS: u32 = 5;

impl Side<'_, '_> {
    /// What both sides have, once what lies there alike on both is known to be.
    pub(crate) fn compare(&mut self) -> Result<Compared> {
        for _ in 0..ROUNDS {
            let pending = Pending::of(&self.folder, &self.journal, self.rest, self.watch)?;
            let last = self.storage.head(self.key, self.watch)?;
            let head = last.as_ref().map_or(0, |block| block.sequence);
            let known = self.journal.head;
            if head < known {
                return Err(self.lost(head));
            }
            if head == known {
                if pending.is_empty() {
                    self.journal.settle(pending.mark.clone())?;
                }
                return Ok(Compared { pending, news: None, head, tail: None });
            }
            let found = self.rows_behind(known, head)?;
            if found.through == known {
                let is_ours = last.is_some_and(|block| block.device_id == self.device);
                let row = Row::nothing(known + 1, head);
                return Ok(Compared { pending, news: None, head, tail: Some(Tail { row, is_ours }) });
            }
            if !pending.is_empty() && self.absorb(&pending, &found)? {
                continue;
            }
            let blocks = found.through - known;
            return Ok(Compared { pending, news: Some(News { found, blocks }), head, tail: None });
        }
        Err(self.restless())
    }

    fn lost(&self, head: u64) -> Error {
        let message = format!(
            "{} has {head} blocks of session {}, where it had {}: it may be behind, so try again later; if it was replaced by another one, remove {}",
            self.storage.name(),
            self.key.session(),
            self.journal.head,
            self.journal.path().display()
        );
        Error::new(ErrorKind::Busy, message)
    }

    /// Whether a record at the end is still so after it was left alone for a while.
    pub(super) fn is_abandoned(&self, tail: &Tail) -> Result<bool> {
        let since = Instant::now();
        while !tail.is_ours && since.elapsed() < self.rest {
            sleep(TICK.min(self.rest), self.watch)?;
            let head = self.storage.head(self.key, self.watch)?;
            if head.is_some_and(|block| block.sequence != tail.row.until) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The records behind a block, without their bodies. A storage may show its head before it shows all that stands behind it: then it
    /// is looked at again, some times.
    pub(crate) fn rows_behind(&self, after: u64, head: u64) -> Result<Found> {
        for _ in 0..LOOKS {
            let found = self.rows_shown(after, head)?;
            if self.shows_all(after, &found)? {
                return Ok(found);
            }
            sleep(TICK.min(self.rest), self.watch)?;
        }
        Err(late(self.storage, self.key))
    }

    /// The records behind a block that are shown.
    fn rows_shown(&self, after: u64, head: u64) -> Result<Found> {
        let hidden = Hidden::default();
        let mut rows = Assembler::new(&hidden, Depth::Rows, None, self.watch);
        let (mut from, mut others) = (after, 0);
        // By parts, so that no more than one is held.
        while from < head {
            let until = head.min(from + PART);
            for block in self.outlines(from, until)? {
                rows.take(&block, &mut NoLines)?;
                if block.device_id != self.device {
                    others = block.sequence;
                }
            }
            from = until;
        }
        Ok(Found { others, ..rows.finish(head, &mut NoLines)? })
    }

    /// Whether each block behind this one belongs to a record that was found, or is there at least: a piece that belongs to none.
    fn shows_all(&self, after: u64, found: &Found) -> Result<bool> {
        let mut known = after;
        let ends = found.rows.iter().map(|row| (row.sequence, row.until));
        for (sequence, until) in ends.chain([(found.through + 1, found.through)]) {
            if sequence > known + 1 && !self.is_there(known, sequence - 1)? {
                return Ok(false);
            }
            known = known.max(until);
        }
        Ok(true)
    }

    /// Whether every block is there behind one, up to another.
    fn is_there(&self, after: u64, until: u64) -> Result<bool> {
        let selection = Selection { after, until: Some(until), ..Selection::default() };
        let mut count = 0;
        self.storage.read(self.key, &selection, self.watch, &mut |_| {
            count += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(count == until - after)
    }

    /// Blocks that begin records, in order, without bodies.
    fn outlines(&self, after: u64, until: u64) -> Result<Vec<Block>> {
        let mut blocks: Vec<Block> = Vec::new();
        for (types, want) in [(SMALL.to_vec(), Want::Whole), (RECORDS.to_vec(), Want::Outline)] {
            let selection = Selection { after, until: Some(until), types, want };
            self.storage.read(self.key, &selection, self.watch, &mut |mut block| {
                if block.parent_block_id.is_none() {
                    crate::send::strip(&mut block)?;
                    blocks.push(block);
                }
                Ok(ControlFlow::Continue(()))
            })?;
        }
        blocks.sort_by_key(|block| block.sequence);
        Ok(blocks)
    }

    /// Takes what is new in the storage for known where this side has the same: an answer was lost, or the same files came here on
    /// another way. Whether it was.
    fn absorb(&mut self, pending: &Pending, found: &Found) -> Result<bool> {
        let mut rows = &*found.rows;
        if let Some(target) = pending.rewind {
            let Some((Row { kind: Kind::Rewind { target: other }, .. }, rest)) = rows.split_first() else {
                return Ok(false);
            };
            if *other != target {
                return Ok(false);
            }
            rows = rest;
        }
        let rows = if self.journal.rows.is_empty() { seen(rows) } else { rows.to_vec() };
        let is_same = rows.iter().all(Row::is_plain)
            && pending.is_described_by(&rows)?
            && pending.begins_with(&rows, self.watch)?;
        if is_same {
            self.journal.append(&found.rows, found.through, found.description.as_ref())?;
        }
        Ok(is_same)
    }
}

/// The records that count. Where nothing was known before, only these can be in the files.
fn seen(rows: &[Row]) -> Vec<Row> {
    let hidden = Hidden::by(rows);
    let counts = |row: &&Row| {
        !hidden.hides(row.sequence) && !matches!(row.kind, Kind::Rewind { .. } | Kind::Nothing)
    };
    rows.iter().filter(counts).copied().collect()
}

/// Blocks whose outlines are held at once at most.
const PART: u64 = 4_096;

/// Blocks that say something of a session, whose data are small but for descriptions.
const SMALL: [BlockType; 5] = [
    BlockType::SessionCreated,
    BlockType::SessionUpdated,
    BlockType::SessionDeleted,
    BlockType::Rewind,
    BlockType::Fork,
];

/// Blocks of records.
const RECORDS: [BlockType; 2] = [BlockType::Message, BlockType::Event];
