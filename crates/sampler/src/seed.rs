use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// The number all randomness of a selection comes from.
///
/// The same seed gives the same sample on every platform, in every release and for any number of
/// threads. How numbers are derived from a seed is frozen and described in
/// [`derivation`](crate::derivation).
///
/// Selections that are merged later must not share a seed, or they would make the same choices:
/// give each part its own with [`for_stream`](Self::for_stream).
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

/// What a `ChaCha` key is used for, so that no two uses ever share a stream of numbers.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// The draws of one selection.
    Draws,
    /// The seed of a numbered stream.
    Stream,
    /// The seed of a stratum.
    Stratum,
    /// The seed of what a merge makes of two selections.
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
    /// The seed with this value. Every value is as good as any other.
    pub const fn new(value: u64) -> Self {
        Self(value)
    }

    /// The value given to [`new`](Self::new), or the derived one.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The seed of the stream or part numbered `label`, independent of this seed and of all other
    /// labels'.
    #[must_use]
    pub fn for_stream(self, label: u64) -> Self {
        self.derive(Purpose::Stream, label, 0)
    }

    /// The seed of the stratum whose key has these bytes: a keyed hash that is the same everywhere
    /// and for ever.
    ///
    /// It spreads keys, it does not identify them: two keys may share a seed (one chance in 2⁶⁴ a
    /// pair), which makes their strata choose alike and does no other harm. `O(key.len())`.
    #[must_use]
    pub fn for_key(self, key: &[u8]) -> Self {
        let start = self.derive(Purpose::Stratum, key.len() as u64, 0);
        key.chunks(16).fold(start, |state, chunk| {
            let mut block = [0; 16];
            block.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
            let block = u128::from_le_bytes(block);
            state.derive(Purpose::Stratum, block as u64, (block >> 64) as u64)
        })
    }

    /// The seed of the selection that a merge makes of this one's and a later one's.
    pub(crate) fn for_merge(self, later: Self) -> Self {
        self.derive(Purpose::Merge, later.0, 0)
    }

    /// The generator with the key that belongs to this seed, a purpose and two operands.
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
