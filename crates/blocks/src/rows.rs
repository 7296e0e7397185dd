//! Blocks without their data, and the rule that rewinds hide blocks.

use crate::lines::Print;

/// The role of a block in the files of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole description.
    Metadata,
    /// A line of the transcript.
    Message,
    /// A line of the event log.
    Event,
    /// Hides the blocks between its target and itself.
    Rewind { target: u64 },
    /// Stands for the records of another session up to some block; each has this block's number.
    Fork,
    /// No record: the pieces never arrived, or the session was deleted.
    None,
}

/// The files of a session.
pub(crate) const FILES: [Kind; 3] = [Kind::Metadata, Kind::Message, Kind::Event];

/// A record of a session with its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// The number of its block.
    pub(crate) sequence: u64,
    /// The number of its last piece, or of its block.
    pub(crate) until: u64,
    pub(crate) kind: Kind,
    pub(crate) print: Print,
    /// The turn it belongs to.
    pub(crate) turn: u64,
}

impl Row {
    /// A row for blocks that belong to no record.
    pub(crate) fn none(sequence: u64, until: u64) -> Self {
        Self { sequence, until, kind: Kind::None, print: Print::default(), turn: 0 }
    }

    /// True if the block is a record with a known print, or no record at all: it says nothing about
    /// other blocks.
    pub(crate) fn is_plain(&self) -> bool {
        match self.kind {
            Kind::Rewind { .. } | Kind::Fork => false,
            Kind::Message | Kind::Event => self.print != Print::default(),
            Kind::Metadata | Kind::None => true,
        }
    }
}

/// Ranges of hidden numbers, each strictly between two numbers, in order and without overlap.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hidden(Vec<(u64, u64)>);

impl Hidden {
    /// Finds the rows that rewinds hide. The rows are in order.
    ///
    /// A rewind at *r* to *t* hides the rows between, including other rewinds; a hidden rewind
    /// hides nothing. So rewinds are applied from the last one back, and rows after the last one
    /// stay visible.
    pub(crate) fn by(rows: &[Row]) -> Self {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for row in rows.iter().rev() {
            // Only the range that was found last can reach down to this row.
            if let Kind::Rewind { target } = row.kind
                && target < row.sequence
                && ranges.last().is_none_or(|(target, _)| row.sequence <= *target)
            {
                ranges.push((target, row.sequence));
            }
        }
        ranges.reverse();
        Self(ranges)
    }

    /// Adds the rows of [`Kind::None`].
    pub(crate) fn and_empty(mut self, rows: &[Row]) -> Self {
        let empty = rows.iter().filter(|row| row.kind == Kind::None);
        self.0.extend(empty.map(|row| (row.sequence.saturating_sub(1), row.until.saturating_add(1))));
        // `hides` searches by bisection, which requires ranges without overlap.
        self.0.sort_unstable();
        self.0.dedup_by(|next, before| {
            let is_joined = next.0.saturating_add(1) < before.1;
            if is_joined {
                before.1 = before.1.max(next.1);
            }
            is_joined
        });
        self
    }

    pub(crate) fn hides(&self, sequence: u64) -> bool {
        let at = self.0.partition_point(|(_, end)| *end <= sequence);
        self.0.get(at).is_some_and(|(target, _)| *target < sequence)
    }
}

/// The visible rows of one file.
pub(crate) fn visible(rows: &[Row], kind: Kind) -> impl Iterator<Item = &Row> {
    let hidden = Hidden::by(rows);
    rows.iter().filter(move |row| row.kind == kind && !hidden.hides(row.sequence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sequence: u64, kind: Kind) -> Row {
        Row { sequence, until: sequence, kind, print: Print::default(), turn: 0 }
    }

    fn visible_after(rewinds: &[(u64, u64)], last: u64) -> Vec<u64> {
        let kind = |at| {
            rewinds
                .iter()
                .find(|(own, _)| *own == at)
                .map_or(Kind::Event, |(_, target)| Kind::Rewind { target: *target })
        };
        let rows = (1..=last).map(|at| row(at, kind(at))).collect::<Vec<_>>();
        visible(&rows, Kind::Event).map(|row| row.sequence).collect()
    }

    #[test]
    fn records_after_a_rewind_stay() {
        assert_eq!(visible_after(&[(5, 2)], 7), [1, 2, 6, 7]);
        assert_eq!(visible_after(&[(5, 2), (8, 1)], 9), [1, 9]);
        assert_eq!(visible_after(&[(5, 2), (8, 6)], 9), [1, 2, 6, 9]);
        // A rewind that is hidden by another one hides nothing.
        assert_eq!(visible_after(&[(5, 2), (6, 4)], 7), [1, 2, 3, 4, 7]);
        assert_eq!(visible_after(&[(5, 2), (6, 4), (7, 5)], 8), [1, 2, 8]);
        assert_eq!(visible_after(&[(3, 0)], 4), [4]);
        assert_eq!(visible_after(&[], 2), [1, 2]);
        // A target after the rewind hides nothing.
        assert_eq!(visible_after(&[(3, 9)], 4), [1, 2, 4]);
        assert_eq!(visible_after(&[(3, u64::MAX)], 4), [1, 2, 4]);
    }

    /// The rule as the format defines it, range by range.
    fn is_hidden(rows: &[Row], sequence: u64) -> bool {
        rows.iter().any(|row| match row.kind {
            Kind::Rewind { target } => {
                target < sequence && sequence < row.sequence && !is_hidden(rows, row.sequence)
            }
            Kind::None => (row.sequence..=row.until).contains(&sequence),
            _ => false,
        })
    }

    #[test]
    fn ranges_agree_with_the_rule() {
        let mut seed = 7_u64;
        let mut below = |end: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % end
        };
        for _ in 0..500 {
            let kinds = (1..=20).map(|at| match below(4) {
                0 => Kind::Rewind { target: below(22) },
                1 if at < 20 => Kind::None,
                _ => Kind::Event,
            });
            let rows = kinds.zip(1..).map(|(kind, at)| row(at, kind)).collect::<Vec<_>>();
            let rewinds = rows.iter().filter(|row| row.kind != Kind::None).copied().collect::<Vec<_>>();
            let (plain, all) = (Hidden::by(&rows), Hidden::by(&rows).and_empty(&rows));
            for at in 1..=21 {
                assert_eq!(plain.hides(at), is_hidden(&rewinds, at), "{at} of {rows:?}");
                let is_empty = rows.iter().any(|row| row.kind == Kind::None && row.sequence == at);
                assert_eq!(all.hides(at), is_hidden(&rewinds, at) || is_empty, "{at} of {rows:?}");
            }
        }
    }

    #[test]
    fn forks_are_visible() {
        let rows = [row(1, Kind::Metadata), row(2, Kind::Fork), Row::none(3, 5), row(6, Kind::Event)];
        let hidden = Hidden::by(&rows).and_empty(&rows);
        let visible = (1..=6).filter(|at| !hidden.hides(*at)).collect::<Vec<_>>();
        assert_eq!(visible, [1, 2, 6]);
    }
}
