//! Work of unknown length: searches, queries, statistics, sorting, and writing. One task at a time;
//! it can be cancelled, and reports progress and partial results.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;

use memchr::memmem::Finder;
use trommel::path::{Duplicates, Logical, Query};
use trommel::reader::{self, Event, Kind, Payload, Scalar, Span};
use trommel::{Analysis, Cancel, Damage, Document, Extract, Match, Measure, OnBadRecord, Progress, Sink};
use trommel_base::text;

use crate::list::{PREVIEW_BYTES, count, next_child, preview};
use crate::message::Message;
use crate::source::{Holder, Node, Source};

/// Results of a query that are listed.
pub(crate) const MAX_HITS: usize = 10_000;

/// Elements that are sorted: about 100 bytes each, at most 300.
pub(crate) const MAX_SORTED: usize = 200_000;

/// Bytes of a string that decide its order.
const KEY_BYTES: usize = 64;

/// Hits in a message.
const BATCH: usize = 100;

/// Bytes searched at a time.
const CHUNK: usize = 1 << 20;

/// A result of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) location: String,
    pub(crate) record: u64,
    pub(crate) start: u64,
    pub(crate) preview: String,
}

/// How many results a query has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The number of results, all of which were sent unless it exceeds the maximum.
    pub(crate) found: u64,
    /// The number of records that were left out.
    pub(crate) malformed: u64,
}

/// The progress of a task, in bytes of all bytes.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    done: AtomicU64,
    total: AtomicU64,
}

impl Meter {
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
    }

    /// The part that is done, in percent.
    pub(crate) fn percent(&self) -> Option<u64> {
        let total = self.total.load(Ordering::Relaxed);
        (100 * self.done.load(Ordering::Relaxed)).checked_div(total)
    }

    /// A callback for an analysis.
    pub(crate) fn callback(self: &Arc<Self>) -> impl Fn(Progress) + Send + Sync + use<> {
        let meter = Arc::clone(self);
        move |progress: Progress| meter.set(progress.bytes, progress.total.unwrap_or(0))
    }
}

/// What every task gets.
pub(crate) struct Task {
    /// Its number, by which results of a cancelled task are recognized.
    pub(crate) number: u64,
    pub(crate) source: Arc<Source>,
    pub(crate) cancel: Cancel,
    pub(crate) meter: Arc<Meter>,
    pub(crate) sender: Sender<Message>,
}

impl Task {
    pub(crate) fn analysis(&self) -> Analysis {
        let callback = self.meter.callback();
        Analysis::new()
            .duplicates(Duplicates::All)
            .on_bad_record(OnBadRecord::Skip { at_most: u64::MAX })
            .cancel_with(&self.cancel)
            .on_progress(callback)
    }

    /// Lists the values that a query selects in each record.
    pub(crate) fn query(&self, query: Query) -> Result<Listed, String> {
        let extract = Extract::new(query).limit(MAX_HITS as u64 + 1);
        self.collect(self.source.document(), &self.analysis().ask(Measure::Extract(extract)), "$")
    }

    /// Lists the records for which a filter holds.
    pub(crate) fn filter_records(&self, filter: Logical) -> Result<Listed, String> {
        self.collect(self.source.document(), &whole(self.analysis().filter(filter)), "$")
    }

    /// Lists the elements of an array for which a filter holds.
    pub(crate) fn filter_elements(
        &self,
        array: Span,
        location: &str,
        filter: Logical,
    ) -> Result<Listed, String> {
        let elements = "$[*]".parse().map_err(|error: trommel::path::ParseError| error.to_string())?;
        let analysis = whole(self.analysis().each(elements).filter(filter));
        self.collect(self.source.document_of(array), &analysis, location)
    }

    /// Sends at most [`MAX_HITS`] values. The number that it returns is larger if there are more.
    fn collect(
        &self,
        document: io::Result<Document<'static>>,
        analysis: &Analysis,
        location: &str,
    ) -> Result<Listed, String> {
        let mut document = document.map_err(|error| error.to_string())?;
        let mut hits = Hits { task: self, location, batch: Vec::new(), listed: Listed::default() };
        let run = analysis.run_with(&mut document, &mut hits);
        hits.send();
        run.map(|_| hits.listed).map_err(|error| error.to_string())
    }

