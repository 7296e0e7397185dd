//! What is known here of a session's blocks: a line a record, appended as they are seen.

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

/// The version of journals.
const VERSION: u32 = 1;

/// What is known here of a session's blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Journal {
    path: PathBuf,
    /// Whether nothing is written down: somebody else may be writing.
    is_only_read: bool,
    /// Records in order.
    pub(crate) rows: Vec<Row>,
    /// The last block that is known.
    pub(crate) head: u64,
    /// What the session says of itself.
    pub(crate) description: Option<Description>,
    /// How the files were when they were the same as the blocks.
    pub(crate) mark: Option<Mark>,
    /// The last block before those that settle a conflict, while that is being done.
    pub(crate) settling: Option<u64>,
}

/// A line of a journal.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Entry {
    Version(u32),
    /// Type, number, last number, bytes or target, hash, turn.
    Row(char, u64, u64, u64, String, u64),
    Head(u64),
    Description(Box<Description>),
    Mark(Mark),
    Settling(u64),
}

/// Records on their way, which count when the number of the last block follows.
#[derive(Default)]
struct Coming {
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
            Kind::Nothing => ('n', 0),
        };
        Self::Row(kind, row.sequence, row.until, bytes, row.print.hex(), row.turn)
    }
}

impl Journal {
    /// The journal at a path; an empty one where there is none. What was cut off while it was
    /// written down is as if it had not been begun: records count together with the number that
    /// ends them. Nobody else writes meanwhile.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let (journal, cut) = Self::read(path)?;
        if let Some(whole) = cut {
            let file = files::attempt(Op::Open, path, || OpenOptions::new().write(true).open(path))?;
            files::truncate(&file, path, whole)?;
        }
        Ok(journal)
    }

    /// The journal at a path as it is, in which nothing is written down.
    pub(crate) fn look(path: &Path) -> Result<Self> {
        let (journal, _) = Self::read(path)?;
        Ok(Self { is_only_read: true, ..journal })
    }

    /// True if it records files and the folder has none: the session was removed from this machine.
    pub(crate) fn is_of_removed(&self, folder: &Folder) -> bool {
        let tells = |kind| visible(&self.rows, kind).last().is_some_and(|row| row.print != Print::default());
        folder.is_empty() && FILES.into_iter().any(tells)
    }

    /// No journal yet, in which nothing is written down.
    pub(crate) fn none(path: &Path) -> Self {
        Self { path: path.to_owned(), is_only_read: true, ..Self::default() }
    }

    /// The journal at a path, and where what was cut off begins, if anything was.
    fn read(path: &Path) -> Result<(Self, Option<u64>)> {
        let mut journal = Self { path: path.to_owned(), ..Self::default() };
        let text = match fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((journal, None)),
            text => files::attempt(Op::Read, path, || text)?,
        };
        let (mut coming, mut at, mut whole) = (Coming::default(), 0, 0);
        for line in text.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let entry = serde_json::from_slice(line).map_err(|cause| journal.damaged(Some(cause)))?;
            at += line.len();
            if journal.take(entry, &mut coming)? {
                whole = at;
            }
        }
        Ok((journal, (whole < text.len()).then_some(whole as u64)))
    }

    fn damaged(&self, cause: Option<serde_json::Error>) -> Error {
        ErrorKind::Journal { path: self.path.clone(), cause }.into()
    }

    /// Takes a line. Whether all that was written down until then is whole.
    fn take(&mut self, entry: Entry, coming: &mut Coming) -> Result<bool> {
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
                    _ => Kind::Nothing,
                };
                let print = if matches!(kind, Kind::Rewind { .. }) { Print::default() } else { print };
                coming.rows.push(Row { sequence, until, kind, print, turn });
                return Ok(false);
            }
            Entry::Description(description) => {
                coming.description = Some(*description);
                return Ok(false);
            }
            Entry::Head(head) => {
                self.rows.append(&mut coming.rows);
                self.description = coming.description.take().or(self.description.take());
                (self.head, self.mark) = (head, None);
            }
            Entry::Mark(mark) => self.mark = Some(mark),
            Entry::Settling(from) => self.settling = Some(from),
        }
        Ok(true)
    }

    /// Adds records, and what the last block is now.
    pub(crate) fn append(
        &mut self,
        rows: &[Row],
        head: u64,
        description: Option<&Description>,
    ) -> Result<()> {
        let mut entries = rows.iter().map(Entry::from).collect::<Vec<_>>();
        entries.extend(description.cloned().map(|told| Entry::Description(Box::new(told))));
        entries.push(Entry::Head(head));
        self.write(&entries)?;
        self.mark = None;
        self.rows.extend_from_slice(rows);
        self.head = head;
        self.description = description.cloned().or(self.description.take());
        Ok(())
    }

    /// Notes that the files are what the blocks are.
    pub(crate) fn settle(&mut self, mark: Mark) -> Result<()> {
        if self.mark.as_ref() != Some(&mark) {
            self.write(&[Entry::Mark(mark.clone())])?;
            self.mark = Some(mark);
        }
        Ok(())
    }

    /// Notes that a conflict begins to be settled behind a block.
    pub(crate) fn note_settling(&mut self, from: u64) -> Result<()> {
        if self.settling != Some(from) {
            self.write(&[Entry::Settling(from)])?;
            self.settling = Some(from);
        }
        Ok(())
    }

    fn write(&self, entries: &[Entry]) -> Result<()> {
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
        files::attempt(Op::Write, &self.path, || print(&file, version.iter().chain(entries)))?;
        Ok(files::sync(&file, &self.path)?)
    }

    /// The same journal, written to another path.
    pub(crate) fn write_to(&self, path: &Path) -> Result<()> {
        // One that an earlier attempt left is of no use.
        files::remove(path)?;
        let file = files::create(path)?;
        let rows = self.rows.iter().map(Entry::from);
        let rest = [
            self.description.clone().map(|told| Entry::Description(Box::new(told))),
            Some(Entry::Head(self.head)),
        ];
        let entries = std::iter::once(Entry::Version(VERSION)).chain(rows).chain(rest.into_iter().flatten());
        files::attempt(Op::Write, path, || print(&file, entries))?;
        Ok(files::sync(&file, path)?)
    }

    pub(crate) fn is_only_read(&self) -> bool {
        self.is_only_read
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn print(file: &File, entries: impl Iterator<Item = impl std::borrow::Borrow<Entry>>) -> io::Result<()> {
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

    /// Whatever ends a process, or a disk, while records are written down.
    #[test]
    fn records_count_together_or_not_at_all() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("journal");
        let row = |sequence| Row { kind: Kind::Event, ..Row::nothing(sequence, sequence) };
        let mut journal = Journal::open(&path).unwrap();
        journal.append(&[row(1), row(2)], 2, None).unwrap();
        let before = fs::read(&path).unwrap().len();
        journal.append(&[row(3), row(4), row(5)], 5, Some(&Description::default())).unwrap();
        let all = fs::read(&path).unwrap();
        for end in before..all.len() {
            fs::write(&path, &all[..end]).unwrap();
            let looked = Journal::look(&path).unwrap();
            assert_eq!((looked.rows.len(), looked.head), (2, 2), "{end}");
            assert_eq!(fs::read(&path).unwrap().len(), end);
            let mut opened = Journal::open(&path).unwrap();
            assert_eq!(fs::read(&path).unwrap().len(), before, "{end}");
            opened.append(&[row(3)], 3, None).unwrap();
            let again = Journal::open(&path).unwrap();
            assert_eq!(again.rows.iter().map(|row| row.sequence).collect::<Vec<_>>(), [1, 2, 3], "{end}");
        }
    }
}
