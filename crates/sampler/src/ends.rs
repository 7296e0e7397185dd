use std::collections::VecDeque;
use std::convert::Infallible;
use std::num::NonZeroUsize;

use crate::{Item, Sample};

/// The first candidates of a stream.
///
/// Cost: constant time a candidate, memory for `size` values. Merging is associative, and parts
/// merged in order give what one run over the whole stream gives.
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
    /// Nothing yet, of at most `size` candidates.
    pub fn new(size: NonZeroUsize) -> Self {
        Self { size, seen: 0, items: Vec::new() }
    }

    /// How many candidates were offered or passed over.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Whether the selection is complete, so that no later candidate is wanted.
    pub fn is_decided(&self) -> bool {
        self.items.len() >= self.size.get()
    }

    /// Whether the next candidate will be taken.
    pub fn wants_next(&self) -> bool {
        !self.is_decided()
    }

    /// How many candidates to pass over before the next wanted one; `u64::MAX` when none is.
    pub fn to_skip(&self) -> u64 {
        if self.is_decided() { u64::MAX } else { 0 }
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
            self.items.push(Item { index: self.seen, value: make()? });
        }
        self.pass_over(1);
        Ok(wanted)
    }

    /// Counts `n` candidates that are not offered. Wanted ones are then missing: the sample has the
    /// first of those that were offered.
    pub fn pass_over(&mut self, n: u64) {
        self.seen = self.seen.saturating_add(n);
    }

    /// The first of this one's candidates followed by `later`'s, whose indices move up by
    /// [`seen`](Self::seen). Of two sizes the smaller one counts.
    #[must_use]
    pub fn merge(mut self, mut later: Self) -> Self {
        self.size = self.size.min(later.size);
        later.items.iter_mut().for_each(|item| item.shift(self.seen));
        self.items.append(&mut later.items);
        self.items.truncate(self.size.get());
        self.pass_over(later.seen);
        self
    }

    /// The sample so far.
    pub fn into_sample(self) -> Sample<T> {
        Sample { items: self.items, seen: self.seen }
    }
}

/// The last candidates of a stream.
///
/// As long as the total is unknown, every candidate may be among the last, so each is built: let
/// the values be cheap (a span, not what it holds). With a total known
/// ([`with_total`](Self::with_total)) only the last are.
///
/// Cost: constant time a candidate, memory for `size` values. Merging is associative, and parts
/// merged in order give what one run over the whole stream gives.
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
    /// Nothing yet, of at most `size` candidates of a stream of unknown length.
    pub fn new(size: NonZeroUsize) -> Self {
        Self { size, seen: 0, from: 0, items: VecDeque::new() }
    }

    /// Nothing yet, of at most `size` candidates of a stream, or part of one, that has `total`. If
    /// there turn out to be more, the selection goes on and has the last; if fewer, items are
    /// missing.
    pub fn with_total(size: NonZeroUsize, total: u64) -> Self {
        Self { from: total.saturating_sub(size.get() as u64), ..Self::new(size) }
    }

    /// How many candidates were offered or passed over.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// Whether the next candidate will be taken, for now.
    pub fn wants_next(&self) -> bool {
        self.to_skip() == 0
    }

    /// How many candidates to pass over before the next wanted one.
    pub fn to_skip(&self) -> u64 {
        self.from.saturating_sub(self.seen)
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
            let item = Item { index: self.seen, value: make()? };
            if self.items.len() >= self.size.get() {
                self.items.pop_front();
            }
            self.items.push_back(item);
        }
        self.pass_over(1);
        Ok(wanted)
    }

    /// Counts `n` candidates that are not offered. Wanted ones are then missing: the sample has the
    /// last of those that were offered.
    pub fn pass_over(&mut self, n: u64) {
        self.seen = self.seen.saturating_add(n);
    }

    /// The last of this one's candidates followed by `later`'s, whose indices move up by
    /// [`seen`](Self::seen). Of two sizes the smaller one counts.
    #[must_use]
    pub fn merge(mut self, mut later: Self) -> Self {
        self.size = self.size.min(later.size);
        self.from = self.seen.saturating_add(later.from);
        later.items.iter_mut().for_each(|item| item.shift(self.seen));
        self.items.append(&mut later.items);
        let surplus = self.items.len().saturating_sub(self.size.get());
        self.items.drain(..surplus);
        self.pass_over(later.seen);
        self
    }

    /// The sample so far.
    pub fn into_sample(self) -> Sample<T> {
        Sample { items: self.items.into(), seen: self.seen }
    }
}
