//! Search of JSON Lines: the strings of each record. A record that is not valid JSON is searched as
//! a line of text.

use std::io::{self, Read};

use trommel::Error;
use trommel::path::{Plan, Scratch, Wants};
use trommel::reader::{self, Cursor, ErrorKind, Framing, Limit, Span, Syntax, Validation, View};

use crate::buffer::{LineBuffer, Lines, content};
use crate::document::{self, DocumentPart};
use crate::error::Halt;
use crate::found::{MatchSite, PatternMatch, SearchPosition, emit};
use crate::pattern::SearchPattern;
use crate::prefilter::{BlockCandidates, Next};
use crate::run::{RecordSite, SearchRun};
use crate::source::SearchSource;
use crate::targets::{QueryRegions, SliceTargets};
use crate::unit::{MAX_WHOLE_BYTES, UnitMatch};
use crate::walk::StringWalk;

/// A UTF-8 byte order mark, which may precede the first record.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// A search of the records of JSON Lines.
pub(crate) struct RecordSearch<'r, 's, 'k> {
    run: &'r mut SearchRun<'s, 'k>,
    /// The offset of the next line, and the number of records before it.
    offset: u64,
    record: u64,
}

/// The validity of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Validity {
    Valid,
    Malformed,
    /// The line is blank, so it is not a record.
    Blank,
}

impl<'r, 's, 'k> RecordSearch<'r, 's, 'k> {
    pub(crate) fn new(run: &'r mut SearchRun<'s, 'k>) -> Self {
        let SearchPosition { start: offset, number: record, .. } = run.position;
        Self { run, offset, record }
    }

    /// Searches a reader whose first byte is at the start of the position.
    pub(crate) fn run(mut self, reader: &mut dyn Read) -> Result<(), Halt> {
        let mut buffer = LineBuffer::new(reader, self.offset);
        loop {
            match buffer.next()? {
                Lines::End => return Ok(()),
                Lines::Whole(range) => {
                    self.block(&buffer.bytes()[range.clone()])?;
                    buffer.consume(range.len());
                }
                Lines::Long => self.long_line(&mut buffer)?,
            }
        }
    }

    /// Searches whole lines.
    fn block(&mut self, block: &[u8]) -> Result<(), Halt> {
        let mut candidates = LineCandidates::new(self.run.unit.pattern);
        let mut at = 0;
        while let Some(found) = candidates.find(block, at) {
            let start = memchr::memrchr(b'\n', &block[at..found]).map_or(at, |end| at + end + 1);
            self.pass(&block[at..start]);
            at = memchr::memchr(b'\n', &block[found..]).map_or(block.len(), |end| found + end + 1);
            let line = &block[start..at];
            if !is_blank(line, self.offset) {
                self.line(line)?;
            }
            self.pass(line);
        }
        self.pass(&block[at..]);
        Ok(())
    }

    /// Moves past whole lines.
    fn pass(&mut self, lines: &[u8]) {
        self.record += count_records(lines, self.offset);
        self.offset += lines.len() as u64;
    }

    /// Searches the record in a line.
    fn line(&mut self, line: &[u8]) -> Result<(), Halt> {
        let view = View::at(line, self.offset);
        let config = self.run.config(Validation::Strict);
        match validity(Cursor::from_view(view, Framing::Single, &config))? {
            Validity::Valid => self.strings(view),
            // A record that is not JSON has no nodes.
            Validity::Malformed if self.run.plan.is_some() => Ok(()),
            Validity::Malformed => {
                let unit = self.run.unit;
                unit.whole(content(line), &mut |found| self.malformed(found))
            }
            Validity::Blank => Ok(()),
        }
    }

    /// Searches the strings of a valid record.
    fn strings(&mut self, record: View<'_>) -> Result<(), Halt> {
        let config = self.run.config(Validation::Structural);
        let cursor = || Cursor::from_view(record, Framing::Single, &config);
        let regions = self.run.plan.as_ref().map(|plan| regions(plan, &mut cursor())).transpose()?;
        let unit = self.run.unit;
        let mut targets = SliceTargets {
            candidates: BlockCandidates::new(&unit.pattern.prefilter),
            bytes: record.bytes(),
            base: record.base(),
            regions: regions.as_deref(),
        };
        let position = SearchPosition { start: self.offset, number: self.record, from: 0 };
        let site = RecordSite { base: 0, record: Some(self.record), position };
        let mut cursor = cursor();
        cursor.next_record()?;
        let walk = StringWalk::new(unit, &mut cursor, &mut targets, None);
        walk.record(&mut |found| self.run.string(found, site)).map(|_| ())
    }

