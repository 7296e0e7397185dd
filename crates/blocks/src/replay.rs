//! Reads the blocks of a session in order, follows forks, and assembles lines.

use std::ops::ControlFlow;
use std::time::Duration;

use trommel_session::Watch;

use crate::assemble::{Assembler, Lines};
use crate::block::{Block, BlockType, Key};
use crate::data::Fork;
use crate::error::{Error, ErrorKind, Result};
use crate::retry::sleep;
use crate::rows::{Hidden, Kind, Row};
use crate::storage::{BlockStorage, Selection, Want};

/// Maximum length of a chain of forks.
const MAX_FORKS: u32 = 16;

/// Reads blocks and assembles lines from them.
pub(crate) fn read_into(
    storage: &dyn BlockStorage,
    key: &Key,
    selection: &Selection,
    assembler: &mut Assembler<'_, '_>,
    lines: &mut dyn Lines,
) -> Result<()> {
    Replay { storage, left: MAX_FORKS }.read(key, selection.clone(), assembler, lines)
}

/// Reads blocks of a storage, and follows their forks.
#[derive(Clone, Copy)]
struct Replay<'a> {
    storage: &'a dyn BlockStorage,
    /// Forks that may still follow each other.
    left: u32,
}

impl Replay<'_> {
    fn read(
        self,
        key: &Key,
        mut selection: Selection,
        assembler: &mut Assembler<'_, '_>,
        lines: &mut dyn Lines,
    ) -> Result<()> {
        let is_all = selection.want == Want::Whole && selection.types.is_empty();
        loop {
            let mut fork: Option<Block> = None;
            // Other programs may skip numbers; their blocks have no version. After a block of this
            // program, a gap means that the storage does not return a block yet.
            let (watch, mut last, mut is_ours) = (assembler.watch, selection.after, true);
            self.storage.read(key, &selection, watch, &mut |block| {
                watch.check()?;
                if is_all && is_ours && block.version > 0 && block.sequence != last + 1 {
                    return Err(late(self.storage, key));
                }
                (last, is_ours) = (block.sequence, block.version > 0);
                if selection.want == Want::Whole {
                    block.verify()?;
                }
                assembler.take(&block, lines)?;
                // The records of the source precede those after the fork, so reading pauses here.
                if block.block_type == BlockType::Fork && !assembler.hidden.hides(block.sequence) {
                    fork = Some(block);
                    return Ok(ControlFlow::Break(()));
                }
                Ok(ControlFlow::Continue(()))
            })?;
            let Some(fork) = fork else {
                let is_late = is_all && is_ours && selection.until.is_some_and(|until| last < until);
                return if is_late { Err(late(self.storage, key)) } else { Ok(()) };
            };
            self.follow(key, &fork, assembler, lines)?;
            selection.after = fork.sequence;
        }
    }

    /// Assembles the source session up to the fork. All its records get the fork's number.
    fn follow(
        self,
        key: &Key,
        fork: &Block,
        assembler: &mut Assembler<'_, '_>,
        lines: &mut dyn Lines,
    ) -> Result<()> {
        let data: Fork = fork.data()?;
        // The limit also ends a cycle of forks.
        let Some(left) = self.left.checked_sub(1) else {
            let session = key.session().to_owned();
            return Err(ErrorKind::TooManyForks { session, limit: MAX_FORKS }.into());
        };
        // `Key::new` validates the ID, which comes from the storage.
        let (source, watch) = (Key::new(key.user(), &data.source_session_id)?, assembler.watch);
        let until = self.available(&source, data.source_sequence, watch)?;
        let hidden = hidden_until(self.storage, &source, until, watch)?;
        let mut inner = Assembler::new(&hidden, assembler.depth, assembler.payloads, watch);
        let selection = Selection { until: Some(until), ..Selection::default() };
        let mut only = WithoutDescription { lines, is_open: false };
        Self { left, ..self }.read(&source, selection, &mut inner, &mut only)?;
        let found = inner.finish(until, &mut only)?;
        // The rewinds were read before the records. If the two reads disagree, the storage lagged.
        if Hidden::by(&found.rows) != hidden {
            return Err(late(self.storage, &source));
        }
        let is_line =
            |row: &Row| matches!(row.kind, Kind::Message | Kind::Event) && !hidden.hides(row.sequence);
        let of_source = found.rows.into_iter().filter(is_line);
        let (sequence, until) = (fork.sequence, fork.sequence);
        assembler.rows.extend(of_source.map(|row| Row { sequence, until, ..row }));
        Ok(())
    }
}

impl Replay<'_> {
    /// The last available block of a session, at most `until`. Other programs may name a block that
    /// never existed, and a storage may not return it yet.
    fn available(self, key: &Key, until: u64, watch: &Watch<'_>) -> Result<u64> {
        let mut head = 0;
        for pause in [0, 1, 2, 4] {
            sleep(pause * FIRST_PAUSE, watch)?;
            head = self.storage.head(key, watch)?.map_or(0, |block| block.sequence);
            if head >= until {
                return Ok(until);
            }
        }
        Ok(head)
    }
}

/// The first pause before reading again a block that a storage does not return yet.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The error for a storage that returns a block before all of its predecessors.
pub(crate) fn late(storage: &dyn BlockStorage, key: &Key) -> Error {
    ErrorKind::BlocksLate { storage: storage.name(), session: key.session().to_owned() }.into()
}

/// The blocks that the rewinds of a session hide, up to a block.
pub(crate) fn hidden_until(
    storage: &dyn BlockStorage,
    key: &Key,
    until: u64,
    watch: &Watch<'_>,
) -> Result<Hidden> {
    let selection = Selection { until: Some(until), types: vec![BlockType::Rewind], ..Selection::default() };
    let none = Hidden::default();
    let mut rows = Assembler::new(&none, crate::assemble::Depth::Rows, None, watch);
    storage.read(key, &selection, watch, &mut |block| {
        rows.take(&block, &mut crate::assemble::NoLines)?;
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Hidden::by(&rows.finish(until, &mut crate::assemble::NoLines)?.rows))
}

/// Drops descriptions: a fork has its own.
struct WithoutDescription<'a> {
    lines: &'a mut dyn Lines,
    is_open: bool,
}

impl Lines for WithoutDescription<'_> {
    fn begin(&mut self, kind: Kind) -> Result<()> {
        self.is_open = kind != Kind::Metadata;
        if self.is_open { self.lines.begin(kind) } else { Ok(()) }
    }

    fn add(&mut self, part: &[u8]) -> Result<()> {
        if self.is_open { self.lines.add(part) } else { Ok(()) }
    }

    fn end(&mut self, row: &Row) -> Result<()> {
        if self.is_open { self.lines.end(row) } else { Ok(()) }
    }

    fn discard(&mut self) -> Result<()> {
        if self.is_open { self.lines.discard() } else { Ok(()) }
    }
}
