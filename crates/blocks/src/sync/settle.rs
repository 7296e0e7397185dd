//! Conflicts, settled.

use std::path::Path;
use std::time::Duration;

use crate::assemble::{Assembler, Depth};
use crate::data::Description;
use crate::error::{Error, Result};
use crate::folder::{Folder, Pending};
use crate::journal::Journal;
use crate::landing::Landing;
use crate::make::Maker;
use crate::replay::read_into;
use crate::rows::{Hidden, Row};
use crate::send::Sender;
use crate::storage::Selection;
use crate::sync::push::tell;
use crate::sync::{Compared, News, Settlement, Side};

impl Side<'_, '_> {
    /// Settles a conflict: whatever either side wrote is in the storage then, and the files are made anew from it.
    pub(super) fn settle(&mut self, compared: &Compared, settlement: Settlement) -> Result<()> {
        let Some(news) = &compared.news else { return Ok(()) };
        let (pending, base, head) = (&compared.pending, self.journal.head, compared.head);
        let mut maker = self.maker(head + 1, pending.turns);
        maker.described = None;
        let mut sender = Sender::new(self.storage, self.key, self.watch);
        let target = pending.rewind.unwrap_or(base);
        let mut none = |_: Row, _: &mut Sender<'_, '_>, _: Option<&Description>| Ok(());
        match settlement {
            Settlement::Manual => return Ok(()),
            Settlement::Local => {
                maker.rewind(target, "settled: what this device has counts", &mut |block| {
                    sender.take(block)
                })?;
                tell(&mut maker, pending, &mut sender, &mut none)?;
            }
            Settlement::Remote => {
                if let Some(target) = pending.rewind {
                    maker.rewind(target, "changed here", &mut |block| sender.take(block))?;
                }
                tell(&mut maker, pending, &mut sender, &mut none)?;
                maker.rewind(head, "settled: what was stored counts", &mut |block| sender.take(block))?;
            }
            Settlement::Merge => {
                maker.is_merged = true;
                if let Some(target) = pending.rewind {
                    maker.rewind(target, "merged: changed here", &mut |block| sender.take(block))?;
                    self.copy(news, &mut maker, &mut sender)?;
                }
                tell(&mut maker, pending, &mut sender, &mut none)?;
            }
        }
        sender.flush()?;
        if sender.is_refused() {
            // Somebody wrote in between: what was stored until then is compared again.
            return Ok(());
        }
        drop(maker);
        let end = sender.through();
        let found = self.rows_behind(base, end)?;
        self.rebuild(&News { blocks: end - base, found }, pending)
    }

    /// Stores again, behind a rewind, what others wrote and it hides.
    fn copy(&self, news: &News, maker: &mut Maker<'_, '_>, sender: &mut Sender<'_, '_>) -> Result<()> {
        let folder = tempfile::tempdir_in(self.journal.path().parent().unwrap_or(Path::new(".")))
            .map_err(|cause| Error::io("make a folder beside", self.journal.path(), cause))?;
        let copy = Folder::new(folder.path());
        let mut landing = Landing::new(&copy, [0, 0])?;
        let hidden = Hidden::by(&news.found.rows);
        let mut assembler = Assembler::new(&hidden, Depth::Whole, self.payloads, self.watch);
        let selection =
            Selection { after: self.journal.head, until: Some(news.found.through), ..Selection::default() };
        read_into(self.storage, self.key, &selection, &mut assembler, &mut landing)?;
        let found = assembler.finish(news.found.through, &mut landing)?;
        let path = folder.path().join("journal");
        let mut journal = Journal::open(&path)?;
        journal.rows = found.rows;
        landing.commit(&journal, &copy.mark())?;
        let all = Pending::of(&copy, &Journal::default(), Duration::ZERO, self.watch)?;
        tell(maker, &all, sender, &mut |_, _, _| Ok(()))
    }
}
