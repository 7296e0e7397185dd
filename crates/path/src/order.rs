//! Holds matches until their order is known: spans, and only the shortest values.
//!
//! A row consists of a key, a span, a tag of the caller, and possibly a value of a few bytes, which
//! costs less to hold than to read again. Rows are collected up to 1 MiB. Then
//! they are sorted, delta-encoded to a few bytes per row, and stored as a run. Runs stay in memory
//! up to a limit, and then move to an unlinked temporary file. Draining merges the runs. Rows with
//! equal keys keep their insertion order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use trommel_reader::Span;

/// The maximum number of words that are collected before they are sorted into a run.
const MAX_COLLECTED_WORDS: usize = 128 << 10;

/// The maximum length in bytes of a value that is held.
const MAX_VALUE_BYTES: usize = 32;

/// The number of words of a value in a collected row.
const VALUE_WORDS: usize = MAX_VALUE_BYTES / 8;

/// The number of bytes of a run that are read at a time while merging.
const READ_BYTES: usize = 4 << 10;

/// The maximum size of a row in a heap in bytes, for keys of the usual length.
const MAX_HEAP_ROW_BYTES: usize = 128;

/// Rows that wait until they can be drained in the order of their keys.
#[derive(Debug)]
pub struct HeldRows {
    /// The number of words of a key.
    width: usize,
    collected: Vec<u64>,
    runs: Vec<Run>,
    store: RunStore,
    /// The memory limit for rows in bytes.
    memory: usize,
    /// All rows, if only those with the smallest keys are kept.
    smallest: Option<Smallest>,
}

/// The rows with the smallest keys, at most `limit` of them. They never leave memory.
#[derive(Debug)]
struct Smallest {
    limit: usize,
    rows: BinaryHeap<Row>,
    pushed: u64,
}

/// A row in a heap, ordered by its key and then by insertion.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    key: Box<[u64]>,
    number: u64,
    rest: [u64; 3],
}

/// A match that was held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeldMatch {
    /// The span of the node.
    pub span: Span,
    /// The tag that the caller gave to the match.
    pub tag: u64,
    /// The node's bytes, if they were held.
    pub value: Option<ShortValue>,
}

/// The bytes of a value of at most 32 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortValue {
    bytes: [u8; MAX_VALUE_BYTES],
    length: usize,
}

impl ShortValue {
    /// Copies a value, if it is short.
    pub fn new(value: &[u8]) -> Option<Self> {
        let mut bytes = [0; MAX_VALUE_BYTES];
        bytes.get_mut(..value.len())?.copy_from_slice(value);
        Some(Self { bytes, length: value.len() })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The length is that of a value that was held, so at most 32.
    fn from_words(words: &[u64], length: u64) -> Self {
        let mut bytes = [0; MAX_VALUE_BYTES];
        for (chunk, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
            *chunk = word.to_ne_bytes();
        }
        Self { bytes, length: length as usize }
    }

    fn words(&self) -> [u64; VALUE_WORDS] {
        let (chunks, _) = self.bytes.as_chunks();
        std::array::from_fn(|word| u64::from_ne_bytes(chunks[word]))
    }
}

/// The byte range of a run in the store.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u64,
    end: u64,
}

impl HeldRows {
    /// Creates an empty store. Runs of more than `memory` bytes together move to a temporary file.
    pub fn new(memory: usize) -> Self {
        Self {
            width: 0,
            collected: Vec::new(),
            runs: Vec::new(),
            store: RunStore::Memory { bytes: Vec::new(), limit: memory },
            memory,
            smallest: None,
        }
    }

    /// True if no match is held.
    pub fn is_empty(&self) -> bool {
        let is_empty = |smallest: &Smallest| smallest.rows.is_empty();
        self.collected.is_empty() && self.runs.is_empty() && self.smallest.as_ref().is_none_or(is_empty)
    }

