//! The hash of bytes, and of the same JSON without white space, in one pass.

use blake3::{Hash, Hasher};
use trommel_reader::Compactor;

/// The bytes that are compacted at a time. They stay in the cache.
const PIECE: usize = 32 << 10;

/// The hashes of a value.
#[derive(Clone, Default)]
pub(super) struct Hashes {
    exact: Hasher,
    /// The hash without white space, from the first byte on that differs.
    minified: Option<Hasher>,
    /// The kind of value, by its start. Only arrays, objects, and strings are compared as JSON.
    is_json: Option<bool>,
    compactor: Compactor,
    buffer: Vec<u8>,
}

impl Hashes {
    /// The hashes of some bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut hashes = Self::default();
        hashes.update(bytes);
        hashes
    }

    /// Adds bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(PIECE) {
            if self.is_json.is_none() {
                let first = piece.iter().find(|byte| !byte.is_ascii_whitespace());
                self.is_json = first.map(|first| matches!(first, b'{' | b'[' | b'"'));
            }
            if self.is_json != Some(false) {
                self.minify(piece);
            }
            self.exact.update(piece);
        }
    }

    fn minify(&mut self, piece: &[u8]) {
        self.buffer.clear();
        self.compactor.push(piece, &mut self.buffer);
        // Without white space, both hashes are the same, and one is enough.
        if self.minified.is_none() && self.buffer.len() != piece.len() {
            self.minified = Some(self.exact.clone());
        }
        if let Some(minified) = &mut self.minified {
            minified.update(&self.buffer);
        }
    }

    /// The hash of the bytes.
    pub(super) fn exact(&self) -> Hash {
        self.exact.finalize()
    }

    /// The hash of the JSON without insignificant white space. It identifies a value and its
    /// pretty-printed copy. For other values, the hash of the bytes.
    pub(super) fn minified(&self) -> Hash {
        match &self.minified {
            Some(minified) if self.is_json != Some(false) => minified.finalize(),
            _ => self.exact.finalize(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use trommel_testkit::generate::{Random, Shape, document};

    use super::*;

    fn minified(parts: &[&[u8]]) -> Hash {
        let mut hashes = Hashes::default();
        for part in parts {
            hashes.update(part);
        }
        hashes.minified()
    }

    #[test]
    fn white_space_between_tokens_does_not_matter() {
        for seed in 0..300 {
            let text = document(seed, &Shape::plain());
            let value: Value = serde_json::from_slice(&text).unwrap();
            let (compact, pretty) = (value.to_string(), serde_json::to_string_pretty(&value).unwrap());
            let (start, end) = pretty.as_bytes().split_at(Random::new(seed).below(pretty.len()));
            assert_eq!(minified(&[start, end]), blake3::hash(compact.as_bytes()), "{seed}");
            assert_eq!(Hashes::of(pretty.as_bytes()).exact(), blake3::hash(pretty.as_bytes()));
        }
    }

    #[test]
    fn white_space_in_strings_and_texts_matters() {
        assert_ne!(minified(&[br#"{"a": "b c"}"#]), minified(&[br#"{"a":"bc"}"#]));
        assert_ne!(minified(&[br#"["\" a"]"#]), minified(&[br#"["\"a]"#]));
        // Without the white space, they would be another number, and a literal.
        assert_ne!(minified(&[b"[2.5 0]"]), minified(&[b"[2.50]"]));
        assert_ne!(minified(&[b"[tr", b"\n", b"ue]"]), minified(&[b"[true]"]));
        let (text, other) = (b"plain words".as_slice(), b"plainwords".as_slice());
        assert_ne!(minified(&[text]), minified(&[other]));
        // White space in a part of its own comes before the kind is known.
        assert_eq!(minified(&[b"  ", text]), blake3::hash(b"  plain words"));
        assert_ne!(minified(&[b"  ", text]), minified(&[b"  ", other]));
        assert_eq!(minified(&[b"  ", b"[ 1 ]"]), blake3::hash(b"[1]"));
    }
}
