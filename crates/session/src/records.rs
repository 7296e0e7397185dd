//! A log is a file of records: one after the other, each read to its end, damaged ones told and
//! left behind.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::Serialize;
use trommel::reader::{
    self, Config, Cursor, Event, Framing, Input, Kind, Limits, MapPolicy, Monitor, Place, Span, Validation,
};
use trommel_base::files::{self, Op};

use crate::error::{Error, ErrorClass, Result};
use crate::text::label;
use crate::watch::Watch;

/// Damaged records that are told of one by one.
const TOLD: usize = 10;

/// Bytes that are copied at a time.
const BLOCK: usize = 256 << 10;

/// Opens a regular file to read, as [`files::open`] does, with the error of the operating system
/// alone.
pub fn open_regular(path: &Path) -> io::Result<File> {
    files::open(path).map_err(files::Error::into_cause)
}

/// Bytes of a string that are held; of longer ones the beginning is known, and the length.
const STRING: u64 = 256 << 10;

/// Bytes held for looking back before they go to a temporary file.
const HELD: u64 = 4 << 20;

/// What was no record in a log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Damage {
    /// How many records.
    pub count: u64,
    /// The first of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<Damaged>,
    /// The last line, where it has no end yet: it may be being written, and is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<Damaged>,
}

/// A record that is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Damaged {
    /// The file's name.
    pub file: String,
    /// The record, from 0.
    pub record: u64,
    /// The line, from 1, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Absolute byte offset of the place.
    pub offset: u64,
    /// A short name of what is wrong.
    pub kind: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where the record starts.
    #[serde(skip)]
    start: u64,
}

impl Damage {
    /// Whether all was read.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.first.extend(other.first);
        self.first.truncate(TOLD);
        self.unfinished = self.unfinished.take().or(other.unfinished);
    }

    /// The same behind so many records.
    pub(crate) fn behind(mut self, records: u64) -> Self {
        for damaged in self.told() {
            damaged.record += records;
        }
        self
    }

    fn told(&mut self) -> impl Iterator<Item = &mut Damaged> {
        self.first.iter_mut().chain(&mut self.unfinished)
    }

    fn note(&mut self, damaged: Damaged) {
        self.count += 1;
        if self.first.len() < TOLD {
            self.first.push(damaged);
        }
    }
}

/// A record that is whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    /// From 0; damaged ones count.
    pub(crate) number: u64,
    pub(crate) line: Option<u64>,
    /// From its value's first byte to behind its last.
    pub(crate) span: Span,
}

/// What whoever looks at records wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    On,
    Enough,
}

/// A file of records as it was when it was opened. What is appended later is not seen.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    input: Input,
    /// The same file, to read at any place.
    file: File,
    /// Whether the file ends with a line's end, so that its last line is finished.
    is_finished: bool,
    arrangement: Arrangement,
    /// Whether each record's line is told. That takes a look at every byte, so it is found out for
    /// damaged ones only.
    has_lines: bool,
}

/// How records lie in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrangement {
    Lines,
    /// The file is one record.
    Document,
    /// In a list that is this member of a document, or the document itself.
    List(&'static str),
}

