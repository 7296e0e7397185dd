//! Updates the mirror of one session.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;
use trommel_base::files;
use trommel_session::Watch;

use super::context::{Context, Local};
use crate::assemble::{Assembled, Assembler, Depth};
use crate::block::{BlockType, Key};
use crate::error::{ErrorClass, Result};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::lock::lock_file;
use crate::replay::{late, read_into};
use crate::rows::{FILES, Hidden, Kind, Row, visible};
use crate::staged::{self, StagedFiles};
use crate::storage::{Selection, Want};
use crate::sync::Side;

/// Updates one mirror.
pub(super) struct Filling<'a, 'w> {
    pub(super) context: &'a Context,
    pub(super) key: &'a Key,
    pub(super) project: &'a str,
    pub(super) folder: Folder,
    pub(super) watch: &'a Watch<'w>,
}

/// Types of blocks that are read whole. Events are read separately, without their bodies.
const WHOLE_TYPES: [BlockType; 6] = [
    BlockType::SessionCreated,
    BlockType::SessionUpdated,
    BlockType::SessionDeleted,
    BlockType::Message,
    BlockType::Rewind,
    BlockType::Fork,
];

impl<'w> Filling<'_, 'w> {
    /// Updates the mirror with the journal at this path.
    pub(super) fn run(&self, path: &Path) -> Result<()> {
        // Waits for another process that fills this mirror.
        let _lock = lock_file(&path.with_extension("lock"), self.watch)?;
        let storage = &*self.context.options.storage;
        let Some(head) = storage.head(self.key, self.watch)? else { return Ok(()) };
        if !storage.is_writable() {
            // Numbers of blocks change in other layouts when a record is added.
            files::remove(path)?;
        }
        let mut journal = self.known(path)?;
        if journal.head == head.sequence {
            return Ok(());
        }
        let mut found = self.side(journal.clone()).rows_after(journal.head, head.sequence)?;
        let is_cut = found.rows.iter().any(|row| matches!(row.kind, Kind::Rewind { .. }));
        // Records are only appended to a mirror, so a rewind or a shorter session rebuilds it.
        if head.sequence < journal.head || is_cut && journal.head > 0 {
            files::remove(path)?;
            journal = Journal::open(path)?;
            found = self.side(journal.clone()).rows_after(0, head.sequence)?;
        }
        self.extend(&journal, found)?;
        for kind in FILES {
            touch(&self.folder.file(kind), &head.timestamp);
        }
        Ok(())
    }

    /// The journal of the mirror; an empty one if the files do not match it.
    fn known(&self, path: &Path) -> Result<Journal> {
        staged::recover(path, self.watch)?;
        let known = match Journal::open(path) {
            // The mirror is a cache: a damaged journal is rebuilt, not reported.
            Err(error) if error.class() == ErrorClass::Corrupt => {
                files::remove(path)?;
                Journal::open(path)?
            }
            known => known?,
        };
        // No other program writes to a mirror, so equal lengths mean equal files.
        let is_whole = [Kind::Message, Kind::Event].into_iter().all(|kind| {
            let recorded = visible(&known.rows, kind).map(|row| row.print.bytes).sum::<u64>();
            fs::metadata(self.folder.file(kind)).map_or(0, |found| found.len()) == recorded
        });
        if is_whole {
            return Ok(known);
        }
        files::remove(path)?;
        Journal::open(path)
    }

    fn side(&self, journal: Journal) -> Side<'_, 'w> {
        let local = Local { project: self.project, folder: self.folder.clone(), journal };
        self.context.side(self.key, local, self.watch)
    }

    /// Appends the new records.
    fn extend(&self, journal: &Journal, found: Assembled) -> Result<()> {
        let mut rows = journal.rows.clone();
        rows.extend_from_slice(&found.rows);
        let hidden = Hidden::by(&rows).and_empty(&rows);
        let keep = [Kind::Message, Kind::Event]
            .map(|kind| visible(&journal.rows, kind).map(|row| row.print.bytes).sum::<u64>());
        let mut staged = StagedFiles::new(&self.folder, journal.path(), keep, self.watch)?;
        let was = self.folder.mark();
        for (kind, keep) in [Kind::Message, Kind::Event].into_iter().zip(keep) {
            if keep < fs::metadata(self.folder.file(kind)).map_or(0, |found| found.len()) {
                staged.cut(kind)?;
            }
        }
        let (mut prints, mut sources) = (BTreeMap::new(), Vec::new());
        // Bodies of events are most of a session's bytes, so events are read without them.
        for (types, want) in [(WHOLE_TYPES.to_vec(), Want::Whole), (vec![BlockType::Event], Want::Outline)] {
            let selection = Selection { after: journal.head, until: Some(found.through), types, want };
            let mut assembler = Assembler::new(&hidden, Depth::Outline, self.context.payloads(), self.watch);
            read_into(&*self.context.options.storage, self.key, &selection, &mut assembler, &mut staged)?;
            let found_rows = assembler.finish(found.through, &mut staged)?;
            let forks = found.rows.iter().filter(|row| row.kind == Kind::Fork);
            let forks = forks.map(|row| row.sequence).collect::<BTreeSet<_>>();
            let (of_sources, own) =
                found_rows.rows.into_iter().partition::<Vec<_>, _>(|row| forks.contains(&row.sequence));
            prints.extend(own.iter().map(|row| (row.sequence, row.print)));
            sources
                .extend(of_sources.into_iter().filter(|row| matches!(row.kind, Kind::Message | Kind::Event)));
        }
        let mut journal = journal.clone();
        let is_visible =
            |row: &&Row| matches!(row.kind, Kind::Message | Kind::Event) && !hidden.hides(row.sequence);
        // The storage has not returned a visible record yet, so the mirror would lack its line.
        if found.rows.iter().filter(is_visible).any(|row| !prints.contains_key(&row.sequence)) {
            return Err(late(&*self.context.options.storage, self.key));
        }
        for row in found.rows {
            let print = prints.get(&row.sequence).copied().unwrap_or(row.print);
            journal.rows.push(Row { print, ..row });
            // The records of a fork's source have the number of the fork.
            journal.rows.extend(sources.iter().filter(|source| source.sequence == row.sequence));
        }
        (journal.head, journal.description) = (found.through, found.description);
        staged.commit(&journal, &was, self.watch)
    }
}

/// Sets the modification time of a file, which lists show for a session without a date in its
/// description.
pub(super) fn touch(path: &Path, when: &str) {
    let Ok(when) = when.parse::<Timestamp>() else { return };
    let touched =
        File::options().write(true).open(path).and_then(|file| file.set_modified(SystemTime::from(when)));
    // A failure is harmless: a list shows a later time.
    drop(touched);
}
