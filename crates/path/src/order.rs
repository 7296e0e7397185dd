//! Matches held back until their order is known: spans, not values.
//!
//! A row is a key, a span and a tag of the caller's. Rows are collected up to 1 MiB, then sorted,
//! delta-coded (a few bytes a row) and kept as a run; the runs stay in memory up to a limit and
//! then go to a temporary file without a name. Taking the rows out merges the runs. Rows of equal
//! keys keep the order in which they came.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use trommel_reader::Span;

/// Words collected before they are sorted into a run.
const COLLECTED: usize = 128 << 10;

/// Bytes of a run read at a time while merging.
const PIECE: usize = 4 << 10;

/// Bytes that a row takes in a heap, at most, for keys of the usual length.
const HEAP_ROW: usize = 128;

/// Rows waiting to be taken out in the order of their keys.
#[derive(Debug)]
pub struct Held {
    /// Words of a key.
    width: usize,
    collected: Vec<u64>,
    runs: Vec<Run>,
    store: Store,
    /// Bytes of memory for rows.
    memory: usize,
    /// All rows, if only those with the smallest keys are kept.
    smallest: Option<Smallest>,
}

/// The rows with the smallest keys. There is no more in memory than is wanted, and nothing else is
/// kept.
#[derive(Debug)]
struct Smallest {
    most: usize,
    rows: BinaryHeap<Row>,
    pushed: u64,
}

/// A row in a heap, ordered by its key, and among equal keys as it came.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    key: Box<[u64]>,
    number: u64,
    rest: [u64; 3],
}

/// One match that was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldMatch {
    /// Where the node stands.
    pub span: Span,
    /// What the caller noted with it.
    pub tag: u64,
}

/// Where a run's bytes lie in the store.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u64,
    end: u64,
}

impl Held {
    /// Nothing held; runs of more than `memory` bytes together go to a temporary file.
    pub fn new(memory: usize) -> Self {
        Self {
            width: 0,
            collected: Vec::new(),
            runs: Vec::new(),
            store: Store::Memory { bytes: Vec::new(), limit: memory },
            memory,
            smallest: None,
        }
    }

    /// True if nothing is held.
    pub fn is_empty(&self) -> bool {
        let is_empty = |smallest: &Smallest| smallest.rows.is_empty();
        self.collected.is_empty() && self.runs.is_empty() && self.smallest.as_ref().is_none_or(is_empty)
    }

    /// Keeps only the `most` rows with the smallest keys from now on. To be called while nothing is
    /// held. If that many rows do not fit into the memory, all rows are kept.
    pub fn keep_smallest(&mut self, most: u64) {
        let most = usize::try_from(most).ok().filter(|most| most.saturating_mul(HEAP_ROW) <= self.memory);
        self.smallest = most.map(|most| Smallest { most, rows: BinaryHeap::new(), pushed: 0 });
    }

    /// The key that a row must be below to be kept, once as many rows are held as are wanted.
    pub fn bound(&self) -> Option<&[u64]> {
        let smallest = self.smallest.as_ref().filter(|smallest| smallest.rows.len() >= smallest.most)?;
        Some(smallest.rows.peek().map_or(&[], |row| &row.key))
    }

    /// True if a row of this key would not be kept.
    pub fn rejects(&self, key: &[u64]) -> bool {
        self.bound().is_some_and(|bound| key >= bound)
    }

    /// Holds a match. All keys must be of the same length; later ones are cut or filled with zeros
    /// to that of the first.
    ///
    /// Fails when the temporary file cannot be made or written to; what was held is lost then.
    pub fn push(&mut self, key: &[u64], span: Span, tag: u64) -> io::Result<()> {
        if self.is_empty() {
            self.width = key.len();
        }
        if let Some(smallest) = &mut self.smallest {
            let key = key.iter().copied().chain(std::iter::repeat(0)).take(self.width).collect();
            smallest.push(key, [span.start, span.len(), tag]);
            return Ok(());
        }
        if key.len() == self.width {
            self.collected.extend_from_slice(key);
        } else {
            self.collected.extend(key.iter().copied().chain(std::iter::repeat(0)).take(self.width));
        }
        self.collected.extend_from_slice(&[span.start, span.len(), tag]);
        if self.collected.len() >= COLLECTED { self.seal() } else { Ok(()) }
    }

