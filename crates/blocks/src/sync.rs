//! One session compared with what a storage has of it, and made the same.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use trommel_session::Watch;

use crate::assemble::{Assembler, Depth, Found, NoLines};
use crate::block::{Block, BlockType};
use crate::error::{Error, ErrorKind, Result};
use crate::folder::{Folder, Pending};
use crate::journal::Journal;
use crate::landing::{self, Landing};
use crate::lines::{LineAt, Print};
use crate::make::{Maker, Turns};
use crate::replay::read_into;
use crate::rows::{Hidden, Kind, Row, visible};
use crate::send::Sender;
use crate::storage::{BlockStorage, Key, PayloadStorage, Selection, Want};

/// How a session here compares with what is stored of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// They are the same.
    Synced,
    /// Something here is not stored.
    Ahead,
    /// Something stored is not here.
    Behind,
    /// Both.
    Conflict,
}

/// How a conflict is settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Settlement {
    /// Not at all: somebody has to decide.
    #[default]
    Manual,
    /// What is here counts; what the others wrote is hidden, and stays in the storage.
    Local,
    /// What is stored counts; what is here is stored too, hidden.
    Remote,
    /// Both: what is here goes behind what the others wrote.
    Merge,
}

impl Settlement {
    /// By its name: `local`, `remote`, `merge`, `manual`, or as settings spell it, `local_wins` and `remote_wins`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "manual" => Ok(Self::Manual),
            "local" | "local_wins" => Ok(Self::Local),
            "remote" | "remote_wins" => Ok(Self::Remote),
            "merge" => Ok(Self::Merge),
            _ => {
                let shown = name.chars().take(40).collect::<String>();
                let message =
                    format!("`{shown}` settles nothing: `local`, `remote`, `merge` and `manual` do");
                Err(Error::new(ErrorKind::Request, message))
            }
        }
    }
}

/// A session on both sides.
pub(crate) struct Side<'a, 'w> {
    pub(crate) storage: &'a dyn BlockStorage,
    pub(crate) payloads: Option<&'a dyn PayloadStorage>,
    pub(crate) key: &'a Key,
    pub(crate) folder: Folder,
    pub(crate) journal: Journal,
    pub(crate) device: &'a str,
    pub(crate) project: &'a str,
    /// How long a last line without an end is left alone.
    pub(crate) rest: Duration,
    pub(crate) watch: &'a Watch<'w>,
}

/// What two sides have that the other has not.
pub(crate) struct Compared {
    pub(crate) pending: Pending,
    /// What the storage has behind what is known here.
    news: Option<News>,
    pub(crate) head: u64,
}

/// Blocks that are new here.
struct News {
    found: Found,
    blocks: u64,
}

impl Compared {
    pub(crate) fn state(&self) -> State {
        match (self.pending.is_empty(), &self.news) {
            (true, None) => State::Synced,
            (false, None) => State::Ahead,
            (true, Some(_)) => State::Behind,
            (false, Some(_)) => State::Conflict,
        }
    }

    /// Blocks that the storage has and this side has not.
    pub(crate) fn news(&self) -> u64 {
        self.news.as_ref().map_or(0, |news| news.blocks)
    }
}

/// Times that both sides are compared again because somebody wrote in between.
const ROUNDS: u32 = 16;

