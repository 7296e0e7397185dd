//! The journal of a session: a file that lists the records that are stored as blocks. Each sync
//! appends one line per record.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trommel_base::files::{self, Op};

use crate::data::Description;
use crate::error::{Error, ErrorKind, Result};
use crate::folder::{Folder, Mark};
use crate::lines::Print;
use crate::rows::{FILES, Kind, Row, visible};

/// The version of the journal's format.
const VERSION: u32 = 1;

/// The records of a session that are stored as blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    path: PathBuf,
    /// True if the file must not be written, because another process may be writing it.
    is_only_read: bool,
    /// The records in order.
    pub(crate) rows: Vec<Row>,
    /// The number of the last known block.
    pub(crate) head: u64,
    /// The session's description as of that block.
    pub(crate) description: Option<Description>,
    /// The state in which the session's files last matched the blocks.
    pub(crate) mark: Option<Mark>,
    /// The last block before those that resolve a conflict. A number up to `head` belongs to an
    /// earlier conflict.
    pub(crate) merging_after: Option<u64>,
}

/// A line of a journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Version(u32),
    /// The kind, the first and the last block, the length (of a rewind, the target), the hash, and
    /// the turn.
    Row(char, u64, u64, u64, String, u64),
    Head(u64),
    Description(Box<Description>),
    Mark(Mark),
    /// See [`Journal::merging_after`].
    #[serde(rename = "settling")]
    MergingAfter(u64),
}

/// Lines that take effect only when an [`Entry::Head`] follows them.
#[derive(Default)]
struct Unconfirmed {
    rows: Vec<Row>,
    description: Option<Description>,
}

impl From<&Row> for Entry {
    fn from(row: &Row) -> Self {
        let (kind, bytes) = match row.kind {
            Kind::Metadata => ('d', row.print.bytes),
            Kind::Message => ('m', row.print.bytes),
            Kind::Event => ('e', row.print.bytes),
            Kind::Rewind { target } => ('r', target),
            Kind::Fork => ('f', 0),
            Kind::None => ('n', 0),
        };
        Self::Row(kind, row.sequence, row.until, bytes, row.print.hex(), row.turn)
    }
}

