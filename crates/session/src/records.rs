//! Logs as files of records. Each record is validated to its end; damaged records are reported and
//! skipped.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use trommel::reader::{
    self, Config, Cursor, Event, Framing, Input, Kind, Limits, LineColumn, MapPolicy, Monitor, Span,
    Validation,
};
use trommel_base::files::{self, Op};

use crate::error::{Error, ErrorClass, Result};
use crate::text::label;
use crate::watch::Watch;

/// The maximum number of damaged records that are listed.
const MAX_LISTED: usize = 10;

/// The number of bytes copied at a time.
const BLOCK_BYTES: usize = 256 << 10;

/// The maximum number of bytes held of a string. Of longer ones, only a prefix and the length are
/// known.
const MAX_STRING_BYTES: u64 = 256 << 10;

/// The maximum number of bytes held in memory for a rewind of the cursor. More go to a temporary
/// file.
const MAX_HELD_BYTES: u64 = 4 << 20;

/// The damaged records of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Damage {
    /// The number of damaged records.
    pub count: u64,
    /// The first damaged records.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<DamagedRecord>,
    /// The last line, if it is incomplete. It may still be being written, and is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<DamagedRecord>,
}

/// A malformed record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct DamagedRecord {
    /// The name of the file.
    pub file: String,
    /// The record's index, from 0.
    pub record: u64,
    /// The line, from 1, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The absolute byte offset of the error.
    pub offset: u64,
    /// A short name of the error's kind.
    pub kind: &'static str,
    /// The error message.
    pub message: String,
    /// The offset of the record's start.
    #[serde(skip)]
    start: u64,
}

impl Damage {
    /// True if there is no damage.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(MAX_LISTED);
        self.unfinished = self.unfinished.take().or(other.unfinished);
    }

    /// Adds `records` to all record indexes.
    pub(crate) fn offset_by(mut self, records: u64) -> Self {
        for damaged in self.listed_mut() {
            damaged.record += records;
        }
        self
    }

    fn listed_mut(&mut self) -> impl Iterator<Item = &mut DamagedRecord> {
        self.first.iter_mut().chain(&mut self.unfinished)
    }

    fn note(&mut self, damaged: DamagedRecord) {
        self.count += 1;
        if self.first.len() < MAX_LISTED {
            self.first.push(damaged);
        }
    }
}

/// A valid record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// The index, from 0. Damaged records count.
    pub(crate) number: u64,
    pub(crate) line: Option<u64>,
    /// The span of its value.
    pub(crate) span: Span,
}

/// The decision of a callback whether to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    Stop,
}

/// A file of records, as of when it was opened. Bytes appended later are ignored.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    input: Input<'static>,
    /// The same file, for reads at arbitrary offsets.
    file: File,
    /// True if the file ends with a line end, so that its last line is complete.
    is_finished: bool,
    arrangement: Arrangement,
    /// True to number the line of every record. That inspects every byte, so otherwise only the
    /// lines of damaged records are determined.
    has_lines: bool,
}

/// The arrangement of records in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrangement {
    Lines,
    /// The file is a single record.
    Document,
    /// The records are a list in this member of a document. Empty if the document itself is the
    /// list.
    List(&'static str),
}

/// Members of a document that may be the list of its records.
const LISTS: [&str; 3] = ["loglines", "history", "messages"];