impl<'w> Side<'_, 'w> {
    /// What both sides have, once what lies there alike on both is known to be.
    pub(crate) fn compare(&mut self) -> Result<Compared> {
        for _ in 0..ROUNDS {
            let pending = Pending::of(&self.folder, &self.journal, self.rest, self.watch)?;
            let head = self.storage.head(self.key, self.watch)?.map_or(0, |block| block.sequence);
            if head < self.journal.head {
                return Err(self.lost(head));
            }
            if head == self.journal.head {
                if pending.is_empty() {
                    self.journal.settle(pending.mark.clone())?;
                }
                return Ok(Compared { pending, news: None, head });
            }
            let found = self.rows_behind(self.journal.head, head)?;
            if !pending.is_empty() && self.absorb(&pending, &found, head)? {
                continue;
            }
            let blocks = head - self.journal.head;
            return Ok(Compared { pending, news: Some(News { found, blocks }), head });
        }
        Err(self.restless())
    }

    fn lost(&self, head: u64) -> Error {
        let message = format!(
            "{} has {head} blocks of session {}, where it had {}: it may be behind, so try again later; if it was replaced by another one, remove {}",
            self.storage.name(),
            self.key.session(),
            self.journal.head,
            self.journal.path().display()
        );
        Error::new(ErrorKind::Busy, message)
    }

    fn restless(&self) -> Error {
        let message =
            format!("session {} is being written to from several sides: try again later", self.key.session());
        Error::new(ErrorKind::Busy, message)
    }

    /// The records behind a block, without their bodies.
    pub(crate) fn rows_behind(&self, after: u64, head: u64) -> Result<Found> {
        let mut blocks: Vec<Block> = Vec::new();
        let small = vec![
            BlockType::SessionCreated,
            BlockType::SessionUpdated,
            BlockType::SessionDeleted,
            BlockType::Rewind,
            BlockType::Fork,
        ];
        for (types, want) in
            [(small, Want::Whole), (vec![BlockType::Message, BlockType::Event], Want::Outline)]
        {
            let selection = Selection { after, until: Some(head), types, want };
            self.storage.read(self.key, &selection, self.watch, &mut |mut block| {
                if want == Want::Outline {
                    crate::send::strip(&mut block)?;
                }
                blocks.push(block);
                Ok(ControlFlow::Continue(()))
            })?;
        }
        blocks.sort_by_key(|block| block.sequence);
        let hidden = Hidden::default();
        let mut rows = Assembler::new(&hidden, Depth::Rows, None, self.watch);
        for block in blocks.iter().filter(|block| block.parent_block_id.is_none()) {
            rows.take(block, &mut NoLines)?;
        }
        rows.finish(head, &mut NoLines)
    }

    /// Takes what is new in the storage for known where this side has the same: an answer was lost, or the same files came here on
    /// another way. Whether it was.
    fn absorb(&mut self, pending: &Pending, found: &Found, head: u64) -> Result<bool> {
        let rows = &found.rows;
        let is_plain =
            |row: &Row| matches!(row.kind, Kind::Metadata | Kind::Message | Kind::Event | Kind::Nothing);
        if pending.rewind.is_some()
            || found.through < head
            || rows.iter().any(|row| row.print == Print::default() && row.kind != Kind::Nothing)
            || !rows.iter().all(is_plain)
        {
            return Ok(false);
        }
        for (kind, tail) in [(Kind::Message, &pending.transcript), (Kind::Event, &pending.events)] {
            let here = tail.prints(self.watch)?;
            let mut there = rows.iter().filter(|row| row.kind == kind).enumerate();
            if !there.all(|(at, row)| here.get(at) == Some(&row.print)) {
                return Ok(false);
            }
        }
        self.journal.append(rows, found.through, found.description.as_ref())?;
        Ok(true)
    }

    /// Makes both sides the same, unless they contradict each other and nobody says who is right. How they are then.
    pub(crate) fn sync(&mut self, settlement: Settlement) -> Result<State> {
        for _ in 0..ROUNDS {
            landing::recover(self.journal.path())?;
            self.journal = Journal::open(self.journal.path())?;
            let compared = self.compare()?;
            match compared.state() {
                State::Synced => return Ok(State::Synced),
                State::Ahead => {
                    self.push(&compared)?;
                }
                State::Behind => self.pull(&compared)?,
                State::Conflict if settlement == Settlement::Manual => return Ok(State::Conflict),
                State::Conflict => self.settle(&compared, settlement)?,
            }
        }
        Err(self.restless())
    }

    fn maker(&self, next: u64, turns: Turns) -> Maker<'_, 'w> {
        Maker {
            key: self.key,
            device: self.device,
            project: self.project,
            payloads: self.payloads,
            watch: self.watch,
            next,
            turns,
            described: self.journal.description.clone(),
            is_merged: false,
        }
    }

    /// Stores what is new here. Whether all was: somebody else may have written meanwhile.
    fn push(&mut self, compared: &Compared) -> Result<bool> {
        let pending = &compared.pending;
        let mut maker = self.maker(self.journal.head + 1, pending.turns);
        let mut sender = Sender::new(self.storage, self.key, self.watch);
        let mut rows = Rows::default();
        if let Some(target) = pending.rewind {
            let row = maker.rewind(target, "changed here", &mut |block| sender.take(block))?;
            maker.described = None;
            rows.note(row);
        }
        let mut journal = self.journal.clone();
        let sent = tell(&mut maker, pending, &mut sender, &mut |row, sender, told| {
            rows.note(row);
            rows.keep(sender, &mut journal, told)
        });
        let sent = sent.and_then(|()| sender.flush());
        rows.keep_all(&sender, &mut journal, maker.described.as_ref())?;
        let is_all = !sender.is_refused();
        drop(maker);
        self.journal = journal;
        sent?;
        if is_all && pending.is_settled() {
            self.journal.settle(pending.mark.clone())?;
        }
        Ok(is_all)
    }

    /// Brings here what is new in the storage. Nothing is pending here.
    fn pull(&mut self, compared: &Compared) -> Result<()> {
        let Some(news) = &compared.news else { return Ok(()) };
        if news.found.through <= self.journal.head {
            return self.pass_over(compared.head);
        }
        self.rebuild(news, &compared.pending)
    }

    /// A record at the end whose pieces never came: whoever began it goes on, or it stays nothing.
    fn pass_over(&self, head: u64) -> Result<()> {
        let message = format!(
            "session {} is being stored by another device, up to block {head}: try again when it is done",
            self.key.session()
        );
        Err(Error::new(ErrorKind::Busy, message))
    }

    /// Makes the files what the blocks tell, from where they differ.
    fn rebuild(&mut self, news: &News, pending: &Pending) -> Result<()> {
        let mut rows = self.journal.rows.clone();
        rows.extend_from_slice(&news.found.rows);
        let hidden = Hidden::by(&rows);
        let before = Hidden::by(&self.journal.rows);
        // Up to the first record that is seen now and was not, or was seen and is not, the files stay as they are.
        let is_new = |row: &&Row| before.hides(row.sequence) != hidden.hides(row.sequence);
        let known = self.journal.rows.iter().find(is_new).map_or(self.journal.head, |row| row.sequence - 1);
        let keep = [Kind::Message, Kind::Event].map(|kind| {
            let kept = visible(&self.journal.rows, kind).filter(|row| row.sequence <= known);
            kept.map(|row| row.print.bytes).sum::<u64>()
        });
        let mut landing = Landing::new(&self.folder, keep)?;
        let selection = Selection { after: known, until: Some(news.found.through), ..Selection::default() };
        let made = self.land(&mut landing, &hidden, &selection, known, keep);
        match made {
            Ok(journal) => landing.commit(&journal, &pending.mark)?,
            Err(error) => {
                landing.forget();
                return Err(error);
            }
        }
        self.journal = Journal::open(self.journal.path())?;
        self.journal.settle(self.folder.mark())
    }

    /// Writes what blocks tell; the journal that goes with it.
    fn land(
        &self,
        landing: &mut Landing<'_>,
        hidden: &Hidden,
        selection: &Selection,
        known: u64,
        keep: [u64; 2],
    ) -> Result<Journal> {
        let mut assembler = Assembler::new(hidden, Depth::Whole, self.payloads, self.watch);
        assembler.description.clone_from(&self.journal.description);
        for (kind, keep) in [Kind::Message, Kind::Event].into_iter().zip(keep) {
            let len = std::fs::metadata(self.folder.file(kind)).map_or(0, |found| found.len());
            if keep < len {
                landing.cut(kind)?;
            }
        }
        self.describe(landing, hidden, known)?;
        read_into(self.storage, self.key, selection, &mut assembler, landing)?;
        let found = assembler.finish(selection.until.unwrap_or(0), landing)?;
        let mut journal = self.journal.clone();
        journal.rows.retain(|row| row.sequence <= known);
        journal.rows.extend_from_slice(&found.rows);
        (journal.head, journal.description) = (found.through, found.description);
        Ok(journal)
    }

    /// Writes the description again that counts, where a later one is hidden now: the last one before what is read anew.
    fn describe(&self, landing: &mut Landing<'_>, hidden: &Hidden, known: u64) -> Result<()> {
        let rows = &self.journal.rows;
        let last = |until: u64, hidden: &Hidden| {
            let seen = |row: &&Row| {
                row.kind == Kind::Metadata && row.sequence <= until && !hidden.hides(row.sequence)
            };
            rows.iter().rev().find(seen).copied()
        };
        let (now, was) = (last(known, hidden), last(u64::MAX, &Hidden::by(rows)));
        let Some(now) = now.filter(|now| Some(now.sequence) != was.map(|was| was.sequence)) else {
            return Ok(());
        };
        let selection = Selection { after: now.sequence - 1, until: Some(now.until), ..Selection::default() };
        let none = Hidden::default();
        let mut assembler = Assembler::new(&none, Depth::Whole, self.payloads, self.watch);
        read_into(self.storage, self.key, &selection, &mut assembler, landing)?;
        assembler.finish(now.until, landing).map(drop)
    }

    /// Settles a conflict: whatever either side wrote is in the storage then, and the files are made anew from it.
    fn settle(&mut self, compared: &Compared, settlement: Settlement) -> Result<()> {
        let Some(news) = &compared.news else { return Ok(()) };
        let (pending, base, head) = (&compared.pending, self.journal.head, compared.head);
        let mut maker = self.maker(head + 1, pending.turns);
        maker.described = None;
        let mut sender = Sender::new(self.storage, self.key, self.watch);
        let target = pending.rewind.unwrap_or(base);
        let mut none = |_: Row, _: &mut Sender<'_, '_>, _: Option<&crate::data::Description>| Ok(());
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
        let folder = tempfile::tempdir_in(self.journal.path().parent().unwrap_or(std::path::Path::new(".")))
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

    /// Writes what the storage has into another folder, for somebody to compare.
    pub(crate) fn write_out(&mut self, to: PathBuf) -> Result<()> {
        let head = self.storage.head(self.key, self.watch)?.map_or(0, |block| block.sequence);
        let found = self.rows_behind(0, head)?;
        let path = to.join(".trommel-sync-journal");
        let folder = Folder::new(to);
        let mut other = Side { folder, journal: Journal::default(), ..*self };
        let empty = Pending::of(&other.folder, &Journal::default(), Duration::ZERO, self.watch)?;
        if !empty.transcript.text.exists() && !empty.events.text.exists() && !empty.metadata.exists() {
            std::fs::create_dir_all(other.folder.path())
                .map_err(|cause| Error::io("make", other.folder.path(), cause))?;
            other.journal = Journal::open(&path)?;
            other.rebuild(&News { blocks: head, found }, &empty)?;
            return std::fs::remove_file(&path).map_err(|cause| Error::io("remove", &path, cause));
        }
        let message =
            format!("{} holds a session already: name another folder", other.folder.path().display());
        Err(Error::new(ErrorKind::Request, message))
    }
}

