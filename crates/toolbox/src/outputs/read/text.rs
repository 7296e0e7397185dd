//! Pages of texts: whole, by lines, from the end, or from an offset.
//!
//! The line index of an output finds a line by reading one block. A text without an index, and one
//! that the index does not fit, is scanned.

use std::io::{self, Read, Seek, SeekFrom};

use trommel::reader::{Error, Span};
use trommel_base::text::is_continuation;
use trommel_search::{PassedLines, pass_lines, tail_start};
use trommel_store::{BlockStart, Payload, Stored};
use trommel_tool::Failure;

use super::page::{Character, Content, Head, Position, ValuePage};
use super::value::{Answer, PageReader};
use super::{Arguments, ReadRequest};
use crate::outputs::cursor::CursorError;
use crate::outputs::job::AnswerCoverage;

/// The first number of a cursor, which is not that of a value.
const CURSOR_KIND: u64 = 8;

/// The part of a text to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextRange {
    Whole,
    /// The lines from `start` to `end`, both included, or to the last. Negative numbers count from
    /// the end.
    Lines {
        start: i64,
        end: Option<i64>,
    },
    /// The last lines.
    Tail(u64),
    /// Everything from a byte on.
    Offset(u64),
}

impl TextRange {
    /// Returns the range that the arguments of a call name, or the reason why there is none.
    pub(super) fn of(arguments: &Arguments) -> Result<Self, &'static str> {
        let Arguments { start_line, end_line, tail, offset, .. } = arguments;
        if *start_line == Some(0) || *end_line == Some(0) {
            return Err("lines count from 1, and from -1 at the end; there is no line 0");
        }
        match (start_line, end_line, tail, offset) {
            (None, None, None, None) => Ok(Self::Whole),
            (None, None, Some(0), None) => Err("`tail` must be at least 1"),
            (None, None, Some(tail), None) => Ok(Self::Tail(*tail)),
            (None, None, None, Some(offset)) => Ok(Self::Offset(*offset)),
            (start, end, None, None) => Ok(Self::Lines { start: start.unwrap_or(1), end: *end }),
            _ => Err("`start_line` and `end_line`, `tail`, and `offset` exclude one another"),
        }
    }
}

/// The position at which a page of a text starts, and the end of the part to read.
#[derive(Clone, Copy, Debug)]
struct TextStart {
    at: u64,
    until: u64,
    /// The number of line ends before `at`.
    line_ends: u64,
    /// The number of lines of the whole text.
    lines: u64,
}

impl TextStart {
    fn of(numbers: &[u64]) -> Option<Self> {
        let [CURSOR_KIND, at, until, line_ends, lines] = *numbers else { return None };
        Some(Self { at, until, line_ends, lines })
    }

    fn numbers(self) -> [u64; 5] {
        [CURSOR_KIND, self.at, self.until, self.line_ends, self.lines]
    }
}

impl PageReader<'_> {
    /// Returns a page of a payload that is not JSON.
    pub(super) fn text(
        &self,
        stored: &Stored,
        request: &ReadRequest,
        coverage: &mut AnswerCoverage,
    ) -> Answer {
        let action = self.subject.action;
        if request.has_record {
            return Err(
                action.refuse("not_json", "it is text, not JSON, and has no records; leave out `record`")
            );
        }
        if self.query.segments().iter().len() > 0 {
            let why = "it is text, not JSON, and has no paths; leave out `path`, or pass $";
            return Err(action.refuse("not_json", why));
        }
        let payload = self.shared.store.payload(stored).map_err(|error| action.store(&error))?;
        let mut text = TextLines { reader: self, stored, payload, read: 0 };
        let start = match &request.numbers {
            Some(numbers) => TextStart::of(numbers).ok_or_else(|| action.cursor(CursorError::Foreign))?,
            None => text.start(request.range)?,
        };
        let span = self.span_to_read(start.at, start.until);
        let piece = text.piece(span)?;
        coverage.read += text.read;
        let units = Character::decoded(&piece, span.end == start.until, self.subject.max_chars);
        let cursor = |Position { index, at }: Position| {
            self.binding.cursor(&TextStart { at, line_ends: index, ..start }.numbers())
        };
        let head = Head {
            path: self.path,
            kind: "text",
            bytes: stored.size_bytes,
            items: Some(start.lines),
            start_line: (start.lines > 0).then_some(start.line_ends + 1),
        };
        let content = Content::Characters(units, start.until);
        let page = ValuePage::new(&head, content, Position { index: start.line_ends, at: start.at }, &cursor);
        self.subject.written(page.fit(self.subject.max_chars))
    }
}

/// Finds lines in a stored text.
struct TextLines<'r> {
    reader: &'r PageReader<'r>,
    stored: &'r Stored,
    payload: Payload,
    /// The number of bytes read.
    read: u64,
}

