use std::fmt;

/// The error type of this crate.
///
/// No candidate can cause an error by its content. An error is either a stream beyond a declared
/// limit or an attempt to merge partial states that do not belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The stream has more strata than allowed. Raise the limit with
    /// [`Strata::max_strata`](crate::Strata::max_strata), or stratify by a coarser key.
    TooManyStrata {
        /// The maximum number of strata.
        limit: usize,
    },
    /// Two parts of a systematic selection have different rules (size, stride, or total).
    DifferentRules,
    /// The second of two parts of a systematic selection does not begin where the first one ends.
    NotAdjacent {
        /// The index at which the later part must begin.
        expected: u64,
        /// The index at which it begins.
        found: u64,
    },
    /// A stored state that no run can have produced; the text gives the reason.
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
