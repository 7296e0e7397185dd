//! The records in a session's folder that no block contains yet.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use jiff::Timestamp;
use trommel_session::Watch;

use crate::error::{ErrorKind, Result};
use crate::folder::{Folder, Mark};
use crate::journal::Journal;
use crate::lines::{LineAt, Print, Text};
use crate::make::Turns;
use crate::rows::{Kind, Row, visible};

/// The records in a folder that no block contains yet.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The state of the files.
    pub(crate) mark: Mark,
    /// The last block whose records are still in the files; `None` if all are.
    pub(crate) rewind: Option<u64>,
    pub(crate) metadata: Text,
    /// True if the description has changed.
    pub(crate) is_description_changed: bool,
    pub(crate) transcript: Tail,
    pub(crate) events: Tail,
    pub(crate) turns: Turns,
}

/// The end of a file that no block contains yet.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) text: Text,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Offsets of lines that are skipped.
    skipped: BTreeSet<u64>,
}

impl Tail {
    /// An empty tail.
    fn empty(text: Text) -> Self {
        Self { from: text.len(), to: text.len(), text, skipped: BTreeSet::new() }
    }

    fn is_empty(&self) -> bool {
        self.from >= self.to
    }

    /// Passes each line to `take`.
    pub(crate) fn each(&self, watch: &Watch<'_>, take: &mut dyn FnMut(LineAt) -> Result<()>) -> Result<()> {
        let mut lines = self.text.lines(self.from);
        while let Some(line) = lines.next()? {
            watch.check()?;
            if line.end() > self.to {
                break;
            }
            if !self.skipped.contains(&line.start) {
                take(line)?;
            }
        }
        Ok(())
    }

    /// Skips the first lines of each text, as many as `counts` says.
    pub(crate) fn skip(&mut self, mut counts: HashMap<Print, u64>, watch: &Watch<'_>) -> Result<()> {
        let mut skipped = BTreeSet::new();
        self.each(watch, &mut |line| {
            if let Some(left) = counts.get_mut(&line.print)
                && *left > 0
            {
                *left -= 1;
                skipped.insert(line.start);
            }
            Ok(())
        })?;
        self.skipped.extend(skipped);
        Ok(())
    }
}

impl Pending {
    /// True if the blocks contain everything.
    pub(crate) fn is_empty(&self) -> bool {
        self.rewind.is_none()
            && !self.is_description_changed
            && self.transcript.is_empty()
            && self.events.is_empty()
    }

    /// True if the rows contain the current description, or none at all.
    pub(crate) fn is_described_by(&self, rows: &[Row]) -> Result<bool> {
        let described = rows.iter().rfind(|row| row.kind == Kind::Metadata);
        Ok(match described {
            Some(row) => row.print == whole(&self.metadata)?,
            None => true,
        })
    }

