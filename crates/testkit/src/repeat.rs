//! Documents of any size that are never stored.

use std::io::{self, Read};

/// A text that consists of a head, one item repeated with a separator, and a tail.
///
/// Ten gigabytes of it take no memory, and the offset of each item is known.
///
/// ```
/// use std::io::Read;
/// use trommel_testkit::repeat::Repeat;
///
/// let mut reader = Repeat::records(r#"{"id":1}"#, 3);
/// let mut text = String::new();
/// reader.clone().read_to_string(&mut text)?;
/// let records = r#"{"data":{"records":[{"id":1},{"id":1},{"id":1}]},"#;
/// assert_eq!(text, format!(r#"{records}"meta":{{"count":3,"last":true}}}}"#));
/// assert_eq!(text.len() as u64, reader.len());
/// assert_eq!(&text[reader.item(2).start as usize..][..8], r#"{"id":1}"#);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Repeat {
    head: Vec<u8>,
    item: Vec<u8>,
    between: Vec<u8>,
    tail: Vec<u8>,
    count: u64,
    at: u64,
}

impl Repeat {
    /// Repeats the item `count` times, separated by `between`.
    pub fn new(head: &str, item: &str, between: &str, tail: &str, count: u64) -> Self {
        let bytes = |text: &str| text.as_bytes().to_vec();
        let (head, item, between, tail) = (bytes(head), bytes(item), bytes(between), bytes(tail));
        Self { head, item, between, tail, count, at: 0 }
    }

    /// One document in one line, `{"data":{"records":[…]},"meta":{"count":…,"last":true}}`.
    pub fn records(record: &str, count: u64) -> Self {
        let tail = format!(r#"]}},"meta":{{"count":{count},"last":true}}}}"#);
        Self::new(r#"{"data":{"records":["#, record, ",", &tail, count)
    }

    /// A record a line.
    pub fn lines(record: &str, count: u64) -> Self {
        Self::new("", &format!("{record}\n"), "", "", count)
    }

    /// One huge string: `{"text":"…","after":1}`, with `piece` repeated.
    pub fn string(piece: &str, count: u64) -> Self {
        Self::new(r#"{"text":""#, piece, "", r#"","after":1}"#, count)
    }

    /// `count` opening brackets and nothing else.
    pub fn depth(bracket: &str, count: u64) -> Self {
        Self::new("", bracket, "", "", count)
    }

    /// Returns the length of the whole text in bytes.
    pub fn len(&self) -> u64 {
        self.items_end() + self.tail.len() as u64
    }

    /// Returns true if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the absolute offsets of item `index`. For items past the last one, there are no
    /// bytes at these offsets.
    pub fn item(&self, index: u64) -> std::ops::Range<u64> {
        let start = self.head.len() as u64 + index * (self.item.len() + self.between.len()) as u64;
        start..start + self.item.len() as u64
    }

    fn items_end(&self) -> u64 {
        if self.count == 0 { self.head.len() as u64 } else { self.item(self.count - 1).end }
    }

    /// Returns the contiguous bytes at `offset`; empty at the end.
    fn piece(&self, offset: u64) -> &[u8] {
        if let Some(rest) = from(&self.head, offset) {
            return rest;
        }
        let end = self.items_end();
        if offset >= end {
            return from(&self.tail, offset - end).unwrap_or(&[]);
        }
        let within = (offset - self.head.len() as u64) % (self.item.len() + self.between.len()) as u64;
        from(&self.item, within).unwrap_or_else(|| &self.between[within as usize - self.item.len()..])
    }
}

/// Returns the bytes from `offset` on, if there are any.
fn from(bytes: &[u8], offset: u64) -> Option<&[u8]> {
    bytes.get(usize::try_from(offset).ok()?..).filter(|rest| !rest.is_empty())
}

impl Read for Repeat {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let piece = self.piece(self.at);
            if piece.is_empty() {
                break;
            }
            let count = piece.len().min(buffer.len() - filled);
            buffer[filled..filled + count].copy_from_slice(&piece[..count]);
            filled += count;
            self.at += count as u64;
        }
        Ok(filled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunks::Chunks;

    #[test]
    fn reads_the_same_text_in_any_chunks() {
        for count in [0, 1, 2, 500] {
            for repeat in [
                Repeat::records("[1]", count),
                Repeat::lines("{}", count),
                Repeat::string("\\\\é", count),
                Repeat::depth("[", count),
            ] {
                let (mut whole, mut pieces) = (Vec::new(), Vec::new());
                repeat.clone().read_to_end(&mut whole).unwrap();
                Chunks::new(repeat.clone(), &[1, 7, 64]).read_to_end(&mut pieces).unwrap();
                assert!(whole == pieces && whole.len() as u64 == repeat.len());
                assert_eq!(repeat.is_empty(), whole.is_empty());
                for index in 0..count {
                    let span = repeat.item(index);
                    assert_eq!(&whole[span.start as usize..span.end as usize], repeat.item);
                }
            }
        }
    }

    #[test]
    fn computes_large_offsets() {
        let mut repeat = Repeat::records("{}", 10_000_000_000);
        assert_eq!(repeat.item(9_999_999_999).start, 20 + 29_999_999_997);
        repeat.at = repeat.item(9_999_999_999).start;
        let mut rest = String::new();
        repeat.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, r#"{}]},"meta":{"count":10000000000,"last":true}}"#);
    }
}