    /// Keeps only the `limit` rows with the smallest keys from now on. Call it while nothing is
    /// held. If that many rows do not fit into the memory, all rows are kept.
    pub fn keep_smallest(&mut self, limit: u64) {
        let limit = usize::try_from(limit)
            .ok()
            .filter(|limit| limit.saturating_mul(MAX_HEAP_ROW_BYTES) <= self.memory);
        self.smallest = limit.map(|limit| Smallest { limit, rows: BinaryHeap::new(), pushed: 0 });
    }

    /// Returns the key that a new row must be below to be kept, once the limit of
    /// [`keep_smallest`](Self::keep_smallest) is reached.
    pub fn bound(&self) -> Option<&[u64]> {
        let smallest = self.smallest.as_ref().filter(|smallest| smallest.rows.len() >= smallest.limit)?;
        Some(smallest.rows.peek().map_or(&[], |row| &row.key))
    }

    /// True if a row with this key would not be kept.
    pub fn rejects(&self, key: &[u64]) -> bool {
        self.bound().is_some_and(|bound| key >= bound)
    }

    /// Holds a match. All keys must have the same length: later keys are truncated or padded with
    /// zeros to the length of the first.
    ///
    /// # Errors
    ///
    /// Fails if the temporary file cannot be created or written. The rows held so far are lost
    /// then.
    pub fn push(&mut self, key: &[u64], span: Span, tag: u64) -> io::Result<()> {
        self.push_with(key, span, tag, None)
    }

    /// Holds a match like [`push`](Self::push), and its value, if there is one: the bytes of its
    /// span.
    ///
    /// # Errors
    ///
    /// Fails like [`push`](Self::push).
    pub fn push_with(
        &mut self,
        key: &[u64],
        span: Span,
        tag: u64,
        value: Option<ShortValue>,
    ) -> io::Result<()> {
        debug_assert!(value.is_none_or(|value| value.length as u64 == span.len()), "the value is the span's");
        if self.is_empty() {
            self.width = key.len();
        }
        if let Some(smallest) = &mut self.smallest {
            let key = key.iter().copied().chain(std::iter::repeat(0)).take(self.width).collect();
            smallest.push(key, [span.start, span.len() << 1, tag]);
            return Ok(());
        }
        if key.len() == self.width {
            self.collected.extend_from_slice(key);
        } else {
            self.collected.extend(key.iter().copied().chain(std::iter::repeat(0)).take(self.width));
        }
        // The lowest bit of the length says if the value follows.
        self.collected.extend_from_slice(&[span.start, span.len() << 1 | u64::from(value.is_some()), tag]);
        self.collected.extend_from_slice(&value.map_or([0; VALUE_WORDS], |value| value.words()));
        if self.collected.len() >= MAX_COLLECTED_WORDS { self.seal() } else { Ok(()) }
    }

    /// Moves the rows of another store to this one. They come after rows with the same key that
    /// this one already holds.
    ///
    /// # Errors
    ///
    /// Fails like [`push`](Self::push), and if the other's temporary file cannot be read.
    pub fn append(&mut self, later: &mut Self) -> io::Result<()> {
        let width = later.width;
        later.drain_words(|words| {
            let (key, HeldMatch { span, tag, value }) = split_row(words, width);
            self.push_with(key, span, tag, value)
        })
    }

    /// Passes all rows to `take`, sorted by key. Afterwards nothing is held, even if `take` or
    /// reading the temporary file fails.
    pub fn drain<E: From<io::Error>>(
        &mut self,
        mut take: impl FnMut(HeldMatch) -> Result<(), E>,
    ) -> Result<(), E> {
        let width = self.width;
        self.drain_words(|words| take(split_row(words, width).1))
    }