impl Log {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = files::open(path)?;
        let (input, last) = files::attempt(Op::Read, path, || {
            let input = Input::from_file(file.try_clone()?, MapPolicy::never())?;
            let mut last = [b'\n'];
            if let Some(at) = input.len().checked_sub(1) {
                file.read_exact_at(&mut last, at)?;
            }
            Ok((input, last))
        })?;
        Ok(Self {
            path: path.to_owned(),
            input,
            file,
            is_finished: last == [b'\n'],
            arrangement: Arrangement::Lines,
            has_lines: true,
        })
    }

    /// Like [`open`](Self::open). None if the file does not exist.
    pub(crate) fn open_if_any(path: &Path) -> Result<Option<Self>> {
        match Self::open(path) {
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            log => log.map(Some),
        }
    }

    /// Numbers only the lines of damaged records.
    pub(crate) fn without_lines(self) -> Self {
        Self { has_lines: false, ..self }
    }

    /// Like [`open`](Self::open), but the file may also be a document with a list of records.
    pub(crate) fn open_any(path: &Path, watch: &Watch<'_>) -> Result<Self> {
        let mut log = Self::open(path)?;
        log.arrangement = find_list(&log.input, watch).map_or(Arrangement::Lines, Arrangement::List);
        watch.check()?;
        Ok(log)
    }

    /// Opens a file that is a single record.
    pub(crate) fn open_document(path: &Path) -> Result<Self> {
        Ok(Self { arrangement: Arrangement::Document, ..Self::open(path)? })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn failed(&self, cause: io::Error) -> files::Error {
        files::Error::new(Op::Read, &self.path, cause)
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn input(&self) -> &Input<'static> {
        &self.input
    }

    pub(crate) fn len(&self) -> u64 {
        self.input.len()
    }

    /// True if it is a file of lines, which can be cut.
    pub(crate) fn is_lines(&self) -> bool {
        self.arrangement == Arrangement::Lines
    }

    /// Returns the offset after the first line end at or after `offset`, or the end of the file.
    pub(crate) fn line_end(&self, mut offset: u64) -> Result<u64> {
        let mut block = [0; 256];
        while offset < self.len() {
            let count = self.read_at(&mut block, offset)?;
            match block[..count].iter().position(|byte| *byte == b'\n') {
                Some(at) => return Ok((offset + at as u64 + 1).min(self.len())),
                None if count == 0 => break,
                None => offset += count as u64,
            }
        }
        Ok(self.len())
    }

    fn read_at(&self, block: &mut [u8], offset: u64) -> Result<usize> {
        Ok(self.file.read_at(block, offset).map_err(|cause| self.failed(cause))?)
    }

    /// Returns the offset just before the first line that starts between two offsets. This is the
    /// end of the previous line, so that a reader does not mistake the line for the start of a
    /// file.
    pub(crate) fn line_start(&self, from: u64, to: u64) -> Result<Option<u64>> {
        let Some(mut at) = from.checked_sub(1) else { return Ok(Some(0)) };
        let mut block = vec![0; BLOCK_BYTES];
        while at < to - 1 {
            let length = usize::try_from(to - 1 - at).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
            let count = self.read_at(&mut block[..length], at)?;
            match block[..count].iter().position(|byte| *byte == b'\n') {
                Some(position) => return Ok(Some(at + position as u64)),
                None if count == 0 => break,
                None => at += count as u64,
            }
        }
        Ok(None)
    }

    /// Determines the lines of damaged records, if lines were not numbered.
    pub(crate) fn number_lines(&self, damage: &mut Damage) -> Result<()> {
        if self.has_lines || !self.is_lines() {
            return Ok(());
        }
        let (mut counted, mut lines) = (0, 0);
        for damaged in damage.listed_mut() {
            // Damaged records are sorted by offset, so each byte is counted at most once.
            lines += self.lines_between(counted, damaged.start)?;
            counted = damaged.start;
            damaged.line = Some(lines + 1);
        }
        Ok(())
    }

    /// Returns the number of line ends between two offsets. A file that was truncated meanwhile has
    /// fewer.
    fn lines_between(&self, mut from: u64, to: u64) -> Result<u64> {
        let (mut block, mut lines) = (vec![0; BLOCK_BYTES], 0);
        while from < to {
            let length = usize::try_from(to - from).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
            let count = self.read_at(&mut block[..length], from)?;
            if count == 0 {
                break;
            }
            lines += block[..count].iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            from += count as u64;
        }
        Ok(lines)
    }

    /// Passes all bytes to a callback in blocks, until the end or a cancellation.
    pub(crate) fn each_block(
        &self,
        watch: &Watch<'_>,
        mut visit: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (pass, mut passed) = (watch.pass(self.len()), 0);
        watch.check()?;
        files::each_block(&mut self.input.reader(), &self.path, BLOCK_BYTES, |block| {
            visit(block)?;
            passed += block.len() as u64;
            watch.reach(pass, passed);
            watch.check()
        })?;
        watch.end(pass);
        Ok(())
    }

    /// Copies the bytes between two offsets to a callback.
    pub(crate) fn copy(
        &self,
        mut from: u64,
        to: u64,
        watch: &Watch<'_>,
        visit: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut block = vec![0; BLOCK_BYTES];
        let (start, pass) = (from, watch.pass(to.saturating_sub(from)));
        while from < to {
            watch.check()?;
            let length = usize::try_from(to - from).map_or(BLOCK_BYTES, |left| left.min(BLOCK_BYTES));
            let room = &mut block[..length];
            let read = self.file.read_exact_at(room, from);
            read.map_err(|cause| self.failed(cause))?;
            visit(room)?;
            from += length as u64;
            watch.reach(pass, from - start);
        }
        Ok(())
    }

    /// Reads the bytes between two offsets.
    pub(crate) fn bytes(&self, from: u64, to: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX)];
        let read = self.file.read_exact_at(&mut bytes, from);
        read.map_err(|cause| self.failed(cause))?;
        Ok(bytes)
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Reads all records: `read` reads the needed data of each, starting before its value. `visit`
    /// receives the result once the record proves to be valid.
    pub(crate) fn each<T>(
        &self,
        watch: &Watch<'_>,
        mut read: impl FnMut(&mut Cursor<'_>) -> reader::Result<Option<T>>,
        mut visit: impl FnMut(T, Record) -> Result<Flow>,
    ) -> Result<Damage> {
        let pass = watch.pass(self.len());
        let mut reader = RecordReader::new(self, 0, watch.monitor(pass))?;
        while reader.next()? {
            // Damage after the fields in the same record shows only at its end, so results are not
            // passed on before.
            let found = reader.record(&mut read);
            match found {
                Ok((Some(found), record)) => {
                    if visit(found, record)? == Flow::Stop {
                        break;
                    }
                }
                Ok((None, record)) => reader.note_non_object(record),
                Err(error) => reader.skip_damaged(&error)?,
            }
        }
        watch.end(pass);
        let mut damage = reader.into_damage();
        self.number_lines(&mut damage)?;
        Ok(damage)
    }

    /// Returns a reader from an offset to the end of the file, as of when it was opened.
    fn reader_from(&self, from: u64) -> FileTail<'_> {
        FileTail { file: &self.file, at: from, end: self.len() }
    }
}

