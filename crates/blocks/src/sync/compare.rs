//! Compares the records of a session here with those in a storage.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::assemble::{Assembled, Assembler, Depth, NoLines};
use crate::block::{BlockType, VERSION};
use crate::error::{Error, ErrorKind, Result};
use crate::pending::Pending;
use crate::replay::late;
use crate::retry::sleep;
use crate::rows::{Hidden, Kind, Row};
use crate::storage::{Selection, Want};
use crate::sync::side::{ROUNDS, Side};
use crate::sync::state::State;

/// The differences between the two sides.
pub(crate) struct Compared {
    pub(crate) pending: Pending,
    /// The blocks in the storage that this side does not know.
    pub(super) news: Option<News>,
    pub(crate) head: u64,
    /// An incomplete record at the end, if nothing else is new.
    pub(super) tail: Option<Tail>,
}

/// Blocks that are new here.
pub(crate) struct News {
    pub(super) found: Assembled,
    pub(super) blocks: u64,
}

/// A record at the end that lacks pieces. Its writer is about to continue, or has been interrupted
/// for good.
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

    /// The number of blocks in the storage that this side does not have.
    pub(crate) fn news(&self) -> u64 {
        self.news.as_ref().map_or(0, |news| news.blocks)
    }
}

/// The interval for checking if a record at the end is continued, and if late blocks have appeared.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// The largest number of a block, which keeps arithmetic on numbers from overflowing.
const MAX_SEQUENCE: u64 = 1 << 62;

/// Attempts to read blocks that a storage does not return yet.
const MAX_READS: u32 = 5;

impl Side<'_, '_> {
    /// Compares both sides. Records that both sides have are added to the journal first.
    pub(crate) fn compare(&mut self) -> Result<Compared> {
        for _ in 0..ROUNDS {
            let pending = Pending::of(&self.folder, &self.journal, self.rest, self.watch)?;
            let last = self.storage.head(self.key, self.watch)?;
            let head = last.as_ref().map_or(0, |block| block.sequence);
            if head > MAX_SEQUENCE {
                return Err(self.numberless(head));
            }
            let known = self.journal.head;
            // Blocks are never removed, so the storage lags or was replaced. This must not be
            // mistaken for a rewind.
            if head < known {
                return Err(self.lost(head));
            }
            if head == known {
                // A mark would exclude an unfinished last line from later comparisons.
                if pending.is_empty() && pending.is_complete() {
                    self.journal.set_mark(pending.mark.clone())?;
                }
                return Ok(Compared { pending, news: None, head, tail: None });
            }
            let found = self.rows_after(known, head)?;
            // Nothing is complete: the storage ends with a record that lacks pieces.
            if found.through == known {
                let is_ours = last.is_some_and(|block| block.device_id == self.device);
                let row = Row::none(known + 1, head);
                return Ok(Compared { pending, news: None, head, tail: Some(Tail { row, is_ours }) });
            }
            if !pending.is_empty() && self.absorb(&pending, &found)? {
                continue;
            }
            let blocks = found.through - known;
            return Ok(Compared { pending, news: Some(News { found, blocks }), head, tail: None });
        }
        Err(self.contended())
    }

    fn lost(&self, head: u64) -> Error {
        ErrorKind::BlocksLost {
            storage: self.storage.name(),
            session: self.key.session().to_owned(),
            head,
            known: self.journal.head,
            journal: self.journal.path().to_owned(),
        }
        .into()
    }

    fn numberless(&self, sequence: u64) -> Error {
        let (session, storage) = (self.key.session().to_owned(), self.storage.name());
        ErrorKind::NumberTooLarge { session, sequence, storage }.into()
    }

