//! Skips records that the storage already has when a conflict is merged.

use std::collections::{BTreeSet, HashMap};

use trommel_session::Watch;

use crate::error::Result;
use crate::lines::Print;
use crate::pending::Tail;
use crate::rows::{Hidden, Kind, Row};
use crate::sync::compare::Compared;

impl Compared {
    /// Skips pending records that the storage has, up to a block: those that an earlier attempt
    /// sent before another device wrote, and those that an interrupted pull brought here before it
    /// recorded them.
    pub(super) fn skip_stored(&mut self, through: u64, watch: &Watch<'_>) -> Result<()> {
        let Some(news) = &self.news else { return Ok(()) };
        let stored =
            news.found.rows.iter().filter(|row| row.sequence <= through).copied().collect::<Vec<_>>();
        let (hidden, own) = (Hidden::by(&stored), news.found.own.iter().copied().collect::<BTreeSet<_>>());
        let is_cut = self.pending.rewind.is_some();
        for (kind, tail) in
            [(Kind::Message, &mut self.pending.transcript), (Kind::Event, &mut self.pending.events)]
        {
            let is_visible = |row: &&Row| row.kind == kind && !hidden.hides(row.sequence);
            let (ours, theirs): (Vec<&Row>, Vec<&Row>) =
                stored.iter().filter(is_visible).partition(|row| own.contains(&row.sequence));
            // This device sent its records from these files, so an equal line is the same record at
            // any position.
            let mut known: HashMap<Print, u64> = HashMap::new();
            for row in ours {
                *known.entry(row.print).or_default() += 1;
            }
            // If nothing was cut, pulled records come first. An equal line elsewhere is a new one.
            if !is_cut {
                add_common(tail, &theirs, &mut known, watch)?;
            }
            tail.skip(known, watch)?;
        }
        Ok(())
    }
}

/// Counts the lines at the start of a tail that match these rows.
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