    /// Drains like [`drain`](Self::drain), but passes the words of each row.
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
        self.width + 3 + VALUE_WORDS
    }

    /// Returns the indices of the collected rows in the order of their keys.
    fn sorted(&self) -> Vec<usize> {
        let mut rows: Vec<usize> = (0..self.collected.len()).step_by(self.stride()).collect();
        // The sort is stable, which keeps the insertion order of equal keys.
        rows.sort_by_key(|&row| self.collected.get(row..row + self.width));
        rows
    }

    /// Sorts the collected rows and stores them as a run.
    fn seal(&mut self) -> io::Result<()> {
        let mut bytes = Vec::new();
        // Each word is stored as its difference to the same word of the previous row: sorted keys
        // and neighboring spans differ little, so most words take a byte or two.
        let mut previous = vec![0; self.width + 3];
        for row in self.sorted() {
            let (words, value) = self.collected[row..row + self.stride()].split_at(self.width + 3);
            for (&word, previous) in words.iter().zip(&mut previous) {
                write_delta(word.wrapping_sub(*previous), &mut bytes);
                *previous = word;
            }
            if let Some(value) = value_of(words[self.width + 1], value) {
                bytes.extend_from_slice(value.bytes());
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
                // Matches are nearly sorted already, so the next row usually comes from the same
                // run. Comparing it with the heap's first saves a push and a pop.
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

/// Splits a row into its key and its match.
fn split_row(words: &[u64], width: usize) -> (&[u64], HeldMatch) {
    let (key, rest) = words.split_at(width);
    let span = Span::new(rest[0], rest[0] + (rest[1] >> 1));
    (key, HeldMatch { span, tag: rest[2], value: value_of(rest[1], &rest[3..]) })
}

/// The value of a row, if the lowest bit of its length says that it has one.
fn value_of(length: u64, value: &[u64]) -> Option<ShortValue> {
    (length & 1 == 1).then(|| ShortValue::from_words(value, length >> 1))
}

impl Smallest {
    fn push(&mut self, key: Box<[u64]>, rest: [u64; 3]) {
        self.rows.push(Row { key, number: self.pushed, rest });
        self.pushed += 1;
        if self.rows.len() > self.limit {
            self.rows.pop();
        }
    }
}

/// A reader of a run.
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

    /// Moves to the next row. Returns false at the end of the run.
    fn advance(&mut self, store: &mut RunStore) -> io::Result<bool> {
        // A word takes at most ten bytes.
        if self.buffer.len() - self.at < self.words.len() * 10 && self.run.start < self.run.end {
            self.buffer.drain(..self.at);
            self.at = 0;
            let count = (READ_BYTES.max(self.words.len() * 20) as u64).min(self.run.end - self.run.start);
            store.read(self.run.start, count as usize, &mut self.buffer)?;
            self.run.start += count;
        }
        if self.at == self.buffer.len() {
            return Ok(false);
        }
        let length = self.words.len();
        let (words, value) = self.words.split_at_mut(length - VALUE_WORDS);
        for word in &mut *words {
            *word = word.wrapping_add(read_delta(&self.buffer, &mut self.at));
        }
        let length = words[words.len() - 2];
        if length & 1 == 1 {
            let end = self.at.saturating_add((length >> 1) as usize);
            let held = self.buffer.get(self.at..end).and_then(ShortValue::new);
            // The disk has returned other bytes than were written.
            let held = held.ok_or(io::ErrorKind::InvalidData)?;
            value.copy_from_slice(&held.words());
            self.at = end;
        }
        Ok(true)
    }
}

/// Writes a difference in zigzag and LEB128 encoding, so that small ones of either sign take few
/// bytes.
fn write_delta(difference: u64, bytes: &mut Vec<u8>) {
    let signed = difference.cast_signed();
    let mut rest = (signed << 1 ^ signed >> 63).cast_unsigned();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
}

fn read_delta(bytes: &[u8], at: &mut usize) -> u64 {
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

/// Bytes that are appended, and read by position. They are in memory first and then in a temporary
/// file.
#[derive(Debug)]
enum RunStore {
    Memory { bytes: Vec<u8>, limit: usize },
    File { file: File, length: u64 },
}

impl RunStore {
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

    /// Returns a deterministic sequence of pseudo-random numbers.
    fn numbers(count: u64) -> impl Iterator<Item = u64> {
        (0..count).map(|at| at.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(17) ^ at)
    }

    #[test]
    fn drains_sorted_rows_from_memory_and_files() {
        for (count, memory) in [(0, 0), (5, 1 << 20), (200_000, 1 << 30), (200_000, 1000)] {
            let mut held = HeldRows::new(memory);
            // Twice, to check that draining leaves nothing behind.
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

    /// Values stay with their rows, in memory, in runs, in files, and when parts are appended.
    #[test]
    fn short_values_are_held() {
        let bytes = |number: u64| vec![number as u8; (number % 41) as usize];
        for memory in [1 << 30, 1000] {
            let (mut parts, mut later) = (HeldRows::new(memory), HeldRows::new(memory));
            let rows: Vec<u64> = numbers(100_000).collect();
            for (at, &number) in rows.iter().enumerate() {
                let held = if at < rows.len() / 2 { &mut parts } else { &mut later };
                let (start, bytes) = (at as u64, bytes(number));
                let span = Span::new(start, start + bytes.len() as u64);
                held.push_with(&[number % 100], span, number, ShortValue::new(&bytes)).unwrap();
            }
            parts.append(&mut later).unwrap();
            let mut count = 0;
            let take = |row: HeldMatch| {
                assert_eq!(row.value, ShortValue::new(&bytes(row.tag)), "{row:?}");
                count += 1;
                io::Result::Ok(())
            };
            parts.drain(take).unwrap();
            assert_eq!(count, rows.len());
        }
        let long = [b'x'; MAX_VALUE_BYTES + 1];
        assert!(ShortValue::new(&long).is_none());
        let most = ShortValue::new(&long[1..]).unwrap();
        assert_eq!(most.bytes(), &long[1..]);
    }

    /// Appending parts one after another is the same as pushing everything to one store.
    #[test]
    fn appended_rows_come_after_own_rows() {
        let (mut whole, mut parts) = (HeldRows::new(1000), HeldRows::new(1000));
        for (part, count) in [10, 0, 200_000, 7].into_iter().enumerate() {
            let mut later = HeldRows::new(if part == 2 { 1000 } else { 1 << 20 });
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
        // The order of rows with equal keys within one part is not compared.
        whole.sort_by_key(|row| (row.span, row.tag));
        parts.sort_by_key(|row| (row.span, row.tag));
        assert!(whole == parts);
    }

    #[test]
    fn keeps_the_rows_that_drain_first() {
        for (count, limit) in [(0, 5), (4, 5), (5, 5), (3000, 5), (3000, 1), (3000, 2999), (3000, 5000)] {
            let (mut all, mut some) = (HeldRows::new(1 << 20), HeldRows::new(1 << 20));
            let drained = |held: &mut HeldRows| {
                let mut rows = Vec::new();
                let take = |row| {
                    rows.push(row);
                    io::Result::Ok(())
                };
                held.drain(take).unwrap();
                rows
            };
            for _ in 0..2 {
                some.keep_smallest(limit);
                for (tag, number) in numbers(count).enumerate() {
                    let (key, span) = ([number % 50, number % 7], Span::new(number >> 40, number >> 39));
                    all.push(&key, span, tag as u64).unwrap();
                    if !some.rejects(&key) {
                        some.push(&key, span, tag as u64).unwrap();
                    }
                }
                assert_eq!(some.bound().is_some(), count >= limit, "{limit} of {count}");
                let expected: Vec<_> = drained(&mut all).into_iter().take(limit as usize).collect();
                assert_eq!(drained(&mut some), expected, "{limit} of {count}");
                assert!(some.is_empty());
            }
        }
        // All rows are kept if the limit exceeds the memory.
        let mut held = HeldRows::new(1 << 20);
        held.keep_smallest(1 << 20);
        assert!(held.smallest.is_none());
    }

    #[test]
    fn sorted_rows_take_few_bytes() {
        let mut held = HeldRows::new(usize::MAX);
        for at in 0..100_000 {
            held.push(&[at * 3000], Span::new(at * 3000 + 40, at * 3000 + 60), 0).unwrap();
        }
        let RunStore::Memory { bytes, .. } = &held.store else { panic!("the rows fit into memory") };
        assert!(bytes.len() < 100_000 * 8, "{}", bytes.len());
    }
}
