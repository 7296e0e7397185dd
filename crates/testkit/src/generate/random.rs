//! Random choices, drawn from the eight-round ChaCha.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A reproducible sequence of random choices.
#[derive(Clone, Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// Creates the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `bound`, which must not be 0. The bias of at most one in 2^64 /
    /// `bound` is harmless here.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "the bound must not be 0");
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// Returns a number from `least` to `most`, both included.
    pub fn between(&mut self, least: usize, most: usize) -> usize {
        least + self.below(most - least + 1)
    }

    /// Returns true with a probability of `percent` in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Returns one of the items, of which there must be at least one.
    pub fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// Returns the index of one of the weights, with a probability proportional to the weight.
    pub fn weighted(&mut self, weights: &[usize]) -> usize {
        let mut left = self.below(weights.iter().sum());
        weights
            .iter()
            .position(|&weight| {
                let is_chosen = left < weight;
                left = left.saturating_sub(weight);
                is_chosen
            })
            .unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_cover_their_whole_range() {
        let mut random = Random::new(1);
        let mut seen = [0; 5];
        for _ in 0..1000 {
            seen[random.between(1, 3)] += 1;
            assert!(random.weighted(&[0, 3, 0, 1]) % 2 == 1);
        }
        assert!(seen[0] == 0 && seen[4] == 0 && seen[1..4].iter().all(|&count| count > 200));
        assert_eq!(Random::new(5).bits(), Random::new(5).bits());
    }
}
