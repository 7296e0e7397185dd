use std::num::NonZeroUsize;

use crate::Seed;
use crate::draws::Draws;

/// When a reservoir wants its next candidate, and where it puts it: Algorithm L of Li,
/// "Reservoir-Sampling Algorithms of Time Complexity O(n(1 + log(N/n)))" (1994), apart from what
/// the candidates are.
///
/// The algorithm is as though each candidate had a uniform random number and the reservoir kept the
/// candidates with the smallest. Only the largest number in the reservoir matters: a later
/// candidate wins if its number is smaller, so the gap to the next winner is geometric, and the
/// winner may take any slot.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "stored::Schedule", try_from = "stored::Schedule")
)]
pub(crate) struct Schedule {
    capacity: NonZeroUsize,
    seen: u64,
    /// Index of the next winner; never less than `seen`.
    next: u64,
    /// Logarithm of the largest number in the reservoir; 0 until the reservoir is full.
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

    pub(crate) fn pass_over(&mut self, n: u64) {
        self.seen = self.seen.saturating_add(n);
        self.next = self.next.max(self.seen);
    }

    /// Takes the candidate that is wanted into a reservoir with `filled` slots taken, and says into
    /// which slot; slot `filled` is a new one.
    pub(crate) fn take(&mut self, filled: usize) -> usize {
        self.pass_over(1);
        let capacity = self.capacity.get();
        if filled < capacity {
            if filled + 1 == capacity {
                self.draw_gap();
            }
            return filled;
        }
        let slot = self.draws.below(capacity as u64) as usize;
        self.draw_gap();
        slot
    }

    /// Cuts `items` down to a random subset of `keep`.
    pub(crate) fn choose<T>(&mut self, items: &mut Vec<T>, keep: usize) {
        self.draws.choose(items, keep);
    }

    /// The largest number sinks by one winner, then the next winner's index is drawn.
    fn draw_gap(&mut self) {
        self.ln_largest += self.draws.ln_unit() / self.capacity.get() as f64;
        self.draw_next();
    }

    /// Draws the geometric gap to the next winner. The conversion saturates: a gap that does not
    /// fit 64 bits means that there is no next winner.
    fn draw_next(&mut self) {
        let gap = self.draws.ln_unit() / libm::log1p(-libm::exp(self.ln_largest));
        self.next = self.seen.saturating_add(gap as u64);
    }

    /// The schedule of what becomes of this reservoir and one over the candidates that follow;
    /// still without the next winner, which [`resume`](Self::resume) draws.
    pub(crate) fn join(&self, later: &Self) -> Self {
        let seed = self.draws.seed().for_merge(later.draws.seed());
        let mut joined = Self::new(self.capacity.min(later.capacity), seed);
        joined.pass_over(self.seen.saturating_add(later.seen));
        joined
    }

    /// How many of a random subset of `capacity` out of `first + second` candidates are among the
    /// first: an urn, drawn from one by one, so that the hypergeometric distribution is met
    /// exactly.
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

    /// Draws the next winner after a merge that left `filled` slots taken.
    ///
    /// The largest number in a full reservoir is the smallest but `capacity` − 1 of `seen` uniform
    /// ones, whichever candidates were kept. One minus it is the `capacity`-th largest, a product
    /// of independent uniform numbers to the powers 1/seen, 1/(seen − 1), … (Devroye, "Non-Uniform
    /// Random Variate Generation", 1986, section V.3).
    pub(crate) fn resume(&mut self, filled: usize) {
        let capacity = self.capacity.get();
        if filled < capacity {
            return;
        }
        let mut ln_product = 0.0;
        for above in 0..capacity {
            let left = self.seen.saturating_sub(above as u64).max(1);
            ln_product += self.draws.ln_unit() / left as f64;
        }
        self.ln_largest = libm::log(-libm::expm1(ln_product));
        self.draw_next();
    }
}

#[cfg(feature = "serde")]
mod stored {
    use std::num::NonZeroUsize;

    use crate::draws::Draws;
    use crate::{Error, Seed};

    /// A schedule as it is stored: the place in the stream of random numbers instead of the
    /// generator, and the bits of the logarithm, so that no text format rounds it.
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
                return Err(Error::Damaged("the next candidate lies behind"));
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