/// Who is told of each record that was made into blocks.
type Told<'t> = dyn FnMut(Row, &mut Sender<'_, '_>, Option<&crate::data::Description>) -> Result<()> + 't;

/// Makes all that is pending into blocks: the description, what was said, what happened.
fn tell(
    maker: &mut Maker<'_, '_>,
    pending: &Pending,
    sender: &mut Sender<'_, '_>,
    told: &mut Told<'_>,
) -> Result<()> {
    if pending.is_described_anew {
        let row = match pending.metadata.whole().next()? {
            Some(at) => {
                maker.record(&pending.metadata, at, Kind::Metadata, &mut |block| sender.take(block))?
            }
            None if pending.metadata.exists() => {
                let at = LineAt { start: 0, print: Print::of(b""), is_finished: false };
                maker.record(&pending.metadata, at, Kind::Metadata, &mut |block| sender.take(block))?
            }
            None => maker.undescribed(&mut |block| sender.take(block))?,
        };
        told(row, sender, maker.described.as_ref())?;
    } else if maker.next == 1 {
        let row = maker.undescribed(&mut |block| sender.take(block))?;
        told(row, sender, maker.described.as_ref())?;
    }
    for (kind, tail) in [(Kind::Message, &pending.transcript), (Kind::Event, &pending.events)] {
        tail.each(maker.watch, &mut |line| {
            if sender.is_refused() {
                return Ok(());
            }
            let row = maker.record(&tail.text, line, kind, &mut |block| sender.take(block))?;
            told(row, sender, maker.described.as_ref())
        })?;
    }
    Ok(())
}

