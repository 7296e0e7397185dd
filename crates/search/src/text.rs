//! Search of a text: its lines with a match, and the lines around them.

use std::collections::VecDeque;
use std::io::Read;

use crate::buffer::{LineBuffer, Lines, content};
use crate::error::Halt;
use crate::excerpt::head;
use crate::found::{MatchSink, MatchSite, PatternMatch, SearchPosition, emit};
use crate::unit::{UnitMatch, UnitSearch};

/// A search of the lines of a text.
pub(crate) struct TextSearch<'p, 'k> {
    unit: UnitSearch<'p>,
    /// The offset before which no match is reported.
    from: u64,
    /// The line at which the next block starts.
    line: LinePosition,
    neighbors: Neighbors<'k>,
}

/// A line: its offset in the input, and the number of lines before it.
#[derive(Clone, Copy, Debug)]
struct LinePosition {
    offset: u64,
    number: u64,
}

impl LinePosition {
    /// Moves past whole lines.
    fn pass(&mut self, lines: &[u8]) {
        self.offset += lines.len() as u64;
        self.number += memchr::memchr_iter(b'\n', lines).count() as u64;
    }

    fn after(self) -> SearchPosition {
        SearchPosition { start: self.offset, number: self.number, from: self.offset }
    }
}

impl<'p, 'k> TextSearch<'p, 'k> {
    /// Creates a search that shows `context` lines on each side of a match.
    pub(crate) fn new(
        unit: UnitSearch<'p>,
        context: usize,
        from: SearchPosition,
        sink: MatchSink<'k>,
    ) -> Self {
        let line = LinePosition { offset: from.start, number: from.number };
        let max_chars = unit.size.max_chars;
        let neighbors =
            Neighbors { context, max_chars, before: VecDeque::new(), pending: None, missing: 0, sink };
        Self { unit, from: from.from, line, neighbors }
    }

    /// Searches a reader whose first byte is at the start of the position.
    pub(crate) fn run(mut self, reader: &mut dyn Read) -> Result<(), Halt> {
        let mut buffer = LineBuffer::new(reader, self.line.offset);
        loop {
            match buffer.next()? {
                Lines::End => return self.neighbors.flush(),
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
        // The lines before `passed` are handed on as matches or neighbors; those before `at` are
        // searched.
        let (mut passed, mut at) = (0, 0);
        while at < block.len() {
            let Some(found) = self.unit.pattern.find_line(block, at) else { break };
            let start = memchr::memrchr(b'\n', &block[at..found]).map_or(at, |end| at + end + 1);
            if start == block.len() {
                break;
            }
            at = memchr::memchr(b'\n', &block[found..]).map_or(block.len(), |end| found + end + 1);
            let (between, line) = (&block[passed..start], &block[start..at]);
            let (unit, mut is_first) = (self.unit, true);
            unit.whole(content(line), &mut |found| {
                if std::mem::take(&mut is_first) {
                    self.pass(between)?;
                    self.neighbors.flush()?;
                }
                self.found(found)
            })?;
            if !is_first {
                self.line.pass(line);
                self.neighbors.line_ended(self.line.after());
                passed = at;
            }
        }
        self.pass(&block[passed..])
    }

    /// Searches a line that does not fit into the buffer.
    fn long_line(&mut self, buffer: &mut LineBuffer<'_>) -> Result<(), Halt> {
        let text = head(content(buffer.unread()), self.neighbors.max_chars);
        let mut line = buffer.line();
        let (unit, mut is_first) = (self.unit, true);
        unit.read(&mut line, &mut |found| {
            if std::mem::take(&mut is_first) {
                self.neighbors.flush()?;
            }
            self.found(found)
        })?;
        self.line = LinePosition { offset: line.finish()?, number: self.line.number + 1 };
        if is_first {
            self.neighbors.line(text, self.line.after())
        } else {
            self.neighbors.line_ended(self.line.after());
            Ok(())
        }
    }

    /// Hands on lines without a match.
    fn pass(&mut self, lines: &[u8]) -> Result<(), Halt> {
        self.neighbors.lines(lines, self.line)?;
        self.line.pass(lines);
        Ok(())
    }

    /// Hands on a match in the current line.
    fn found(&mut self, found: UnitMatch) -> Result<(), Halt> {
        let UnitMatch { at, end, excerpt } = found;
        let LinePosition { offset, number } = self.line;
        let before = std::mem::take(&mut self.neighbors.before).into();
        if offset + at < self.from {
            return Ok(());
        }
        let next = SearchPosition { start: offset, number, from: offset + end.max(at + 1) };
        let site = MatchSite::Line { line: number + 1, before, after: Vec::new() };
        let (text, highlights) = (excerpt.text, excerpt.highlights);
        self.neighbors.found(PatternMatch { site, offset: offset + at, text, highlights, next })
    }
}

/// The lines around matches, each of which is shown once.
struct Neighbors<'k> {
    /// The number of lines to show on each side of a match.
    context: usize,
    /// The maximum number of characters of each.
    max_chars: usize,
    /// The last lines that no match shows.
    before: VecDeque<String>,
    /// The last match, while lines after it are missing.
    pending: Option<PatternMatch>,
    missing: usize,
    sink: MatchSink<'k>,
}

impl Neighbors<'_> {
    /// Receives a match.
    fn found(&mut self, found: PatternMatch) -> Result<(), Halt> {
        self.flush()?;
        if self.context == 0 {
            return emit(self.sink, found);
        }
        self.pending = Some(found);
        Ok(())
    }

