use std::convert::Infallible;
use std::num::{NonZeroU64, NonZeroUsize};

use crate::{Error, Item, Sample};

/// Which indices a systematic selection takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Rule {
    /// 0, s, 2s, …
    Stride(NonZeroU64),
    /// ⌊i × total / size⌋, or everything if there is no more than that.
    Total(u64),
}

/// A rule with a number of items.
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

    /// The index of item `ordinal`; `u64::MAX` when there is no such item.
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

    /// The first item whose index is `index` or more.
    fn ordinal(self, index: u64) -> u64 {
        match self.rule {
            Rule::Stride(stride) => index.div_ceil(stride.get()),
            Rule::Total(total) if total <= self.size() => index,
            Rule::Total(total) => {
                let ordinal = (u128::from(index) * u128::from(self.size())).div_ceil(u128::from(total));
                u64::try_from(ordinal).unwrap_or(u64::MAX)
            }
        }
    }
}

/// The indices of a systematic selection of `size` out of `total` candidates: ⌊i × total / size⌋
/// for i from 0, or all of them if there are no more than `size`. Ascending, without repetition.
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
/// With a stride ([`with_stride`](Self::with_stride)) the selection has the candidates 0, s, 2s, …
/// up to its size. With a total ([`with_total`](Self::with_total)) it has the candidates ⌊i × total
/// / size⌋, spread over the whole stream.
///
/// There is no third way for a stream of unknown length: candidate `e` is ⌊i × total / size⌋ with i
/// = 1 for a total of `e × size`, so with a size of 2 or more, at any moment all but the first one
/// in `size` of the candidates seen may yet belong to the selection, and no bounded memory holds
/// them. Such a stream is counted first.
///
/// Cost: constant time a wanted candidate, none for those passed over; memory for `size` values.
/// Parts that [start](Self::starting_at) where the one before ends merge to what one run over the
/// whole stream gives.
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
    /// Every `stride`-th candidate from the first on, up to `size` of them.
    pub fn with_stride(size: NonZeroUsize, stride: NonZeroU64) -> Self {
        Self::new(Picks { rule: Rule::Stride(stride), size })
    }

    /// `size` of the `total` candidates that the whole stream has; all if there are no more. The
    /// indices are those of [`systematic_indices`].
    pub fn with_total(size: NonZeroUsize, total: u64) -> Self {
        Self::new(Picks { rule: Rule::Total(total), size })
    }

    fn new(picks: Picks) -> Self {
        Self { picks, start: 0, seen: 0, items: Vec::new() }
    }

    /// The same selection for the part of the stream that begins at candidate `start`; nothing has
    /// been seen yet.
    #[must_use]
    pub fn starting_at(self, start: u64) -> Self {
        Self { start, ..Self::new(self.picks) }
    }

    /// How many candidates of this part were offered or passed over.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Whether no later candidate is wanted.
    pub fn is_decided(&self) -> bool {
        self.next() == u64::MAX
    }

    /// Whether the next candidate will be taken.
    pub fn wants_next(&self) -> bool {
        self.to_skip() == 0
    }

    /// How many candidates to pass over before the next wanted one; `u64::MAX` when none is.
    pub fn to_skip(&self) -> u64 {
        match self.next() {
            u64::MAX => u64::MAX,
            next => next - self.position(),
        }
    }

    /// Offers the next candidate. If it is wanted, `make` is called, its value taken, and the
    /// answer is true.
    pub fn offer_with(&mut self, make: impl FnOnce() -> T) -> bool {
        let Ok(taken) = self.try_offer_with(|| Ok::<_, Infallible>(make()));
        taken
    }

    /// As [`offer_with`](Self::offer_with), for a candidate whose building can fail; one that does
    /// was never offered.
    pub fn try_offer_with<E>(&mut self, make: impl FnOnce() -> Result<T, E>) -> Result<bool, E> {
        let wanted = self.wants_next();
        if wanted {
            self.items.push(Item { index: self.position(), value: make()? });
        }
        self.pass_over(1);
        Ok(wanted)
    }

    /// Counts `n` candidates that are not offered, in constant time. Wanted ones are then missing
    /// from the sample.
    pub fn pass_over(&mut self, n: u64) {
        self.seen = self.seen.saturating_add(n);
    }

    /// This part of the selection and the one that follows it.
    ///
    /// # Errors
    /// [`Error::DifferentRules`] if the parts do not belong to one selection,
    /// [`Error::NotAdjacent`] if `later` does not start where this one ends.
    pub fn merge(mut self, later: Self) -> Result<Self, Error> {
        if self.picks != later.picks {
            return Err(Error::DifferentRules);
        }
        if self.position() != later.start {
            return Err(Error::NotAdjacent { expected: self.position(), found: later.start });
        }
        self.items.extend(later.items);
        self.pass_over(later.seen);
        Ok(self)
    }

    /// The sample so far; indices count from the beginning of the whole stream, `seen` counts this
    /// part.
    pub fn into_sample(self) -> Sample<T> {
        Sample { items: self.items, seen: self.seen }
    }

    /// The index of the next candidate.
    fn position(&self) -> u64 {
        self.start.saturating_add(self.seen)
    }

    /// The index of the next wanted candidate; `u64::MAX` when there is none.
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
                systematic.pass_over(u64::MAX);
                assert!(systematic.is_decided() || rule == Rule::Total(u64::MAX));
            }
        }
    }
}