/// Records that were made into blocks, until those are stored.
#[derive(Default)]
struct Rows(Vec<Row>);

impl Rows {
    fn note(&mut self, row: Row) {
        self.0.push(row);
    }

    /// Writes down what is stored by now, some at a time.
    fn keep(
        &mut self,
        sender: &Sender<'_, '_>,
        journal: &mut Journal,
        told: Option<&crate::data::Description>,
    ) -> Result<()> {
        let is_worth_it = self.0.len() >= 256 || sender.through() > journal.head + 512;
        if is_worth_it { self.keep_all(sender, journal, told) } else { Ok(()) }
    }

    fn keep_all(
        &mut self,
        sender: &Sender<'_, '_>,
        journal: &mut Journal,
        told: Option<&crate::data::Description>,
    ) -> Result<()> {
        let stored = self.0.iter().take_while(|row| row.until <= sender.through()).count();
        let rows = self.0.drain(..stored).collect::<Vec<_>>();
        match rows.last() {
            Some(last) => journal.append(&rows, last.until, told),
            None => Ok(()),
        }
    }
}

/// The records of one kind that count, for tests and comparisons.
#[cfg(test)]
pub(crate) fn counted(journal: &Journal, kind: Kind) -> usize {
    visible(&journal.rows, kind).count()
}
