//! The names in a block of the input: a Bloom filter for each block.

use trommel::reader::{NameOrder, Text};

/// The number of bits that a name sets.
const MAX_PROBES: u32 = 10;

/// Bits per name with which a filter has all its probes.
const BITS_PER_NAME: usize = 16;

const SEED: u64 = 0x7472_6F6D_6D65_6C31;
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Hash of a name without escapes. It is part of the format.
///
/// It starts with a seed. Chunks of eight bytes follow, little-endian, the last one filled with
/// zeros; then the length.
#[inline]
pub(crate) fn hash(name: &[u8]) -> u64 {
    let (chunks, rest) = name.as_chunks::<8>();
    let mut hash = chunks.iter().fold(SEED, |hash, chunk| mix(hash, u64::from_le_bytes(*chunk)));
    if !rest.is_empty() {
        hash = mix(hash, filled(rest));
    }
    mix(hash, name.len() as u64)
}

#[inline]
fn mix(hash: u64, chunk: u64) -> u64 {
    let hash = (hash ^ chunk).wrapping_mul(FACTOR);
    hash ^ hash >> 29
}

/// At most seven bytes as an integer, without a loop: two reads that may overlap.
#[inline]
fn filled(rest: &[u8]) -> u64 {
    let length = rest.len();
    match (rest.first_chunk::<4>(), rest.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            u64::from(first) | u64::from(last) << (8 * (length - 4))
        }
        _ => rest.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    }
}

/// The order of the names of an object while it is read.
#[derive(Debug)]
pub(crate) struct Ascent {
    last: Vec<u8>,
    /// True if every name so far was after the one before it, in each of the orders.
    by_bytes: bool,
    by_length: bool,
    is_first: bool,
}

/// The longest name of which the order is known, in bytes.
const MAX_ORDERED: usize = 256;

impl Default for Ascent {
    fn default() -> Self {
        Self { last: Vec::new(), by_bytes: true, by_length: true, is_first: true }
    }
}

impl Ascent {
    /// Adds the next name.
    pub(crate) fn add(&mut self, name: Text<'_>) {
        if !(self.by_bytes || self.by_length) {
            return;
        }
        let raw = name.raw();
        let is_plain = !name.is_escaped() && raw.len() <= MAX_ORDERED;
        let ascends =
            |order: NameOrder| is_plain && (self.is_first || order.compare(&self.last, raw).is_lt());
        (self.by_bytes, self.by_length) =
            (self.by_bytes && ascends(NameOrder::Bytes), self.by_length && ascends(NameOrder::Length));
        self.is_first = false;
        self.last.clear();
        self.last.extend_from_slice(raw.get(..MAX_ORDERED).unwrap_or(raw));
    }

    /// The order of all names, if they ascend.
    pub(crate) fn order(&self) -> Option<NameOrder> {
        match (self.by_bytes, self.by_length) {
            (true, _) => Some(NameOrder::Bytes),
            (false, true) => Some(NameOrder::Length),
            (false, false) => None,
        }
    }
}

/// The names of a block while it is built: their hashes, each once.
#[derive(Debug)]
pub(crate) struct NameSet {
    hashes: Vec<u64>,
    /// The last hash of each slot, to find repeated names quickly. Zero if it is empty.
    recent: Box<[u64; RECENT]>,
    /// True if there are too many names to keep.
    is_full: bool,
}

/// Slots for recent hashes.
const RECENT: usize = 256;

/// Hashes of a block that are collected before repeated ones are removed.
const MAX_HASHES: usize = 1 << 16;

impl Default for NameSet {
    fn default() -> Self {
        Self { hashes: Vec::new(), recent: Box::new([0; RECENT]), is_full: false }
    }
}

