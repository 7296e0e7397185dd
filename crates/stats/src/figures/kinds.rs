//! The number of values of each type.

use crate::Accumulator;
use trommel_reader::Kind;

/// Counts values by type. Exact; 48 bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Kinds {
    counts: [u64; 6],
}

impl Kinds {
    /// Counts one value.
    pub fn observe(&mut self, kind: Kind) {
        self.counts[kind as usize] += 1;
    }

    /// Counts `count` values of a type.
    pub fn add(&mut self, kind: Kind, count: u64) {
        let counted = &mut self.counts[kind as usize];
        *counted = counted.saturating_add(count);
    }

    /// Returns the number of values of a type.
    pub const fn get(&self, kind: Kind) -> u64 {
        self.counts[kind as usize]
    }

    /// Returns the number of values of all types.
    pub fn total(&self) -> u64 {
        self.counts.iter().fold(0, |sum, &count| sum.saturating_add(count))
    }

    /// The types that occur.
    pub fn set(&self) -> KindSet {
        Kind::ALL.into_iter().filter(|&kind| self.get(kind) > 0).collect()
    }
}

impl Accumulator for Kinds {
    type Summary = TypeCounts;

    fn merge(&mut self, other: Self) {
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.saturating_add(more);
        }
    }

    fn summary(&self) -> TypeCounts {
        TypeCounts {
            object: self.get(Kind::Object),
            array: self.get(Kind::Array),
            string: self.get(Kind::String),
            number: self.get(Kind::Number),
            boolean: self.get(Kind::Bool),
            null: self.get(Kind::Null),
        }
    }
}

/// The number of values of each type. All six types are always present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[expect(clippy::exhaustive_structs, reason = "JSON has six types and will not get a seventh")]
pub struct TypeCounts {
    /// Objects.
    pub object: u64,
    /// Arrays.
    pub array: u64,
    /// Strings.
    pub string: u64,
    /// Numbers.
    pub number: u64,
    /// `true` and `false`.
    pub boolean: u64,
    /// `null`.
    pub null: u64,
}

impl TypeCounts {
    /// Returns the names and counts of the types that occur, in the order of the members.
    pub fn occurring(self) -> impl Iterator<Item = (&'static str, u64)> {
        let Self { object, array, string, number, boolean, null } = self;
        let counts = [
            (Kind::Object, object),
            (Kind::Array, array),
            (Kind::String, string),
            (Kind::Number, number),
            (Kind::Bool, boolean),
            (Kind::Null, null),
        ];
        counts.into_iter().filter(|(_, count)| *count > 0).map(|(kind, count)| (kind.name(), count))
    }
}

/// A set of types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct KindSet(u8);

impl KindSet {
    /// Adds a type.
    pub const fn insert(&mut self, kind: Kind) {
        self.0 |= 1 << kind as u8;
    }

    /// Adds all types of another set.
    pub const fn extend(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Returns true if a type is in the set.
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    /// Returns true if the set is empty.
    pub fn is_empty(self) -> bool {
        self.iter().next().is_none()
    }

    /// Iterates over the types of the set, in the order of their names.
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(move |&kind| self.contains(kind))
    }

    /// Returns the only type of the set, if it has exactly one.
    pub fn only(self) -> Option<Kind> {
        let mut kinds = self.iter();
        let first = kinds.next()?;
        if kinds.next().is_none() { Some(first) } else { None }
    }

    /// Returns the names of the types in their order, joined by `|`, or `empty`.
    pub fn name(self) -> String {
        if self.is_empty() {
            return "empty".into();
        }
        self.iter().map(Kind::name).collect::<Vec<_>>().join("|")
    }
}

impl FromIterator<Kind> for KindSet {
    fn from_iter<I: IntoIterator<Item = Kind>>(kinds: I) -> Self {
        kinds.into_iter().fold(Self::default(), |mut set, kind| {
            set.insert(kind);
            set
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_a_set_of_types() {
        assert_eq!(KindSet::default().name(), "empty");
        let set: KindSet = [Kind::String, Kind::Array, Kind::Null].into_iter().collect();
        assert_eq!((set.name().as_str(), set.only()), ("array|null|string", None));
        assert_eq!(KindSet::from_iter([Kind::Bool]).only(), Some(Kind::Bool));
    }
}
