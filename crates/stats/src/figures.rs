//! Figures about values. Each one is an accumulator that can be used on its own.

mod count_min;
mod distinct;
mod exact;
mod fingerprint;
mod frequent;
mod hyperloglog;
mod identity;
mod kinds;
mod lengths;
mod numeric;
mod sum;
mod values;

pub use distinct::{Distinct, DistinctSummary};
pub use exact::Exact;
pub use frequent::{Frequent, FrequentSummary, FrequentValue, ScalarValue};
pub use kinds::{KindSet, Kinds, TypeCounts};
pub use lengths::{TextLengths, TextLengthsSummary};
pub use numeric::{Numeric, NumericSummary};
pub use sum::ExactSum;
pub use trommel_histogram::{Quantiles, QuantilesSummary};
pub use values::ValuesSummary;

use crate::Accumulator;

impl Accumulator for Quantiles {
    type Summary = QuantilesSummary;

    fn merge(&mut self, other: Self) {
        Self::merge(self, other);
    }

    fn summary(&self) -> QuantilesSummary {
        Self::summary(self)
    }
}

pub(crate) use frequent::FREQUENT_VALUES;
pub(crate) use values::{BATCH, LEVELS, Observed, Values};
