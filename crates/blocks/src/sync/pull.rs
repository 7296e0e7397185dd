//! Pulls new blocks of a storage into the session's files.

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

/// The state to which the files of a session are updated.
struct Target<'r> {
    /// The hidden blocks.
    hidden: &'r Hidden,
    /// All records.
    rows: &'r [Row],
    /// The files stay unchanged up to this block,
    known: u64,
    /// and follow the blocks up to this one.
    through: u64,
    /// Length in bytes of the parts of the transcript and the events that stay.
    keep: [u64; 2],
}

impl Side<'_, '_> {
    /// Pulls the new blocks. Nothing is pending on this side.
    pub(super) fn pull(&mut self, compared: &Compared) -> Result<()> {
        let Some(news) = &compared.news else { return Ok(()) };
        self.rebuild(news, &compared.pending)
    }

    /// Updates the files to match the blocks, from the first difference.
    pub(super) fn rebuild(&mut self, news: &News, pending: &Pending) -> Result<()> {
        pending.must_be_complete(&self.folder)?;
        let mut rows = self.journal.rows.clone();
        rows.extend_from_slice(&news.found.rows);
        let hidden = Hidden::by(&rows);
        let before = Hidden::by(&self.journal.rows);
        // The files stay unchanged up to the first record that the new blocks hide or reveal,
        let is_new = |row: &&Row| before.hides(row.sequence) != hidden.hides(row.sequence);
        let known = self.journal.rows.iter().find(is_new).map_or(self.journal.head, |row| row.sequence - 1);
        // and up to the first local change.
        let known = known.min(pending.rewind.unwrap_or(known));
        // The records of a file have no gaps between them, so their lengths add up to an offset.
        let keep = [Kind::Message, Kind::Event].map(|kind| {
            let kept = visible(&self.journal.rows, kind).filter(|row| row.sequence <= known);
            kept.map(|row| row.print.bytes).sum::<u64>()
        });
        let journal = self.journal.path();
        let mut files = StagedFiles::new(&self.folder, journal, keep, self.watch)?.with_backups();
        let target = Target { hidden: &hidden, rows: &rows, known, through: news.found.through, keep };
        self.describe(&mut files, &hidden, known, pending.is_description_changed)?;
        let journal = self.stage(&mut files, &target)?;
        files.commit(&journal, &pending.mark, self.watch)?;
        // Read from the disk: if another program changed a file, the commit kept the old journal,
        // and the next comparison finds the difference.
        self.journal = Journal::open(self.journal.path())?;
        Ok(())
    }

    /// Stages the content of the blocks, and returns the matching journal.
    fn stage(&self, files: &mut StagedFiles<'_>, target: &Target<'_>) -> Result<Journal> {
        let Target { hidden, rows, known, through, keep } = *target;
        // A record whose pieces never arrived must not be started: a description would overwrite
        // the one before it.
        let written = hidden.clone().and_empty(rows);
        let mut assembler = Assembler::new(&written, Depth::Whole, self.payloads, self.watch);
        assembler.description.clone_from(&self.journal.description);
        for (kind, keep) in [Kind::Message, Kind::Event].into_iter().zip(keep) {
            let len = std::fs::metadata(self.folder.file(kind)).map_or(0, |found| found.len());
            // A file that only becomes shorter has no line that would stage it.
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
        // If a lagging storage omitted a rewind, the files do not match the rows.
        if Hidden::by(&journal.rows) != *hidden {
            return Err(late(self.storage, self.key));
        }
        Ok(journal)
    }

    /// Stages the current description again if a later one is hidden now or the file has another
    /// one: the last one before the blocks that are read.
    fn describe(
        &self,
        files: &mut StagedFiles<'_>,
        hidden: &Hidden,
        known: u64,
        is_changed: bool,
    ) -> Result<()> {
        let rows = &self.journal.rows;
        let last = |until: u64, hidden: &Hidden| {
            let seen = |row: &&Row| {
                row.kind == Kind::Metadata && row.sequence <= until && !hidden.hides(row.sequence)
            };
            rows.iter().rev().find(seen).copied()
        };
        let (now, was) = (last(known, hidden), last(u64::MAX, &Hidden::by(rows)));
        let is_needed = |now: &Row| is_changed || Some(now.sequence) != was.map(|was| was.sequence);
        let Some(now) = now.filter(is_needed) else { return Ok(()) };
        let selection = Selection::range(now.sequence - 1, now.until);
        let none = Hidden::default();
        let mut assembler = Assembler::new(&none, Depth::Whole, self.payloads, self.watch);
        read_into(self.storage, self.key, &selection, &mut assembler, files)?;
        assembler.finish(now.until, files).map(drop)
    }
}
