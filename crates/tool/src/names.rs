//! Names that every provider accepts, and the way back.
//!
//! The author of a tool chooses its name, for instance with dots. Providers, and the clients
//! between them and a tool, each have rules of their own, and refuse a whole request for one
//! invalid name. A name is therefore exported in a spelling that all of them accept: [`is_legal`],
//! and unique even if case is ignored.
//!
//! The spelling of a name depends only on the set of names: not on the order of registration, nor
//! on the process. Mostly it depends on the name alone.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum characters of an exported name.
pub const LONGEST_NAME: usize = 63;

/// Hexadecimal digits of a suffix that makes a name unique.
const DIGITS: usize = 8;

/// True if a name is legal everywhere: `^[a-zA-Z_][a-zA-Z0-9_]{0,62}$`.
///
/// ```
/// use trommel_tool::names::is_legal;
///
/// assert!(is_legal("tool_outputs_extract"));
/// assert!(!is_legal("tool_outputs.extract"));
/// assert!(!is_legal("2fast"));
/// ```
pub fn is_legal(name: &str) -> bool {
    name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(is_plain)
}

const fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Names and their exported spellings, one to one.
///
/// A legal name keeps its spelling. In any other, each character but letters, digits, and `_`
/// becomes `_`. A name that is too long, or would get the same spelling as another, also gets a
/// suffix derived from the name.
///
/// ```
/// use trommel_tool::names::Names;
///
/// let names = Names::of(["tool_outputs.extract", "Read", "a.b", "a b"]);
/// assert_eq!(names.exported("tool_outputs.extract"), Some("tool_outputs_extract"));
/// assert_eq!(names.exported("Read"), Some("Read"));
/// assert_eq!(names.original("tool_outputs_extract"), Some("tool_outputs.extract"));
/// assert_ne!(names.exported("a.b"), names.exported("a b"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    exported: BTreeMap<String, String>,
    original: BTreeMap<String, String>,
}

impl Names {
    /// The spellings of a set of names; a repeated name counts once.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let mut sharing: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for &name in &names {
            sharing.entry(plain(name).to_ascii_lowercase()).or_default().push(name);
        }
        let mut map = Self::default();
        let mut taken = BTreeSet::new();
        for &name in &names {
            let spelling = plain(name);
            let lower = spelling.to_ascii_lowercase();
            if keeps(name, &sharing[&lower]) {
                taken.insert(lower);
                map.insert(name, spelling);
            }
        }
        for &name in &names {
            if !map.exported.contains_key(name) {
                let spelling = distinct(name, &mut taken);
                map.insert(name, spelling);
            }
        }
        map
    }

    fn insert(&mut self, name: &str, spelling: String) {
        self.original.insert(spelling.clone(), name.to_owned());
        self.exported.insert(name.to_owned(), spelling);
    }

    /// The exported spelling of a name.
    pub fn exported(&self, name: &str) -> Option<&str> {
        self.exported.get(name).map(String::as_str)
    }

    /// The name with this exported spelling.
    pub fn original(&self, spelling: &str) -> Option<&str> {
        self.original.get(spelling).map(String::as_str)
    }

    /// Each name with its spelling, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.exported.iter().map(|(name, spelling)| (name.as_str(), spelling.as_str()))
    }

    /// The number of names.
    pub fn len(&self) -> usize {
        self.exported.len()
    }

    /// True if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.exported.is_empty()
    }
}

/// True if a name gets its plain spelling, among the sorted names that share it.
///
/// A legal name comes first, as it is the plain spelling. A truncated one never does, so that a
/// name that is added later and truncated to the same spelling changes nothing.
fn keeps(name: &str, sharing: &[&str]) -> bool {
    match sharing.iter().find(|other| is_legal(other)) {
        Some(first) => *first == name,
        None => sharing.len() == 1 && name.len() < LONGEST_NAME && !name.is_empty(),
    }
}

/// The name in legal characters, truncated.
fn plain(name: &str) -> String {
    let mut spelling = String::with_capacity(name.len().min(LONGEST_NAME));
    if !name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') {
        spelling.push('_');
    }
    let characters = name.chars().map(|c| if c.is_ascii() && is_plain(c as u8) { c } else { '_' });
    spelling.extend(characters.take(LONGEST_NAME - spelling.len()));
    spelling
}

/// The name's spelling with a unique suffix.
fn distinct(name: &str, taken: &mut BTreeSet<String>) -> String {
    let stem: String = plain(name).chars().take(LONGEST_NAME - DIGITS - 1).collect();
    let mut hash = hash(name);
    loop {
        let spelling = format!("{stem}_{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff));
        if taken.insert(spelling.to_ascii_lowercase()) {
            return spelling;
        }
        hash = mixed(hash);
    }
}

/// FNV-1a over the bytes, mixed: the same in every process and release.
fn hash(name: &str) -> u64 {
    mixed(name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    }))
}

/// One step of `SplitMix64`.
const fn mixed(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_spellings_are_legal() {
        for name in ["", "2", "a.b", "-", "é", "日本語", &"x".repeat(200), "a\u{0}b", "tool_outputs.list"]
        {
            assert!(is_legal(&plain(name)), "{name:?}");
        }
        assert_eq!(plain("2fast"), "_2fast");
        assert_eq!(plain("web.fetch"), "web_fetch");
    }

    #[test]
    fn a_legal_name_is_never_changed_by_one_that_is_not() {
        let names = Names::of(["a.b", "a_b", "A_B"]);
        // The first in order of those that are legal and differ in case alone.
        assert_eq!(names.exported("A_B"), Some("A_B"));
        for name in ["a.b", "a_b"] {
            assert!(names.exported(name).is_some_and(|s| s.starts_with("a_b_") && is_legal(s)), "{names:?}");
        }
        assert_eq!(Names::of(["a.b", "a_b"]).exported("a_b"), Some("a_b"));
    }

    #[test]
    fn order_and_repetition_change_nothing() {
        let names = Names::of(["a.b", "a b", ""]);
        assert_eq!(names.len(), 3);
        assert_eq!(names, Names::of(["", "a b", "a.b", "a.b"]));
    }

    #[test]
    fn a_name_spelt_like_a_suffix_is_not_lost() {
        let made = Names::of(["a.b", "a b"]);
        let spelling = made.exported("a.b").unwrap_or_default();
        let names = Names::of(["a.b", "a b", spelling]);
        assert_eq!(names.exported(spelling), Some(spelling));
        assert_eq!(names.len(), 3);
        assert_ne!(names.exported("a.b"), Some(spelling));
        assert!(names.exported("a.b").is_some_and(is_legal));
    }
}
