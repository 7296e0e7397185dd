//! Finds repeated names without a trie.
//!
//! Most objects have a known sequence of names, which their [class](super::classes) follows. The
//! names of all others are listed as fingerprints. A sequence without repeated names is remembered
//! by its own fingerprint, so that a known one costs a fingerprint a name and one lookup.

use super::classes::{Classes, Moved};
use hashbrown::HashTable;

/// The maximum number of remembered sequences. The names of other sequences are compared each time.
const MAX_SEQUENCES: usize = 1 << 14;
/// Bytes of an open name.
const NAME_BYTES: u64 = size_of::<u64>() as u64;

/// The sequences shared by all walks. Fingerprints use a random key, so that collisions cannot be
/// crafted.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences {
    classes: Classes,
    /// Fingerprints of listed sequences in which no name is repeated.
    clean: HashTable<u64>,
    /// The number of listed names of open objects.
    kept: u64,
}

/// The names of the objects that are open in one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats {
    /// Fingerprints of listed names, those of the innermost object last.
    names: Vec<u64>,
    objects: Vec<OpenObject>,
}

/// An open object.
#[derive(Clone, Copy, Debug)]
struct OpenObject {
    /// The class of its names so far; the empty class if they are listed.
    class: u32,
    is_listed: bool,
    /// The number of repeats so far, if the names are not listed.
    repeated: u64,
    /// The index of its first listed name.
    first: usize,
    /// The fingerprint of the sequence of its listed names so far.
    sequence: u64,
    /// True if all of its names were listed.
    is_complete: bool,
}

impl Repeats {
    #[inline]
    pub(super) fn begin(&mut self, sequences: &mut Sequences) {
        let outer = self.objects.last().map(|outer| outer.class);
        let (class, is_listed) = sequences.classes.begin(outer);
        let first = self.names.len();
        let (repeated, sequence, is_complete) = (0, 0, true);
        self.objects.push(OpenObject { class, is_listed, repeated, first, sequence, is_complete });
    }

    /// Adds the name that starts at an index to the innermost object, if it is an expected one. The
    /// name is valid and may have escapes.
    #[inline]
    pub(super) fn predicted(&mut self, bytes: &[u8], start: usize, sequences: &mut Sequences) -> bool {
        let Some(object) = self.objects.last_mut() else { return false };
        if object.is_listed {
            return false;
        }
        let next = sequences.classes.predicted(object.class, bytes, start);
        object.class = next.unwrap_or(object.class);
        next.is_some()
    }

    /// Adds a name to the innermost object. The listed names of all objects may use `limit` bytes.
    #[inline]
    pub(super) fn name(&mut self, name: &[u8], sequences: &mut Sequences, limit: u64) {
        let Some(object) = self.objects.last_mut() else { return };
        if !object.is_listed
            && let Some(next) = sequences.classes.predicted_name(object.class, name)
        {
            object.class = next;
            return;
        }
        let fingerprint = sequences.classes.fingerprint(name);
        if !object.is_listed {
            match sequences.classes.add(object.class, name, fingerprint) {
                Moved::To(next) => return object.class = next,
                Moved::Repeated => return object.repeated += 1,
                Moved::Listed => {}
            }
            self.list(sequences, limit);
        }
        self.add(fingerprint, sequences, limit);
    }

    /// Lists the names of the innermost object so far.
    #[cold]
    fn list(&mut self, sequences: &mut Sequences, limit: u64) {
        let Some(object) = self.objects.last_mut() else { return };
        let mut names: Vec<u64> = sequences.classes.fingerprints(object.class).collect();
        names.reverse();
        object.is_listed = true;
        for name in names {
            self.add(name, sequences, limit);
        }
    }

    fn add(&mut self, fingerprint: u64, sequences: &mut Sequences, limit: u64) {
        let Some(object) = self.objects.last_mut() else { return };
        if (sequences.kept + 1) * NAME_BYTES > limit {
            object.is_complete = false;
            return;
        }
        // The order of names must matter, and multiplying by an odd number loses no information.
        object.sequence = object.sequence.wrapping_add(fingerprint).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        object.sequence ^= object.sequence >> 32;
        self.names.push(fingerprint);
        sequences.kept += 1;
    }

    /// Ends the innermost object, if one is open. Returns the number of its names that are repeats,
    /// and true if there may be more because not all names were listed.
    #[inline]
    pub(super) fn end(&mut self, sequences: &mut Sequences) -> Option<(u64, bool)> {
        let object = self.objects.pop()?;
        if object.is_listed {
            Some(self.end_listed(object, sequences))
        } else {
            Some((object.repeated, false))
        }
    }

    fn end_listed(&mut self, object: OpenObject, sequences: &mut Sequences) -> (u64, bool) {
        let OpenObject { repeated, first, sequence, is_complete, .. } = object;
        let names = &mut self.names[first..];
        sequences.kept -= names.len() as u64;
        // An incomplete list can have a known fingerprint too: names that did not fit are not part
        // of it. The second result reports that.
        let is_known = sequences.clean.find(sequence, |&known| known == sequence).is_some();
        let count = if is_known { 0 } else { sequences.count_repeats(sequence, names) };
        self.names.truncate(first);
        (repeated + count, !is_complete)
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
        repeats.begin(sequences);
        for name in names {
            repeats.name(name.as_bytes(), sequences, 1000);
        }
        repeats.end(sequences).map(|(repeated, _)| repeated)
    }

    #[test]
    fn remembers_sequences_up_to_a_cap() {
        let (mut repeats, mut sequences) = (Repeats::default(), Sequences::default());
        for number in 0..2 * MAX_SEQUENCES {
            let found = object(&["a", &number.to_string()], &mut repeats, &mut sequences);
            assert_eq!(found, Some(0));
        }
        assert_eq!(sequences.clean.len(), MAX_SEQUENCES);
        assert_eq!(object(&["a", "x", "a"], &mut repeats, &mut sequences), Some(1));
    }

    /// Names are listed from the middle of an object on.
    #[test]
    fn repeats_are_counted_across_both_forms() {
        let (mut repeats, mut sequences) = (Repeats::default(), Sequences::default());
        let names: Vec<String> = (0..400).map(|number| number.to_string()).collect();
        let mut all: Vec<&str> = names.iter().map(String::as_str).collect();
        all.splice(100..100, ["7"]);
        all.extend(["7", "399"]);
        for _ in 0..3 {
            repeats.begin(&mut sequences);
            for name in &all {
                repeats.name(name.as_bytes(), &mut sequences, 1 << 20);
            }
            assert_eq!(repeats.end(&mut sequences), Some((3, false)));
        }
    }
}
