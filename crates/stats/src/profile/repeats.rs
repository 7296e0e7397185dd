//! Repeated names, where there is no trie to tell them.
//!
//! Records have the same few sequences of names over and over. A sequence that was found to repeat
//! none is known by its fingerprint, so that an object costs a fingerprint a name, and a look at
//! whether the last one is known.

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};

/// Sequences that are kept. Where there are more, the names of the others are compared each time.
const SEQUENCES: usize = 1 << 14;
/// Bytes that an open name takes.
const NAME_BYTES: u64 = size_of::<u64>() as u64;

/// What all walks know. Fingerprints are keyed at random, so that nobody can prepare names whose
/// are the same.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences {
    keys: RandomState,
    /// Fingerprints of sequences in which no name is repeated.
    clean: HashTable<u64>,
    /// Names that are kept of open objects.
    kept: u64,
}

/// The names of the objects that are open in one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    /// Fingerprints, the innermost object's last.
    names: Vec<u64>,
    objects: Vec<Open>,
}

/// An open object.
#[derive(Clone, Copy, Debug)]
struct Open {
    /// Where its names begin.
    first: usize,
    /// The fingerprint of its names so far, one after the other.
    sequence: u64,
    /// Whether all of them were kept.
    whole: bool,
}

impl Repeats {
    #[inline]
    pub(super) fn begin(&mut self) {
        self.objects.push(Open { first: self.names.len(), sequence: 0, whole: true });
    }

    /// Adds a name to the innermost object. Of all objects, names may take `limit` bytes.
    #[inline]
    pub(super) fn name(&mut self, name: &[u8], sequences: &mut Sequences, limit: u64) {
        let Some(object) = self.objects.last_mut() else { return };
        if (sequences.kept + 1) * NAME_BYTES > limit {
            object.whole = false;
            return;
        }
        let mut hasher = sequences.keys.build_hasher();
        hasher.write(name);
        let fingerprint = hasher.finish();
        // An odd factor, so that the order of names counts and nothing is lost.
        object.sequence = object.sequence.wrapping_add(fingerprint).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        object.sequence ^= object.sequence >> 32;
        self.names.push(fingerprint);
        sequences.kept += 1;
    }

    /// Ends the innermost object, if one is open: how many of its names have stood before, and
    /// whether there may be more, for want of room.
    #[inline]
    pub(super) fn end(&mut self, sequences: &mut Sequences) -> Option<(u64, bool)> {
        let Open { first, sequence, whole } = self.objects.pop()?;
        let names = &mut self.names[first..];
        sequences.kept -= names.len() as u64;
        let is_known = sequences.clean.find(sequence, |&known| known == sequence).is_some();
        let count = if is_known { 0 } else { sequences.look_at(sequence, names) };
        self.names.truncate(first);
        Some((count, !whole))
    }
}

impl Sequences {
    /// How many names of a sequence have stood in it before.
    #[cold]
    fn look_at(&mut self, sequence: u64, names: &mut [u64]) -> u64 {
        names.sort_unstable();
        let repeated = names.windows(2).filter(|pair| pair.first() == pair.last()).count() as u64;
        if repeated == 0 && self.clean.len() < SEQUENCES {
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
    fn sequences_are_kept_up_to_a_cap() {
        let (mut repeats, mut sequences) = (Repeats::default(), Sequences::default());
        for number in 0..SEQUENCES + 100 {
            let found = object(&["a", &number.to_string()], &mut repeats, &mut sequences);
            assert_eq!(found, Some(0));
        }
        assert_eq!(sequences.clean.len(), SEQUENCES);
        assert_eq!(object(&["a", "x", "a"], &mut repeats, &mut sequences), Some(1));
    }
}
