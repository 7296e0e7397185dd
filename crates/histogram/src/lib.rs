//! Mergeable histograms of numbers, lengths, and times, with exact counts, quantiles, and estimates
//! of distinct and frequent values.
//!
//! Use this crate to describe a distribution in one pass, when the range of the values is not known
//! before. The buckets depend only on the values: neither on their order, nor on the parts in which
//! they were counted. This crate draws nothing, and knows no JSON.
//!
//! ```
//! use trommel_histogram::NumberHistogram;
//!
//! let (mut all, mut later) = (NumberHistogram::default(), NumberHistogram::default());
//! (0..50).for_each(|number| all.observe(f64::from(number)));
//! (50..1000).for_each(|number| later.observe(f64::from(number)));
//! all.merge(later);
//! let summary = all.summary().expect("there are numbers");
//! assert_eq!((summary.scale, summary.buckets.len()), ("linear", 32));
//! let second = summary.buckets[1];
//! assert_eq!((second.from, second.to, second.count), (32.0, 64.0, 32));
//! ```
//!
//! # Buckets
//!
//! There are at most 60 buckets. Their width is the smallest power of two that allows it; for
//! integers, it is at least 1. If more than half of the numbers share a bucket, and none is
//! negative, the scale is logarithmic where that shows more. Buckets of times are units: from a
//! millisecond to a day, then 7, 28, and 364 days.
//!
//! # Quantiles
//!
//! [`Quantiles`] counts in up to 4,096 narrower bins: quantiles are exact for as many distinct
//! numbers, then their relative error is known.
//!
//! # Lengths
//!
//! [`TextLengths`] has the shortest, the longest, and the mean length.
//!
//! # Distinct values
//!
//! [`HyperLogLog`] estimates how many of the values differ, given fingerprints of them.
//!
//! # Frequent values
//!
//! [`CountMin`] bounds how often each value occurs, given its fingerprint. [`Occurrences`] is a
//! uniform sample of the occurrences, so frequent values are probably in it.
//!
//! # Limits and errors
//!
//! No operation fails. Infinite numbers and NaN have no bucket. With the feature `serde`,
//! all of them can be stored; reading a damaged one is an error.

mod bins;
mod buckets;
mod count_min;
mod hyperloglog;
mod lengths;
mod numbers;
mod occurrences;
mod quantiles;
mod texts;
mod time;

pub use buckets::Bucket;
pub use count_min::{CountMin, Counters};
pub use hyperloglog::HyperLogLog;
pub use lengths::{TextLengths, TextLengthsSummary};
pub use numbers::{HistogramSummary, NumberHistogram};
pub use occurrences::{OccurrenceKey, Occurrences, occurrence_key};
pub use quantiles::{Quantiles, QuantilesSummary};
pub use texts::{TextHistogram, TimeHistogram};
pub use time::TimeBound;

/// The number of fingerprints that a sketch collects before it counts them. The memory of many
/// sketches exceeds the cache: one that counts many fingerprints at once is fetched once for them.
const COLLECTED: usize = 1024;

/// Collects fingerprints or bins, unless there would be more than `max`. Returns true if it did.
#[inline]
fn collect(collected: &mut Vec<u64>, items: &[u64], max: usize) -> bool {
    let length = collected.len() + items.len();
    if length > max {
        return false;
    }
    if length > collected.capacity() {
        collected.reserve((COLLECTED / 4).max(items.len()));
    }
    collected.extend_from_slice(items);
    true
}

/// Clears a list of collected items. Its memory is used again, up to the usual number.
fn cleared(mut collected: Vec<u64>) -> Vec<u64> {
    collected.clear();
    collected.shrink_to(COLLECTED);
    collected
}