    /// The offset of the next occurrence of a text after `from`, or of the one before it. Continues
    /// at the other end of the input.
    pub(crate) fn search(&self, pattern: &Pattern, from: u64, forward: bool) -> Result<Option<u64>, String> {
        let length = self.source.length().map_err(|error| error.to_string())?;
        let found = if forward {
            match self.forward(pattern, (from + 1).min(length), length) {
                Ok(None) => self.forward(pattern, 0, (from + 1 + pattern.len()).min(length)),
                found => found,
            }
        } else {
            match self.backward(pattern, 0, (from + pattern.len()).saturating_sub(1).min(length)) {
                Ok(None) => self.backward(pattern, from.min(length), length),
                found => found,
            }
        };
        found.map_err(|error| error.to_string())
    }

    fn forward(&self, pattern: &Pattern, from: u64, to: u64) -> reader::Result<Option<u64>> {
        let mut at = from;
        while at < to {
            let bytes = self.chunk(at, to, pattern)?;
            if let Some(index) = pattern.first(&bytes) {
                return Ok(Some(at + index as u64));
            }
            at += CHUNK as u64;
            self.meter.set(at - from, to - from);
        }
        Ok(None)
    }

    fn backward(&self, pattern: &Pattern, from: u64, to: u64) -> reader::Result<Option<u64>> {
        let mut end = to;
        while end > from {
            let start = end.saturating_sub(CHUNK as u64).max(from);
            let bytes = self.chunk(start, to, pattern)?;
            if let Some(index) = pattern.last(&bytes) {
                return Ok(Some(start + index as u64));
            }
            end = start;
            self.meter.set(to - end, to - from);
        }
        Ok(None)
    }

    /// The bytes of a chunk, and those of an occurrence that starts in it.
    fn chunk(&self, start: u64, to: u64, pattern: &Pattern) -> reader::Result<Vec<u8>> {
        if self.cancel.is_cancelled() {
            return Err(reader::Error::io(io::ErrorKind::Interrupted.into(), start));
        }
        let count = (CHUNK as u64 + pattern.len()).saturating_sub(1).min(to - start);
        self.source.bytes(start, count as usize)
    }

    /// The elements of an array, ordered by a member: numbers before strings, then the others.
    /// Returns their indices, and the number of elements that were not sorted.
    pub(crate) fn sort(
        &self,
        array: Node,
        column: &str,
        descending: bool,
    ) -> Result<(Vec<u32>, u64), String> {
        let mut keys = Vec::new();
        let read = self.source.read_value(array, &self.cancel, |cursor| {
            cursor.begin_value()?;
            while cursor.next_element()? {
                if keys.len() == MAX_SORTED {
                    return Ok(());
                }
                keys.push((key(cursor, column)?, keys.len() as u32));
            }
            Ok(())
        });
        read.map_err(|error| error.to_string())?;
        keys.sort_by(|left, right| {
            let order = left.0.cmp(&right.0);
            // Elements without the member are last in both orders.
            let both = left.0 != Key::None && right.0 != Key::None;
            let order = if descending && both { order.reverse() } else { order };
            order.then(left.1.cmp(&right.1))
        });
        let sorted = keys.len() as u64;
        let total = count(&self.source, Holder::Value(array), &self.cancel);
        Ok((keys.into_iter().map(|(_, index)| index).collect(), total.saturating_sub(sorted)))
    }

    /// Writes a value to a new file.
    pub(crate) fn write(&self, value: Span, path: &Path) -> Result<u64, String> {
        let failed = |error: io::Error| error.to_string();
        let mut file = OpenOptions::new().write(true).create_new(true).open(path).map_err(failed)?;
        let written = self.copy(value, &mut file);
        if written.is_err() {
            // An incomplete file would look like a whole one.
            let _ = std::fs::remove_file(path);
        }
        written.map_err(failed)
    }