    /// Takes in what another holds, behind what was held of the same key. The other holds nothing
    /// afterwards.
    ///
    /// Fails as [`push`](Self::push) does, or when the other's temporary file cannot be read.
    pub fn append(&mut self, later: &mut Self) -> io::Result<()> {
        let width = later.width;
        later.drain_words(|words| {
            let (key, HeldMatch { span, tag }) = row_of(words, width);
            self.push(key, span, tag)
        })
    }

    /// Hands out everything held, sorted by key, and holds nothing afterwards, also when `take` or
    /// reading the temporary file fails.
    pub fn drain<E: From<io::Error>>(
        &mut self,
        mut take: impl FnMut(HeldMatch) -> Result<(), E>,
    ) -> Result<(), E> {
        let width = self.width;
        self.drain_words(|words| take(row_of(words, width).1))
    }

    /// The same with the words of each row.
    fn drain_words<E: From<io::Error>>(
        &mut self,
        mut take: impl FnMut(&[u64]) -> Result<(), E>,
    ) -> Result<(), E> {
        if let Some(smallest) = &mut self.smallest {
            let (rows, mut words) = (std::mem::take(&mut smallest.rows).into_sorted_vec(), Vec::new());
            return rows.into_iter().try_for_each(|row| {
                words.clear();
                words.extend(row.key.iter().chain(&row.rest));
                take(&words)
            });
        }
        let taken = if self.runs.is_empty() {
            let (mut rows, stride) = (self.sorted().into_iter(), self.stride());
            rows.try_for_each(|row| take(&self.collected[row..row + stride]))
        } else {
            self.seal().map_err(E::from).and_then(|()| self.merge(&mut take))
        };
        self.collected.clear();
        self.runs.clear();
        taken.and(self.store.clear().map_err(E::from))
    }

    fn stride(&self) -> usize {
        self.width + 3
    }

    /// Indices of the collected rows in the order of their keys.
    fn sorted(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.collected.len()).step_by(self.stride()).collect();
        rows.sort_by_key(|&row| self.collected.get(row..row + self.width));
        rows
    }

    /// Makes a run of what was collected.
    fn seal(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        let mut before = vec![0; self.stride()];
        for row in self.sorted() {
            let words = &self.collected[row..row + self.stride()];
            for (&word, before) in words.iter().zip(&mut before) {
                put(word.wrapping_sub(*before), &mut bytes);
                *before = word;
            }
        }
        self.collected.clear();
        let (start, end) = self.store.append(&bytes)?;
        self.runs.push(Run { start, end });
        Ok(())
    }

    fn merge<E: From<io::Error>>(&mut self, take: &mut impl FnMut(&[u64]) -> Result<(), E>) -> Result<(), E> {
        let (width, stride) = (self.width, self.stride());
        let mut readers: Vec<Reader> = self.runs.iter().map(|&run| Reader::new(run, stride)).collect();
        let mut heap = BinaryHeap::new();
        for (number, reader) in readers.iter_mut().enumerate() {
            if reader.advance(&mut self.store)? {
                let key = reader.words[..width].to_vec();
                heap.push(Reverse((key, number)));
            }
        }
        while let Some(Reverse((_, number))) = heap.pop() {
            let reader = &mut readers[number];
            loop {
                take(&reader.words)?;
                if !reader.advance(&mut self.store)? {
                    break;
                }
                // Matches come nearly in their order, so that the same run is mostly the next one,
                // too.
                let row = (&reader.words[..width], number);
                if heap.peek().is_some_and(|Reverse((key, other))| (key.as_slice(), *other) < row) {
                    heap.push(Reverse((row.0.to_vec(), number)));
                    break;
                }
            }
        }
        Ok(())
    }
}

