//! What is new here, stored.

use crate::data::Description;
use crate::error::Result;
use crate::journal::Journal;
use crate::lines::{LineAt, Print};
use crate::make::{Maker, Turns};
use crate::pending::Pending;
use crate::rows::{Kind, Row};
use crate::send::Sender;
use crate::sync::compare::Compared;
use crate::sync::side::Side;

impl<'w> Side<'_, 'w> {
    pub(super) fn maker(&self, next: u64, turns: Turns) -> Maker<'_, 'w> {
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

    /// Stores what is new here. Somebody else may write meanwhile: then it ends, and both sides are
    /// to be compared again.
    pub(super) fn push(&mut self, compared: &Compared) -> Result<()> {
        let Some(tail) = &compared.tail else { return self.push_behind(compared, None).map(drop) };
        // What this device had begun comes out the same again, and goes on.
        if tail.is_ours && self.push_behind(compared, None)? {
            return Ok(());
        }
        if self.is_abandoned(tail)? {
            self.push_behind(compared, Some(tail.row))?;
        }
        Ok(())
    }

    /// Stores what is new here behind what is known, or behind a record that is nothing. Whether
    /// any of it was.
    fn push_behind(&mut self, compared: &Compared, nothing: Option<Row>) -> Result<bool> {
        let pending = &compared.pending;
        let mut maker = self.maker(nothing.map_or(self.journal.head, |row| row.until) + 1, pending.turns);
        let mut sender = Sender::new(self.storage, self.key, self.watch);
        let mut rows = Rows(nothing.into_iter().collect());
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
        let (is_all, is_any) = (!sender.is_refused(), sender.through() > 0);
        drop(maker);
        self.journal = journal;
        sent?;
        if is_all && pending.is_settled() {
            self.journal.settle(pending.mark.clone())?;
        }
        Ok(is_any)
    }
}

/// Who is told of each record that was made into blocks.
pub(super) type Told<'t> = dyn FnMut(Row, &mut Sender<'_, '_>, Option<&Description>) -> Result<()> + 't;

/// Makes all that is pending into blocks: the description, what was said, what happened.
pub(super) fn tell(
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
        told: Option<&Description>,
    ) -> Result<()> {
        let is_worth_it = self.0.len() >= 256 || sender.through() > journal.head + 512;
        if is_worth_it { self.keep_all(sender, journal, told) } else { Ok(()) }
    }

    fn keep_all(
        &mut self,
        sender: &Sender<'_, '_>,
        journal: &mut Journal,
        told: Option<&Description>,
    ) -> Result<()> {
        let stored = self.0.iter().take_while(|row| row.until <= sender.through()).count();
        let rows = self.0.drain(..stored).collect::<Vec<_>>();
        match rows.last() {
            Some(last) => journal.append(&rows, last.until, told),
            None => Ok(()),
        }
    }
}
