//! Conflicts, settled.

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
use crate::sync::common::{Shared, tell_once};
use crate::sync::compare::{Compared, News};
use crate::sync::push::{Told, tell};
use crate::sync::side::Side;
use crate::sync::state::Settlement;

/// A conflict that is being settled.
struct Conflict<'c> {
    compared: &'c mut Compared,
    /// The last block of what the others wrote.
    theirs: u64,
}

impl Side<'_, '_> {
    /// Settles a conflict: whatever either side wrote is in the storage then, and the files are
    /// made anew from it.
    pub(super) fn settle(&mut self, compared: &mut Compared, settlement: Settlement) -> Result<()> {
        let Some(news) = &compared.news else { return Ok(()) };
        let base = self.journal.head;
        compared.pending.must_be_settled(&self.folder)?;
        let theirs = self.theirs(news, compared.head)?;
        let mut maker = self.maker(compared.head + 1, compared.pending.turns);
        maker.described = None;
        let mut sender = Sender::new(self.storage, self.key, self.watch);
        let mut conflict = Conflict { compared, theirs };
        self.tell_settled(&mut maker, &mut conflict, settlement, &mut sender)?;
        sender.flush()?;
        if sender.is_refused() {
            // Somebody wrote in between: what was stored until then is compared again.
            return Ok(());
        }
        drop(maker);
        // Nothing was sent where all of it was told before.
        let end = sender.through().max(compared.head);
        let found = self.rows_behind(base, end)?;
        self.rebuild(&News { blocks: end - base, found }, &compared.pending)
    }

    /// The last block of what the others wrote. When this device had begun to settle before, what
    /// is behind it is to be begun anew.
    fn theirs(&mut self, news: &News, head: u64) -> Result<u64> {
        match self.journal.settling {
            Some(from) if from > self.journal.head && news.found.others <= from => Ok(from.min(head)),
            _ => {
                self.journal.note_settling(head)?;
                Ok(head)
            }
        }
    }

    /// Makes into blocks what settles a conflict.
    fn tell_settled(
        &self,
        maker: &mut Maker<'_, '_>,
        conflict: &mut Conflict<'_>,
        settlement: Settlement,
        sender: &mut Sender<'_, '_>,
    ) -> Result<()> {
        let theirs = conflict.theirs;
        let compared = &mut *conflict.compared;
        let rewind = compared.pending.rewind;
        let none: &mut Told<'_> = &mut |_, _, _| Ok(());
        let target = rewind.unwrap_or(self.journal.head);
        match settlement {
            Settlement::Manual => Ok(()),
            Settlement::Local => {
                let why = "settled: what this device has counts";
                maker.rewind(target, why, &mut |block| sender.take(block))?;
                tell(maker, &compared.pending, sender, none)
            }
            Settlement::Remote => {
                if let Some(target) = rewind {
                    maker.rewind(target, "changed here", &mut |block| sender.take(block))?;
                }
                tell(maker, &compared.pending, sender, none)?;
                let why = "settled: what was stored counts";
                maker.rewind(theirs, why, &mut |block| sender.take(block)).map(drop)
            }
            Settlement::Merge => {
                maker.is_merged = true;
                if theirs < compared.head {
                    maker.rewind(theirs, "merged: begun anew", &mut |block| sender.take(block))?;
                }
                compared.leave_out_told(theirs, self.watch)?;
                if let Some(target) = rewind {
                    maker.rewind(target, "merged: changed here", &mut |block| sender.take(block))?;
                    self.copy(conflict, target, maker, sender)?;
                }
                tell(maker, &conflict.compared.pending, sender, none)
            }
        }
    }

    /// Stores again, behind a rewind, what others wrote and it hides.
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
        let beside = self.journal.path().parent().unwrap_or(Path::new("."));
        let folder = attempt(Op::MakeFolder, beside, || tempfile::tempdir_in(beside))?;
        let copy = Folder::new(folder.path());
        let path = folder.path().join("journal");
        let mut files = StagedFiles::new(&copy, &path, [0, 0], self.watch)?;
        let told = news.found.rows.iter().filter(|row| row.sequence <= theirs).copied().collect::<Vec<_>>();
        let (hidden, through) = (Hidden::by(&told).and_nothing(&told), theirs.min(news.found.through));
        let mut assembler = Assembler::new(&hidden, Depth::Whole, self.payloads, self.watch);
        let selection = Selection::range(self.journal.head, through);
        read_into(self.storage, self.key, &selection, &mut assembler, &mut files)?;
        let found = assembler.finish(through, &mut files)?;
        let mut journal = Journal::open(&path)?;
        journal.rows = found.rows;
        files.commit(&journal, &copy.mark(), self.watch)?;
        let mut all = Pending::of(&copy, &Journal::default(), Duration::ZERO, self.watch)?;
        let shared = Shared { known: &self.journal.rows, told: &told, target };
        tell_once(&shared, &mut compared.pending, &mut all, self.watch)?;
        tell(maker, &all, sender, &mut |_, _, _| Ok(()))
    }
}
