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
mod quantiles;
mod sum;
mod values;

pub use distinct::{Distinct, DistinctSummary};
pub use exact::Exact;
pub use frequent::{Frequent, FrequentSummary, FrequentValue, ScalarValue};
pub use kinds::{KindSet, Kinds, TypeCounts};
pub use lengths::{TextLengths, TextLengthsSummary};
pub use numeric::{Numeric, NumericSummary};
pub use quantiles::{Quantiles, QuantilesSummary};
pub use sum::ExactSum;
pub use values::ValuesSummary;

pub(crate) use frequent::FREQUENT_VALUES;
pub(crate) use values::{LEVELS, Values};
