use std::convert::Infallible;
use std::num::{NonZeroU64, NonZeroUsize};

use crate::{Error, Item, Sample};

/// The rule that determines the selected indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Rule {
    /// 0, s, 2s, …
    Stride(NonZeroU64),
    /// ⌊i × total / size⌋, or all candidates if there are at most `size`.
    Total(u64),
}

/// A rule and the number of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Picks {
    rule: Rule,
    size: NonZeroUsize,
}

impl Picks {
    fn size(self) -> u64 {
        self.size.get() as u64
    }

    /// Returns the index of item `ordinal`; `u64::MAX` beyond the last item.
    fn index(self, ordinal: u64) -> u64 {
        let index = match self.rule {
            _ if ordinal >= self.size() => None,
            Rule::Stride(stride) => ordinal.checked_mul(stride.get()),
            Rule::Total(total) if total <= self.size() => (ordinal < total).then_some(ordinal),
            Rule::Total(total) => {
                u64::try_from(u128::from(ordinal) * u128::from(total) / u128::from(self.size())).ok()
            }
        };
        index.unwrap_or(u64::MAX)
    }

    /// Returns the first item whose index is at least `index`.
    fn ordinal(self, index: u64) -> u64 {
        match self.rule {
            Rule::Stride(stride) => index.div_ceil(stride.get()),
            Rule::Total(total) if total <= self.size() => index,
            Rule::Total(total) => {
                // ⌊i × total / size⌋ ≥ index holds exactly if i × total ≥ index × size.
                let ordinal = (u128::from(index) * u128::from(self.size())).div_ceil(u128::from(total));
                u64::try_from(ordinal).unwrap_or(u64::MAX)
            }
        }
    }
}

/// Returns the indices of a systematic selection of `size` out of `total` candidates: ⌊i × total /
/// size⌋ for i from 0, or all of them if there are at most `size`. Ascending, without repetition.
///
/// ```
/// use std::num::NonZeroUsize;
/// use trommel_sampler::systematic_indices;
///
/// let four = NonZeroUsize::MIN.saturating_add(3);
/// assert_eq!(systematic_indices(four, 10).collect::<Vec<_>>(), [0, 2, 5, 7]);
/// assert_eq!(systematic_indices(four, 3).collect::<Vec<_>>(), [0, 1, 2]);
/// ```
pub fn systematic_indices(size: NonZeroUsize, total: u64) -> impl Iterator<Item = u64> {
    let picks = Picks { rule: Rule::Total(total), size };
    (0..picks.size().min(total)).map(move |ordinal| picks.index(ordinal))
}

/// Candidates at even distances.
///
/// With a stride ([`with_stride`](Self::with_stride)), the selection has the candidates 0, s, 2s, …
/// up to its size. With a total ([`with_total`](Self::with_total)), it has the candidates ⌊i ×
/// total / size⌋, spread over the whole stream.
///
/// No such rule exists for a stream of unknown length. For a total of `e × size`, candidate `e` is
/// ⌊i × total / size⌋ with i = 1. With a size of 2 or more, almost every candidate seen so far may
/// therefore still belong to the selection (all but the first one in `size`), and no bounded memory
/// holds them. Count such a stream first.
///
/// Cost: constant time a wanted candidate, none for skipped ones; memory for `size` values. Parts
/// that [start](Self::starting_at) where the previous one ends merge to the result of one run over
/// the whole stream.
///
/// ```
/// use std::num::{NonZeroU64, NonZeroUsize};
/// use trommel_sampler::Systematic;
///
/// let two = NonZeroUsize::MIN.saturating_add(1);
/// let mut systematic = Systematic::with_total(two, 7);
/// for candidate in 'a'..='g' {
///     systematic.offer_with(|| candidate);
/// }
/// assert_eq!(systematic.into_sample().into_values().collect::<String>(), "ad");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Systematic<T> {
    picks: Picks,
    start: u64,
    seen: u64,
    items: Vec<Item<T>>,
}

