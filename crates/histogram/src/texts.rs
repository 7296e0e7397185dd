//! Histograms of the lengths of strings, and of times.

use crate::buckets::{Bucket, Buckets, Scale};
use crate::numbers::{HistogramSummary, NumberHistogram};
use crate::time::{self, TimeBound};

/// A histogram of the lengths of strings, and one of their times if all of them are dates or
/// times.
///
/// At most 60 buckets for each of three scales, so about 1.5 KB. Adding a string takes constant
/// time.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TextHistogram {
    lengths: NumberHistogram,
    times: Buckets,
    /// True if a string is not a time.
    has_others: bool,
}

impl TextHistogram {
    /// Adds a string of this many characters, and its text if that is known.
    pub fn observe(&mut self, length: u64, text: Option<&[u8]>) {
        self.observe_lengths(&[length]);
        self.observe_time(text);
    }

    /// Adds the lengths of strings, in characters, whose times are added by
    /// [`observe_time`](Self::observe_time).
    pub fn observe_lengths(&mut self, lengths: &[u64]) {
        self.lengths.observe_integers(lengths);
    }

    /// Adds the time of a string whose length is added by
    /// [`observe_lengths`](Self::observe_lengths), given its text if that is known.
    pub fn observe_time(&mut self, text: Option<&[u8]>) {
        if self.has_others {
            return;
        }
        let Some(time) = text.and_then(time::milliseconds) else {
            (self.has_others, self.times) = (true, Buckets::default());
            return;
        };
        self.times.add(Scale::Time, time::bucket(time, self.times.level), 1);
    }

    /// Creates an empty histogram for more of the same strings, to be merged into this one.
    #[must_use]
    pub fn emptied(&self) -> Self {
        let (lengths, times) = (self.lengths.emptied(), self.times.emptied());
        Self { lengths, times, has_others: self.has_others }
    }

    /// True if all strings so far are times, so that the next text matters.
    pub fn wants_texts(&self) -> bool {
        !self.has_others
    }

    /// Adds the values of another part.
    pub fn merge(&mut self, other: Self) {
        self.lengths.merge(other.lengths);
        self.has_others |= other.has_others;
        if self.has_others {
            self.times = Buckets::default();
        } else {
            self.times.merge(Scale::Time, other.times);
        }
    }

    /// The histogram of the lengths; `None` without strings.
    pub fn lengths(&self) -> Option<HistogramSummary> {
        self.lengths.summary()
    }

    /// The histogram of the times, if all strings are dates or times.
    pub fn times(&self) -> Option<TimeHistogram> {
        let width = time::width(self.times.level);
        let bound = |at: i64| TimeBound(at.saturating_mul(width));
        let buckets = self.times.rows(bound);
        (!buckets.is_empty()).then_some(TimeHistogram { buckets })
    }
}

/// A histogram of times: buckets that are not empty, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct TimeHistogram {
    /// At most 60 buckets of one width.
    pub buckets: Vec<Bucket<TimeBound>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_buckets_of_units() {
        let mut histogram = TextHistogram::default();
        for minute in 0..90 {
            let text = format!("2026-11-27T{:02}:{:02}:07.5Z", 23 - minute / 60, minute % 60);
            histogram.observe(24, Some(text.as_bytes()));
        }
        let times = histogram.times().unwrap();
        let first = times.buckets[0];
        assert_eq!((first.from.to_string(), first.count), ("2026-11-27T22:00:00Z".to_owned(), 5));
        assert_eq!(first.to.to_string(), "2026-11-27T22:05:00Z");
        let mut part = histogram.emptied();
        part.observe(24, Some(b"2026-11-27T22:04:59Z"));
        let mut continued = histogram.clone();
        continued.merge(part);
        assert_eq!(continued.times().unwrap().buckets[0], Bucket { count: 6, ..first });
        let mut others = histogram.clone();
        others.observe(3, Some(b"now"));
        assert_eq!((others.times(), others.lengths().unwrap().buckets.len()), (None, 2));
        histogram.merge(others);
        assert_eq!(histogram.times(), None);
    }

    /// All years of RFC 3339, whose bounds have the distance of the width.
    #[test]
    fn the_longest_times_have_buckets() {
        let mut histogram = TextHistogram::default();
        for year in 0..10_000 {
            histogram.observe(10, Some(format!("{year:04}-06-01").as_bytes()));
        }
        let buckets = histogram.times().unwrap().buckets;
        assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 10_000);
        for (bucket, next) in buckets.iter().zip(&buckets[1..]) {
            assert_eq!((bucket.to, bucket.to.0 - bucket.from.0), (next.from, 364_000 * 86_400_000));
        }
        let contains =
            |at: i64| buckets.iter().filter(|bucket| bucket.from.0 <= at && at < bucket.to.0).count();
        for text in ["0000-06-01", "1999-06-01", "9999-06-01"] {
            assert_eq!(contains(time::milliseconds(text.as_bytes()).unwrap()), 1, "{text}");
        }
    }
}
