//! A session's blocks read in their order, forks included, and made into lines.

use std::ops::ControlFlow;

use trommel_session::Watch;

use crate::assemble::{Assembler, Lines};
use crate::block::{Block, BlockType};
use crate::data::Fork;
use crate::error::{Error, ErrorKind, Result};
use crate::rows::{Hidden, Kind, Row};
use crate::storage::{BlockStorage, Key, Selection};

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
    let watch = assembler.watch;
    let mut fork: Option<Block> = None;
    storage.read(key, selection, watch, &mut |block| {
        watch.check()?;
        if selection.want == crate::storage::Want::Whole {
            block.verify()?;
        }
        if block.block_type == BlockType::Fork && !assembler.hidden.hides(block.sequence) {
            fork = Some(block);
            return Ok(ControlFlow::Break(()));
        }
        assembler.take(&block, lines)?;
        Ok(ControlFlow::Continue(()))
    })?;
    let Some(fork) = fork else { return Ok(()) };
    follow((storage, key), &fork, assembler, lines, FORKS)?;
    let rest = Selection { after: fork.sequence, ..selection.clone() };
    read_into(storage, key, &rest, assembler, lines)
}

/// What another session was up to where one was forked from it: all of it has the fork's number.
fn follow(
    (storage, key): (&dyn BlockStorage, &Key),
    fork: &Block,
    assembler: &mut Assembler<'_, '_>,
    lines: &mut dyn Lines,
    left: u32,
) -> Result<()> {
    let told: Fork = fork.data()?;
    if left == 0 {
        let message = format!(
            "session {} is a fork of forks, {FORKS} deep or in a circle: bring its source here first",
            key.session()
        );
        return Err(Error::new(ErrorKind::Limit, message));
    }
    let source = Key::new(key.user(), &told.source_session_id)?;
    let watch = assembler.watch;
    let hidden = hidden_until(storage, &source, told.source_sequence, watch)?;
    let mut inner = Assembler::new(&hidden, assembler.depth, assembler.payloads, watch);
    let mut forks = Vec::new();
    let selection = Selection { until: Some(told.source_sequence), ..Selection::default() };
    let mut only = WithoutDescription { lines, is_open: false };
    storage.read(&source, &selection, watch, &mut |block| {
        block.verify()?;
        if block.block_type == BlockType::Fork {
            forks.push(block);
            return Ok(ControlFlow::Break(()));
        }
        inner.take(&block, &mut only)?;
        Ok(ControlFlow::Continue(()))
    })?;
    if let Some(deeper) = forks.pop() {
        follow((storage, &source), &deeper, &mut inner, &mut only, left - 1)?;
        let rest = Selection { after: deeper.sequence, ..selection };
        storage.read(&source, &rest, watch, &mut |block| {
            block.verify()?;
            inner.take(&block, &mut only)?;
            Ok(ControlFlow::Continue(()))
        })?;
    }
    let found = inner.finish(told.source_sequence, &mut only)?;
    let is_line = |row: &Row| matches!(row.kind, Kind::Message | Kind::Event) && !hidden.hides(row.sequence);
    let of_source = found.rows.into_iter().filter(is_line);
    assembler.rows.extend(of_source.map(|row| Row { sequence: fork.sequence, until: fork.sequence, ..row }));
    Ok(())
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