impl Journal {
    /// Opens the journal at a path; a missing file is an empty journal. Truncates the lines of an
    /// interrupted append, which no [`Entry::Head`] confirms. The caller must hold the session's
    /// lock.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let (journal, confirmed) = Self::read(path)?;
        // Without truncation, the next append would continue a torn line, or confirm the records of
        // the interrupted append.
        if let Some(end) = confirmed {
            let file = files::attempt(Op::Open, path, || OpenOptions::new().write(true).open(path))?;
            files::truncate(&file, path, end)?;
        }
        Ok(journal)
    }

    /// Reads the journal at a path, and never writes to it.
    pub(crate) fn open_read_only(path: &Path) -> Result<Self> {
        let (journal, _) = Self::read(path)?;
        Ok(Self { is_only_read: true, ..journal })
    }

    /// True if the journal lists records of files but the folder has none of these files: the
    /// session was removed from this machine.
    pub(crate) fn is_of_removed(&self, folder: &Folder) -> bool {
        let has_records =
            |kind| visible(&self.rows, kind).last().is_some_and(|row| row.print != Print::default());
        folder.is_empty() && FILES.into_iter().any(has_records)
    }

    /// Creates an empty journal whose file is never written.
    pub(crate) fn empty(path: &Path) -> Self {
        Self { path: path.to_owned(), is_only_read: true, ..Self::default() }
    }

    /// Reads the journal at a path. If unconfirmed lines follow the confirmed ones, also returns
    /// the offset between them.
    fn read(path: &Path) -> Result<(Self, Option<u64>)> {
        let mut journal = Self { path: path.to_owned(), ..Self::default() };
        let text = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((journal, None)),
            text => files::attempt(Op::Read, path, || text)?,
        };
        let (mut unconfirmed, mut at, mut confirmed) = (Unconfirmed::default(), 0, 0);
        // An interrupted append may leave a last line without a line break, which is skipped. A
        // malformed line with a line break is damage.
        for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let entry = serde_json::from_slice(line).map_err(|cause| journal.damaged(Some(cause)))?;
            at += line.len();
            if journal.take(entry, &mut unconfirmed)? {
                confirmed = at;
            }
        }
        Ok((journal, (confirmed < text.len()).then_some(confirmed as u64)))
    }

    fn damaged(&self, cause: Option<serde_json::Error>) -> Error {
        ErrorKind::Journal { path: self.path.clone(), cause }.into()
    }

    /// Applies a line. Returns true if it confirms all lines so far.
    fn take(&mut self, entry: Entry, unconfirmed: &mut Unconfirmed) -> Result<bool> {
        match entry {
            Entry::Version(VERSION) => {}
            Entry::Version(version) => {
                return Err(ErrorKind::JournalVersion { path: self.path.clone(), version }.into());
            }
            Entry::Row(kind, sequence, until, bytes, hash, turn) => {
                let print = Print::from_hex(bytes, &hash).ok_or_else(|| self.damaged(None))?;
                let kind = match kind {
                    'd' => Kind::Metadata,
                    'm' => Kind::Message,
                    'e' => Kind::Event,
                    'r' => Kind::Rewind { target: bytes },
                    'f' => Kind::Fork,
                    _ => Kind::None,
                };
                // A rewind has no text: its entry has the target in place of the length.
                let print = if matches!(kind, Kind::Rewind { .. }) { Print::default() } else { print };
                unconfirmed.rows.push(Row { sequence, until, kind, print, turn });
                return Ok(false);
            }
            Entry::Description(description) => {
                unconfirmed.description = Some(*description);
                return Ok(false);
            }
            Entry::Head(head) => {
                self.rows.append(&mut unconfirmed.rows);
                self.description = unconfirmed.description.take().or(self.description.take());
                // The mark belongs to an earlier block, so it is no longer valid.
                (self.head, self.mark) = (head, None);
            }
            Entry::Mark(mark) => self.mark = Some(mark),
            Entry::MergingAfter(from) => self.merging_after = Some(from),
        }
        Ok(true)
    }

    /// Appends records, the description if it changed, and the number of the last block.
    pub(crate) fn append(
        &mut self,
        rows: &[Row],
        head: u64,
        description: Option<&Description>,
    ) -> Result<()> {
        let mut entries = rows.iter().map(Entry::from).collect::<Vec<_>>();
        entries.extend(description.cloned().map(|description| Entry::Description(Box::new(description))));
        entries.push(Entry::Head(head));
        // Write the file first: if that fails, memory must not have records that the file lacks.
        self.write(&entries)?;
        self.mark = None;
        self.rows.extend_from_slice(rows);
        self.head = head;
        self.description = description.cloned().or(self.description.take());
        Ok(())
    }

    /// Stores the state in which the session's files match the blocks.
    pub(crate) fn set_mark(&mut self, mark: Mark) -> Result<()> {
        if self.mark.as_ref() != Some(&mark) {
            self.write(&[Entry::Mark(mark.clone())])?;
            self.mark = Some(mark);
        }
        Ok(())
    }

    /// Stores the block after which the resolution of a conflict starts.
    pub(crate) fn set_merging(&mut self, from: u64) -> Result<()> {
        if self.merging_after != Some(from) {
            self.write(&[Entry::MergingAfter(from)])?;
            self.merging_after = Some(from);
        }
        Ok(())
    }

    fn write(&self, entries: &[Entry]) -> Result<()> {
        // The caller still updates the journal in memory, so a read-only comparison gives the same
        // result.
        if self.is_only_read {
            return Ok(());
        }
        if let Some(folder) = self.path.parent() {
            files::make_folder(folder)?;
        }
        let file = files::attempt(Op::Open, &self.path, || {
            OpenOptions::new().create(true).append(true).mode(0o600).open(&self.path)
        })?;
        let is_new = files::attempt(Op::Inspect, &self.path, || file.metadata())?.len() == 0;
        let version = is_new.then_some(Entry::Version(VERSION));
        files::attempt(Op::Write, &self.path, || write_entries(&file, version.iter().chain(entries)))?;
        Ok(files::sync(&file, &self.path)?)
    }

    /// Writes the journal to another path, for a commit that replaces the session's files.
    pub(crate) fn write_to(&self, path: &Path) -> Result<()> {
        // Remove the file of an earlier, interrupted commit.
        files::remove(path)?;
        let file = files::create(path)?;
        // Omit the mark and the start of a merge: the commit changes the files and completes the
        // merge.
        let rows = self.rows.iter().map(Entry::from);
        let rest = [
            self.description.clone().map(|description| Entry::Description(Box::new(description))),
            Some(Entry::Head(self.head)),
        ];
        let entries = std::iter::once(Entry::Version(VERSION)).chain(rows).chain(rest.into_iter().flatten());
        files::attempt(Op::Write, path, || write_entries(&file, entries))?;
        Ok(files::sync(&file, path)?)
    }

    pub(crate) fn is_only_read(&self) -> bool {
        self.is_only_read
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn write_entries(
    file: &File,
    entries: impl Iterator<Item = impl std::borrow::Borrow<Entry>>,
) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    for entry in entries {
        serde_json::to_writer(&mut out, entry.borrow())?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a crash at each byte of an append.
    #[test]
    fn records_count_together_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("journal");
        let row = |sequence| Row { kind: Kind::Event, ..Row::none(sequence, sequence) };
        let mut journal = Journal::open(&path).unwrap();
        journal.append(&[row(1), row(2)], 2, None).unwrap();
        let before = fs::read(&path).unwrap().len();
        journal.append(&[row(3), row(4), row(5)], 5, Some(&Description::default())).unwrap();
        let all = fs::read(&path).unwrap();
        for end in before..all.len() {
            fs::write(&path, &all[..end]).unwrap();
            let read_only = Journal::open_read_only(&path).unwrap();
            assert_eq!((read_only.rows.len(), read_only.head), (2, 2), "{end}");
            assert_eq!(fs::read(&path).unwrap().len(), end);
            let mut opened = Journal::open(&path).unwrap();
            assert_eq!(fs::read(&path).unwrap().len(), before, "{end}");
            opened.append(&[row(3)], 3, None).unwrap();
            let again = Journal::open(&path).unwrap();
            assert_eq!(again.rows.iter().map(|row| row.sequence).collect::<Vec<_>>(), [1, 2, 3], "{end}");
        }
    }
}