/// The key of a row, and its match.
fn row_of(words: &[u64], width: usize) -> (&[u64], HeldMatch) {
    let (key, rest) = words.split_at(width);
    (key, HeldMatch { span: Span::new(rest[0], rest[0] + rest[1]), tag: rest[2] })
}

impl Smallest {
    fn push(&mut self, key: Box<[u64]>, rest: [u64; 3]) {
        self.rows.push(Row { key, number: self.pushed, rest });
        self.pushed += 1;
        if self.rows.len() > self.most {
            self.rows.pop();
        }
    }
}

/// A run being read.
struct Reader {
    run: Run,
    buffer: Vec<u8>,
    at: usize,
    words: Vec<u64>,
}

impl Reader {
    fn new(run: Run, stride: usize) -> Self {
        Self { run, buffer: Vec::new(), at: 0, words: vec![0; stride] }
    }

    /// To the next row; `false` at the end of the run.
    fn advance(&mut self, store: &mut Store) -> io::Result<bool> {
        // A row is at most ten bytes a word.
        if self.buffer.len() - self.at < self.words.len() * 10 && self.run.start < self.run.end {
            self.buffer.drain(..self.at);
            self.at = 0;
            let wanted = (PIECE.max(self.words.len() * 20) as u64).min(self.run.end - self.run.start);
            store.read(self.run.start, wanted as usize, &mut self.buffer)?;
            self.run.start += wanted;
        }
        if self.at == self.buffer.len() {
            return Ok(false);
        }
        for word in &mut self.words {
            *word = word.wrapping_add(get(&self.buffer, &mut self.at));
        }
        Ok(true)
    }
}

