//! Finds repeated names without a trie.
//!
//! Records use the same few sequences of names over and over. A sequence without repeated names is
//! remembered by its fingerprint. A known object then costs a fingerprint a name and one lookup of
//! the sequence.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};

/// The maximum number of remembered sequences. The names of other sequences are compared each time.
const MAX_SEQUENCES: usize = 1 << 14;
/// Bytes of an open name.
const NAME_BYTES: u64 = size_of::<u64>() as u64;

/// The sequences shared by all walks. Fingerprints use a random key, so that collisions cannot be
/// crafted.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences {
    keys: RandomState,
    /// Fingerprints of sequences in which no name is repeated.
    clean: HashTable<u64>,
    /// The number of stored names of open objects.
    kept: u64,
}

/// The names of the objects that are open in one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    /// Fingerprints of names, those of the innermost object last.
    names: Vec<u64>,
    objects: Vec<OpenObject>,
}

/// An open object.
#[derive(Clone, Copy, Debug)]
struct OpenObject {
    /// The index of its first name.
    first: usize,
    /// The fingerprint of the sequence of its names so far.
    sequence: u64,
    /// True if all of its names were stored.
    is_complete: bool,
}

impl Repeats {
    #[inline]
    pub(super) fn begin(&mut self) {
        self.objects.push(OpenObject { first: self.names.len(), sequence: 0, is_complete: true });
    }

    /// Adds a name to the innermost object. The names of all objects may use `limit` bytes.
    #[inline]
    pub(super) fn name(&mut self, name: &[u8], sequences: &mut Sequences, limit: u64) {
        let Some(object) = self.objects.last_mut() else { return };
        if (sequences.kept + 1) * NAME_BYTES > limit {
            object.is_complete = false;
            return;
        }
        let mut hasher = sequences.keys.build_hasher();
        hasher.write(name);
        let fingerprint = hasher.finish();
        // The order of names must matter, and multiplying by an odd number loses no information.
        object.sequence = object.sequence.wrapping_add(fingerprint).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        object.sequence ^= object.sequence >> 32;
        self.names.push(fingerprint);
        sequences.kept += 1;
    }

    /// Ends the innermost object, if one is open. Returns the number of its names that are repeats,
    /// and true if there may be more because not all names were stored.
    #[inline]
    pub(super) fn end(&mut self, sequences: &mut Sequences) -> Option<(u64, bool)> {
        let OpenObject { first, sequence, is_complete } = self.objects.pop()?;
        let names = &mut self.names[first..];
        sequences.kept -= names.len() as u64;
        // An incomplete list can have a known fingerprint too: names that did not fit are not part
        // of it. // The second result reports that.
        let is_known = sequences.clean.find(sequence, |&known| known == sequence).is_some();
        let count = if is_known { 0 } else { sequences.count_repeats(sequence, names) };
        self.names.truncate(first);
        Some((count, !is_complete))
    }
}

impl Sequences {
    /// Counts the repeats in a sequence, and remembers the sequence if there are none.
    #[cold]
    fn count_repeats(&mut self, sequence: u64, names: &mut [u64]) -> u64 {
        names.sort_unstable();
        let repeated = names.windows(2).filter(|pair| pair.first() == pair.last()).count() as u64;
        if repeated == 0 && self.clean.len() < MAX_SEQUENCES {
            self.clean.insert_unique(sequence, sequence, |&known| known);
        }
        repeated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(names: &[&str], repeats: &mut Repeats, sequences: &mut Sequences) -> Option<u64> {
        repeats.begin();
        for name in names {
            repeats.name(name.as_bytes(), sequences, 1000);
        }
        repeats.end(sequences).map(|(repeated, _)| repeated)
    }

    #[test]
    fn remembers_sequences_up_to_a_cap() {
        let (mut repeats, mut sequences) = (Repeats::default(), Sequences::default());
        for number in 0..MAX_SEQUENCES + 100 {
            let found = object(&["a", &number.to_string()], &mut repeats, &mut sequences);
            assert_eq!(found, Some(0));
        }
        assert_eq!(sequences.clean.len(), MAX_SEQUENCES);
        assert_eq!(object(&["a", "x", "a"], &mut repeats, &mut sequences), Some(1));
    }
}
