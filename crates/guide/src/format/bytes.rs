//! Integers in bytes, little-endian.

use crate::error::{Error, Result};

/// Bytes of the header, and of an entry of the table of sections.
pub(super) const HEADER: usize = 64;
pub(super) const ENTRY: usize = 32;

/// The first eight bytes of the BLAKE3 hash, as an integer.
pub(crate) fn checksum(parts: &[&[u8]]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    let hash = *hasher.finalize().as_bytes();
    hash.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[derive(Default)]
pub(crate) struct Writer(pub(crate) Vec<u8>);

impl Writer {
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    pub(crate) fn u32(&mut self, number: u32) {
        self.bytes(&number.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }
}

/// The bytes that are still to be read.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let (bytes, rest) =
            self.0.split_at_checked(count).ok_or_else(|| Error::damaged("it is truncated"))?;
        self.0 = rest;
        Ok(bytes)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(|| Error::damaged("it is truncated"))?;
        self.0 = rest;
        Ok(*bytes)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads items to the end.
    pub(crate) fn all<T>(&mut self, read: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        while !self.0.is_empty() {
            items.push(read(self)?);
        }
        Ok(items)
    }
}