impl TextLines<'_> {
    /// Locates a range.
    fn start(&mut self, range: TextRange) -> Result<TextStart, Failure> {
        let (size, lines) = (self.stored.size_bytes, self.count()?);
        let whole = TextStart { at: 0, until: size, line_ends: 0, lines };
        match range {
            TextRange::Whole => Ok(whole),
            TextRange::Lines { start, end } => self.lines(start, end, whole),
            TextRange::Tail(count) => {
                let at = self.tail_start(count)?;
                Ok(TextStart { at, line_ends: lines.saturating_sub(count), ..whole })
            }
            TextRange::Offset(offset) if offset > size => {
                let why = format!("offset {offset} is beyond the end: the text has {size} bytes");
                Err(self.refuse(&why))
            }
            TextRange::Offset(offset) => {
                let at = self.character_start(offset)?;
                Ok(TextStart { at, line_ends: self.line_ends_before(at)?, ..whole })
            }
        }
    }

    /// Locates lines. Negative numbers count from the end.
    fn lines(&mut self, start: i64, end: Option<i64>, whole: TextStart) -> Result<TextStart, Failure> {
        let lines = whole.lines;
        let number = |line: i64| match u64::try_from(line) {
            Ok(line) => line,
            Err(_) => (lines + 1).saturating_sub(line.unsigned_abs()),
        };
        let first = number(start).max(1);
        let last = end.map_or(lines, number).min(lines);
        if first > lines {
            let what = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
            return Err(self.refuse(&format!("line {start} is beyond the end: the text has {what}")));
        }
        if last < first {
            return Err(self.refuse(&format!("no line is between line {first} and line {last}")));
        }
        let at = self.line_start(first - 1)?;
        let until = if last == lines { whole.until } else { self.line_start(last)? };
        Ok(TextStart { at, until, line_ends: first - 1, ..whole })
    }

    fn refuse(&self, why: &str) -> Failure {
        self.reader.subject.action.refuse("range", why)
    }

    /// Returns the number of lines of the whole text.
    fn count(&mut self) -> Result<u64, Failure> {
        if let Some(index) = &self.stored.line_index {
            return Ok(index.lines());
        }
        let digest = &self.stored.digest;
        if let Some(lines) = self.reader.lines.get(digest) {
            return Ok(lines);
        }
        let passed = self.pass(0, u64::MAX)?;
        let last = self.piece(Span::new(passed.bytes.saturating_sub(1), passed.bytes))?;
        let lines = passed.line_ends + u64::from(last.first().is_some_and(|last| *last != b'\n'));
        self.reader.lines.put(digest.clone(), lines, digest.len());
        Ok(lines)
    }

    /// Returns the offset after the first `line_ends` line ends.
    fn line_start(&mut self, line_ends: u64) -> Result<u64, Failure> {
        let index = self.stored.line_index.as_ref();
        let start = index.map_or(BlockStart::default(), |index| index.block_of_line_end(line_ends));
        let missing = line_ends - start.line_ends;
        let passed = self.pass(start.offset, missing)?;
        if passed.line_ends == missing {
            return Ok(start.offset + passed.bytes);
        }
        // The index is wrong although it is sealed. The text itself decides.
        Ok(self.pass(0, line_ends)?.bytes)
    }

    /// Counts the line ends before an offset.
    fn line_ends_before(&mut self, offset: u64) -> Result<u64, Failure> {
        let index = self.stored.line_index.as_ref();
        let start = index.map_or(BlockStart::default(), |index| index.block_of_offset(offset));
        let mut monitor = self.reader.job.quiet_monitor();
        let mut block = self.payload_at(start.offset)?.take(offset - start.offset);
        let passed = pass_lines(&mut block, u64::MAX, &mut monitor);
        let passed = self.passed(passed)?;
        Ok(start.line_ends + passed.line_ends)
    }

    /// Passes line ends from an offset on.
    fn pass(&mut self, offset: u64, line_ends: u64) -> Result<PassedLines, Failure> {
        let mut monitor = self.reader.job.monitor(self.stored.size_bytes);
        let passed = pass_lines(self.payload_at(offset)?, line_ends, &mut monitor);
        self.passed(passed)
    }

    fn passed(&mut self, passed: trommel::reader::Result<PassedLines>) -> Result<PassedLines, Failure> {
        let passed = passed.map_err(|error| self.reader.subject.action.read(&error, None))?;
        self.read += passed.bytes;
        Ok(passed)
    }

    fn tail_start(&mut self, count: u64) -> Result<u64, Failure> {
        let size = self.stored.size_bytes;
        let start = tail_start(&mut self.payload, size, count, &mut self.reader.job.quiet_monitor());
        start.map_err(|error| self.reader.subject.action.read(&error, None))
    }

    /// Returns the offset of the character that contains a byte.
    fn character_start(&mut self, offset: u64) -> Result<u64, Failure> {
        let from = offset.saturating_sub(3);
        let piece = self.piece(Span::new(from, (offset + 1).min(self.stored.size_bytes)))?;
        let before = (offset - from) as usize;
        let is_inside = |at: &usize| piece.get(*at).is_some_and(|byte| is_continuation(*byte));
        let steps = (0..=before).rev().take_while(is_inside).count();
        // Three continuation bytes at most belong to one character.
        let steps = if steps > before { 0 } else { steps };
        Ok(offset - steps as u64)
    }

    /// Reads a part of the text.
    fn piece(&mut self, span: Span) -> Result<Vec<u8>, Failure> {
        let mut piece = Vec::new();
        let read = self.payload_at(span.start)?.take(span.len()).read_to_end(&mut piece);
        read.map_err(|error| self.failed(error, span.start))?;
        self.read += span.len();
        Ok(piece)
    }

    fn payload_at(&mut self, offset: u64) -> Result<&mut Payload, Failure> {
        let sought = self.payload.seek(SeekFrom::Start(offset));
        sought.map_err(|error| self.failed(error, offset))?;
        Ok(&mut self.payload)
    }

    fn failed(&self, error: io::Error, offset: u64) -> Failure {
        self.reader.subject.action.read(&Error::io(error, offset), None)
    }
}
