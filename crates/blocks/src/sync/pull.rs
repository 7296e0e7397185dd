//! What is new in a storage, brought here.

use crate::assemble::{Assembler, Depth};
use crate::error::Result;
use crate::journal::Journal;
use crate::pending::Pending;
use crate::replay::{late, read_into};
use crate::rows::{Hidden, Kind, Row, visible};
use crate::staged::StagedFiles;
use crate::storage::Selection;
use crate::sync::compare::{Compared, News};
use crate::sync::side::Side;

/// The state that the files of a session are brought to.
struct Target<'r> {
    /// The ranges of blocks that do not count.
    hidden: &'r Hidden,
    /// All records.
    rows: &'r [Row],
    /// The files stay as they are up to this block,
    known: u64,
    /// and are what the blocks tell up to this one.
    through: u64,
    /// Bytes of the transcript and of the events that stay.
    keep: [u64; 2],
}

impl Side<'_, '_> {
    /// Brings here what is new in the storage. Nothing is pending here.
    pub(super) fn pull(&mut self, compared: &Compared) -> Result<()> {
        let Some(news) = &compared.news else { return Ok(()) };
        self.rebuild(news, &compared.pending)
    }

    /// Makes the files what the blocks tell, from where they differ.
    pub(super) fn rebuild(&mut self, news: &News, pending: &Pending) -> Result<()> {
        pending.must_be_settled(&self.folder)?;
        let mut rows = self.journal.rows.clone();
        rows.extend_from_slice(&news.found.rows);
        let hidden = Hidden::by(&rows);
        let before = Hidden::by(&self.journal.rows);
        // Up to the first record that is seen now and was not, or was seen and is not, the files
        // stay as they are.
        let is_new = |row: &&Row| before.hides(row.sequence) != hidden.hides(row.sequence);
        let known = self.journal.rows.iter().find(is_new).map_or(self.journal.head, |row| row.sequence - 1);
        // Nor from where they were changed here.
        let known = known.min(pending.rewind.unwrap_or(known));
        let keep = [Kind::Message, Kind::Event].map(|kind| {
            let kept = visible(&self.journal.rows, kind).filter(|row| row.sequence <= known);
            kept.map(|row| row.print.bytes).sum::<u64>()
        });
        let journal = self.journal.path();
        let mut files = StagedFiles::new(&self.folder, journal, keep, self.watch)?.with_backups();
        let target = Target { hidden: &hidden, rows: &rows, known, through: news.found.through, keep };
        self.describe(&mut files, &hidden, known, pending.is_described_anew)?;
        let journal = self.stage(&mut files, &target)?;
        files.commit(&journal, &pending.mark, self.watch)?;
        // That nothing else is in the files is for the next comparison to find.
        self.journal = Journal::open(self.journal.path())?;
        Ok(())
    }

    /// Writes what blocks tell; the journal that goes with it.
    fn stage(&self, files: &mut StagedFiles<'_>, target: &Target<'_>) -> Result<Journal> {
        let Target { hidden, rows, known, through, keep } = *target;
        // A record whose pieces never came is not begun: a description would have emptied the one
        // before it.
        let written = hidden.clone().and_nothing(rows);
        let mut assembler = Assembler::new(&written, Depth::Whole, self.payloads, self.watch);
        assembler.description.clone_from(&self.journal.description);
        for (kind, keep) in [Kind::Message, Kind::Event].into_iter().zip(keep) {
            let len = std::fs::metadata(self.folder.file(kind)).map_or(0, |found| found.len());
            if keep < len {
                files.cut(kind)?;
            }
        }
        let selection = Selection::range(known, through);
        read_into(self.storage, self.key, &selection, &mut assembler, files)?;
        let found = assembler.finish(through, files)?;
        let mut journal = self.journal.clone();
        journal.rows.retain(|row| row.sequence <= known);
        journal.rows.extend_from_slice(&found.rows);
        (journal.head, journal.description) = (found.through, found.description);
        if Hidden::by(&journal.rows) != *hidden {
            return Err(late(self.storage, self.key));
        }
        Ok(journal)
    }

    /// Writes the description again that counts, where a later one is hidden now or another one is
    /// here: the last one before what is read anew.
    fn describe(
        &self,
        files: &mut StagedFiles<'_>,
        hidden: &Hidden,
        known: u64,
        is_another: bool,
    ) -> Result<()> {
        let rows = &self.journal.rows;
        let last = |until: u64, hidden: &Hidden| {
            let seen = |row: &&Row| {
                row.kind == Kind::Metadata && row.sequence <= until && !hidden.hides(row.sequence)
            };
            rows.iter().rev().find(seen).copied()
        };
        let (now, was) = (last(known, hidden), last(u64::MAX, &Hidden::by(rows)));
        let is_to_be = |now: &Row| is_another || Some(now.sequence) != was.map(|was| was.sequence);
        let Some(now) = now.filter(is_to_be) else { return Ok(()) };
        let selection = Selection::range(now.sequence - 1, now.until);
        let none = Hidden::default();
        let mut assembler = Assembler::new(&none, Depth::Whole, self.payloads, self.watch);
        read_into(self.storage, self.key, &selection, &mut assembler, files)?;
        assembler.finish(now.until, files).map(drop)
    }
}