    /// Reports a match in a malformed record.
    fn malformed(&mut self, found: UnitMatch) -> Result<(), Halt> {
        let offset = self.offset + found.at;
        if offset < self.run.position.from {
            return Ok(());
        }
        let from = (self.offset + found.end).max(offset + 1);
        let next = SearchPosition { start: self.offset, number: self.record, from };
        let site = MatchSite::MalformedRecord { record: self.record };
        let (text, highlights) = (found.excerpt.text, found.excerpt.highlights);
        emit(self.run.sink, PatternMatch { site, offset, text, highlights, next })
    }

    /// Searches a record that does not fit into the buffer. It is read again from the source.
    fn long_line(&mut self, buffer: &mut LineBuffer<'_>) -> Result<(), Halt> {
        let start = buffer.offset();
        let Some(source) = self.run.source else {
            let limit = Limit::Other("the bytes of a record in a pipe", MAX_WHOLE_BYTES as u64);
            let error = reader::Error::plain(ErrorKind::Limit(limit), start);
            return Err(Halt::Failed(Error::Read { error, record: Some(self.record) }));
        };
        let end = buffer.line().finish()?;
        let range = SourceRange { source, start, length: end - start };
        let config = self.run.config(Validation::Strict);
        let cursor = Cursor::from_reader(range.reader_at(0)?, Framing::Single, &config);
        let validity = validity(cursor.monitored(self.run.control.monitor(start)))?;
        match validity {
            Validity::Valid => {
                let record = Some(self.record);
                let part = DocumentPart { source: &range, base: start, framing: Framing::Single, record };
                document::search(self.run, part)?;
            }
            Validity::Malformed if self.run.plan.is_some() => {}
            Validity::Malformed => {
                let unit = self.run.unit;
                let mut reader = self.run.control.watch(range.reader_at(0)?, start);
                let mut buffer = LineBuffer::new(&mut reader, start);
                unit.read(&mut buffer.line(), &mut |found| self.malformed(found))?;
            }
            Validity::Blank => {}
        }
        self.offset = end;
        self.record += u64::from(validity != Validity::Blank);
        Ok(())
    }
}

/// Returns the regions of a query in a valid record.
fn regions(plan: &Plan, cursor: &mut Cursor<'_>) -> Result<Vec<Span>, Halt> {
    let (mut scratch, wants) = (Scratch::new(), Wants::default());
    let mut matcher = plan.matcher(&mut scratch, cursor, &wants);
    let mut regions = QueryRegions::new(&mut matcher);
    let mut spans = Vec::new();
    while let Some(span) = regions.next()? {
        spans.push(span);
    }
    Ok(spans)
}

/// Reads a whole record. Errors are those of reading and of limits.
fn validity(mut cursor: Cursor<'_>) -> Result<Validity, Halt> {
    let mut read = || {
        cursor.next_record()?;
        cursor.skip_value()?;
        cursor.next_record()
    };
    match read() {
        Ok(_) => Ok(Validity::Valid),
        Err(error) if error.kind() == ErrorKind::Syntax(Syntax::Empty) => Ok(Validity::Blank),
        Err(error) if error.is_syntax() => Ok(Validity::Malformed),
        Err(error) => Err(error.into()),
    }
}

/// The candidates in a block of lines: for strings, and for malformed records.
struct LineCandidates<'p> {
    strings: BlockCandidates<'p>,
    pattern: &'p SearchPattern,
    lines: Next,
}

impl<'p> LineCandidates<'p> {
    fn new(pattern: &'p SearchPattern) -> Self {
        Self { strings: BlockCandidates::new(&pattern.prefilter), pattern, lines: Next::Unknown }
    }

    /// Returns the first candidate at or after `at`, the start of a line.
    fn find(&mut self, block: &[u8], at: usize) -> Option<usize> {
        let string = self.strings.find(block, at);
        let line = if self.pattern.prefilters_lines {
            None
        } else {
            self.lines.at_or_after(at, || self.pattern.find_line(block, at))
        };
        string.into_iter().chain(line).min().filter(|found| *found < block.len())
    }
}

/// Counts the lines that are not blank. The first one is at `offset` of the input.
fn count_records(lines: &[u8], offset: u64) -> u64 {
    let (mut count, mut start) = (0, 0);
    for end in memchr::memchr_iter(b'\n', lines).map(|end| end + 1) {
        count += u64::from(!is_blank(&lines[start..end], offset + start as u64));
        start = end;
    }
    count + u64::from(start < lines.len() && !is_blank(&lines[start..], offset + start as u64))
}

fn is_blank(line: &[u8], offset: u64) -> bool {
    let line = if offset == 0 { line.strip_prefix(MARK).unwrap_or(line) } else { line };
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

/// A range of a source, as a source of its own.
struct SourceRange<'d> {
    source: &'d dyn SearchSource,
    start: u64,
    length: u64,
}

impl SearchSource for SourceRange<'_> {
    fn reader_at(&self, offset: u64) -> io::Result<Box<dyn Read + Send + '_>> {
        let left = self.length.saturating_sub(offset);
        Ok(Box::new(self.source.reader_at(self.start + offset)?.take(left)))
    }
}