/// Members of a document that hold its records, when it is no file of lines.
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

    /// The same; none if there is no such file.
    pub(crate) fn open_if_any(path: &Path) -> Result<Option<Self>> {
        match Self::open(path) {
            Err(error) if error.class() == ErrorClass::NotFound => Ok(None),
            log => log.map(Some),
        }
    }

    /// The same, of which lines are told where something is damaged, and nowhere else.
    pub(crate) fn without_lines(self) -> Self {
        Self { has_lines: false, ..self }
    }

    /// The same, where the file may also be one document with a list of records in it.
    pub(crate) fn open_any(path: &Path, watch: &Watch<'_>) -> Result<Self> {
        let mut log = Self::open(path)?;
        log.arrangement = list_of(&log.input, watch).map_or(Arrangement::Lines, Arrangement::List);
        watch.check()?;
        Ok(log)
    }

    /// A file that is one record.
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

    pub(crate) fn input(&self) -> &Input {
        &self.input
    }

    pub(crate) fn len(&self) -> u64 {
        self.input.len()
    }

    /// Whether it is a file of lines, which can be cut.
    pub(crate) fn is_lines(&self) -> bool {
        self.arrangement == Arrangement::Lines
    }

    /// The offset after the line's end that follows an offset; the end of the file if there is
    /// none.
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

    /// Before the first line that begins between two offsets: at the end of the line before, so
    /// that nothing is taken for the beginning of a file.
    pub(crate) fn line_start(&self, from: u64, to: u64) -> Result<Option<u64>> {
        let Some(mut at) = from.checked_sub(1) else { return Ok(Some(0)) };
        let mut block = vec![0; BLOCK];
        while at < to - 1 {
            let most = usize::try_from(to - 1 - at).map_or(BLOCK, |left| left.min(BLOCK));
            let count = self.read_at(&mut block[..most], at)?;
            match block[..count].iter().position(|byte| *byte == b'\n') {
                Some(place) => return Ok(Some(at + place as u64)),
                None if count == 0 => break,
                None => at += count as u64,
            }
        }
        Ok(None)
    }

    /// Finds out the lines of what is damaged, where they are not known.
    pub(crate) fn number_lines(&self, damage: &mut Damage) -> Result<()> {
        if self.has_lines || !self.is_lines() {
            return Ok(());
        }
        let (mut counted, mut lines) = (0, 0);
        for damaged in damage.told() {
            lines += self.lines_between(counted, damaged.start)?;
            counted = damaged.start;
            damaged.line = Some(lines + 1);
        }
        Ok(())
    }

    /// Ends of lines between two offsets. A file that was cut meanwhile has fewer.
    fn lines_between(&self, mut from: u64, to: u64) -> Result<u64> {
        let (mut block, mut lines) = (vec![0; BLOCK], 0);
        while from < to {
            let most = usize::try_from(to - from).map_or(BLOCK, |left| left.min(BLOCK));
            let count = self.read_at(&mut block[..most], from)?;
            if count == 0 {
                break;
            }
            lines += block[..count].iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
            from += count as u64;
        }
        Ok(lines)
    }

    /// Passes on all bytes in blocks, until the end or a cancellation.
    pub(crate) fn each_block(
        &self,
        watch: &Watch<'_>,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let (pass, mut passed) = (watch.pass(self.len()), 0);
        watch.check()?;
        files::each_block(&mut self.input.reader(), &self.path, BLOCK, |block| {
            take(block)?;
            passed += block.len() as u64;
            watch.reach(pass, passed);
            watch.check()
        })?;
        watch.end(pass);
        Ok(())
    }

    /// Gives away the bytes between two offsets.
    pub(crate) fn copy(
        &self,
        mut from: u64,
        to: u64,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut block = vec![0; BLOCK];
        let (start, pass) = (from, watch.pass(to.saturating_sub(from)));
        while from < to {
            watch.check()?;
            let most = usize::try_from(to - from).map_or(BLOCK, |left| left.min(BLOCK));
            let room = &mut block[..most];
            let read = self.file.read_exact_at(room, from);
            read.map_err(|cause| self.failed(cause))?;
            take(room)?;
            from += most as u64;
            watch.reach(pass, from - start);
        }
        Ok(())
    }

    /// The bytes between two offsets.
    pub(crate) fn bytes(&self, from: u64, to: u64) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(to.saturating_sub(from)).unwrap_or(usize::MAX)];
        let read = self.file.read_exact_at(&mut bytes, from);
        read.map_err(|cause| self.failed(cause))?;
        Ok(bytes)
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Goes through all records: `look` looks at what it wants of each, from before its value;
    /// `take` is given what `look` found when the record turned out to be whole.
    pub(crate) fn each<T>(
        &self,
        watch: &Watch<'_>,
        mut look: impl FnMut(&mut Cursor<'_>) -> reader::Result<Option<T>>,
        mut take: impl FnMut(T, Record) -> Result<Flow>,
    ) -> Result<Damage> {
        let pass = watch.pass(self.len());
        let mut walk = Walk::new(self, 0, watch.monitor(pass))?;
        while walk.next()? {
            let found = walk.record(&mut look);
            match found {
                Ok((Some(found), record)) => {
                    if take(found, record)? == Flow::Enough {
                        break;
                    }
                }
                Ok((None, record)) => walk.note_stranger(record),
                Err(error) => walk.pass_over(&error)?,
            }
        }
        watch.end(pass);
        let mut damage = walk.end();
        self.number_lines(&mut damage)?;
        Ok(damage)
    }

    /// The bytes from an offset on, up to where the file ended when it was opened.
    fn reader_from(&self, from: u64) -> Tail<'_> {
        Tail { file: &self.file, at: from, end: self.len() }
    }
}

/// The rest of a file.
struct Tail<'a> {
    file: &'a File,
    at: u64,
    end: u64,
}

