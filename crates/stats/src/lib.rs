//! Mergeable statistics, shape and schema of JSON.

mod accumulator;
mod figures;
mod profile;
mod schema;

pub use accumulator::Accumulator;
pub use figures::{
    Distinct, DistinctSummary, Exact, ExactSum, Frequent, FrequentSummary, FrequentValue, KindSet, Kinds,
    Numeric, NumericSummary, Quantiles, QuantilesSummary, Shown, TextLengths, TextLengthsSummary, TypeCounts,
    ValuesSummary,
};
pub use profile::{
    ArrayRow, Capped, ObjectRow, Profile, ProfileLimits, ProfileOptions, RowsShown, Structure, Summary,
};
pub use schema::Schema;

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[cfg(feature = "serde")]
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature serde asks for")]
fn is_false(value: &bool) -> bool {
    !*value
}
