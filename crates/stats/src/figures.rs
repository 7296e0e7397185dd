//! Figures about values. Each one is an accumulator that can be used on its own.

mod batch;
mod distinct;
mod exact;
mod fingerprint;
mod frequent;
mod identity;
mod kinds;
mod numeric;
mod sum;
mod values;

pub use distinct::{Distinct, DistinctSummary};
pub use exact::Exact;
pub use frequent::{Frequent, FrequentSummary, FrequentValue, ScalarValue};
pub use kinds::{KindSet, Kinds, TypeCounts};
pub use numeric::{Numeric, NumericSummary};
pub use sum::ExactSum;
pub use trommel_histogram::{Quantiles, QuantilesSummary, TextLengths, TextLengthsSummary};
pub use values::ValuesSummary;

use crate::Accumulator;

macro_rules! accumulate {
    ($figure:ty, $summary:ty) => {
        impl Accumulator for $figure {
            type Summary = $summary;

            fn merge(&mut self, other: Self) {
                Self::merge(self, other);
            }

            fn summary(&self) -> $summary {
                Self::summary(self)
            }
        }
    };
}

accumulate!(Quantiles, QuantilesSummary);
accumulate!(TextLengths, TextLengthsSummary);

pub(crate) use batch::{BATCH, Batch};
pub(crate) use frequent::FREQUENT_VALUES;
pub(crate) use values::{LEVELS, Values};