    /// True if a record at the end is still incomplete after a pause.
    pub(super) fn is_abandoned(&self, tail: &Tail) -> Result<bool> {
        let since = Instant::now();
        // This device holds the session's lock, so no other process continues its own record.
        while !tail.is_ours && since.elapsed() < self.rest {
            sleep(POLL_INTERVAL.min(self.rest), self.watch)?;
            let head = self.storage.head(self.key, self.watch)?;
            if head.is_some_and(|block| block.sequence != tail.row.until) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the records after a block, without their bodies. A storage may return its head
    /// before it returns all blocks up to it: then it is read again, up to `MAX_READS` times.
    pub(crate) fn rows_after(&self, after: u64, head: u64) -> Result<Assembled> {
        for _ in 0..MAX_READS {
            let (found, gaps) = self.visible_rows(after, head)?;
            if self.are_pieces(&gaps)? {
                return Ok(found);
            }
            sleep(POLL_INTERVAL.min(self.rest), self.watch)?;
        }
        Err(late(self.storage, self.key))
    }

    /// The records after a block that the storage returns, and the gaps between them.
    fn visible_rows(&self, after: u64, head: u64) -> Result<(Assembled, Vec<Gap>)> {
        // The rewinds are among these rows, so nothing is hidden yet.
        let hidden = Hidden::default();
        let mut rows = Assembler::new(&hidden, Depth::Rows, None, self.watch);
        let (mut gaps, mut own, mut others) = (Gaps { found: Vec::new(), is_ours: true }, Vec::new(), 0);
        let selection = Selection { after, until: Some(head), types: HEADS.to_vec(), want: Want::Outline };
        self.storage.read(self.key, &selection, self.watch, &mut |mut block| {
            self.watch.check()?;
            // Pieces of messages have the type of messages.
            if block.parent_block_id.is_some() {
                return Ok(ControlFlow::Continue(()));
            }
            crate::send::strip(&mut block)?;
            gaps.add(rows.known_until(after), block.sequence, block.version);
            rows.take(&block, &mut NoLines)?;
            if block.device_id == self.device {
                own.push(block.sequence);
            } else {
                others = block.sequence;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        // The head closes the last gap: the blocks before it may be late as well.
        gaps.add(rows.known_until(after), head.saturating_add(1), VERSION);
        let found = rows.finish(head, &mut NoLines)?;
        Ok((Assembled { others, own, ..found }, gaps.found))
    }

    /// True if the gaps contain nothing but pieces, which belong to no record.
    fn are_pieces(&self, gaps: &[Gap]) -> Result<bool> {
        for (after, until) in gaps {
            let selection = Selection::range(*after, *until);
            let mut count = 0;
            self.storage.read(self.key, &selection, self.watch, &mut |block| {
                // A block that starts a record was late, and is visible now.
                let is_piece = block.parent_block_id.is_some() || block.block_type == BlockType::EventData;
                count += u64::from(is_piece);
                Ok(ControlFlow::Continue(()))
            })?;
            if count < until - after {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Creates again a block that this device created without receiving the response: some storages
    /// index the blocks that describe a session separately.
    fn create_again(&self, sequence: u64) -> Result<()> {
        let selection = Selection::range(sequence - 1, sequence);
        let mut block = None;
        self.storage.read(self.key, &selection, self.watch, &mut |found| {
            block = Some(found);
            Ok(ControlFlow::Break(()))
        })?;
        block.map_or(Ok(()), |block| self.storage.create(self.key, &block, self.watch).map(drop))
    }

    /// Adds new blocks of the storage to the journal if this side has the same records: a response
    /// was lost, or the same files were copied here by other means. Returns true if it did.
    fn absorb(&mut self, pending: &Pending, found: &Assembled) -> Result<bool> {
        let mut rows = &*found.rows;
        // A local rewind has been pushed only if the new blocks start with it.
        if let Some(target) = pending.rewind {
            let Some((Row { kind: Kind::Rewind { target: other }, .. }, rest)) = rows.split_first() else {
                return Ok(false);
            };
            if *other != target {
                return Ok(false);
            }
            rows = rest;
        }
        let rows = if self.journal.rows.is_empty() { visible(rows) } else { rows.to_vec() };
        let is_same = rows.iter().all(Row::is_plain)
            && pending.is_described_by(&rows)?
            && pending.begins_with(&rows, self.watch)?;
        if is_same {
            // A read-only comparison leaves this to the next writer.
            let is_written = !self.journal.is_only_read();
            let descriptions = found.rows.iter().filter(|row| is_written && row.kind == Kind::Metadata);
            for row in descriptions.filter(|row| found.own.contains(&row.sequence)) {
                self.create_again(row.sequence)?;
            }
            self.journal.append(&found.rows, found.through, found.description.as_ref())?;
        }
        Ok(is_same)
    }
}

/// The visible records. If nothing was known before, only these can be in the files.
fn visible(rows: &[Row]) -> Vec<Row> {
    let hidden = Hidden::by(rows);
    let is_record =
        |row: &&Row| !hidden.hides(row.sequence) && !matches!(row.kind, Kind::Rewind { .. } | Kind::None);
    rows.iter().filter(is_record).copied().collect()
}

/// A gap: after the first number, up to the second.
type Gap = (u64, u64);

/// Finds missing blocks between records. Other programs may skip numbers; their blocks have no
/// version.
struct Gaps {
    found: Vec<Gap>,
    is_ours: bool,
}

impl Gaps {
    /// Adds the next record; all blocks up to `known` are known.
    fn add(&mut self, known: u64, next: u64, version: u32) {
        let is_ours = version > 0;
        if next > known.saturating_add(1) && is_ours && self.is_ours {
            self.found.push((known, next - 1));
        }
        self.is_ours = is_ours;
    }
}

/// The types of blocks that start records or describe a session.
const HEADS: [BlockType; 7] = [
    BlockType::SessionCreated,
    BlockType::SessionUpdated,
    BlockType::SessionDeleted,
    BlockType::Message,
    BlockType::Event,
    BlockType::Rewind,
    BlockType::Fork,
];
