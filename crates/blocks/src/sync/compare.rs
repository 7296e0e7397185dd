//! What a session has here that a storage has not, and the other way round.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::assemble::{Assembler, Depth, Found, NoLines};
use crate::block::{BlockType, VERSION};
use crate::error::{Error, ErrorKind, Result};
use crate::pending::Pending;
use crate::replay::late;
use crate::retry::sleep;
use crate::rows::{Hidden, Kind, Row};
use crate::storage::{Selection, Want};
use crate::sync::side::{ROUNDS, Side};
use crate::sync::state::State;

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

/// A record at the end that has not all of its pieces: whoever began it is about to go on, or never
/// will.
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

/// How often it is looked whether a record at the end goes on, and whether blocks are shown that
/// are there.
const TICK: Duration = Duration::from_millis(200);

/// No session has more blocks: what is counted from a number stays one.
const MOST: u64 = 1 << 62;

/// Times that blocks are looked for that a storage does not show yet.
const LOOKS: u32 = 5;

impl Side<'_, '_> {
    /// What both sides have, once what lies there alike on both is known to be.
    pub(crate) fn compare(&mut self) -> Result<Compared> {
        for _ in 0..ROUNDS {
            let pending = Pending::of(&self.folder, &self.journal, self.rest, self.watch)?;
            let last = self.storage.head(self.key, self.watch)?;
            let head = last.as_ref().map_or(0, |block| block.sequence);
            if head > MOST {
                return Err(self.numberless(head));
            }
            let known = self.journal.head;
            if head < known {
                return Err(self.lost(head));
            }
            if head == known {
                if pending.is_empty() && pending.is_settled() {
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

    /// Returns the records after a block, without their bodies. A storage may return its head
    /// before it returns all records up to it: then it is read again, up to `LOOKS` times.
    pub(crate) fn rows_behind(&self, after: u64, head: u64) -> Result<Found> {
        for _ in 0..LOOKS {
            let (found, gaps) = self.rows_shown(after, head)?;
            if self.are_pieces(&gaps)? {
                return Ok(found);
            }
            sleep(TICK.min(self.rest), self.watch)?;
        }
        Err(late(self.storage, self.key))
    }

    /// The records behind a block that are shown, and what between them is not.
    fn rows_shown(&self, after: u64, head: u64) -> Result<(Found, Vec<Gap>)> {
        let hidden = Hidden::default();
        let mut rows = Assembler::new(&hidden, Depth::Rows, None, self.watch);
        let (mut gaps, mut own, mut others) = (Gaps { found: Vec::new(), is_ours: true }, Vec::new(), 0);
        let selection = Selection { after, until: Some(head), types: HEADS.to_vec(), want: Want::Outline };
        self.storage.read(self.key, &selection, self.watch, &mut |mut block| {
            self.watch.check()?;
            // Pieces of messages are messages.
            if block.parent_block_id.is_some() {
                return Ok(ControlFlow::Continue(()));
            }
            crate::send::strip(&mut block)?;
            gaps.pass(rows.known_until(after), block.sequence, block.version);
            rows.take(&block, &mut NoLines)?;
            if block.device_id == self.device {
                own.push(block.sequence);
            } else {
                others = block.sequence;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        gaps.pass(rows.known_until(after), head.saturating_add(1), VERSION);
        let found = rows.finish(head, &mut NoLines)?;
        Ok((Found { others, own, ..found }, gaps.found))
    }

    /// Whether what seems to be missing is nothing but pieces, which belong to no record.
    fn are_pieces(&self, gaps: &[Gap]) -> Result<bool> {
        for (after, until) in gaps {
            let selection = Selection::range(*after, *until);
            let mut count = 0;
            self.storage.read(self.key, &selection, self.watch, &mut |block| {
                // One that begins a record was not shown before.
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

    /// Creates a block once more that this device created, and did not hear of: some storages note
    /// what describes a session apart.
    fn create_again(&self, sequence: u64) -> Result<()> {
        let selection = Selection::range(sequence - 1, sequence);
        let mut block = None;
        self.storage.read(self.key, &selection, self.watch, &mut |found| {
            block = Some(found);
            Ok(ControlFlow::Break(()))
        })?;
        block.map_or(Ok(()), |block| self.storage.create(self.key, &block, self.watch).map(drop))
    }

    /// Takes what is new in the storage for known where this side has the same: an answer was lost,
    /// or the same files came here on another way. Whether it was.
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
            // Who only looks leaves that to whoever writes it down.
            let is_noted = !self.journal.is_only_read();
            let told = found.rows.iter().filter(|row| is_noted && row.kind == Kind::Metadata);
            for row in told.filter(|row| found.own.contains(&row.sequence)) {
                self.create_again(row.sequence)?;
            }
            self.journal.append(&found.rows, found.through, found.description.as_ref())?;
        }
        Ok(is_same)
    }
}

/// The records that count. Where nothing was known before, only these can be in the files.
fn seen(rows: &[Row]) -> Vec<Row> {
    let hidden = Hidden::by(rows);
    let counts =
        |row: &&Row| !hidden.hides(row.sequence) && !matches!(row.kind, Kind::Rewind { .. } | Kind::Nothing);
    rows.iter().filter(counts).copied().collect()
}

/// Behind one number up to another.
type Gap = (u64, u64);

/// What is missing between records. Other programs may leave numbers out; their blocks have no
/// version.
struct Gaps {
    found: Vec<Gap>,
    is_ours: bool,
}

impl Gaps {
    /// The next record, where all up to a number is known.
    fn pass(&mut self, known: u64, next: u64, version: u32) {
        let is_ours = version > 0;
        if next > known.saturating_add(1) && is_ours && self.is_ours {
            self.found.push((known, next - 1));
        }
        self.is_ours = is_ours;
    }
}

/// Blocks that begin records, or say something of a session.
const HEADS: [BlockType; 7] = [
    BlockType::SessionCreated,
    BlockType::SessionUpdated,
    BlockType::SessionDeleted,
    BlockType::Message,
    BlockType::Event,
    BlockType::Rewind,
    BlockType::Fork,
];
