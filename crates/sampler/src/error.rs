use std::fmt;

/// Why a selection cannot go on; the one error of this crate.
///
/// The crate never fails on account of what the candidates are: an error is either a declared limit
/// that the stream went over, or partial states put together that do not belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The stream has more strata than allowed. Raise the limit with
    /// [`Strata::max_strata`](crate::Strata::max_strata) or stratify by something coarser.
    TooManyStrata {
        /// The number of strata allowed.
        limit: usize,
    },
    /// Two parts of a systematic selection that follow different rules (size, stride or total).
    DifferentRules,
    /// Two parts of a systematic selection where the second does not begin where the first ends.
    NotAdjacent {
        /// Index at which the later part would have to begin.
        expected: u64,
        /// Index at which it begins.
        found: u64,
    },
    /// A stored state that no run can have left behind; the text says what is wrong with it.
    Damaged(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyStrata { limit } => {
                write!(f, "too many strata: needs {} or more, limit {limit}", limit.saturating_add(1))
            }
            Self::DifferentRules => f.write_str("systematic parts follow different rules"),
            Self::NotAdjacent { expected, found } => {
                write!(f, "systematic part begins at {found}, the one before it ends at {expected}")
            }
            Self::Damaged(what) => write!(f, "damaged sampler state: {what}"),
        }
    }
}

impl std::error::Error for Error {}
