//! Deduplicates, when two sides are merged that both cut the session back, the lines that they
//! shared: each is sent once, and only if both kept it.

use std::collections::HashMap;

use trommel_session::Watch;

use crate::error::Result;
use crate::lines::Print;
use crate::pending::Pending;
use crate::rows::{Hidden, Kind, Row, visible};

/// The number of times that a line occurs in each place.
#[derive(Default)]
struct Count {
    /// In the shared records after the target of this side's rewind.
    common: u64,
    /// In those, where the other devices did not cut.
    kept: u64,
    /// In the pending lines of this side.
    ours: u64,
    /// In the lines that the other devices sent again.
    theirs: u64,
}

impl Count {
    /// The number of our lines and of their lines to skip.
    fn skipped(&self) -> [u64; 2] {
        // Occurrences beyond the shared ones are new lines, which are never skipped.
        let ours = self.ours.min(self.common);
        let theirs = self.theirs.min(self.common - self.kept);
        // Shared lines that both sides kept are sent once. The copies of other devices are sent
        // first, so ours are skipped where such a copy exists.
        let kept = ours.min(self.kept + theirs);
        let copied = theirs.min(kept);
        [ours + copied - kept, theirs - copied]
    }
}

/// The records that both sides of a merge started from.
pub(super) struct Shared<'r> {
    /// The records that this side knew.
    pub(super) known: &'r [Row],
    /// The records that the other devices have written since.
    pub(super) written: &'r [Row],
    /// The last block that this side kept.
    pub(super) target: u64,
}

/// Skips on both sides the shared lines that one side removed, and one of two copies of a line that
/// both would send.
pub(super) fn skip_shared(
    shared: &Shared<'_>,
    ours: &mut Pending,
    theirs: &mut Pending,
    watch: &Watch<'_>,
) -> Result<()> {
    let Shared { known, written, target } = *shared;
    let hidden = Hidden::by(&[known, written].concat());
    let tails = [
        (Kind::Message, &mut ours.transcript, &mut theirs.transcript),
        (Kind::Event, &mut ours.events, &mut theirs.events),
    ];
    for (kind, ours, theirs) in tails {
        let mut counts: HashMap<Print, Count> = HashMap::new();
        for row in visible(known, kind).filter(|row| row.sequence > target) {
            let count = counts.entry(row.print).or_default();
            count.common += 1;
            count.kept += u64::from(!hidden.hides(row.sequence));
        }
        for (at, tail) in [&*ours, &*theirs].into_iter().enumerate() {
            tail.each(watch, &mut |line| {
                if let Some(count) = counts.get_mut(&line.print) {
                    *(if at == 0 { &mut count.ours } else { &mut count.theirs }) += 1;
                }
                Ok(())
            })?;
        }
        let skipped = |side: usize| {
            let of_side = |count: &Count| count.skipped()[side];
            counts.iter().map(|(print, count)| (*print, of_side(count))).collect()
        };
        ours.skip(skipped(0), watch)?;
        theirs.skip(skipped(1), watch)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_lines_are_sent_once() {
        let skipped = |common, kept, ours, theirs| Count { common, kept, ours, theirs }.skipped();
        // Both cut it and sent it again: theirs stays.
        assert_eq!(skipped(1, 0, 1, 1), [1, 0]);
        // The other side did not cut there: ours stays.
        assert_eq!(skipped(1, 1, 1, 0), [0, 0]);
        // One side removed it.
        assert_eq!(skipped(1, 0, 0, 1), [0, 1]);
        assert_eq!(skipped(1, 0, 1, 0), [1, 0]);
        // New lines of one side stay, even with the same text.
        assert_eq!(skipped(1, 0, 3, 1), [1, 0]);
        assert_eq!(skipped(0, 0, 2, 1), [0, 0]);
        assert_eq!(skipped(2, 1, 2, 4), [1, 0]);
    }
}