/// Writes a difference: small ones of either sign take few bytes.
fn put(difference: u64, bytes: &mut Vec<u8>) {
    let signed = difference.cast_signed();
    let mut rest = (signed << 1 ^ signed >> 63).cast_unsigned();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn get(bytes: &[u8], at: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    while let Some(&byte) = bytes.get(*at) {
        *at += 1;
        value |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte < 0x80 || shift >= 64 {
            break;
        }
    }
    (value >> 1) ^ 0u64.wrapping_sub(value & 1)
}

/// Bytes that are appended and read by position: in memory, then in a temporary file.
#[derive(Debug)]
enum Store {
    Memory { bytes: Vec<u8>, limit: usize },
    File { file: File, length: u64 },
}

impl Store {
    fn append(&mut self, more: &[u8]) -> io::Result<(u64, u64)> {
        if let Self::Memory { bytes, limit } = self
            && bytes.len() + more.len() > *limit
        {
            let mut file = tempfile::tempfile()?;
            file.write_all(bytes)?;
            *self = Self::File { length: bytes.len() as u64, file };
        }
        match self {
            Self::Memory { bytes, .. } => {
                let start = bytes.len() as u64;
                bytes.extend_from_slice(more);
                Ok((start, bytes.len() as u64))
            }
            Self::File { file, length } => {
                file.seek(SeekFrom::Start(*length))?;
                file.write_all(more)?;
                let start = *length;
                *length += more.len() as u64;
                Ok((start, *length))
            }
        }
    }

    fn read(&mut self, start: u64, count: usize, into: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Memory { bytes, .. } => {
                let start = start as usize;
                into.extend_from_slice(&bytes[start..start + count]);
                Ok(())
            }
            Self::File { file, .. } => {
                file.seek(SeekFrom::Start(start))?;
                let before = into.len();
                into.resize(before + count, 0);
                file.read_exact(&mut into[before..])
            }
        }
    }

    fn clear(&mut self) -> io::Result<()> {
        match self {
            Self::Memory { bytes, .. } => bytes.clear(),
            Self::File { file, length } => {
                file.set_len(0)?;
                *length = 0;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers, the same every time.
    fn numbers(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17) ^ at)
    }

    #[test]
    fn rows_come_out_sorted_wherever_they_were_kept() {
        for (count, memory) in [(0, 0), (5, 1 << 20), (200_000, 1 << 30), (200_000, 1000)] {
            let mut held = Held::new(memory);
            // Twice, to see that draining leaves nothing behind.
            for _ in 0..2 {
                let mut expected: Vec<_> = numbers(count).map(|n| (n % 1000, n >> 40, n)).collect();
                for &(first, second, tag) in &expected {
                    held.push(&[first, !second], Span::new(second, second + first), tag).unwrap();
                }
                expected.sort_by_key(|&(first, second, _)| (first, !second));
                let mut found = Vec::new();
                held.drain(|row| {
                    found.push((row.span.len(), row.span.start, row.tag));
                    io::Result::Ok(())
                })
                .unwrap();
                assert!(found == expected, "{count} rows, {memory} bytes");
                assert!(held.is_empty());
            }
        }
    }

    /// Parts that hold matches, taken in one after the other, are what one would hold.
    #[test]
    fn rows_of_others_are_taken_in() {
        let (mut whole, mut parts) = (Held::new(1000), Held::new(1000));
        for (part, count) in [10, 0, 200_000, 7].into_iter().enumerate() {
            let mut later = Held::new(if part == 2 { 1000 } else { 1 << 20 });
            for number in numbers(count) {
                let (key, span) = ([number % 100, part as u64 % 2], Span::new(number >> 40, number >> 39));
                whole.push(&key, span, part as u64).unwrap();
                later.push(&key, span, part as u64).unwrap();
            }
            parts.append(&mut later).unwrap();
            assert!(later.is_empty());
        }
        let [mut whole, mut parts] = [whole, parts].map(|mut held| {
            let mut rows = Vec::new();
            let take = |row| {
                rows.push(row);
                io::Result::Ok(())
            };
            held.drain(take).unwrap();
            rows
        });
        assert_eq!(whole.len(), 200_017);
        assert!(parts.iter().map(|row| row.tag).eq(whole.iter().map(|row| row.tag)));
        // Rows of equal keys of one part may come in the order of their sorting.
        whole.sort_by_key(|row| (row.span, row.tag));
        parts.sort_by_key(|row| (row.span, row.tag));
        assert!(whole == parts);
    }

    #[test]
    fn the_smallest_rows_are_those_that_come_out_first() {
        for (count, most) in [(0, 5), (4, 5), (5, 5), (3000, 5), (3000, 1), (3000, 2999), (3000, 5000)] {
            let (mut all, mut some) = (Held::new(1 << 20), Held::new(1 << 20));
            let drained = |held: &mut Held| {
                let mut rows = Vec::new();
                let take = |row| {
                    rows.push(row);
                    io::Result::Ok(())
                };
                held.drain(take).unwrap();
                rows
            };
            for _ in 0..2 {
                some.keep_smallest(most);
                for (tag, number) in numbers(count).enumerate() {
                    let (key, span) = ([number % 50, number % 7], Span::new(number >> 40, number >> 39));
                    all.push(&key, span, tag as u64).unwrap();
                    if !some.rejects(&key) {
                        some.push(&key, span, tag as u64).unwrap();
                    }
                }
                assert_eq!(some.bound().is_some(), count >= most, "{most} of {count}");
                let expected: Vec<_> = drained(&mut all).into_iter().take(most as usize).collect();
                assert_eq!(drained(&mut some), expected, "{most} of {count}");
                assert!(some.is_empty());
            }
        }
        // Where they would take more memory than there is, all are kept.
        let mut held = Held::new(1 << 20);
        held.keep_smallest(1 << 20);
        assert!(held.smallest.is_none());
    }

    #[test]
    fn a_row_of_a_long_list_takes_few_bytes() {
        let mut held = Held::new(usize::MAX);
        for at in 0..100_000 {
            held.push(&[at * 3000], Span::new(at * 3000 + 40, at * 3000 + 60), 0).unwrap();
        }
        let Store::Memory { bytes, .. } = &held.store else { panic!("in memory") };
        assert!(bytes.len() < 100_000 * 8, "{}", bytes.len());
    }
}
