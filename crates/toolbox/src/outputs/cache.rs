//! What is kept from one call to the next: the most recently used of so many, within so many bytes.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The most recently used values. What is kept can be made again, so that nothing is lost with it.
#[derive(Debug)]
pub(crate) struct Cache<V> {
    kept: Mutex<Kept<V>>,
    most: usize,
    most_bytes: usize,
}

#[derive(Debug)]
struct Kept<V> {
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
    /// At most so many values, of at most so many bytes together.
    pub(crate) fn new(most: usize, most_bytes: usize) -> Self {
        let kept = Kept { entries: HashMap::new(), clock: 0, bytes: 0 };
        Self { kept: Mutex::new(kept), most, most_bytes }
    }

    /// A copy of what is kept under a key.
    pub(crate) fn get(&self, key: &str) -> Option<V> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let clock = kept.clock;
        let entry = kept.entries.get_mut(key)?;
        entry.used = clock;
        Some(entry.value.clone())
    }

    /// Keeps a value of so many bytes; what has not been used for longest makes room.
    pub(crate) fn put(&self, key: impl Into<String>, value: V, bytes: usize) {
        if bytes > self.most_bytes {
            return;
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.clock += 1;
        let entry = Entry { value, bytes, used: kept.clock };
        kept.bytes += bytes;
        if let Some(replaced) = kept.entries.insert(key.into(), entry) {
            kept.bytes -= replaced.bytes;
        }
        while kept.entries.len() > self.most || kept.bytes > self.most_bytes {
            let oldest = kept.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(key, _)| key.clone());
            let Some(removed) = oldest.and_then(|oldest| kept.entries.remove(&oldest)) else { return };
            kept.bytes -= removed.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room() {
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
