//! What two sides had in common before both cut it back, when they are merged: each line of it is
//! told once, and only where both kept it.

use std::collections::HashMap;

use trommel_session::Watch;

use crate::error::Result;
use crate::lines::Print;
use crate::pending::Pending;
use crate::rows::{Hidden, Kind, Row, visible};

/// How often a line is somewhere.
#[derive(Default)]
struct Count {
    /// Among what both had, behind where this side cut.
    common: u64,
    /// Among that, where the others did not cut.
    stayed: u64,
    /// Among what is told again here.
    ours: u64,
    /// Among what the others told again.
    theirs: u64,
}

impl Count {
    /// How many of ours and of theirs are left out.
    fn left_out(&self) -> [u64; 2] {
        let ours = self.ours.min(self.common);
        let theirs = self.theirs.min(self.common - self.stayed);
        let kept = ours.min(self.stayed + theirs);
        let copied = theirs.min(kept);
        [ours + copied - kept, theirs - copied]
    }
}

/// The records that both sides of a merge started from.
pub(super) struct Shared<'r> {
    /// The records that were known here.
    pub(super) known: &'r [Row],
    /// The records that the other devices wrote since.
    pub(super) told: &'r [Row],
    /// The last block that this side kept.
    pub(super) target: u64,
}

/// Leaves out of both sides what they had in common and one of them removed, and what both would
/// tell.
pub(super) fn tell_once(
    shared: &Shared<'_>,
    ours: &mut Pending,
    theirs: &mut Pending,
    watch: &Watch<'_>,
) -> Result<()> {
    let Shared { known, told, target } = *shared;
    let hidden = Hidden::by(&[known, told].concat());
    let tails = [
        (Kind::Message, &mut ours.transcript, &mut theirs.transcript),
        (Kind::Event, &mut ours.events, &mut theirs.events),
    ];
    for (kind, ours, theirs) in tails {
        let mut counts: HashMap<Print, Count> = HashMap::new();
        for row in visible(known, kind).filter(|row| row.sequence > target) {
            let count = counts.entry(row.print).or_default();
            count.common += 1;
            count.stayed += u64::from(!hidden.hides(row.sequence));
        }
        for (at, tail) in [&*ours, &*theirs].into_iter().enumerate() {
            tail.each(watch, &mut |line| {
                if let Some(count) = counts.get_mut(&line.print) {
                    *(if at == 0 { &mut count.ours } else { &mut count.theirs }) += 1;
                }
                Ok(())
            })?;
        }
        let left_out = |side: usize| {
            let of_side = |count: &Count| count.left_out()[side];
            counts.iter().map(|(print, count)| (*print, of_side(count))).collect()
        };
        ours.leave_out(left_out(0), watch)?;
        theirs.leave_out(left_out(1), watch)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_kept_is_told_once() {
        let left_out = |common, stayed, ours, theirs| Count { common, stayed, ours, theirs }.left_out();
        // Both cut it off and told it again: theirs stays.
        assert_eq!(left_out(1, 0, 1, 1), [1, 0]);
        // They did not cut there: ours stays.
        assert_eq!(left_out(1, 1, 1, 0), [0, 0]);
        // One of both removed it.
        assert_eq!(left_out(1, 0, 0, 1), [0, 1]);
        assert_eq!(left_out(1, 0, 1, 0), [1, 0]);
        // What is new on one side stays, though it reads the same.
        assert_eq!(left_out(1, 0, 3, 1), [1, 0]);
        assert_eq!(left_out(0, 0, 2, 1), [0, 0]);
        assert_eq!(left_out(2, 1, 2, 4), [1, 0]);
    }
}