    /// Receives the end of the line of the last match.
    fn line_ended(&mut self, next: SearchPosition) {
        if let Some(pending) = &mut self.pending {
            pending.next = next;
            self.missing = self.context;
        }
    }

    /// Reports the last match with the lines after it so far.
    fn flush(&mut self) -> Result<(), Halt> {
        self.missing = 0;
        self.pending.take().map_or(Ok(()), |found| emit(self.sink, found))
    }

    /// Receives lines without a match, of which the first one is at `position`.
    fn lines(&mut self, lines: &[u8], mut position: LinePosition) -> Result<(), Halt> {
        if self.context == 0 {
            return Ok(());
        }
        let mut rest = lines;
        while self.missing > 0 && !rest.is_empty() {
            let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
            let (line, after) = rest.split_at(length);
            position.pass(line);
            self.line(head(content(line), self.max_chars), position.after())?;
            rest = after;
        }
        for line in last_lines(rest, self.context) {
            self.keep(head(content(line), self.max_chars));
        }
        Ok(())
    }

    /// Receives a line without a match, and the position after it.
    fn line(&mut self, text: String, next: SearchPosition) -> Result<(), Halt> {
        if self.missing == 0 {
            self.keep(text);
            return Ok(());
        }
        self.missing -= 1;
        let is_complete = self.missing == 0;
        if let Some(pending) = &mut self.pending {
            pending.next = next;
            if let MatchSite::Line { after, .. } = &mut pending.site {
                after.push(text);
            }
        }
        if is_complete { self.flush() } else { Ok(()) }
    }

    /// Keeps a line that may precede the next match.
    fn keep(&mut self, line: String) {
        if self.before.len() == self.context {
            self.before.pop_front();
        }
        if self.context > 0 {
            self.before.push_back(line);
        }
    }
}

/// Returns the last `count` lines, in order.
fn last_lines(lines: &[u8], count: usize) -> impl Iterator<Item = &[u8]> {
    let whole = lines.strip_suffix(b"\n").unwrap_or(lines);
    let start = memchr::memrchr_iter(b'\n', whole).nth(count.saturating_sub(1)).map_or(0, |end| end + 1);
    lines[start..].split_inclusive(|&byte| byte == b'\n')
}