/// The rest of a file.
struct FileTail<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for FileTail<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        // A file that grows while it is read must not yield more than its length at opening, or an
        // incomplete line would count as damage.
        let length = usize::try_from(self.end - self.at).map_or(bytes.len(), |left| left.min(bytes.len()));
        let count = self.file.read_at(&mut bytes[..length], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Returns the member of a document that holds its records. None for a file of lines.
fn find_list(input: &Input<'_>, watch: &Watch<'_>) -> Option<&'static str> {
    let cursor =
        |framing| Cursor::from_reader(input.reader(), framing, &config()).monitored(watch.cancel_monitor());
    let mut first = cursor(Framing::Lines);
    // A first line that is a complete value indicates a file of lines.
    if first.next_record().ok()?
        && first.skip_value().is_ok()
        && first.advance().is_ok_and(|more| more.is_none())
    {
        // A single line may still be a document, such as `{"messages": […]}`.
        let spread = first.next_record().is_ok_and(|more| more);
        if spread || !is_document(cursor(Framing::Single)) {
            return None;
        }
    }
    let mut cursor = cursor(Framing::Single);
    match cursor.begin_value().ok()? {
        Event::Begin(Kind::Array) => Some(""),
        Event::Begin(Kind::Object) => {
            let found = cursor.next_named(&reader::Names::new(LISTS)).ok()??;
            (cursor.peek().ok()? == Some(Kind::Array)).then_some(())?;
            LISTS.get(found).copied()
        }
        _ => None,
    }
}

/// True if a single line is a list of records, or an object with one.
fn is_document(mut cursor: Cursor<'_>) -> bool {
    match cursor.begin_value() {
        Ok(Event::Begin(Kind::Array)) => true,
        Ok(Event::Begin(Kind::Object)) => {
            cursor.next_named(&reader::Names::new(LISTS)).is_ok_and(|found| found.is_some())
        }
        _ => false,
    }
}

/// The reader configuration for logs. Skipped values are validated structurally: brackets and
/// strings only.
pub(crate) fn config() -> Config {
    let mut limits = Limits::default();
    limits.token_bytes = MAX_STRING_BYTES;
    limits.held_bytes = MAX_HELD_BYTES;
    Config::new().validation(Validation::Structural).limits(limits)
}

/// Iterates over the records of a log, and collects damage.
pub(crate) struct RecordReader<'a> {
    log: &'a Log,
    /// The offset of the cursor's start in the file.
    from: u64,
    cursor: Cursor<'a>,
    /// The number of containers open around each record.
    depth: u32,
    record: Option<u64>,
    /// The offset of the record's start.
    start: u64,
    position: Option<LineColumn>,
    damage: Damage,
    /// The last damage found, even if it is not listed.
    last: Option<DamagedRecord>,
    /// True if the last record is damaged.
    last_is_damaged: bool,
}

impl<'a> RecordReader<'a> {
    /// Starts at an offset, which must be the start of a line or of the file.
    pub(crate) fn new(log: &'a Log, from: u64, monitor: Monitor<'a>) -> Result<Self> {
        let framing = if log.is_lines() { Framing::Lines } else { Framing::Single };
        let cursor = Cursor::from_reader(log.reader_from(from), framing, &config()).monitored(monitor);
        let mut reader = Self {
            log,
            from,
            cursor,
            depth: 0,
            record: None,
            start: from,
            position: None,
            damage: Damage::default(),
            last: None,
            last_is_damaged: false,
        };
        if let Arrangement::List(list) = log.arrangement {
            reader.enter(list).map_err(|error| Error::read(&log.path, error))?;
        }
        Ok(reader)
    }

