use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The source of all randomness of a selection.
///
/// The same seed gives the same sample on every platform, in every release, and for any number of
/// threads. The derivation of numbers from a seed is frozen and described in
/// [`derivation`](crate::derivation).
///
/// Selections that will be merged must not share a seed, or they would make the same choices. Give
/// each part its own with [`for_stream`](Self::for_stream).
///
/// ```
/// use trommel_sampler::Seed;
///
/// let seed = Seed::new(42);
/// assert_eq!(seed.for_stream(1), Seed::new(42).for_stream(1));
/// assert_ne!(seed.for_stream(1), seed.for_stream(2));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(transparent))]
pub struct Seed(u64);

/// The purpose of a `ChaCha` key. No two purposes share a stream of random numbers.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The draws of one selection.
    Draws,
    /// The seed of a numbered stream.
    Stream,
    /// The seed of a stratum.
    Stratum,
    /// The seed of a merged selection.
    Merge,
}

impl Purpose {
    const fn tag(self) -> [u8; 8] {
        match self {
            Self::Draws => *b"trm.draw",
            Self::Stream => *b"trm.strm",
            Self::Stratum => *b"trm.strt",
            Self::Merge => *b"trm.merg",
        }
    }
}

impl Seed {
    /// Creates a seed. All values are equally good.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// Returns the value passed to [`new`](Self::new), or the derived one.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Derives the seed of the stream or part with number `label`, independent of this seed and of
    /// all other labels.
    #[must_use]
    pub fn for_stream(self, label: u64) -> Self {
        self.derive(Purpose::Stream, label, 0)
    }

    /// Derives the seed of the stratum with this key: a keyed hash that is the same on every
    /// platform and in every release.
    ///
    /// It distributes keys but does not identify them. Two keys may share a seed (with a
    /// probability of 2⁻⁶⁴ a pair); their strata then make the same choices, which does no other
    /// harm. `O(key.len())`.
    #[must_use]
    pub fn for_key(self, key: &[u8]) -> Self {
        // The length distinguishes keys that differ only in zeros at the end, which the padding
        // adds.
        let start = self.derive(Purpose::Stratum, key.len() as u64, 0);
        key.chunks(16).fold(start, |state, chunk| {
            let mut block = [0; 16];
            block.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            let block = u128::from_le_bytes(block);
            state.derive(Purpose::Stratum, block as u64, (block >> 64) as u64)
        })
    }

    /// Derives the seed of a merge of this seed's selection with a later one.
    pub(crate) fn for_merge(self, later: Self) -> Self {
        self.derive(Purpose::Merge, later.0, 0)
    }

    /// Creates the generator whose key consists of this seed, a purpose, and two operands.
    pub(crate) fn generator(self, purpose: Purpose, first: u64, second: u64) -> ChaCha8Rng {
        let words = [self.0, first, second, u64::from_le_bytes(purpose.tag())];
        let mut key = [0; 32];
        let (chunks, _) = key.as_chunks_mut();
        chunks.iter_mut().zip(words).for_each(|(chunk, word)| *chunk = word.to_le_bytes());
        ChaCha8Rng::from_seed(key)
    }

    fn derive(self, purpose: Purpose, first: u64, second: u64) -> Self {
        Self(self.generator(purpose, first, second).next_u64())
    }
}

impl From<u64> for Seed {
    fn from(value: u64) -> Self {
        Self(value)
    }
}
