//! Pushes new records to the storage.

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

    /// Pushes the new records. If another device writes at the same time, it stops, and both sides
    /// are compared again.
    pub(super) fn push(&mut self, compared: &Compared) -> Result<()> {
        let Some(tail) = &compared.tail else { return self.push_after(compared, None).map(drop) };
        // A record that this device has started becomes the same blocks again, and is continued.
        if tail.is_ours && self.push_after(compared, None)? {
            return Ok(());
        }
        if self.is_abandoned(tail)? {
            self.push_after(compared, Some(tail.row))?;
        }
        Ok(())
    }

    /// Pushes the new records after the known blocks, or after an abandoned record. Returns true if
    /// any block was stored.
    fn push_after(&mut self, compared: &Compared, abandoned: Option<Row>) -> Result<bool> {
        let pending = &compared.pending;
        let mut maker = self.maker(abandoned.map_or(self.journal.head, |row| row.until) + 1, pending.turns);
        let mut sender = Sender::new(self.storage, self.key, self.watch);
        let mut rows = Rows(abandoned.into_iter().collect());
        if let Some(target) = pending.rewind {
            let row = maker.rewind(target, "changed here", &mut |block| sender.take(block))?;
            // The rewind may hide descriptions, so the next one has all fields.
            maker.described = None;
            rows.push(row);
        }
        let mut journal = self.journal.clone();
        let sent = send(&mut maker, pending, &mut sender, &mut |row, sender, description| {
            rows.push(row);
            rows.record(sender, &mut journal, description)
        });
        let sent = sent.and_then(|()| sender.flush());
        // After a failure as well: the next sync continues after the stored blocks.
        rows.record_all(&sender, &mut journal, maker.described.as_ref())?;
        let (is_all, is_any) = (!sender.is_refused(), sender.through() > 0);
        drop(maker);
        self.journal = journal;
        sent?;
        // With a mark, later comparisons skip the files, so everything must have been sent.
        if is_all && pending.is_complete() {
            self.journal.set_mark(pending.mark.clone())?;
        }
        Ok(is_any)
    }
}

/// Called for each record that was made into blocks.
pub(super) type OnRecord<'t> = dyn FnMut(Row, &mut Sender<'_, '_>, Option<&Description>) -> Result<()> + 't;

/// Makes blocks of all pending records: the description, the messages, and the events.
pub(super) fn send(
    maker: &mut Maker<'_, '_>,
    pending: &Pending,
    sender: &mut Sender<'_, '_>,
    on_record: &mut OnRecord<'_>,
) -> Result<()> {
    // Descriptions come first, because the first block of a session must describe it.
    if pending.is_description_changed {
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
        on_record(row, sender, maker.described.as_ref())?;
    } else if maker.next == 1 {
        let row = maker.undescribed(&mut |block| sender.take(block))?;
        on_record(row, sender, maker.described.as_ref())?;
    }
    for (kind, tail) in [(Kind::Message, &pending.transcript), (Kind::Event, &pending.events)] {
        tail.each(maker.watch, &mut |line| {
            // A number was taken. The next round makes the remaining blocks with later numbers.
            if sender.is_refused() {
                return Ok(());
            }
            let row = maker.record(&tail.text, line, kind, &mut |block| sender.take(block))?;
            on_record(row, sender, maker.described.as_ref())
        })?;
    }
    Ok(())
}

/// Records whose blocks are not confirmed by the storage yet.
#[derive(Default)]
struct Rows(Vec<Row>);

impl Rows {
    fn push(&mut self, row: Row) {
        self.0.push(row);
    }

    /// Adds stored records to the journal, in batches.
    fn record(
        &mut self,
        sender: &Sender<'_, '_>,
        journal: &mut Journal,
        description: Option<&Description>,
    ) -> Result<()> {
        // Each append waits for the disk, so records are appended in batches.
        let is_batch = self.0.len() >= 256 || sender.through() > journal.head + 512;
        if is_batch { self.record_all(sender, journal, description) } else { Ok(()) }
    }

    fn record_all(
        &mut self,
        sender: &Sender<'_, '_>,
        journal: &mut Journal,
        description: Option<&Description>,
    ) -> Result<()> {
        // A record counts once its last piece is stored. Otherwise, the next sync starts with its
        // first block.
        let stored = self.0.iter().take_while(|row| row.until <= sender.through()).count();
        let rows = self.0.drain(..stored).collect::<Vec<_>>();
        match rows.last() {
            Some(last) => journal.append(&rows, last.until, description),
            None => Ok(()),
        }
    }
}
