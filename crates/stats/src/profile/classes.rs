//! Hidden classes: the sequences of names that objects have had, none of them with a repeated name.
//!
//! An object starts in the empty class of its position, and each name moves it to the next class.
//! The names of a class are all different, so a move along a known transition needs no further
//! check: the name is compared with the one that followed before. Only a new transition is compared
//! with all names of its class.
//!
//! Objects that are used as maps would fill the classes with sequences that never occur again. A
//! position whose objects miss too often is listed instead: the names of its objects are collected,
//! as in [`repeats`](super::repeats).

use super::words::Spelling;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::{BuildHasher, Hasher};

const NONE: u32 = u32::MAX;
/// The maximum number of classes, besides the empty ones.
const MAX_CLASSES: usize = 1 << 14;
const MAX_POSITIONS: usize = 1 << 12;
/// The maximum bytes of their names.
const MAX_NAMES_BYTES: usize = 1 << 20;
/// The maximum number of names of a class. More are listed.
const MAX_NAMES: u32 = 256;
/// Misses of a position before the number of its objects matters.
const FREE_MISSES: u32 = 1 << 10;
/// The misses that a new class counts for. It costs about as much as four lookups.
const NEW_CLASS: u32 = 4;

/// All classes. Names are hashed with a random key, so that collisions cannot be crafted.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    keys: RandomState,
    all: Vec<Class>,
    positions: Vec<Position>,
    names: Vec<u8>,
    /// Classes by their transitions.
    table: HashTable<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Class {
    /// The class before the last name.
    parent: u32,
    /// The last name: its offset and length in the arena. Empty for an empty class.
    offset: u32,
    length: u32,
    spelling: Spelling,
    fingerprint: u64,
    /// The number of names.
    count: u32,
    position: u32,
    /// The position of the objects in the value of the last name.
    inner: u32,
    /// The classes that followed last, the latest first.
    guesses: [u32; 2],
}

/// A place in the structure where objects occur.
#[derive(Clone, Copy, Debug)]
struct Position {
    /// The empty class.
    class: u32,
    objects: u32,
    misses: u32,
    is_listed: bool,
}

/// The result of a name that is not predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moved {
    To(u32),
    /// The object has the name already.
    Repeated,
    /// The object's names must be listed.
    Listed,
}

impl Classes {
    pub(super) fn fingerprint(&self, name: &[u8]) -> u64 {
        let mut hasher = self.keys.build_hasher();
        hasher.write(name);
        hasher.finish()
    }

    /// Begins an object in the value of the last name of a class, or outside of objects. Returns
    /// its empty class, and true if its names must be listed.
    #[inline]
    pub(super) fn begin(&mut self, outer: Option<u32>) -> (u32, bool) {
        let known = match outer {
            Some(outer) => self.all[outer as usize].inner,
            None if self.positions.is_empty() => NONE,
            None => 0,
        };
        let position = if known == NONE { self.add_position(outer) } else { known };
        let position = &mut self.positions[position as usize];
        position.objects = position.objects.saturating_add(1);
        (position.class, position.is_listed)
    }

    #[cold]
    fn add_position(&mut self, outer: Option<u32>) -> u32 {
        let mut number = self.positions.len() as u32;
        if self.positions.len() == MAX_POSITIONS {
            // The last position stands for all further ones.
            number -= 1;
        } else {
            let class = self.all.len() as u32;
            self.all.push(Class {
                parent: NONE,
                offset: 0,
                length: 0,
                spelling: Spelling::default(),
                fingerprint: 0,
                count: 0,
                position: number,
                inner: NONE,
                guesses: [NONE; 2],
            });
            let is_listed = self.positions.len() + 1 == MAX_POSITIONS;
            self.positions.push(Position { class, objects: 0, misses: 0, is_listed });
        }
        if let Some(outer) = outer {
            self.all[outer as usize].inner = number;
        }
        number
    }

    /// Returns the class after the name that starts at an index, if it is one of those that
    /// followed last. The name is valid and may have escapes.
    #[inline]
    pub(super) fn predicted(&mut self, class: u32, bytes: &[u8], start: usize) -> Option<u32> {
        let first = self.all[class as usize].guesses[0];
        let next = self.all.get(first as usize)?;
        if next.spelling.is_at(bytes, start, || &self.names[next.offset as usize..]) {
            return Some(first);
        }
        self.second_predicted(class, |next, names| {
            next.spelling.is_at(bytes, start, || &names[next.offset as usize..])
        })
    }

    /// Returns the class after a name, if it is one of those that followed last.
    #[inline]
    pub(super) fn predicted_name(&mut self, class: u32, name: &[u8]) -> Option<u32> {
        let is_next = |next: &Class, names: &[u8]| {
            names.get(next.offset as usize..(next.offset + next.length) as usize) == Some(name)
        };
        let first = self.all[class as usize].guesses[0];
        if is_next(self.all.get(first as usize)?, &self.names) {
            return Some(first);
        }
        self.second_predicted(class, is_next)
    }

    /// Tries the class that followed before the last one. `is_next` gets a class and the bytes of
    /// all names.
    #[inline(never)]
    fn second_predicted(&mut self, class: u32, is_next: impl Fn(&Class, &[u8]) -> bool) -> Option<u32> {
        let [first, second] = self.all[class as usize].guesses;
        if !is_next(self.all.get(second as usize)?, &self.names) {
            return None;
        }
        // The last one comes first, because runs of equal objects are longer than turns.
        self.all[class as usize].guesses = [second, first];
        Some(second)
    }

