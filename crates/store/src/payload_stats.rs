//! Preview, length, and digest of a payload, computed incrementally.

use trommel_base::text::count_chars;

use crate::output::PREVIEW_CHARS;

/// Number of bytes that always contain the whole preview.
const HEAD_BYTES: usize = PREVIEW_CHARS * 4;

/// Measures a payload chunk by chunk.
pub(crate) struct PayloadStats {
    hasher: blake3::Hasher,
    head: Vec<u8>,
    bytes: u64,
    characters: u64,
    line_ends: u64,
}

impl PayloadStats {
    pub(crate) fn new() -> Self {
        Self { hasher: blake3::Hasher::new(), head: Vec::new(), bytes: 0, characters: 0, line_ends: 0 }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        let wanted = HEAD_BYTES.saturating_sub(self.head.len()).min(bytes.len());
        self.head.extend_from_slice(&bytes[..wanted]);
        self.bytes += bytes.len() as u64;
        self.characters += count_chars(bytes);
        self.line_ends += memchr::memchr_iter(b'\n', bytes).count() as u64;
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The number of Unicode scalar values. In invalid UTF-8, every byte that is not a continuation
    /// byte counts as one.
    pub(crate) fn characters(&self) -> u64 {
        self.characters
    }

    /// The number of line feeds.
    pub(crate) fn line_ends(&self) -> u64 {
        self.line_ends
    }

    /// The first [`PREVIEW_CHARS`] characters.
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

    fn stats(bytes: &[u8], chunk: usize) -> PayloadStats {
        let mut stats = PayloadStats::new();
        bytes.chunks(chunk).for_each(|chunk| stats.update(chunk));
        stats
    }

    #[test]
    fn previews_end_between_characters() {
        for text in ["a".repeat(600), "é".repeat(600), "€".repeat(600), "😀".repeat(600), "aé€😀".repeat(200)]
        {
            for chunk in [1, 3, 7, 4096] {
                let stats = stats(text.as_bytes(), chunk);
                assert_eq!(stats.preview(), text.chars().take(PREVIEW_CHARS).collect::<String>());
                assert_eq!(stats.characters(), text.chars().count() as u64);
                assert_eq!(stats.bytes(), text.len() as u64);
            }
        }
    }

    #[test]
    fn replaces_invalid_utf8() {
        let stats = stats(b"a\xFFb\xC3", 1);
        assert_eq!(stats.preview(), "a\u{FFFD}b\u{FFFD}");
        assert_eq!(stats.characters(), 4);
        let long = [0xF0, 0x9F, 0x98].repeat(2000);
        assert_eq!(self::stats(&long, 100).preview().chars().count(), PREVIEW_CHARS);
    }
}
