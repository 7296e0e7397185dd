//! Resolves conflicts.

use std::path::Path;
use std::time::Duration;

use trommel_base::files::{Op, attempt};

use crate::assemble::{Assembler, Depth};
use crate::error::Result;
use crate::folder::Folder;
use crate::journal::Journal;
use crate::make::Maker;
use crate::pending::Pending;
use crate::replay::read_into;
use crate::rows::Hidden;
use crate::send::Sender;
use crate::staged::StagedFiles;
use crate::storage::Selection;
use crate::sync::common::{Shared, skip_shared};
use crate::sync::compare::{Compared, News};
use crate::sync::push::{OnRecord, send};
use crate::sync::side::Side;
use crate::sync::state::ConflictResolution;

/// A conflict that is being resolved.
struct Conflict<'c> {
    compared: &'c mut Compared,
    /// The last block of the other devices.
    theirs: u64,
}

impl Side<'_, '_> {
    /// Resolves a conflict. Afterwards the storage has the records of both sides, and the files are
    /// rebuilt from it.
    pub(super) fn resolve(&mut self, compared: &mut Compared, resolution: ConflictResolution) -> Result<()> {
        let Some(news) = &compared.news else { return Ok(()) };
        let base = self.journal.head;
        compared.pending.must_be_complete(&self.folder)?;
        let theirs = self.theirs(news, compared.head)?;
        let mut maker = self.maker(compared.head + 1, compared.pending.turns);
        // The rewinds of a resolution may hide descriptions, so the next one has all fields.
        maker.described = None;
        let mut sender = Sender::new(self.storage, self.key, self.watch);
        let mut conflict = Conflict { compared, theirs };
        self.send_resolution(&mut maker, &mut conflict, resolution, &mut sender)?;
        sender.flush()?;
        if sender.is_refused() {
            // Another device wrote in between. The next round compares the blocks stored so far.
            return Ok(());
        }
        drop(maker);
        // Nothing was sent if the storage already had all of it.
        let end = sender.through().max(compared.head);
        let found = self.rows_after(base, end)?;
        self.rebuild(&News { blocks: end - base, found }, &compared.pending)
    }

    /// The last block of the other devices. If this device has started to resolve the conflict
    /// before, the blocks after it are replaced.
    fn theirs(&mut self, news: &News, head: u64) -> Result<u64> {
        // The journal remembers where an interrupted merge started. It resumes only if no other
        // device has written since; otherwise it starts after the blocks of all of them. A number
        // up to the head belongs to an earlier merge.
        match self.journal.merging_after {
            Some(from) if from > self.journal.head && news.found.others <= from => Ok(from.min(head)),
            _ => {
                self.journal.set_merging(head)?;
                Ok(head)
            }
        }
    }

    /// Makes the blocks that resolve a conflict.
    fn send_resolution(
        &self,
        maker: &mut Maker<'_, '_>,
        conflict: &mut Conflict<'_>,
        resolution: ConflictResolution,
        sender: &mut Sender<'_, '_>,
    ) -> Result<()> {
        let theirs = conflict.theirs;
        let compared = &mut *conflict.compared;
        let rewind = compared.pending.rewind;
        let ignore: &mut OnRecord<'_> = &mut |_, _, _| Ok(());
        let target = rewind.unwrap_or(self.journal.head);
        match resolution {
            ConflictResolution::Manual => Ok(()),
            ConflictResolution::Local => {
                let why = "settled: what this device has counts";
                maker.rewind(target, why, &mut |block| sender.take(block))?;
                send(maker, &compared.pending, sender, ignore)
            }
            ConflictResolution::Remote => {
                // The records are stored before the last rewind hides them, so that both versions
                // stay. If interrupted in between, the conflict remains, and is resolved again.
                if let Some(target) = rewind {
                    maker.rewind(target, "changed here", &mut |block| sender.take(block))?;
                }
                send(maker, &compared.pending, sender, ignore)?;
                let why = "settled: what was stored counts";
                maker.rewind(theirs, why, &mut |block| sender.take(block)).map(drop)
            }
            ConflictResolution::Merge => {
                maker.is_merged = true;
                // The blocks after `theirs` are from an interrupted merge of this device. They are
                // hidden, and made again.
                if theirs < compared.head {
                    maker.rewind(theirs, "merged: begun anew", &mut |block| sender.take(block))?;
                }
                compared.skip_stored(theirs, self.watch)?;
                // This rewind also hides the new records of other devices, so they are copied after
                // it.
                if let Some(target) = rewind {
                    maker.rewind(target, "merged: changed here", &mut |block| sender.take(block))?;
                    self.copy(conflict, target, maker, sender)?;
                }
                send(maker, &conflict.compared.pending, sender, ignore)
            }
        }
    }

    /// Sends again, after a rewind, the records of other devices that the rewind hides.
    fn copy(
        &self,
        conflict: &mut Conflict<'_>,
        target: u64,
        maker: &mut Maker<'_, '_>,
        sender: &mut Sender<'_, '_>,
    ) -> Result<()> {
        let theirs = conflict.theirs;
        let compared = &mut *conflict.compared;
        let Some(news) = &compared.news else { return Ok(()) };
        // In files, the records of other devices can be compared and sent like local ones.
        let beside = self.journal.path().parent().unwrap_or(Path::new("."));
        let folder = attempt(Op::MakeFolder, beside, || tempfile::tempdir_in(beside))?;
        let copy = Folder::new(folder.path());
        let path = folder.path().join("journal");
        let mut files = StagedFiles::new(&copy, &path, [0, 0], self.watch)?;
        let written =
            news.found.rows.iter().filter(|row| row.sequence <= theirs).copied().collect::<Vec<_>>();
        let (hidden, through) = (Hidden::by(&written).and_empty(&written), theirs.min(news.found.through));
        let mut assembler = Assembler::new(&hidden, Depth::Whole, self.payloads, self.watch);
        let selection = Selection::range(self.journal.head, through);
        read_into(self.storage, self.key, &selection, &mut assembler, &mut files)?;
        let found = assembler.finish(through, &mut files)?;
        let mut journal = Journal::open(&path)?;
        journal.rows = found.rows;
        files.commit(&journal, &copy.mark(), self.watch)?;
        let mut all = Pending::of(&copy, &Journal::default(), Duration::ZERO, self.watch)?;
        let shared = Shared { known: &self.journal.rows, written: &written, target };
        skip_shared(&shared, &mut compared.pending, &mut all, self.watch)?;
        send(maker, &all, sender, &mut |_, _, _| Ok(()))
    }
}
