//! Analysis of a payload while it is written: whether it is JSON, its record separation, and its
//! summary.

mod lines;

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use trommel::reader::{Config, Cursor, Event, Framing, Kind as JsonKind, Listener, Scalar, Text, Tokens};
use trommel::statistics::{self, Accumulator, Profile, ProfileOptions};
use trommel_guide::{Index, IndexBuilder, TokenKind};

use crate::guide::MIN_BYTES;
use crate::output::{DamagedRecord, Kind, NotJson, Records, Stored, Summary};

pub(crate) use lines::analyze_lines;

/// The result of an analysis.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Analysis {
    pub(crate) kind: Kind,
    pub(crate) framing: Option<Records>,
    pub(crate) records: Option<u64>,
    pub(crate) damaged_records: u64,
    pub(crate) first_damaged: Option<DamagedRecord>,
    pub(crate) summary: Summary,
    pub(crate) duplicate_names: u64,
    pub(crate) not_json: Option<NotJson>,
    /// The index of JSON that is long enough for one.
    pub(crate) index: Option<Index>,
}

/// Maximum length of the reason why a payload is not JSON, in characters.
const MAX_REASON_CHARS: usize = 300;

/// Reads to the end, or to the first byte that is not valid JSON in this framing. Validates
/// strictly. Memory is limited to a window and a few bytes per nesting level.
pub(crate) fn analyze(reader: impl Read + Send, framing: Framing) -> Analysis {
    let lines = Arc::new(Mutex::new(LineEnds::default()));
    let reader = LineTracker { reader, lines: Arc::clone(&lines), offset: 0 };
    let mut cursor = Cursor::from_reader(reader, framing, &Config::new());
    let mut counters = Counters::new();
    match read(&mut cursor, &mut counters, &lines) {
        Ok(is_lines) => counters.json(cursor.framing(), is_lines, cursor.offset()),
        Err(error) => Analysis::text(&error),
    }
}

/// Reads all records. Returns true if each one is on its own line.
fn read(
    cursor: &mut Cursor<'_>,
    counters: &mut Counters,
    lines: &Mutex<LineEnds>,
) -> trommel::reader::Result<bool> {
    let mut is_lines = true;
    while cursor.next_record()? {
        let (start, end) = counters.record(cursor)?;
        is_lines &= lines.lock().unwrap_or_else(PoisonError::into_inner).is_own_line(start, end);
    }
    Ok(is_lines)
}

/// The reason why a payload or a record is not JSON.
fn not_json(error: &trommel::reader::Error) -> NotJson {
    let position = error.line_column();
    NotJson {
        message: error.to_string().chars().take(MAX_REASON_CHARS).collect(),
        offset: error.offset(),
        line: position.map(|position| position.line),
        column: position.map(|position| position.column),
    }
}

impl Analysis {
    /// Enters the results into the description of the payload.
    pub(crate) fn describe(self, stored: &mut Stored) {
        let Self { kind, framing, records, damaged_records, first_damaged, summary, .. } = self;
        (stored.kind, stored.framing, stored.records) = (kind, framing, records);
        (stored.damaged_records, stored.first_damaged) = (damaged_records, first_damaged);
        (stored.summary, stored.duplicate_names) = (summary, self.duplicate_names);
        stored.not_json = self.not_json;
    }

    fn text(error: &trommel::reader::Error) -> Self {
        Self {
            kind: Kind::Text,
            framing: None,
            records: None,
            damaged_records: 0,
            first_damaged: None,
            summary: Summary { type_: "text".into(), keys: None, items: None },
            duplicate_names: 0,
            not_json: Some(not_json(error)),
            index: None,
        }
    }
}

/// Counters that are updated with each event.
struct Counters {
    profile: Profile,
    index: IndexBuilder,
    records: u64,
    /// The common type of all roots so far. `None` if they differ.
    root: Option<&'static str>,
    first: FirstRecord,
    /// The starts of names and brackets among many tokens.
    starts: Vec<u16>,
}

/// Counters of the first record.
#[derive(Default)]
struct FirstRecord {
    /// Number of open containers.
    depth: u32,
    /// Number of members of the root.
    members: u64,
    /// Number of elements of the root.
    elements: u64,
    /// Number of elements of the open array that is a member of the root.
    inner: Option<u64>,
    /// The largest number of elements of such an array.
    longest: Option<u64>,
}