    /// Moves the cursor into the list of a document.
    fn enter(&mut self, list: &str) -> reader::Result<()> {
        self.cursor.begin_value()?;
        if !list.is_empty() {
            self.cursor.next_named(&reader::Names::new([list]))?;
            self.cursor.begin_value()?;
        }
        self.depth = self.cursor.depth();
        Ok(())
    }

    /// Moves to the next record, before its value.
    pub(crate) fn next(&mut self) -> Result<bool> {
        loop {
            let more = if self.depth == 0 { self.cursor.next_record() } else { self.cursor.next_element() };
            match more {
                Ok(false) => return Ok(false),
                Ok(true) => {
                    self.last_is_damaged = false;
                    self.record = Some(self.record.map_or(0, |record| record + 1));
                    let start =
                        if self.depth == 0 { self.cursor.record_start() } else { self.cursor.offset() };
                    self.start = self.from + start;
                    self.position = if self.log.has_lines { self.cursor.line_column(start) } else { None };
                    return Ok(true);
                }
                Err(error) => self.skip_damaged(&error)?,
            }
        }
    }

    /// Reads data of the record with a callback, then validates the record to its end.
    pub(crate) fn record<T>(
        &mut self,
        read: &mut impl FnMut(&mut Cursor<'_>) -> reader::Result<Option<T>>,
    ) -> reader::Result<(Option<T>, Record)> {
        let cursor = &mut self.cursor;
        let is_object = cursor.peek()? == Some(Kind::Object);
        let found = if is_object { read(cursor)? } else { None };
        leave_to_depth(cursor, self.depth)?;
        let span = Span::new(self.start, self.from + cursor.offset());
        if self.depth == 0 {
            cursor.advance()?;
        }
        let line = self.position.map(|position| position.line);
        Ok((found, Record { number: self.record.unwrap_or(0), line, span }))
    }

    pub(crate) fn note_non_object(&mut self, record: Record) {
        let message = "not an object, as records must be".to_owned();
        self.note(record.span.start, "not_an_object", message);
    }

    fn note(&mut self, offset: u64, kind: &'static str, message: String) {
        let file = self.log.path.file_name().unwrap_or_default();
        let file = label(&file.to_string_lossy(), 100);
        let (record, line) = (self.record.unwrap_or(0), self.position.map(|position| position.line));
        let damaged = DamagedRecord { file, record, line, offset, kind, message, start: self.start };
        self.last = Some(damaged.clone());
        self.damage.note(damaged);
    }

    /// Records a damaged record and continues after it. Any other error ends the iteration.
    pub(crate) fn skip_damaged(&mut self, error: &reader::Error) -> Result<()> {
        // Invalid UTF-8 or a byte-order mark of another encoding concerns the whole file, so it is
        // not treated as one damaged record.
        let encoding = error.kind() == reader::ErrorKind::Syntax(reader::Syntax::Encoding);
        if !error.is_syntax() || !self.cursor.can_recover() || encoding {
            return Err(Error::read(&self.log.path, error.clone()));
        }
        // A record with several errors, such as one in each of its pieces after recovery, counts
        // once.
        if !self.last_is_damaged {
            self.last_is_damaged = true;
            self.note(self.from + error.offset(), error.kind().code(), label(&error.message(), 200));
        }
        Ok(())
    }

    /// The offset of the record's start.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// Returns the damage found.
    pub(crate) fn into_damage(mut self) -> Damage {
        // A writer appends lines in pieces. A damaged last line without a line end is probably
        // incomplete rather than corrupt.
        let unfinished = self.last_is_damaged && !self.log.is_finished && self.log.is_lines();
        if unfinished && self.cursor.is_at_end() {
            self.damage.count -= 1;
            self.damage.first.truncate(usize::try_from(self.damage.count).unwrap_or(MAX_LISTED));
            self.damage.unfinished = self.last;
        }
        self.damage
    }
}

/// Leaves all open containers, and fails if more data follows.
pub(crate) fn expect_end(cursor: &mut Cursor<'_>) -> reader::Result<()> {
    while cursor.depth() > 0 {
        cursor.leave()?;
    }
    cursor.advance().map(drop)
}

/// Leaves the containers that are open above a depth.
fn leave_to_depth(cursor: &mut Cursor<'_>, depth: u32) -> reader::Result<()> {
    while cursor.depth() > depth {
        cursor.leave()?;
    }
    Ok(())
}
