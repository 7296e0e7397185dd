//! IDs that were seen, by their hashes and up to a limit.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

/// IDs that are remembered at once: some 36 MiB.
pub(super) const MOST: usize = 2_000_000;

/// A set of IDs. Of one that is full only the last ID is remembered.
#[derive(Debug, Default)]
pub(super) struct Seen {
    keys: RandomState,
    ids: HashSet<u64>,
    last: Option<u64>,
}

impl Seen {
    /// True the first time that it is given an ID.
    pub(super) fn is_new(&mut self, id: &str) -> bool {
        let key = self.keys.hash_one(id);
        let is_last = self.last.replace(key) == Some(key);
        if self.ids.len() < MOST { self.ids.insert(key) } else { !is_last && !self.ids.contains(&key) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_new_once() {
        let mut seen = Seen::default();
        let new = ["a", "b", "a", "b", "c", "c"].map(|id| seen.is_new(id));
        assert_eq!(new, [true, true, false, false, true, false]);
    }
}