    /// Moves an object past a name.
    #[cold]
    #[inline(never)]
    pub(super) fn add(&mut self, class: u32, name: &[u8], fingerprint: u64) -> Moved {
        let from = self.all[class as usize];
        let slot = slot(class, fingerprint);
        let same = |&at: &u32| {
            let other = &self.all[at as usize];
            other.parent == class && other.fingerprint == fingerprint
        };
        let found = self.table.find(slot, same).copied();
        // A new class costs more than a known one, so objects that are maps are listed soon.
        if !self.may_miss(from.position, if found.is_some() { 1 } else { NEW_CLASS }) {
            return Moved::Listed;
        }
        let next = match found {
            Some(found) => found,
            // Only a name without a class can be a repeated one: a class contains each name once.
            None if self.has(class, fingerprint) => return Moved::Repeated,
            None if !self.has_room(from, name) => return Moved::Listed,
            None => self.add_class(class, name, fingerprint),
        };
        self.all[class as usize].guesses = [next, from.guesses[0]];
        Moved::To(next)
    }

    /// Counts misses of a position. Returns false once there are too many.
    fn may_miss(&mut self, position: u32, count: u32) -> bool {
        let position = &mut self.positions[position as usize];
        position.misses = position.misses.saturating_add(count);
        position.is_listed |= position.misses.saturating_sub(FREE_MISSES) > position.objects;
        !position.is_listed
    }

    fn has_room(&self, class: Class, name: &[u8]) -> bool {
        class.count < MAX_NAMES
            && self.all.len() < MAX_CLASSES
            && self.names.len() + name.len() <= MAX_NAMES_BYTES
    }

    fn add_class(&mut self, parent: u32, name: &[u8], fingerprint: u64) -> u32 {
        let number = self.all.len() as u32;
        let (offset, length) = (self.names.len() as u32, name.len() as u32);
        self.names.extend_from_slice(name);
        let Class { count, position, .. } = self.all[parent as usize];
        let (count, inner, guesses) = (count + 1, NONE, [NONE; 2]);
        let spelling = Spelling::of(name);
        self.all.push(Class {
            parent,
            offset,
            length,
            spelling,
            fingerprint,
            count,
            position,
            inner,
            guesses,
        });
        let slot_of = |&at: &u32| {
            let class = &self.all[at as usize];
            slot(class.parent, class.fingerprint)
        };
        self.table.insert_unique(slot(parent, fingerprint), number, slot_of);
        number
    }

    fn has(&self, class: u32, fingerprint: u64) -> bool {
        self.fingerprints(class).any(|other| other == fingerprint)
    }

    /// The fingerprints of the names of a class, the last name first.
    pub(super) fn fingerprints(&self, class: u32) -> impl Iterator<Item = u64> {
        let mut at = class;
        std::iter::from_fn(move || {
            let class = self.all.get(at as usize).filter(|class| class.count > 0)?;
            at = class.parent;
            Some(class.fingerprint)
        })
    }
}

/// Mixes a class into a fingerprint, which has a random key already.
const fn slot(class: u32, fingerprint: u64) -> u64 {
    (fingerprint ^ class as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(classes: &mut Classes, class: u32, name: &str) -> Moved {
        let fingerprint = classes.fingerprint(name.as_bytes());
        classes.add(class, name.as_bytes(), fingerprint)
    }

    #[test]
    fn known_names_are_predicted() {
        let mut classes = Classes::default();
        let (empty, _) = classes.begin(None);
        let Moved::To(a) = add(&mut classes, empty, "a") else { panic!() };
        let Moved::To(ab) = add(&mut classes, a, "b") else { panic!() };
        assert_eq!(add(&mut classes, ab, "a"), Moved::Repeated);
        assert_eq!(add(&mut classes, a, "b"), Moved::To(ab));
        assert_eq!(classes.predicted(empty, b"\"a\":1234567", 1), Some(a));
        assert_eq!(classes.predicted(empty, b"\"aa\":1234567", 1), None);
        let Moved::To(x) = add(&mut classes, empty, "x") else { panic!() };
        assert_eq!(classes.predicted(empty, b"a\":1234567", 0), Some(a));
        assert_eq!(classes.predicted(empty, b"x\":1234567", 0), Some(x));
        assert_eq!(classes.fingerprints(ab).count(), 2);
    }

    #[test]
    fn maps_are_listed_soon() {
        let mut classes = Classes::default();
        let mut listed = 0;
        for object in 0..10_000 {
            let (class, is_listed) = classes.begin(None);
            if !is_listed {
                let moved = add(&mut classes, class, &format!("name {object}"));
                assert!(matches!(moved, Moved::To(_) | Moved::Listed));
                listed = object;
            }
        }
        assert!(listed < 1_000 && classes.all.len() < 1_000, "{listed}");
    }

    #[test]
    fn positions_are_limited() {
        let mut classes = Classes::default();
        let (mut class, _) = classes.begin(None);
        for depth in 0..2 * MAX_POSITIONS {
            if let Moved::To(next) = add(&mut classes, class, "n") {
                class = next;
            }
            (class, _) = classes.begin(Some(class));
            assert!(classes.positions.len() <= MAX_POSITIONS, "{depth}");
        }
        assert!(classes.begin(Some(class)).1);
    }
}
