//! What of a side is in the storage already when a conflict is merged, and is not told once more.

use std::collections::{BTreeSet, HashMap};

use trommel_session::Watch;

use crate::error::Result;
use crate::lines::Print;
use crate::pending::Tail;
use crate::rows::{Hidden, Kind, Row};
use crate::sync::compare::Compared;

impl Compared {
    /// Leaves out of what is pending here what the storage has of it, up to a block: what an
    /// earlier attempt told before somebody else wrote, and what was brought here by one that was
    /// cut off before it was noted.
    pub(super) fn leave_out_told(&mut self, through: u64, watch: &Watch<'_>) -> Result<()> {
        let Some(news) = &self.news else { return Ok(()) };
        let told = news.found.rows.iter().filter(|row| row.sequence <= through).copied().collect::<Vec<_>>();
        let (hidden, own) = (Hidden::by(&told), news.found.own.iter().copied().collect::<BTreeSet<_>>());
        let is_cut = self.pending.rewind.is_some();
        for (kind, tail) in
            [(Kind::Message, &mut self.pending.transcript), (Kind::Event, &mut self.pending.events)]
        {
            let counts = |row: &&Row| row.kind == kind && !hidden.hides(row.sequence);
            let (ours, theirs): (Vec<&Row>, Vec<&Row>) =
                told.iter().filter(counts).partition(|row| own.contains(&row.sequence));
            let mut known: HashMap<Print, u64> = HashMap::new();
            for row in ours {
                *known.entry(row.print).or_default() += 1;
            }
            // Where nothing was cut, what was brought here stands first.
            if !is_cut {
                add_common(tail, &theirs, &mut known, watch)?;
            }
            tail.leave_out(known, watch)?;
        }
        Ok(())
    }
}

/// Counts the lines with which a tail begins as these rows do.
fn add_common(tail: &Tail, rows: &[&Row], known: &mut HashMap<Print, u64>, watch: &Watch<'_>) -> Result<()> {
    let mut rows = rows.iter();
    tail.each(watch, &mut |line| {
        match rows.next() {
            Some(row) if row.print == line.print => *known.entry(line.print).or_default() += 1,
            _ => rows = [].iter(),
        }
        Ok(())
    })
}
