use std::collections::VecDeque;
use std::convert::Infallible;
use std::num::NonZeroUsize;

use crate::{Item, Sample};

/// The first candidates of a stream.
///
/// Cost: constant time a candidate, memory for `size` values. Merging is associative, and parts
/// merged in order give the same result as one run over the whole stream.
///
/// ```
/// use std::num::NonZeroUsize;
/// use trommel_sampler::First;
///
/// let mut first = First::new(NonZeroUsize::MIN.saturating_add(1));
/// while !first.is_decided() {
///     first.offer_with(|| 'x');
/// }
/// assert_eq!(first.into_sample().indices().collect::<Vec<_>>(), [0, 1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct First<T> {
    pub(crate) size: NonZeroUsize,
    pub(crate) seen: u64,
    pub(crate) items: Vec<Item<T>>,
}

impl<T> First<T> {
    /// The values of the sample so far, in arbitrary order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|item| &item.value)
    }

    /// Creates an empty selection of at most `size` candidates.
    pub fn new(size: NonZeroUsize) -> Self {
        Self { size, seen: 0, items: Vec::new() }
    }

    /// Returns the number of candidates offered or skipped.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns true if the selection is complete, so that no later candidate is wanted.
    pub fn is_decided(&self) -> bool {
        self.items.len() >= self.size.get()
    }

    /// Returns true if the next candidate will be taken.
    pub fn wants_next(&self) -> bool {
        !self.is_decided()
    }

    /// Returns the number of candidates to skip before the next wanted one; `u64::MAX` if no
    /// further one is wanted.
    pub fn to_skip(&self) -> u64 {
        if self.is_decided() { u64::MAX } else { 0 }
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
            self.items.push(Item { index: self.seen, value: make()? });
        }
        self.skip(1);
        Ok(wanted)
    }

    /// Counts `n` candidates that are not offered. Skipped candidates that were wanted are lost:
    /// the sample consists of the first ones that were offered.
    pub fn skip(&mut self, n: u64) {
        self.seen = self.seen.saturating_add(n);
    }

    /// Appends the candidates of `later`, whose indices grow by [`seen`](Self::seen), and keeps the
    /// first ones. If the sizes differ, the smaller one applies.
    #[must_use]
    pub fn merge(mut self, mut later: Self) -> Self {
        self.size = self.size.min(later.size);
        later.items.iter_mut().for_each(|item| item.shift(self.seen));
        self.items.append(&mut later.items);
        self.items.truncate(self.size.get());
        self.skip(later.seen);
        self
    }

    /// Returns the sample so far.
    pub fn into_sample(self) -> Sample<T> {
        Sample { items: self.items, seen: self.seen }
    }
}

/// The last candidates of a stream.
///
/// While the total is unknown, every candidate may be among the last, so each one is built. Let the
/// values be cheap, such as a span instead of its content. With a known total
/// ([`with_total`](Self::with_total)), only the last candidates are built.
///
/// Cost: constant time a candidate, memory for `size` values. Merging is associative, and parts
/// merged in order give the same result as one run over the whole stream.
///
/// ```
/// use std::num::NonZeroUsize;
/// use trommel_sampler::Last;
///
/// let mut last = Last::new(NonZeroUsize::MIN.saturating_add(1));
/// for candidate in 'a'..='z' {
///     last.offer_with(|| candidate);
/// }
/// assert_eq!(last.into_sample().into_values().collect::<String>(), "yz");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Last<T> {
    pub(crate) size: NonZeroUsize,
    pub(crate) seen: u64,
    /// Index of the first candidate that can be among the last.
    pub(crate) from: u64,
    pub(crate) items: VecDeque<Item<T>>,
}

impl<T> Last<T> {
    /// The values of the sample so far, in arbitrary order.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.items.iter().map(|item| &item.value)
    }

    /// Creates an empty selection of at most `size` candidates of a stream of unknown length.
    pub fn new(size: NonZeroUsize) -> Self {
        Self { size, seen: 0, from: 0, items: VecDeque::new() }
    }

    /// Creates an empty selection of at most `size` candidates of a stream, or part of one, that
    /// has `total`. If there are more after all, the selection continues and has the last ones. If
    /// there are fewer, items are missing.
    pub fn with_total(size: NonZeroUsize, total: u64) -> Self {
        Self { from: total.saturating_sub(size.get() as u64), ..Self::new(size) }
    }

    /// Returns the number of candidates offered or skipped.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Returns true if the next candidate will be taken, at least until later ones replace it.
    pub fn wants_next(&self) -> bool {
        self.to_skip() == 0
    }

    /// Returns the number of candidates to skip before the next wanted one.
    pub fn to_skip(&self) -> u64 {
        self.from.saturating_sub(self.seen)
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
            // Built before an older item is removed, so that a failure loses nothing.
            let item = Item { index: self.seen, value: make()? };
            if self.items.len() >= self.size.get() {
                self.items.pop_front();
            }
            self.items.push_back(item);
        }
        self.skip(1);
        Ok(wanted)
    }

    /// Counts `n` candidates that are not offered. Skipped candidates that were wanted are lost:
    /// the sample consists of the last ones that were offered.
    pub fn skip(&mut self, n: u64) {
        self.seen = self.seen.saturating_add(n);
    }

    /// Appends the candidates of `later`, whose indices grow by [`seen`](Self::seen), and keeps the
    /// last ones. If the sizes differ, the smaller one applies.
    #[must_use]
    pub fn merge(mut self, mut later: Self) -> Self {
        self.size = self.size.min(later.size);
        // The next candidate continues `later`, so the bound of `later` applies, with its new
        // origin.
        self.from = self.seen.saturating_add(later.from);
        later.items.iter_mut().for_each(|item| item.shift(self.seen));
        self.items.append(&mut later.items);
        let surplus = self.items.len().saturating_sub(self.size.get());
        self.items.drain(..surplus);
        self.skip(later.seen);
        self
    }

    /// Returns the sample so far.
    pub fn into_sample(self) -> Sample<T> {
        Sample { items: self.items.into(), seen: self.seen }
    }
}
