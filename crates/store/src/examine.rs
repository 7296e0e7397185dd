//! Looking at a payload as it passes: whether it is JSON, how its records are separated, and what
//! it is made of.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use trommel::reader::{Config, Cursor, Framing, Kind as JsonKind, Listener, Scalar, Text};
use trommel::statistics::{self, Accumulator, Profile, ProfileOptions};

use crate::output::{Kind, NotJson, Records, Summary};

/// What was found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Examined {
    pub(crate) kind: Kind,
    pub(crate) framing: Option<Records>,
    pub(crate) records: Option<u64>,
    pub(crate) summary: Summary,
    pub(crate) duplicate_names: u64,
    pub(crate) not_json: Option<NotJson>,
}

/// Characters of a reason at most.
const REASON: usize = 300;

/// Reads to the end, or to the first byte that is no JSON in that framing. Checks everything in
/// full; takes a window, and some bytes for each level of depth.
pub(crate) fn examine(reader: impl Read + Send, framing: Framing) -> Examined {
    let lines = Arc::new(Mutex::new(LineEnds::default()));
    let reader = Watched { reader, lines: Arc::clone(&lines), offset: 0 };
    let mut cursor = Cursor::from_reader(reader, framing, &Config::new());
    let mut figures = Figures::new();
    match read(&mut cursor, &mut figures, &lines) {
        Ok(is_lines) => figures.json(cursor.framing(), is_lines),
        Err(error) => Examined::text(&error),
    }
}

/// Reads all records. Whether each is on a line of its own.
fn read(
    cursor: &mut Cursor<'_>,
    figures: &mut Figures,
    lines: &Mutex<LineEnds>,
) -> trommel::reader::Result<bool> {
    let mut is_lines = true;
    while cursor.next_record()? {
        figures.begin_record();
        let start = cursor.record_start();
        let event = cursor.begin_value()?;
        figures.hear(event, cursor.payload(), start);
        cursor.listen(0, u64::MAX, figures)?;
        let end = cursor.offset();
        // What may not follow a value is found here.
        while cursor.advance()?.is_some() {}
        figures.end_record();
        is_lines &= lines.lock().unwrap_or_else(PoisonError::into_inner).is_own_line(start, end);
    }
    Ok(is_lines)
}

impl Examined {
    fn text(error: &trommel::reader::Error) -> Self {
        let place = error.place();
        let not_json = NotJson {
            message: error.to_string().chars().take(REASON).collect(),
            offset: error.offset(),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
        };
        Self {
            kind: Kind::Text,
            framing: None,
            records: None,
            summary: Summary { type_: "text".into(), keys: None, items: None },
            duplicate_names: 0,
            not_json: Some(not_json),
        }
    }
}

/// What is counted while events pass.
struct Figures {
    profile: Profile,
    /// Containers that are open.
    depth: u32,
    records: u64,
    /// The type of all roots so far, nothing when they are of several.
    root: Option<&'static str>,
    /// Members of the first root.
    members: u64,
    /// Elements of the first root.
    elements: u64,
    /// Elements of the array that is open as a member of the first root.
    inner: Option<u64>,
    /// Elements of the longest such array.
    longest: Option<u64>,
}

impl Figures {
    fn new() -> Self {
        let mut options = ProfileOptions::default();
        (options.per_path, options.counts, options.duplicate_names) = (false, false, true);
        Self {
            profile: Profile::new(options),
            depth: 0,
            records: 0,
            root: None,
            members: 0,
            elements: 0,
            inner: None,
            longest: None,
        }
    }

    fn begin_record(&mut self) {
        self.profile.begin();
    }

    fn end_record(&mut self) {
        self.profile.end();
        self.records += 1;
    }

    /// A value begins at the current depth.
    #[inline]
    fn value(&mut self, kind: JsonKind) {
        match self.depth {
            0 => {
                let is_first = self.records == 0;
                self.root = Some(kind.name()).filter(|name| is_first || self.root == Some(name));
            }
            _ if self.records > 0 => {}
            1 => {
                self.elements += 1;
                self.inner = (kind == JsonKind::Array).then_some(0);
            }
            2 => {
                if let Some(inner) = &mut self.inner {
                    *inner += 1;
                }
            }
            _ => {}
        }
    }

    fn json(mut self, framing: Framing, is_lines: bool) -> Examined {
        self.profile.settle();
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
        let keys = is_one("object").then_some(self.members);
        let items = match root {
            _ if stream.is_some() => stream,
            "array" => Some(self.elements),
            "object" => self.longest,
            _ => None,
        };
        Examined {
            kind,
            framing: Some(records),
            records: stream,
            summary: Summary { type_: root.into(), keys, items },
            duplicate_names: at_least(&self.profile.summary()),
            not_json: None,
        }
    }
}

/// How many names are repeated, and 1 where none was found but not all were looked at: such an
/// output is queried as one that has repeated names.
fn at_least(summary: &statistics::Summary) -> u64 {
    summary.structure.duplicate_names.max(u64::from(summary.capped.duplicate_names))
}

impl Listener for Figures {
    fn wants_scalars(&self) -> bool {
        // In a stream, elements are those of nothing.
        self.records == 0
    }

    #[inline]
    fn begin(&mut self, kind: JsonKind, at: u64) {
        self.value(kind);
        self.depth += 1;
        Listener::begin(&mut self.profile, kind, at);
    }

    #[inline]
    fn end(&mut self, kind: JsonKind, at: u64) {
        self.depth -= 1;
        if self.depth == 1 {
            self.longest = self.longest.max(self.inner.take());
        }
        Listener::end(&mut self.profile, kind, at);
    }

    #[inline]
    fn name(&mut self, name: Text<'_>, at: u64) {
        if self.depth == 1 {
            self.members += u64::from(self.records == 0);
        }
        self.profile.name(name, at);
    }

    #[inline]
    fn scalar(&mut self, scalar: Scalar<'_>, _: u64) {
        self.value(scalar.kind());
    }
}

/// Where lines end, of what was read and not yet looked at.
#[derive(Debug, Default)]
struct LineEnds {
    offsets: VecDeque<u64>,
    /// Records that were looked at.
    records: u64,
    /// Whether it does not matter any more: some record is not on a line of its own.
    over: bool,
}

impl LineEnds {
    /// A reader's window shows no more than this ahead of the record; if there are more line ends,
    /// they are within one.
    const MOST: usize = 1 << 18;

    fn note(&mut self, bytes: &[u8], offset: u64) {
        if self.over {
            return;
        }
        let ends = bytes.iter().zip(offset..).filter(|(byte, _)| **byte == b'\n');
        self.offsets.extend(ends.map(|(_, at)| at));
        if self.offsets.len() > Self::MOST {
            self.over = true;
            self.offsets = VecDeque::new();
        }
    }

    /// Whether a record has no line end in it, and one before it unless it is the first.
    fn is_own_line(&mut self, start: u64, end: u64) -> bool {
        let before = self.offsets.partition_point(|offset| *offset < start);
        self.offsets.drain(..before);
        let apart = before > 0 || self.records == 0;
        let whole = self.offsets.front().is_none_or(|offset| *offset >= end);
        self.records += 1;
        self.over |= !apart || !whole;
        !self.over
    }
}

/// A reader whose line ends are noted.
struct Watched<R> {
    reader: R,
    lines: Arc<Mutex<LineEnds>>,
    offset: u64,
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(into)?;
        let bytes = &into[..count];
        self.lines.lock().unwrap_or_else(PoisonError::into_inner).note(bytes, self.offset);
        self.offset += count as u64;
        Ok(count)
    }
}
