use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;

use crate::Seed;
use crate::seed::Purpose;

/// The stream of random numbers of one selection.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    seed: Seed,
    generator: ChaCha8Rng,
}

impl Draws {
    pub(crate) fn new(seed: Seed) -> Self {
        Self { seed, generator: seed.generator(Purpose::Draws, 0, 0) }
    }

    pub(crate) fn seed(&self) -> Seed {
        self.seed
    }

    /// Draws the next 64 bits.
    fn word(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Draws a uniform number below `bound` (Lemire 2019, "Fast Random Integer Generation in an
    /// Interval"): the high half of word × bound. A word is rejected if the low half is one of the
    /// 2⁶⁴ mod bound surplus values. A `bound` of 0 gives 0.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.word()) * u128::from(bound);
        // The surplus is less than the bound, so the division is rarely needed.
        if (product as u64) < bound {
            let surplus = bound.wrapping_neg() % bound;
            while (product as u64) < surplus {
                product = u128::from(self.word()) * u128::from(bound);
            }
        }
        (product >> 64) as u64
    }

    /// Draws the natural logarithm of a uniform number strictly between 0 and 1.
    ///
    /// The number is (⌊word / 2¹²⌋ + ½) / 2⁵²: 53 significant bits, so each step is exact.
    pub(crate) fn ln_unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 52) as f64;
        libm::log(((self.word() >> 12) as f64 + 0.5) * STEP)
    }

    /// Reduces `items` to a uniform random subset of `keep` (Fisher and Yates, stopped after `keep`
    /// steps). Draws nothing if all are kept. `O(keep)`.
    pub(crate) fn choose<T>(&mut self, items: &mut Vec<T>, keep: usize) {
        let len = items.len();
        if keep >= len {
            return;
        }
        for slot in 0..keep {
            items.swap(slot, slot + self.below((len - slot) as u64) as usize);
        }
        items.truncate(keep);
    }
}

#[cfg(feature = "serde")]
impl Draws {
    /// The number of words drawn so far.
    pub(crate) fn drawn(&self) -> u64 {
        // The generator counts 32-bit words.
        (self.generator.get_word_pos() / 2) as u64
    }

    /// Restores the stream of `seed` after its first `drawn` words.
    pub(crate) fn resume(seed: Seed, drawn: u64) -> Self {
        let mut resumed = Self::new(seed);
        resumed.generator.set_word_pos(u128::from(drawn) * 2);
        resumed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_stays_below_and_reaches_every_number() {
        let mut draws = Draws::new(Seed::new(1));
        for bound in 1..=20 {
            let mut met = vec![false; bound];
            for _ in 0..1_000 {
                met[draws.below(bound as u64) as usize] = true;
            }
            assert!(met.iter().all(|&met| met), "bound {bound}");
        }
    }

    #[test]
    fn below_rejects_surplus_words() {
        // With this bound a third of all words is surplus.
        let bound = (1 << 63) + (1 << 61);
        let mut draws = Draws::new(Seed::new(1));
        let mut words = draws.generator.clone();
        for _ in 0..100 {
            assert!(draws.below(bound) < bound);
        }
        let mut needed = 0;
        while words != draws.generator {
            words.next_u64();
            needed += 1;
        }
        assert!((110..260).contains(&needed), "{needed} words for 100 numbers");
    }

    #[test]
    fn logarithms_of_units_are_finite_and_negative() {
        let mut draws = Draws::new(Seed::new(1));
        assert!((0..10_000).map(|_| draws.ln_unit()).all(|ln| ln.is_finite() && ln < 0.0));
    }

    #[test]
    fn choose_keeps_the_requested_number() {
        let mut draws = Draws::new(Seed::new(1));
        for keep in 0..12 {
            let mut items: Vec<_> = (0..10).collect();
            draws.choose(&mut items, keep);
            items.sort_unstable();
            items.dedup();
            assert_eq!(items.len(), keep.min(10));
        }
    }
}
