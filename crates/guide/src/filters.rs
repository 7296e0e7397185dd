//! The filters of the names of all blocks.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result};
use crate::format::checksum;

/// The filters of all blocks, as words. Those of a file are read when they are first asked for:
/// most questions do not need them, and they are most of a guide.
#[derive(Clone, Debug)]
pub(crate) struct Filters {
    /// `None` if they are damaged.
    words: OnceLock<Option<Vec<u64>>>,
    stored: Option<StoredWords>,
}

/// The bytes of words in a file.
#[derive(Clone, Debug)]
pub(crate) struct StoredWords {
    pub(crate) file: Arc<File>,
    pub(crate) offset: u64,
    /// The number of bytes.
    pub(crate) length: usize,
    pub(crate) checksum: u64,
}

impl StoredWords {
    fn read(&self) -> Option<Vec<u64>> {
        let mut bytes = vec![0; self.length];
        self.file.read_exact_at(&mut bytes, self.offset).ok()?;
        (checksum(&[&bytes]) == self.checksum).then(|| words(&bytes))?
    }
}

/// Reads words. `None` if the last one is incomplete.
fn words(bytes: &[u8]) -> Option<Vec<u64>> {
    let (words, rest) = bytes.as_chunks();
    rest.is_empty().then(|| words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

impl Filters {
    pub(crate) fn new(words: Vec<u64>) -> Self {
        Self { words: OnceLock::from(Some(words)), stored: None }
    }

    /// The filters in bytes that were checked.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self> {
        words(bytes).map(Self::new).ok_or_else(|| Error::damaged("a filter of names is incomplete"))
    }

    pub(crate) fn in_file(stored: StoredWords) -> Self {
        Self { words: OnceLock::new(), stored: Some(stored) }
    }

    /// The number of words.
    pub(crate) fn len(&self) -> usize {
        match &self.stored {
            Some(stored) => stored.length / 8,
            None => self.words().map_or(0, <[u64]>::len),
        }
    }

    /// The words. `None` if they are damaged: any block may contain any name then.
    pub(crate) fn words(&self) -> Option<&[u64]> {
        self.words.get_or_init(|| self.stored.as_ref()?.read()).as_deref()
    }
}

impl PartialEq for Filters {
    fn eq(&self, other: &Self) -> bool {
        self.words() == other.words()
    }
}

impl Eq for Filters {}