impl FirstRecord {
    /// Counts a value that starts at the current depth.
    #[inline]
    fn value(&mut self, is_array: bool) {
        match self.depth {
            1 => {
                self.elements += 1;
                self.inner = is_array.then_some(0);
            }
            2 => {
                if let Some(inner) = &mut self.inner {
                    *inner += 1;
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn enter(&mut self, is_array: bool) {
        self.value(is_array);
        self.depth += 1;
    }

    #[inline]
    fn leave(&mut self) {
        self.depth -= 1;
        if self.depth == 1 {
            self.longest = self.longest.max(self.inner.take());
        }
    }

    #[inline]
    fn observe(&mut self, kind: TokenKind) {
        match kind {
            TokenKind::Name => self.members += u64::from(self.depth == 1),
            TokenKind::Begin(kind) => self.enter(kind == JsonKind::Array),
            TokenKind::End => self.leave(),
            TokenKind::Scalar => self.value(false),
        }
    }
}

impl Counters {
    fn new() -> Self {
        let mut options = ProfileOptions::default();
        (options.per_path, options.counts, options.duplicate_names) = (false, false, true);
        Self {
            profile: Profile::new(options),
            index: IndexBuilder::default(),
            records: 0,
            root: None,
            first: FirstRecord::default(),
            starts: Vec::new(),
        }
    }

    /// Counts the record that the cursor is before. Returns the offsets where its value starts and
    /// ends.
    fn record(&mut self, cursor: &mut Cursor<'_>) -> trommel::reader::Result<(u64, u64)> {
        self.profile.begin();
        let start = cursor.record_start();
        self.index.begin_record(start);
        let event = cursor.begin_value()?;
        if let Event::Begin(kind) | Event::Scalar(kind) = event {
            let is_first = self.records == 0;
            self.root = Some(kind.name()).filter(|name| is_first || self.root == Some(name));
        }
        self.receive(event, cursor.payload(), start);
        cursor.listen(0, u64::MAX, self)?;
        let end = cursor.offset();
        // Advancing past the value detects trailing bytes that are not allowed.
        while cursor.advance()?.is_some() {}
        self.profile.end();
        self.records += 1;
        Ok((start, end))
    }

    /// Returns the results for a payload of this length.
    fn json(mut self, framing: Framing, is_lines: bool, length: u64) -> Analysis {
        self.profile.normalize();
        let records = match framing {
            Framing::Single => Records::Json,
            Framing::Lines => Records::Jsonl,
            Framing::Concatenated => Records::Concatenated,
            Framing::JsonSeq => Records::JsonSeq,
            _ if self.records == 1 => Records::Json,
            _ if is_lines => Records::Jsonl,
            _ => Records::Auto,
        };
        let kind = if records == Records::Json { Kind::Json } else { Kind::JsonLines };
        let stream = (kind == Kind::JsonLines).then_some(self.records);
        let root = self.root.unwrap_or(if self.records == 0 { "none" } else { "mixed" });
        let is_one = |name: &str| stream.is_none() && root == name;
        let keys = is_one("object").then_some(self.first.members);
        let items = match root {
            _ if stream.is_some() => stream,
            "array" => Some(self.first.elements),
            "object" => self.first.longest,
            _ => None,
        };
        Analysis {
            kind,
            framing: Some(records),
            records: stream,
            damaged_records: 0,
            first_damaged: None,
            summary: Summary { type_: root.into(), keys, items },
            duplicate_names: duplicate_names(&self.profile.summary()),
            not_json: None,
            index: (length >= MIN_BYTES).then(|| self.index.finish(length)),
        }
    }
}

/// The number of repeated names, or 1 if the check was incomplete and found none. The output is
/// then queried as if it had repeated names, which is slower but always correct.
fn duplicate_names(summary: &statistics::Summary) -> u64 {
    summary.structure.duplicate_names.max(u64::from(summary.capped.duplicate_names))
}

impl Counters {
    /// Counts a token of the first record.
    #[inline]
    fn observe(&mut self, kind: TokenKind) {
        if self.records == 0 {
            self.first.observe(kind);
        }
    }
}

impl Listener for Counters {
    fn tokens(&mut self, tokens: &Tokens<'_>) -> bool {
        let Self { profile, index, first, starts, records, .. } = self;
        starts.clear();
        let is_first = *records == 0;
        index.observe(tokens, |kind, start| {
            if is_first {
                first.observe(kind);
            }
            if kind != TokenKind::Scalar {
                starts.push(start);
            }
        });
        let names = tokens.names(starts);
        if !profile.names(&names) {
            names.each(profile);
        }
        true
    }

    #[inline]
    fn begin(&mut self, kind: JsonKind, at: u64) {
        self.observe(TokenKind::Begin(kind));
        self.index.begin(kind, at);
        Listener::begin(&mut self.profile, kind, at);
    }

    #[inline]
    fn end(&mut self, kind: JsonKind, at: u64) {
        self.observe(TokenKind::End);
        self.index.end(kind, at);
        Listener::end(&mut self.profile, kind, at);
    }

    #[inline]
    fn name(&mut self, name: Text<'_>, at: u64) {
        self.observe(TokenKind::Name);
        self.index.name(name, at);
        self.profile.name(name, at);
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar<'_>, at: u64) {
        self.observe(TokenKind::Scalar);
        self.index.scalar(scalar, at);
    }
}

/// The offsets of line ends that were read but not analyzed yet.
#[derive(Debug, Default)]
struct LineEnds {
    offsets: VecDeque<u64>,
    /// The number of analyzed records.
    records: u64,
    /// True if some record is not on its own line. No more line ends are recorded then.
    gave_up: bool,
}

impl LineEnds {
    /// Maximum number of recorded line ends. The reader's window contains fewer bytes than this
    /// after a record, so more line ends can only be inside a record.
    const MAX_PENDING: usize = 1 << 18;

    fn record(&mut self, bytes: &[u8], offset: u64) {
        if self.gave_up {
            return;
        }
        self.offsets.extend(memchr::memchr_iter(b'\n', bytes).map(|at| offset + at as u64));
        if self.offsets.len() > Self::MAX_PENDING {
            self.gave_up = true;
            self.offsets = VecDeque::new();
        }
    }

    /// True if a record contains no line end, and follows one unless it is the first.
    fn is_own_line(&mut self, start: u64, end: u64) -> bool {
        let before = self.offsets.partition_point(|offset| *offset < start);
        self.offsets.drain(..before);
        let is_separated = before > 0 || self.records == 0;
        let is_unbroken = self.offsets.front().is_none_or(|offset| *offset >= end);
        self.records += 1;
        self.gave_up |= !is_separated || !is_unbroken;
        !self.gave_up
    }
}

/// A reader that records the offsets of line ends.
struct LineTracker<R> {
    reader: R,
    lines: Arc<Mutex<LineEnds>>,
    offset: u64,
}

impl<R: Read> Read for LineTracker<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        let bytes = &into[..count];
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).record(bytes, self.offset);
        self.offset += count as u64;
        Ok(count)
    }
}