impl<T> Systematic<T> {
    /// The values of the sample so far, in arbitrary order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|item| &item.value)
    }

    /// Selects every `stride`-th candidate from the first one on, up to `size` of them.
    pub fn with_stride(size: NonZeroUsize, stride: NonZeroU64) -> Self {
        Self::new(Picks { rule: Rule::Stride(stride), size })
    }

    /// Selects `size` of the `total` candidates of the whole stream, or all if there are at most
    /// `size`. The indices are those of [`systematic_indices`].
    pub fn with_total(size: NonZeroUsize, total: u64) -> Self {
        Self::new(Picks { rule: Rule::Total(total), size })
    }

    fn new(picks: Picks) -> Self {
        Self { picks, start: 0, seen: 0, items: Vec::new() }
    }

    /// Returns the same selection for the part of the stream that begins at candidate `start`, with
    /// nothing seen yet.
    #[must_use]
    pub fn starting_at(self, start: u64) -> Self {
        Self { start, ..Self::new(self.picks) }
    }

    /// Returns the number of candidates of this part that were offered or skipped.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns true if no later candidate is wanted.
    pub fn is_decided(&self) -> bool {
        self.next() == u64::MAX
    }

    /// Returns true if the next candidate will be taken.
    pub fn wants_next(&self) -> bool {
        self.to_skip() == 0
    }

    /// Returns the number of candidates to skip before the next wanted one; `u64::MAX` if no
    /// further one is wanted.
    pub fn to_skip(&self) -> u64 {
        match self.next() {
            u64::MAX => u64::MAX,
            // The ordinal is rounded up, so its index is not before the position.
            next => next - self.position(),
        }
    }

    /// Offers the next candidate. If it is wanted, calls `make`, takes its value, and returns true.
    pub fn offer_with(&mut self, make: impl FnOnce() -> T) -> bool {
        let Ok(taken) = self.try_offer_with(|| Ok::<_, Infallible>(make()));
        taken
    }

    /// Like [`offer_with`](Self::offer_with), for a fallible `make`. A candidate whose `make` fails
    /// counts as never offered.
    pub fn try_offer_with<E>(&mut self, make: impl FnOnce() -> Result<T, E>) -> Result<bool, E> {
        let wanted = self.wants_next();
        if wanted {
            self.items.push(Item { index: self.position(), value: make()? });
        }
        self.skip(1);
        Ok(wanted)
    }

    /// Counts `n` candidates that are not offered, in constant time. Skipped candidates that were
    /// wanted are missing from the sample.
    pub fn skip(&mut self, n: u64) {
        self.seen = self.seen.saturating_add(n);
    }

    /// Appends the following part of the selection.
    ///
    /// # Errors
    /// [`Error::DifferentRules`] if the parts do not belong to one selection;
    /// [`Error::NotAdjacent`] if `later` does not start where this one ends.
    pub fn merge(mut self, later: Self) -> Result<Self, Error> {
        if self.picks != later.picks {
            return Err(Error::DifferentRules);
        }
        if self.position() != later.start {
            return Err(Error::NotAdjacent { expected: self.position(), found: later.start });
        }
        self.items.extend(later.items);
        self.skip(later.seen);
        Ok(self)
    }

    /// Returns the sample so far. Indices count from the start of the whole stream; `seen` counts
    /// this part.
    pub fn into_sample(self) -> Sample<T> {
        Sample { items: self.items, seen: self.seen }
    }

    /// The index of the next candidate.
    fn position(&self) -> u64 {
        self.start.saturating_add(self.seen)
    }

    /// The index of the next wanted candidate; `u64::MAX` if no further one is wanted.
    fn next(&self) -> u64 {
        self.picks.index(self.picks.ordinal(self.position()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinal_is_the_inverse_of_index() {
        for size in 1..12 {
            let size = NonZeroUsize::new(size).unwrap();
            let strides = (1..6).map(|stride| Rule::Stride(NonZeroU64::new(stride).unwrap()));
            for rule in strides.chain((0..30).map(Rule::Total)) {
                let picks = Picks { rule, size };
                for position in 0..40 {
                    let naive = (0..=picks.size()).find(|&ordinal| picks.index(ordinal) >= position).unwrap();
                    assert_eq!(
                        picks.index(picks.ordinal(position)),
                        picks.index(naive),
                        "{picks:?} at {position}"
                    );
                }
            }
        }
    }

    #[test]
    fn no_product_overflows() {
        let huge = NonZeroUsize::MAX;
        for rule in [Rule::Stride(NonZeroU64::MAX), Rule::Total(u64::MAX), Rule::Total(1), Rule::Total(0)] {
            for size in [huge, NonZeroUsize::MIN, NonZeroUsize::MIN.saturating_add(1)] {
                let mut systematic = Systematic::new(Picks { rule, size }).starting_at(u64::MAX - 1);
                systematic.offer_with(|| ());
                systematic.skip(u64::MAX);
                assert!(systematic.is_decided() || rule == Rule::Total(u64::MAX));
            }
        }
    }
}