impl NameSet {
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64) {
        let slot = &mut self.recent[hash as usize % RECENT];
        if (*slot != hash || hash == 0) && !self.is_full {
            *slot = hash;
            self.hashes.push(hash);
            if self.hashes.len() >= MAX_HASHES {
                self.remove_repeated();
            }
        }
    }

    /// Adds the names of another set, which is empty then.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.hashes.append(&mut other.hashes);
        self.is_full |= other.is_full;
        other.clear();
    }

    pub(crate) fn clear(&mut self) {
        self.hashes.clear();
        self.recent.fill(0);
        self.is_full = false;
    }

    fn remove_repeated(&mut self) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        // Half of the space is free again, or it would be sorted for each of many names.
        self.is_full |= self.hashes.len() > MAX_HASHES / 2;
    }

    /// Writes a filter of at most `max_words` words. Returns the number of probes.
    pub(crate) fn write(&mut self, max_words: usize, words: &mut Vec<u64>) -> u32 {
        self.remove_repeated();
        let names = self.hashes.len();
        if self.is_full {
            words.push(u64::MAX);
            return 1;
        }
        if names == 0 {
            return 0;
        }
        let wanted = (names * BITS_PER_NAME).div_ceil(64);
        let count = wanted.min(max_words.max(1));
        // The best number of probes is ln 2 times the bits per name.
        let best = (count * 64 * 7).div_ceil(names * 10) as u32;
        let probes = best.clamp(1, MAX_PROBES);
        let start = words.len();
        words.resize(start + count, 0);
        for hash in &self.hashes {
            for bit in bits(*hash, count, probes) {
                words[start + bit / 64] |= 1 << (bit % 64);
            }
        }
        probes
    }
}

/// The bits of a name in a filter of `words` words.
fn bits(hash: u64, words: usize, probes: u32) -> impl Iterator<Item = usize> {
    let step = hash >> 32 | 1;
    let bits = words as u64 * 64;
    (0..u64::from(probes)).map(move |probe| (hash.wrapping_add(probe.wrapping_mul(step)) % bits) as usize)
}

/// False if the name with this hash is not among those of a filter.
pub(crate) fn may_contain(words: &[u64], probes: u32, hash: u64) -> bool {
    !words.is_empty() && bits(hash, words.len(), probes).all(|bit| words[bit / 64] >> (bit % 64) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_admits_its_names_and_few_others() {
        for (names, max_words, most) in [(40, 100, 20), (1000, 1000, 20), (1000, 100, 300)] {
            let mut set = NameSet::default();
            for name in (0..names).chain(0..names) {
                set.insert(hash(format!("name {name}").as_bytes()));
            }
            let mut words = vec![7];
            let probes = set.write(max_words, &mut words);
            assert!(words.len() <= 1 + max_words);
            let contains = |name: String| may_contain(&words[1..], probes, hash(name.as_bytes()));
            assert!((0..names).all(|name| contains(format!("name {name}"))));
            let others = (0..1000).filter(|name| contains(format!("other {name}"))).count();
            assert!(others <= most, "{others} of 1000 other names, {names} names in {max_words} words");
        }
    }

    #[test]
    fn hashes_are_those_of_the_format() {
        assert_eq!(hash(b""), 0xF538_6D5A_0720_F6E8);
        assert_ne!(hash(b"a"), hash(b"a\0"));
        for length in 1..8 {
            let mut chunk = [0; 8];
            chunk[..length].copy_from_slice(&b"abcdefg"[..length]);
            assert_eq!(filled(&b"abcdefg"[..length]), u64::from_le_bytes(chunk), "{length} bytes");
        }
        assert_ne!(hash(b"abcdefgh"), hash(b"abcdefg"));
    }

    #[test]
    fn a_set_that_is_full_admits_every_name() {
        let mut set = NameSet::default();
        (1..=MAX_HASHES as u64).for_each(|hash| set.insert(hash.wrapping_mul(0x1234_5678_9ABC_DEF1)));
        let mut words = Vec::new();
        let probes = set.write(10, &mut words);
        assert!(may_contain(&words, probes, hash(b"anything")));
        assert!(words.len() == 1);
    }
}