    fn copy(&self, value: Span, file: &mut impl Write) -> io::Result<u64> {
        let range = self.source.input()?.range(value);
        let input = range.ok_or_else(|| io::Error::other("the input has become shorter"))?;
        let (mut from, mut chunk, mut written) = (input.reader(), vec![0; CHUNK], 0);
        loop {
            if self.cancel.is_cancelled() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            match from.read(&mut chunk)? {
                0 => return Ok(written),
                count => {
                    file.write_all(&chunk[..count])?;
                    written += count as u64;
                    self.meter.set(written, value.len());
                }
            }
        }
    }
}

/// Extracts whole records.
fn whole(analysis: Analysis) -> Analysis {
    analysis.ask(Measure::Extract(Extract::new(Query::root()).limit(MAX_HITS as u64 + 1)))
}

/// Receives the values of a query, and sends them in batches.
struct Hits<'t> {
    task: &'t Task,
    /// The location of the document in the input.
    location: &'t str,
    batch: Vec<Hit>,
    listed: Listed,
}

impl Hits<'_> {
    fn send(&mut self) {
        let batch = std::mem::take(&mut self.batch);
        // Without a receiver, the program ends.
        let _ = self.task.sender.send(Message::Hits(self.task.number, batch));
    }
}

impl Sink for Hits<'_> {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        self.listed.found += 1;
        if self.listed.found > MAX_HITS as u64 {
            return Ok(());
        }
        let bytes = &found.value[..found.value.len().min(PREVIEW_BYTES)];
        let within = found.location.and_then(|location| location.strip_prefix('$')).unwrap_or("");
        let location = format!("{}{within}", self.location);
        let hit = Hit { location, record: found.record, start: found.span.start, preview: preview(bytes) };
        self.batch.push(hit);
        if self.batch.len() == BATCH {
            self.send();
        }
        Ok(())
    }

    fn damaged(&mut self, _: &Damage) -> io::Result<()> {
        self.listed.malformed += 1;
        Ok(())
    }

    fn wants_location(&self) -> bool {
        true
    }
}

/// A text to search for. Without capital letters, it also matches capital letters.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: Vec<u8>,
    folds: bool,
}

impl Pattern {
    pub(crate) fn new(text: &str) -> Self {
        Self { text: text.as_bytes().to_vec(), folds: !text.bytes().any(|byte| byte.is_ascii_uppercase()) }
    }

    fn len(&self) -> u64 {
        self.text.len() as u64
    }

    fn first(&self, bytes: &[u8]) -> Option<usize> {
        self.all(bytes, |found| found.next())
    }

    fn last(&self, bytes: &[u8]) -> Option<usize> {
        self.all(bytes, |found| found.last())
    }

    fn all(
        &self,
        bytes: &[u8],
        pick: impl FnOnce(&mut dyn Iterator<Item = usize>) -> Option<usize>,
    ) -> Option<usize> {
        if self.folds {
            let lower = bytes.to_ascii_lowercase();
            return pick(&mut Finder::new(&self.text).find_iter(&lower));
        }
        pick(&mut Finder::new(&self.text).find_iter(bytes))
    }
}

/// The order of elements.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
enum Key {
    Number(f64),
    Text(Vec<u8>),
    Other,
    None,
}

impl Key {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Number(left), Self::Number(right)) => left.total_cmp(right),
            _ => self.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal),
        }
    }
}

/// The key of the element that the cursor is before.
fn key(cursor: &mut reader::Cursor<'_>, column: &str) -> reader::Result<Key> {
    if cursor.peek()? != Some(Kind::Object) {
        return Ok(Key::None);
    }
    let outside = cursor.depth();
    cursor.begin_value()?;
    let mut key = Key::None;
    while next_child(cursor, Kind::Object)? {
        if cursor.name().is_some_and(|name| name.decode() == column) {
            key = match cursor.begin_value()? {
                Event::Scalar(_) => scalar_key(cursor.payload()),
                _ => Key::Other,
            };
            break;
        }
    }
    while cursor.depth() > outside {
        cursor.leave()?;
    }
    Ok(key)
}

fn scalar_key(payload: Payload<'_>) -> Key {
    match payload {
        Payload::Scalar(Scalar::Number(number)) => number.lexeme().parse().map_or(Key::Other, Key::Number),
        Payload::Scalar(Scalar::String(text)) => {
            let text = text.decode();
            Key::Text(text::first(&text, KEY_BYTES).as_bytes().to_vec())
        }
        _ => Key::Other,
    }
}
