//! The names of open objects, used to find repeated names where the trie cannot.

use hashbrown::HashTable;
use std::hash::{BuildHasher, RandomState};

const NONE: u32 = u32::MAX;
/// Bytes of a name: its entry and its share of the table.
const NAME_BYTES: u64 = 40;

/// Fingerprints of the names of open objects, with a random key so that collisions cannot be
/// crafted.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenNames {
    entries: Vec<Entry>,
    /// The first entry of the free list.
    free: u32,
    used: usize,
    table: HashTable<u32>,
    keys: RandomState,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    fingerprint: u64,
    object: u64,
    next: u32,
}

/// The names of one open object.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameList {
    object: u64,
    head: u32,
}

impl NameList {
    /// Creates an empty list for the object with this number.
    pub(super) const fn new(object: u64) -> Self {
        Self { object, head: NONE }
    }
}

/// The result of adding a name to its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    New,
    Repeated,
    /// The name, or an earlier one of the object, did not fit within the limit.
    Unknown,
}

impl OpenNames {
    pub(super) fn new() -> Self {
        Self { free: NONE, ..Self::default() }
    }

    /// Adds a name to an object's list. All lists together may use `limit` bytes.
    pub(super) fn insert(&mut self, list: &mut NameList, name: &[u8], limit: u64) -> Novelty {
        let (fingerprint, object) = (self.keys.hash_one(name), list.object);
        let Self { entries, table, .. } = self;
        let same = |&at: &u32| {
            let entry = &entries[at as usize];
            entry.fingerprint == fingerprint && entry.object == object
        };
        // Look up before checking the limit: a name that was stored is known to repeat even if no
        // more fit.
        if table.find(slot(fingerprint, object), same).is_some() {
            return Novelty::Repeated;
        }
        if (self.used as u64 + 1) * NAME_BYTES > limit {
            return Novelty::Unknown;
        }
        list.head = self.allocate(Entry { fingerprint, object, next: list.head });
        let Self { entries, table, .. } = self;
        let slot_of = |&at: &u32| slot(entries[at as usize].fingerprint, entries[at as usize].object);
        table.insert_unique(slot(fingerprint, object), list.head, slot_of);
        Novelty::New
    }

    fn allocate(&mut self, entry: Entry) -> u32 {
        self.used += 1;
        if let Some(reused) = self.entries.get_mut(self.free as usize) {
            let at = std::mem::replace(&mut self.free, reused.next);
            *reused = entry;
            return at;
        }
        self.entries.push(entry);
        self.entries.len() as u32 - 1
    }

    /// Frees the names of an object that has ended. Takes time linear in their number.
    #[inline]
    pub(super) fn release(&mut self, list: NameList) {
        let mut at = list.head;
        while let Some(entry) = self.entries.get_mut(at as usize) {
            let Entry { fingerprint, object, next } = *entry;
            entry.next = std::mem::replace(&mut self.free, at);
            self.used -= 1;
            if let Ok(found) = self.table.find_entry(slot(fingerprint, object), |&other| other == at) {
                found.remove();
            }
            at = next;
        }
    }
}

const fn slot(fingerprint: u64, object: u64) -> u64 {
    fingerprint.wrapping_add(object.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(names: &mut OpenNames, list: &mut NameList, name: u32, limit: u64) -> Novelty {
        names.insert(list, &name.to_le_bytes(), limit)
    }

    #[test]
    fn finds_repeated_names_in_nested_objects() {
        let mut names = OpenNames::new();
        let (mut outer, mut inner) = (NameList::new(1), NameList::new(2));
        for name in 0..20 {
            assert_eq!(insert(&mut names, &mut outer, name, 4000), Novelty::New);
            assert_eq!(insert(&mut names, &mut inner, name, 4000), Novelty::New);
            assert_eq!(insert(&mut names, &mut inner, name / 2, 4000), Novelty::Repeated);
        }
        names.release(inner);
        assert_eq!(insert(&mut names, &mut outer, 7, 4000), Novelty::Repeated);
        names.release(outer);
        assert!(names.table.is_empty() && names.used == 0);
        let mut again = NameList::new(3);
        assert_eq!(insert(&mut names, &mut again, 7, 4000), Novelty::New);
        assert_eq!(names.entries.len(), 40);
    }

    #[test]
    fn reports_names_beyond_the_limit() {
        let mut names = OpenNames::new();
        let mut list = NameList::new(1);
        let found: Vec<_> = [1, 2, 3, 1].map(|name| insert(&mut names, &mut list, name, 80)).to_vec();
        assert_eq!(found, [Novelty::New, Novelty::New, Novelty::Unknown, Novelty::Repeated]);
    }
}
