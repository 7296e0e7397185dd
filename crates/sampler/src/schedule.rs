use std::num::NonZeroUsize;

use crate::Seed;
use crate::draws::Draws;

/// Determines when a reservoir wants its next candidate and in which slot it goes: Algorithm L of
/// Li, "Reservoir-Sampling Algorithms of Time Complexity O(n(1 + log(N/n)))" (1994). It does not
/// depend on the candidates' values.
///
/// The algorithm behaves as if each candidate had a uniform random number and the reservoir kept
/// the candidates with the smallest ones. Only the largest number in the reservoir matters: a later
/// candidate wins if its number is smaller. The gap to the next winner is therefore geometric, and
/// the winner may take any slot.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "stored::Schedule", try_from = "stored::Schedule")
)]
pub(crate) struct Schedule {
    capacity: NonZeroUsize,
    seen: u64,
    /// The index of the next winner; at least `seen`.
    next: u64,
    /// The logarithm of the largest number in the reservoir; 0 until the reservoir is full.
    ln_largest: f64,
    draws: Draws,
}

impl Schedule {
    pub(crate) fn new(capacity: NonZeroUsize, seed: Seed) -> Self {
        Self { capacity, seen: 0, next: 0, ln_largest: 0.0, draws: Draws::new(seed) }
    }

    pub(crate) fn capacity(&self) -> NonZeroUsize {
        self.capacity
    }

    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    pub(crate) fn gap(&self) -> u64 {
        self.next.saturating_sub(self.seen)
    }

    pub(crate) fn skip(&mut self, n: u64) {
        self.seen = self.seen.saturating_add(n);
        self.next = self.next.max(self.seen);
    }

    /// Takes the wanted candidate into a reservoir with `filled` filled slots. Returns its slot;
    /// slot `filled` is a new one.
    pub(crate) fn take(&mut self, filled: usize) -> usize {
        self.skip(1);
        let capacity = self.capacity.get();
        if filled < capacity {
            // Before it is full, a reservoir takes every candidate and draws no gaps.
            if filled + 1 == capacity {
                self.draw_gap();
            }
            return filled;
        }
        // The order of the draws is frozen: the slot first, then the gap.
        let slot = self.draws.below(capacity as u64) as usize;
        self.draw_gap();
        slot
    }

    /// Reduces `items` to a random subset of `keep`.
    pub(crate) fn choose<T>(&mut self, items: &mut Vec<T>, keep: usize) {
        self.draws.choose(items, keep);
    }

    /// Lowers the largest number after one winner, then draws the index of the next winner.
    fn draw_gap(&mut self) {
        // The largest of k uniform numbers below w is w × u^(1/k), for a uniform number u.
        self.ln_largest += self.draws.ln_unit() / self.capacity.get() as f64;
        self.draw_next();
    }

    /// Draws the geometric gap to the next winner. The conversion saturates: after a gap of more
    /// than 64 bits, no candidate wins.
    fn draw_next(&mut self) {
        // `log1p` keeps its precision when the largest number is tiny, where `ln(1 - w)` would
        // round to 0.
        let gap = self.draws.ln_unit() / libm::log1p(-libm::exp(self.ln_largest));
        self.next = self.seen.saturating_add(gap as u64);
    }

    /// Creates the schedule of a merge with the reservoir of the candidates that follow. The next
    /// winner is still undetermined; [`resume`](Self::resume) draws it.
    pub(crate) fn join(&self, later: &Self) -> Self {
        let seed = self.draws.seed().for_merge(later.draws.seed());
        let mut joined = Self::new(self.capacity.min(later.capacity), seed);
        joined.skip(self.seen.saturating_add(later.seen));
        joined
    }

    /// Draws how many of a random subset of `capacity` out of `first + second` candidates are among
    /// the first. An urn model that draws one by one gives the exact hypergeometric distribution.
    pub(crate) fn share(&mut self, first: u64, second: u64) -> usize {
        let (mut left, mut all) = (first, first.saturating_add(second));
        let mut share = 0;
        for _ in 0..self.capacity.get() {
            if self.draws.below(all) < left {
                left -= 1;
                share += 1;
            }
            all = all.saturating_sub(1);
        }
        share
    }

    /// Draws the next winner after a merge that filled `filled` slots.
    ///
    /// The largest number in a full reservoir is the `capacity`-th smallest of `seen` uniform ones,
    /// regardless of which candidates were kept. One minus it is the `capacity`-th largest: a
    /// product of independent uniform numbers to the powers 1/seen, 1/(seen − 1), … (Devroye,
    /// "Non-Uniform Random Variate Generation", 1986, section V.3).
    pub(crate) fn resume(&mut self, filled: usize) {
        let capacity = self.capacity.get();
        if filled < capacity {
            return;
        }
        let mut ln_product = 0.0;
        for above in 0..capacity {
            // Positive anyway, because at least as many candidates were seen as slots are filled.
            // The bound makes the division safe by itself.
            let left = self.seen.saturating_sub(above as u64).max(1);
            ln_product += self.draws.ln_unit() / left as f64;
        }
        // `expm1` is precise where the product is close to 1; 1 − exp(x) would round to 0 there.
        self.ln_largest = libm::log(-libm::expm1(ln_product));
        self.draw_next();
    }
}

#[cfg(feature = "serde")]
mod stored {
    use std::num::NonZeroUsize;

    use crate::draws::Draws;
    use crate::{Error, Seed};

    /// The stored form of a schedule. It has the position in the stream of random numbers instead
    /// of the generator, and the bits of the logarithm, so that no text format rounds it.
    #[derive(serde::Serialize, serde::Deserialize)]
    pub(super) struct Schedule {
        capacity: NonZeroUsize,
        seen: u64,
        next: u64,
        ln_largest_bits: u64,
        seed: Seed,
        drawn: u64,
    }

    impl From<super::Schedule> for Schedule {
        fn from(live: super::Schedule) -> Self {
            Self {
                capacity: live.capacity,
                seen: live.seen,
                next: live.next,
                ln_largest_bits: live.ln_largest.to_bits(),
                seed: live.draws.seed(),
                drawn: live.draws.drawn(),
            }
        }
    }

    impl TryFrom<Schedule> for super::Schedule {
        type Error = Error;

        fn try_from(stored: Schedule) -> Result<Self, Error> {
            let ln_largest = f64::from_bits(stored.ln_largest_bits);
            if ln_largest.is_nan() || ln_largest > 0.0 {
                return Err(Error::Damaged("the logarithm of a number below 1 is positive"));
            }
            if stored.next < stored.seen {
                return Err(Error::Damaged("the next candidate was already seen"));
            }
            Ok(Self {
                capacity: stored.capacity,
                seen: stored.seen,
                next: stored.next,
                ln_largest,
                draws: Draws::resume(stored.seed, stored.drawn),
            })
        }
    }
}
