//! A cache across calls: least recently used entries are evicted by count and by size.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// A cache of the most recently used values. Entries can be recomputed, so eviction loses nothing.
#[derive(Debug)]
pub(crate) struct Cache<V> {
    state: Mutex<CacheState<V>>,
    max_entries: usize,
    max_bytes: usize,
}

#[derive(Debug)]
struct CacheState<V> {
    entries: HashMap<String, Entry<V>>,
    clock: u64,
    bytes: usize,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: usize,
    used: u64,
}

impl<V: Clone> Cache<V> {
    /// Creates a cache of at most `max_entries` values and `max_bytes` bytes.
    pub(crate) fn new(max_entries: usize, max_bytes: usize) -> Self {
        let state = CacheState { entries: HashMap::new(), clock: 0, bytes: 0 };
        Self { state: Mutex::new(state), max_entries, max_bytes }
    }

    /// Returns a copy of the value under a key.
    pub(crate) fn get(&self, key: &str) -> Option<V> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock += 1;
        let clock = state.clock;
        let entry = state.entries.get_mut(key)?;
        entry.used = clock;
        Some(entry.value.clone())
    }

    /// Inserts a value of `bytes` bytes, and evicts the least recently used entries beyond the
    /// limits. A value larger than the whole cache is not stored.
    pub(crate) fn put(&self, key: impl Into<String>, value: V, bytes: usize) {
        if bytes > self.max_bytes {
            return;
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.clock += 1;
        let entry = Entry { value, bytes, used: state.clock };
        state.bytes += bytes;
        if let Some(replaced) = state.entries.insert(key.into(), entry) {
            state.bytes -= replaced.bytes;
        }
        while state.entries.len() > self.max_entries || state.bytes > self.max_bytes {
            let oldest = state.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone());
            let Some(removed) = oldest.and_then(|oldest| state.entries.remove(&oldest)) else { return };
            state.bytes -= removed.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evicts_the_least_recently_used() {
        let cache = Cache::new(3, 100);
        for key in ["0", "1", "2"] {
            cache.put(key, key.repeat(2), 10);
        }
        let found = |keys: &[&str]| keys.iter().map(|key| cache.get(key).is_some()).collect::<Vec<_>>();
        assert_eq!(cache.get("0").unwrap(), "00");
        cache.put("3", "33".into(), 10);
        assert_eq!(found(&["0", "1", "2", "3"]), [true, false, true, true]);
        cache.put("4", "44".into(), 85);
        assert_eq!(found(&["0", "2", "3", "4"]), [false, false, true, true]);
        cache.put("5", "55".into(), 101);
        assert_eq!(found(&["5", "3", "4"]), [false, true, true]);
        cache.put("4", "45".into(), 1);
        assert_eq!((cache.get("3").unwrap(), cache.get("4").unwrap()), ("33".into(), "45".into()));
    }
}
