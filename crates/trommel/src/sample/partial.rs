//! Samples of parts of an input, which are stored and merged.

use serde::{Deserialize, Serialize};
use trommel_sampler::{First, Last, Reservoir, Strata};

use super::answer;
use crate::error::Error;
use crate::report::SampleAnswer;

/// The error of a systematic sample of a part.
pub(crate) const NO_SYSTEMATIC: &str = "a systematic sample cannot be drawn from parts: draw a random sample";

/// A sample that holds its values.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one per sample, and it is boxed")]
pub(crate) enum PartialSample {
    Random(Reservoir<String>),
    First(First<String>),
    Last(Last<String>),
    Stratified(Strata<Option<String>, String>),
}

impl PartialSample {
    /// Merges the sample of the part that follows.
    pub(crate) fn merge(self, later: Self) -> Result<Self, Error> {
        Ok(match (self, later) {
            (Self::Random(sample), Self::Random(later)) => Self::Random(sample.merge(later)),
            (Self::First(sample), Self::First(later)) => Self::First(sample.merge(later)),
            (Self::Last(sample), Self::Last(later)) => Self::Last(sample.merge(later)),
            (Self::Stratified(sample), Self::Stratified(later)) => Self::Stratified(sample.merge(later)?),
            _ => return Err(Error::Partial("the partials hold samples of different kinds".into())),
        })
    }

    /// Returns the sample.
    pub(crate) fn finish(self) -> SampleAnswer {
        match self {
            Self::Random(sample) => answer(sample.into_sample(), None),
            Self::First(sample) => answer(sample.into_sample(), None),
            Self::Last(sample) => answer(sample.into_sample(), None),
            Self::Stratified(strata) => {
                let drawn = strata.into_sample();
                answer(drawn.sample, Some(drawn.strata))
            }
        }
    }
}
