//! What a payload begins with, how long it is, and its digest: taken as its bytes pass by.

use trommel_base::text::count_chars;

use crate::output::PREVIEW_CHARS;

/// Bytes that hold the preview, whatever its characters are.
const HEAD: usize = PREVIEW_CHARS * 4;

pub(crate) struct Glimpse {
    hasher: blake3::Hasher,
    head: Vec<u8>,
    bytes: u64,
    characters: u64,
}

impl Glimpse {
    pub(crate) fn new() -> Self {
        Self { hasher: blake3::Hasher::new(), head: Vec::new(), bytes: 0, characters: 0 }
    }

    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        let wanted = HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..wanted]);
        self.bytes += bytes.len() as u64;
        self.characters += count_chars(bytes);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Unicode scalar values; where it is not UTF-8, bytes that are not in the middle of a
    /// character.
    pub(crate) fn characters(&self) -> u64 {
        self.characters
    }

    /// The first characters.
    pub(crate) fn preview(&self) -> String {
        String::from_utf8_lossy(&self.head).chars().take(PREVIEW_CHARS).collect()
    }

    pub(crate) fn digest(&self) -> String {
        format!("blake3:{}", self.hasher.finalize().to_hex())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glimpse(bytes: &[u8], chunk: usize) -> Glimpse {
        let mut glimpse = Glimpse::new();
        bytes.chunks(chunk).for_each(|chunk| glimpse.pass(chunk));
        glimpse
    }

    #[test]
    fn previews_end_between_characters() {
        for text in ["a".repeat(600), "é".repeat(600), "€".repeat(600), "😀".repeat(600), "aé€😀".repeat(200)]
        {
            for chunk in [1, 3, 7, 4096] {
                let glimpse = glimpse(text.as_bytes(), chunk);
                assert_eq!(glimpse.preview(), text.chars().take(PREVIEW_CHARS).collect::<String>());
                assert_eq!(glimpse.characters(), text.chars().count() as u64);
                assert_eq!(glimpse.bytes(), text.len() as u64);
            }
        }
    }

    #[test]
    fn what_is_not_utf8_is_replaced() {
        let glimpse = glimpse(b"a\xFFb\xC3", 1);
        assert_eq!(glimpse.preview(), "a\u{FFFD}b\u{FFFD}");
        assert_eq!(glimpse.characters(), 4);
        let long = [0xF0, 0x9F, 0x98].repeat(2000);
        assert_eq!(self::glimpse(&long, 100).preview().chars().count(), PREVIEW_CHARS);
    }
}
