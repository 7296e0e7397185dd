//! Compares names by words.

use trommel_reader::word;

const WORD: usize = size_of::<u64>();

/// How a name is written, with its closing quote: the first and the last eight bytes. Most names
/// are compared by these two words alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spelling {
    head: u64,
    tail: u64,
    /// The bytes of the name and the quote. 0 if the spelling is not known.
    pub(super) length: u32,
    /// The bits of the head beyond a short name.
    unused: u32,
}

impl Spelling {
    /// The spelling of a name; unknown for one that is written with escapes.
    pub(super) fn of(name: &[u8]) -> Self {
        if name.iter().any(|byte| matches!(byte, b'"' | b'\\' | 0..0x20)) {
            return Self::default();
        }
        let written = [name, b"\""].concat();
        let head = word(&written[..written.len().min(WORD)]);
        let tail = written.last_chunk().map_or(0, |tail| u64::from_le_bytes(*tail));
        let unused = 8 * WORD.saturating_sub(written.len()) as u32;
        Self { head, tail, length: written.len() as u32, unused }
    }

    pub(super) const fn is_known(&self) -> bool {
        self.length > 0
    }

    /// True if the name that starts at an index is written like this. `name` has the bytes of the
    /// name, and is needed for long names only. False if the bytes end too early.
    #[inline]
    pub(super) fn is_at<'n>(&self, bytes: &[u8], start: usize, name: impl FnOnce() -> &'n [u8]) -> bool {
        let word = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<WORD>());
        // Both words may overlap, and the quote is compared with them, so a longer name that begins
        // with this one is another name.
        let Some(head) = word(start) else { return false };
        if !self.is_known() || (u64::from_le_bytes(*head) ^ self.head) << self.unused != 0 {
            return false;
        }
        let length = self.length as usize;
        if length <= WORD {
            return true;
        }
        let last = start + length - WORD;
        if word(last).is_none_or(|tail| u64::from_le_bytes(*tail) != self.tail) {
            return false;
        }
        length <= 2 * WORD || bytes[start + WORD..last] == name()[WORD..length - WORD]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_with_their_quote() {
        let text = b"0123456789abcdefghijklmnopqrstuvwxyz";
        for length in 0..text.len() {
            let name = &text[..length];
            let spelling = Spelling::of(name);
            let written = [name, b"\":12345678"].concat();
            assert!(spelling.is_at(&written, 0, || name), "{length}");
            for changed in 0..=length {
                let mut other = written.clone();
                other[changed] = b'!';
                assert!(!spelling.is_at(&other, 0, || name), "{length} {changed}");
            }
            assert!(!spelling.is_at(&written[..length], 0, || name));
        }
        for name in [r#"a"b"#, r"a\b", "a\nb"] {
            assert!(!Spelling::of(name.as_bytes()).is_known());
        }
    }
}