    /// True if the pending records start with these rows, in each file.
    pub(crate) fn begins_with(&self, rows: &[Row], watch: &Watch<'_>) -> Result<bool> {
        for (kind, tail) in [(Kind::Message, &self.transcript), (Kind::Event, &self.events)] {
            let mut expected = rows.iter().filter(|row| row.kind == kind);
            let mut is_same = true;
            tail.each(watch, &mut |line| {
                is_same &= expected.next().is_none_or(|row| row.print == line.print);
                Ok(())
            })?;
            if !is_same || expected.next().is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// True if no line was skipped because it may still be being written.
    pub(crate) fn is_complete(&self) -> bool {
        [&self.transcript, &self.events].into_iter().all(|tail| tail.to == tail.text.len())
    }

    /// Fails if a last line is unfinished: replacing the files would truncate it.
    pub(crate) fn must_be_complete(&self, folder: &Folder) -> Result<()> {
        if self.is_complete() {
            return Ok(());
        }
        Err(ErrorKind::HalfLine { folder: folder.path().to_owned() }.into())
    }

    /// Finds the records of a folder that are not in the journal. An unfinished last line is
    /// skipped while the file is younger than `rest`.
    ///
    /// Reads every byte, unless the files are unchanged since the last comparison.
    pub(crate) fn of(folder: &Folder, journal: &Journal, rest: Duration, watch: &Watch<'_>) -> Result<Self> {
        // Taken before the files are opened: if one changes in between, the mark no longer matches,
        // and a commit is refused.
        let mark = folder.mark();
        let open = |kind| Text::open(&folder.file(kind), watch.flag());
        let (metadata, transcript, events) =
            (open(Kind::Metadata)?, open(Kind::Message)?, open(Kind::Event)?);
        let mut pending = Self {
            rewind: None,
            is_description_changed: false,
            metadata,
            transcript: Tail::empty(transcript),
            events: Tail::empty(events),
            turns: Turns::default(),
            mark,
        };
        if journal.mark.as_ref() == Some(&pending.mark) {
            pending.turns = turns(&journal.rows, None);
            return Ok(pending);
        }
        let known = [Kind::Message, Kind::Event]
            .map(|kind| visible(&journal.rows, kind).copied().collect::<Vec<_>>());
        let [messages, events] = &known;
        let lost = [
            match_rows(&mut pending.transcript, messages, rest, watch)?,
            match_rows(&mut pending.events, events, rest, watch)?,
        ];
        if let Some(first) = lost.into_iter().flatten().min() {
            // A rewind hides the records of both files after its target. So its target precedes the
            // first lost record of either file, and the other file's later records are sent again.
            pending.rewind = Some(first - 1);
            for (tail, rows) in [(&mut pending.transcript, messages), (&mut pending.events, events)] {
                tail.from = rows.iter().filter(|row| row.sequence < first).map(|row| row.print.bytes).sum();
            }
        }
        let kept = |row: &&Row| pending.rewind.is_none_or(|target| row.sequence <= target);
        let described = visible(&journal.rows, Kind::Metadata).filter(kept).last().map(|row| row.print);
        pending.is_description_changed = described.unwrap_or(Print::NONE) != whole(&pending.metadata)?;
        pending.turns = turns(&journal.rows, pending.rewind);
        Ok(pending)
    }
}

/// The turns up to a block.
fn turns(rows: &[Row], through: Option<u64>) -> Turns {
    let last = |kind| {
        let kept = visible(rows, kind).filter(|row| through.is_none_or(|target| row.sequence <= target));
        kept.last().map_or(0, |row| row.turn)
    };
    Turns { message: last(Kind::Message), event: last(Kind::Event) }
}

fn whole(text: &Text) -> Result<Print> {
    // The hash distinguishes an empty file from a missing one.
    Ok(text
        .whole()
        .next()?
        .map_or_else(|| if text.exists() { Print::of(b"") } else { Print::default() }, |line| line.print))
}

/// Moves the start of the tail after the last line that matches its row. Returns the first row
/// without a matching line.
fn match_rows(tail: &mut Tail, rows: &[Row], rest: Duration, watch: &Watch<'_>) -> Result<Option<u64>> {
    let (mut lines, mut at) = (tail.text.lines(0), 0);
    for row in rows {
        watch.check()?;
        match lines.next()? {
            Some(line) if line.print == row.print => at = line.end(),
            _ => {
                tail.from = at;
                tail.to = end_of_finished(tail, rest)?;
                return Ok(Some(row.sequence));
            }
        }
    }
    tail.from = at;
    tail.to = end_of_finished(tail, rest)?;
    Ok(None)
}

/// The end of the finished lines: the start of a last line that a program may still be writing, or
/// else the end of the file.
fn end_of_finished(tail: &Tail, rest: Duration) -> Result<u64> {
    let len = tail.text.len();
    let written = std::fs::metadata(tail.text.path()).and_then(|found| found.modified()).ok();
    // A time in the future comes from another clock.
    let age = written.and_then(|written| {
        Some(Timestamp::now().duration_since(Timestamp::try_from(written).ok()?).unsigned_abs())
    });
    if age.is_some_and(|age| age >= rest) || len == 0 {
        return Ok(len);
    }
    // An earlier sync may have pushed an unfinished line, which is then before the tail.
    Ok(tail.text.end_of_lines()?.max(tail.from.min(len)))
}
