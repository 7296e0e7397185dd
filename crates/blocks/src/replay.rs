//! A session's blocks read in their order, forks included, and made into lines.

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

/// Forks one behind the other at most.
const FORKS: u32 = 16;

/// Reads blocks and makes them into lines.
pub(crate) fn read_into(
    storage: &dyn BlockStorage,
    key: &Key,
    selection: &Selection,
    assembler: &mut Assembler<'_, '_>,
    lines: &mut dyn Lines,
) -> Result<()> {
    Replay { storage, left: FORKS }.read(key, selection.clone(), assembler, lines)
}

/// A storage on whose blocks forks are followed.
#[derive(Clone, Copy)]
struct Replay<'a> {
    storage: &'a dyn BlockStorage,
    /// Forks that may stand one behind the other yet.
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
            // Other programs may leave numbers out; their blocks have no version.
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

    /// What another session was up to where one was forked from it: all of it has the fork's
    /// number.
    fn follow(
        self,
        key: &Key,
        fork: &Block,
        assembler: &mut Assembler<'_, '_>,
        lines: &mut dyn Lines,
    ) -> Result<()> {
        let told: Fork = fork.data()?;
        let Some(left) = self.left.checked_sub(1) else {
            let session = key.session().to_owned();
            return Err(ErrorKind::TooManyForks { session, limit: FORKS }.into());
        };
        let (source, watch) = (Key::new(key.user(), &told.source_session_id)?, assembler.watch);
        let until = self.shown(&source, told.source_sequence, watch)?;
        let hidden = hidden_until(self.storage, &source, until, watch)?;
        let mut inner = Assembler::new(&hidden, assembler.depth, assembler.payloads, watch);
        let selection = Selection { until: Some(until), ..Selection::default() };
        let mut only = WithoutDescription { lines, is_open: false };
        Self { left, ..self }.read(&source, selection, &mut inner, &mut only)?;
        let found = inner.finish(until, &mut only)?;
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
    /// Up to where a session's blocks are there. Other programs may name a block that never was; a
    /// storage may not show it yet.
    fn shown(self, key: &Key, until: u64, watch: &Watch<'_>) -> Result<u64> {
        let mut head = 0;
        for pause in [0, 1, 2, 4] {
            sleep(pause * TICK, watch)?;
            head = self.storage.head(key, watch)?.map_or(0, |block| block.sequence);
            if head >= until {
                return Ok(until);
            }
        }
        Ok(head)
    }
}

/// How long it is waited first for a block that a storage does not show.
const TICK: Duration = Duration::from_millis(100);

/// A storage shows a block and not yet all before it.
pub(crate) fn late(storage: &dyn BlockStorage, key: &Key) -> Error {
    ErrorKind::BlocksLate { storage: storage.name(), session: key.session().to_owned() }.into()
}

/// What the rewinds of a session hide, up to a block.
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

/// Lines but for descriptions: a fork has its own.
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

    fn take_back(&mut self) -> Result<()> {
        if self.is_open { self.lines.take_back() } else { Ok(()) }
    }
}
