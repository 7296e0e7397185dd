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
    /// How the files were.
    pub(crate) mark: Mark,
    /// The last block that still tells what is there; none where all do.
    pub(crate) rewind: Option<u64>,
    pub(crate) metadata: Text,
    /// Whether the description is another one.
    pub(crate) is_described_anew: bool,
    pub(crate) transcript: Tail,
    pub(crate) events: Tail,
    pub(crate) turns: Turns,
}

/// The end of a file that no block tells.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) text: Text,
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Where lines begin that are not given away.
    left_out: BTreeSet<u64>,
}

impl Tail {
    /// Nothing of a file yet.
    fn none(text: Text) -> Self {
        Self { from: text.len(), to: text.len(), text, left_out: BTreeSet::new() }
    }

    fn is_empty(&self) -> bool {
        self.from >= self.to
    }

    /// Gives away each line.
    pub(crate) fn each(&self, watch: &Watch<'_>, take: &mut dyn FnMut(LineAt) -> Result<()>) -> Result<()> {
        let mut lines = self.text.lines(self.from);
        while let Some(line) = lines.next()? {
            watch.check()?;
            if line.end() > self.to {
                break;
            }
            if !self.left_out.contains(&line.start) {
                take(line)?;
            }
        }
        Ok(())
    }

    /// Gives away so many lines fewer of each text, the first ones.
    pub(crate) fn leave_out(&mut self, mut counts: HashMap<Print, u64>, watch: &Watch<'_>) -> Result<()> {
        let mut left_out = BTreeSet::new();
        self.each(watch, &mut |line| {
            if let Some(left) = counts.get_mut(&line.print)
                && *left > 0
            {
                *left -= 1;
                left_out.insert(line.start);
            }
            Ok(())
        })?;
        self.left_out.extend(left_out);
        Ok(())
    }
}

impl Pending {
    /// Whether all is told.
    pub(crate) fn is_empty(&self) -> bool {
        self.rewind.is_none()
            && !self.is_described_anew
            && self.transcript.is_empty()
            && self.events.is_empty()
    }

    /// Whether rows tell the description that is here, if they tell any.
    pub(crate) fn is_described_by(&self, rows: &[Row]) -> Result<bool> {
        let told = rows.iter().rfind(|row| row.kind == Kind::Metadata);
        Ok(match told {
            Some(row) => row.print == whole(&self.metadata)?,
            None => true,
        })
    }

    /// Whether what no block tells begins with these rows, in each file.
    pub(crate) fn begins_with(&self, rows: &[Row], watch: &Watch<'_>) -> Result<bool> {
        for (kind, tail) in [(Kind::Message, &self.transcript), (Kind::Event, &self.events)] {
            let mut told = rows.iter().filter(|row| row.kind == kind);
            let mut is_same = true;
            tail.each(watch, &mut |line| {
                is_same &= told.next().is_none_or(|row| row.print == line.print);
                Ok(())
            })?;
            if !is_same || told.next().is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether nothing was left out, because it may still be being written.
    pub(crate) fn is_settled(&self) -> bool {
        [&self.transcript, &self.events].into_iter().all(|tail| tail.to == tail.text.len())
    }

    /// An error where a last line has no end yet: it would be cut off if the files were made anew.
    pub(crate) fn must_be_settled(&self, folder: &Folder) -> Result<()> {
        if self.is_settled() {
            return Ok(());
        }
        Err(ErrorKind::HalfLine { folder: folder.path().to_owned() }.into())
    }

    /// What a folder has that the journal does not know. A last line without an end is left out
    /// while the file is younger than this.
    ///
    /// Reads every byte, unless the files are marked as those that were looked at last.
    pub(crate) fn of(folder: &Folder, journal: &Journal, rest: Duration, watch: &Watch<'_>) -> Result<Self> {
        let mark = folder.mark();
        let open = |kind| Text::open(&folder.file(kind), watch.flag());
        let (metadata, transcript, events) =
            (open(Kind::Metadata)?, open(Kind::Message)?, open(Kind::Event)?);
        let mut pending = Self {
            rewind: None,
            is_described_anew: false,
            metadata,
            transcript: Tail::none(transcript),
            events: Tail::none(events),
            turns: Turns::default(),
            mark,
        };
        if journal.mark.as_ref() == Some(&pending.mark) {
            pending.turns = turns(&journal.rows, None);
            return Ok(pending);
        }
        let known = [Kind::Message, Kind::Event]
            .map(|kind| visible(&journal.rows, kind).copied().collect::<Vec<_>>());
        let [messages, happened] = &known;
        let lost = [
            matched(&mut pending.transcript, messages, rest, watch)?,
            matched(&mut pending.events, happened, rest, watch)?,
        ];
        if let Some(first) = lost.into_iter().flatten().min() {
            pending.rewind = Some(first - 1);
            for (tail, rows) in [(&mut pending.transcript, messages), (&mut pending.events, happened)] {
                tail.from = rows.iter().filter(|row| row.sequence < first).map(|row| row.print.bytes).sum();
            }
        }
        let kept = |row: &&Row| pending.rewind.is_none_or(|target| row.sequence <= target);
        let described = visible(&journal.rows, Kind::Metadata).filter(kept).last().map(|row| row.print);
        pending.is_described_anew = described.unwrap_or(Print::NONE) != whole(&pending.metadata)?;
        pending.turns = turns(&journal.rows, pending.rewind);
        Ok(pending)
    }
}

/// Turns up to some block.
fn turns(rows: &[Row], through: Option<u64>) -> Turns {
    let last = |kind| {
        let kept = visible(rows, kind).filter(|row| through.is_none_or(|target| row.sequence <= target));
        kept.last().map_or(0, |row| row.turn)
    };
    Turns { message: last(Kind::Message), event: last(Kind::Event) }
}

fn whole(text: &Text) -> Result<Print> {
    Ok(text
        .whole()
        .next()?
        .map_or_else(|| if text.exists() { Print::of(b"") } else { Print::default() }, |line| line.print))
}

/// Leaves of a file what no row tells; the first row that tells what is not there.
fn matched(tail: &mut Tail, rows: &[Row], rest: Duration, watch: &Watch<'_>) -> Result<Option<u64>> {
    let (mut lines, mut at) = (tail.text.lines(0), 0);
    for row in rows {
        watch.check()?;
        match lines.next()? {
            Some(line) if line.print == row.print => at = line.end(),
            _ => {
                tail.from = at;
                tail.to = finished(tail, rest)?;
                return Ok(Some(row.sequence));
            }
        }
    }
    tail.from = at;
    tail.to = finished(tail, rest)?;
    Ok(None)
}

/// Where the last line begins that may still be being written; the file's end where none is.
fn finished(tail: &Tail, rest: Duration) -> Result<u64> {
    let len = tail.text.len();
    let written = std::fs::metadata(tail.text.path()).and_then(|found| found.modified()).ok();
    // A date that lies ahead is one of another clock.
    let age = written.and_then(|written| {
        Some(Timestamp::now().duration_since(Timestamp::try_from(written).ok()?).unsigned_abs())
    });
    if age.is_some_and(|age| age >= rest) || len == 0 {
        return Ok(len);
    }
    Ok(tail.text.end_of_lines()?.max(tail.from.min(len)))
}
