//! What is known of each block without its data, and which of them count: the rule of rewinds.

use crate::lines::Print;

/// What a block is to the files of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The description, whole.
    Metadata,
    /// A line of the transcript.
    Message,
    /// A line of the events.
    Event,
    /// All between this one and itself is hidden.
    Rewind { target: u64 },
    /// What another session was up to some block stands here, each record of it with this one's
    /// number.
    Fork,
    /// Nothing: a record whose pieces never came, or the session's end.
    Nothing,
}

/// A file of a session.
pub(crate) const FILES: [Kind; 3] = [Kind::Metadata, Kind::Message, Kind::Event];

/// A record of a session, in its place among the blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    /// Its block.
    pub(crate) sequence: u64,
    /// The last of its pieces, or its block.
    pub(crate) until: u64,
    pub(crate) kind: Kind,
    pub(crate) print: Print,
    /// The turn it belongs to.
    pub(crate) turn: u64,
}

impl Row {
    /// Blocks that are no record.
    pub(crate) fn nothing(sequence: u64, until: u64) -> Self {
        Self { sequence, until, kind: Kind::Nothing, print: Print::default(), turn: 0 }
    }

    /// Whether it is a record, or nothing, rather than something about others; and it is known what
    /// it is.
    pub(crate) fn is_plain(&self) -> bool {
        match self.kind {
            Kind::Rewind { .. } | Kind::Fork => false,
            Kind::Message | Kind::Event => self.print != Print::default(),
            Kind::Metadata | Kind::Nothing => true,
        }
    }
}

/// The ranges of numbers that are hidden, what is between two numbers each. They stand in order,
/// and none reaches into the next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hidden(Vec<(u64, u64)>);

impl Hidden {
    /// Finds the rows that rewinds hide. The rows are in order.
    ///
    /// A rewind at *r* to *t* hides the rows between, including other rewinds; a hidden rewind
    /// hides nothing. So rewinds are applied from the last one back, and rows after the last one
    /// stay.
    pub(crate) fn by(rows: &[Row]) -> Self {
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for row in rows.iter().rev() {
            // Only the range that was found last can reach down to here.
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

    /// And what became nothing.
    pub(crate) fn and_nothing(mut self, rows: &[Row]) -> Self {
        let nothing = rows.iter().filter(|row| row.kind == Kind::Nothing);
        self.0.extend(nothing.map(|row| (row.sequence.saturating_sub(1), row.until.saturating_add(1))));
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

/// The rows that count, of one file.
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

    fn seen(rewinds: &[(u64, u64)], last: u64) -> Vec<u64> {
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
    fn what_comes_after_a_rewind_stays() {
        assert_eq!(seen(&[(5, 2)], 7), [1, 2, 6, 7]);
        assert_eq!(seen(&[(5, 2), (8, 1)], 9), [1, 9]);
        assert_eq!(seen(&[(5, 2), (8, 6)], 9), [1, 2, 6, 9]);
        // A rewind that is itself taken back hides nothing.
        assert_eq!(seen(&[(5, 2), (6, 4)], 7), [1, 2, 3, 4, 7]);
        assert_eq!(seen(&[(5, 2), (6, 4), (7, 5)], 8), [1, 2, 8]);
        assert_eq!(seen(&[(3, 0)], 4), [4]);
        assert_eq!(seen(&[], 2), [1, 2]);
        // A target behind itself hides nothing.
        assert_eq!(seen(&[(3, 9)], 4), [1, 2, 4]);
        assert_eq!(seen(&[(3, u64::MAX)], 4), [1, 2, 4]);
    }

    /// The rule as it is told, range by range.
    fn is_hidden(rows: &[Row], sequence: u64) -> bool {
        rows.iter().any(|row| match row.kind {
            Kind::Rewind { target } => {
                target < sequence && sequence < row.sequence && !is_hidden(rows, row.sequence)
            }
            Kind::Nothing => (row.sequence..=row.until).contains(&sequence),
            _ => false,
        })
    }

    #[test]
    fn ranges_hide_what_their_rewinds_do() {
        let mut seed = 7_u64;
        let mut below = |end: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % end
        };
        for _ in 0..500 {
            let kinds = (1..=20).map(|at| match below(4) {
                0 => Kind::Rewind { target: below(22) },
                1 if at < 20 => Kind::Nothing,
                _ => Kind::Event,
            });
            let rows = kinds.zip(1..).map(|(kind, at)| row(at, kind)).collect::<Vec<_>>();
            let rewinds = rows.iter().filter(|row| row.kind != Kind::Nothing).copied().collect::<Vec<_>>();
            let (plain, all) = (Hidden::by(&rows), Hidden::by(&rows).and_nothing(&rows));
            for at in 1..=21 {
                assert_eq!(plain.hides(at), is_hidden(&rewinds, at), "{at} of {rows:?}");
                let is_nothing = rows.iter().any(|row| row.kind == Kind::Nothing && row.sequence == at);
                assert_eq!(all.hides(at), is_hidden(&rewinds, at) || is_nothing, "{at} of {rows:?}");
            }
        }
    }

    #[test]
    fn a_fork_is_something() {
        let rows = [row(1, Kind::Metadata), row(2, Kind::Fork), Row::nothing(3, 5), row(6, Kind::Event)];
        let hidden = Hidden::by(&rows).and_nothing(&rows);
        let seen = (1..=6).filter(|at| !hidden.hides(*at)).collect::<Vec<_>>();
        assert_eq!(seen, [1, 2, 6]);
    }
}