impl Read for Tail<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = usize::try_from(self.end - self.at).map_or(bytes.len(), |left| left.min(bytes.len()));
        let count = self.file.read_at(&mut bytes[..most], self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// The member of a document that holds its records; none for a file of lines.
fn list_of(input: &Input, watch: &Watch<'_>) -> Option<&'static str> {
    let cursor = |framing| Cursor::from_reader(input.reader(), framing, &config()).monitored(watch.stopper());
    let mut first = cursor(Framing::Lines);
    // A first line that is a value by itself belongs to a file of lines.
    if first.next_record().ok()?
        && first.skip_value().is_ok()
        && first.advance().is_ok_and(|more| more.is_none())
    {
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

/// Whether a single line holds a list of records rather than being one.
fn is_document(mut cursor: Cursor<'_>) -> bool {
    match cursor.begin_value() {
        Ok(Event::Begin(Kind::Array)) => true,
        Ok(Event::Begin(Kind::Object)) => {
            cursor.next_named(&reader::Names::new(LISTS)).is_ok_and(|found| found.is_some())
        }
        _ => false,
    }
}

/// How logs are read: what is passed over is checked for its brackets and strings.
pub(crate) fn config() -> Config {
    let mut limits = Limits::default();
    limits.token_bytes = STRING;
    limits.held_bytes = HELD;
    Config::new().validation(Validation::Structural).limits(limits)
}

/// One way through a log.
pub(crate) struct Walk<'a> {
    log: &'a Log,
    /// Where it begins: the cursor counts from there.
    from: u64,
    cursor: Cursor<'a>,
    /// Containers open around each record.
    depth: u32,
    record: Option<u64>,
    /// Where the record starts.
    start: u64,
    place: Option<Place>,
    damage: Damage,
    /// What was told last of all.
    last: Option<Damaged>,
    /// Whether the record that was read last is damaged.
    last_is_damaged: bool,
}

impl<'a> Walk<'a> {
    /// Begins at the start of a line, or of the file.
    pub(crate) fn new(log: &'a Log, from: u64, monitor: Monitor<'a>) -> Result<Self> {
        let framing = if log.is_lines() { Framing::Lines } else { Framing::Single };
        let cursor = Cursor::from_reader(log.reader_from(from), framing, &config()).monitored(monitor);
        let mut walk = Self {
            log,
            from,
            cursor,
            depth: 0,
            record: None,
            start: from,
            place: None,
            damage: Damage::default(),
            last: None,
            last_is_damaged: false,
        };
        if let Arrangement::List(list) = log.arrangement {
            walk.enter(list).map_err(|error| Error::read(&log.path, error))?;
        }
        Ok(walk)
    }

    /// Into the list of a document.
    fn enter(&mut self, list: &str) -> reader::Result<()> {
        self.cursor.begin_value()?;
        if !list.is_empty() {
            self.cursor.next_named(&reader::Names::new([list]))?;
            self.cursor.begin_value()?;
        }
        self.depth = self.cursor.depth();
        Ok(())
    }

    /// To before the next record's value.
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
                    self.place = if self.log.has_lines { self.cursor.place(start) } else { None };
                    return Ok(true);
                }
                Err(error) => self.pass_over(&error)?,
            }
        }
    }

    /// What is looked for in the record, which is then read to its end.
    pub(crate) fn record<T>(
        &mut self,
        look: &mut impl FnMut(&mut Cursor<'_>) -> reader::Result<Option<T>>,
    ) -> reader::Result<(Option<T>, Record)> {
        let cursor = &mut self.cursor;
        let is_object = cursor.peek()? == Some(Kind::Object);
        let found = if is_object { look(cursor)? } else { None };
        finish(cursor, self.depth)?;
        let span = Span::new(self.start, self.from + cursor.offset());
        if self.depth == 0 {
            cursor.advance()?;
        }
        let line = self.place.map(|place| place.line);
        Ok((found, Record { number: self.record.unwrap_or(0), line, span }))
    }

    pub(crate) fn note_stranger(&mut self, record: Record) {
        let message = "a record is an object, and this is none".to_owned();
        self.note(record.span.start, "not_an_object", message);
    }

    fn note(&mut self, offset: u64, kind: &'static str, message: String) {
        let file = self.log.path.file_name().unwrap_or_default();
        let file = label(&file.to_string_lossy(), 100);
        let (record, line) = (self.record.unwrap_or(0), self.place.map(|place| place.line));
        let damaged = Damaged { file, record, line, offset, kind, message, start: self.start };
        self.last = Some(damaged.clone());
        self.damage.note(damaged);
    }

    /// Tells of a damaged record, behind which it goes on; any other error ends the way.
    pub(crate) fn pass_over(&mut self, error: &reader::Error) -> Result<()> {
        let encoding = error.kind() == reader::ErrorKind::Syntax(reader::Syntax::Encoding);
        if !error.is_syntax() || !self.cursor.can_recover() || encoding {
            return Err(Error::read(&self.log.path, error.clone()));
        }
        if !self.last_is_damaged {
            self.last_is_damaged = true;
            self.note(self.from + error.offset(), error.kind().code(), label(&error.message(), 200));
        }
        Ok(())
    }

    /// Where the record starts.
    pub(crate) fn start(&self) -> u64 {
        self.start
    }

    /// What was damaged on the way.
    pub(crate) fn end(mut self) -> Damage {
        let unfinished = self.last_is_damaged && !self.log.is_finished && self.log.is_lines();
        if unfinished && self.cursor.is_at_end() {
            self.damage.count -= 1;
            self.damage.first.truncate(usize::try_from(self.damage.count).unwrap_or(TOLD));
            self.damage.unfinished = self.last;
        }
        self.damage
    }
}

/// Past all that is open, behind which nothing may come.
pub(crate) fn to_the_end(cursor: &mut Cursor<'_>) -> reader::Result<()> {
    while cursor.depth() > 0 {
        cursor.leave()?;
    }
    cursor.advance().map(drop)
}

/// Past all that is open above a depth, and past a value that was not looked at.
fn finish(cursor: &mut Cursor<'_>, depth: u32) -> reader::Result<()> {
    while cursor.depth() > depth {
        cursor.leave()?;
    }
    Ok(())
}
