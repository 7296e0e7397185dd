//! Pages of a file as text: its lines, from any of them or from the end.
//!
//! A file is read where its lines are: forwards from the start, or backwards from the end. An input
//! that cannot seek is copied to a temporary file first.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use trommel::reader::Error;
use trommel_base::text::is_continuation;
use trommel_search::{FileSource, PassedLines, pass_lines, tail_start};
use trommel_toolbox::outputs::{Character, Content, Head, PageTooSmall, Position, ValuePage};

use super::cursor::{self, TextPosition};
use crate::args::{LineRange, ReadArgs};
use crate::errors::Failure;
use crate::input::{Options, RawInput};

/// The maximum number of bytes of a character.
const MAX_CHARACTER_BYTES: u64 = 4;

/// The part of a text to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum TextRange {
    Whole,
    Lines(LineRange),
    Tail(u64),
    Offset(u64),
}

impl TextRange {
    /// Returns the range that the options name. `None` if there is none.
    pub(super) fn of(args: &ReadArgs) -> Option<Self> {
        let lines = args.lines.map(Self::Lines);
        lines.or(args.tail.map(Self::Tail)).or(args.offset.map(Self::Offset))
    }
}

/// Returns a page of an open input.
pub(super) fn page(
    args: &ReadArgs,
    range: TextRange,
    options: &Options,
    input: RawInput,
) -> Result<String, Failure> {
    let failed = |error: trommel::Error| options.failure(error);
    let source = match input {
        RawInput::File(source) if source.seekable().is_some() => source,
        RawInput::File(source) => copy(source.reader().map_err(|error| failed(read_error(error)))?, options)?,
        RawInput::Stream(reader) => copy(reader, options)?,
    };
    let Some(file) = source.seekable() else {
        return Err(failed(read_error(io::ErrorKind::Unsupported.into())));
    };
    let size = file.metadata().map_err(|error| failed(read_error(error)))?.len();
    TextPage { args, range, text: TextFile { file, size } }.page(options)
}

fn copy(mut reader: impl Read, options: &Options) -> Result<FileSource, Failure> {
    let copied = FileSource::copy_of(&mut reader, options.limits.spool_bytes);
    copied.map_err(|error| options.failure(error))
}

fn read_error(error: io::Error) -> trommel::Error {
    Error::io(error, 0).into()
}

/// The request for a page of a text.
struct TextPage<'a> {
    args: &'a ReadArgs,
    range: TextRange,
    text: TextFile<'a>,
}

/// The bytes to read, and the number of line ends before them if it is known.
#[derive(Clone, Copy)]
struct Part {
    at: u64,
    until: u64,
    line_ends: Option<u64>,
}

/// The reason why there is no page.
enum NoPart {
    /// The request does not fit the text.
    Usage(String),
    Failed(Error),
}

impl From<Error> for NoPart {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl TextPage<'_> {
    fn page(&self, options: &Options) -> Result<String, Failure> {
        let part = self.part().map_err(|none| match none {
            NoPart::Usage(message) => Failure::Usage { command: "read", message },
            NoPart::Failed(error) => options.failure(error.into()),
        })?;
        let max_chars = self.args.max_chars as usize;
        let end = part.until.min(part.at + (max_chars as u64 + 1) * MAX_CHARACTER_BYTES);
        let piece = self.text.piece(part.at, end).map_err(|error| options.failure(error.into()))?;
        let units = Character::decoded(&piece, end == part.until, max_chars);
        let head = Head {
            path: "$",
            kind: "text",
            bytes: self.text.size,
            items: None,
            start_line: part.line_ends.map(|line_ends| line_ends + 1),
        };
        let tie = self.tie();
        let write = |Position { index, at }: Position| {
            cursor::write_text(TextPosition { at, line_ends: part.line_ends.map(|_| index) }, &tie)
        };
        let start = Position { index: part.line_ends.unwrap_or(0), at: part.at };
        let page = ValuePage::new(&head, Content::Characters(units, part.until), start, &write);
        page.fit(max_chars).map_err(|PageTooSmall { needed, .. }| {
            let message = format!("a page needs at least {needed} characters; pass --max-chars {needed}");
            Failure::Usage { command: "read", message }
        })
    }

    /// A cursor is tied to the range and to the size of the file.
    fn tie(&self) -> impl std::hash::Hash + use<> {
        (self.range, self.text.size)
    }

    /// Returns the part that the page starts.
    fn part(&self) -> Result<Part, NoPart> {
        let Some(given) = &self.args.cursor else { return self.range() };
        let position = cursor::read_text(given, self.tie());
        let TextPosition { at, line_ends } = position.ok_or_else(|| {
            NoPart::Usage(
                "the cursor does not match the lines of the current file; omit --cursor to start over".into(),
            )
        })?;
        let until = match self.range {
            TextRange::Lines(LineRange { end: Some(end), .. }) => self.text.line_end(end, at, line_ends)?,
            _ => self.text.size,
        };
        Ok(Part { at, until, line_ends })
    }

    /// Locates the range.
    fn range(&self) -> Result<Part, NoPart> {
        let size = self.text.size;
        match self.range {
            TextRange::Whole => Ok(Part { at: 0, until: size, line_ends: Some(0) }),
            TextRange::Tail(count) => {
                Ok(Part { at: self.text.tail_start(count)?, until: size, line_ends: None })
            }
            TextRange::Offset(offset) if offset > size => {
                Err(NoPart::Usage(format!("offset {offset} is beyond the end: the file has {size} bytes")))
            }
            TextRange::Offset(offset) => {
                let at = self.text.character_start(offset)?;
                Ok(Part { at, until: size, line_ends: (at == 0).then_some(0) })
            }
            TextRange::Lines(lines) => self.lines(lines),
        }
    }

    /// Locates lines.
    fn lines(&self, LineRange { start, end }: LineRange) -> Result<Part, NoPart> {
        let text = self.text;
        let (at, line_ends) = match u64::try_from(start) {
            Ok(line) => {
                let passed = text.pass(0, line - 1)?;
                if passed.line_ends < line - 1 || passed.bytes == text.size && line > 1 {
                    let lines = passed.line_ends + u64::from(!text.ends_with_line()?);
                    let message = format!("line {line} is beyond the end: the file has {lines} lines");
                    return Err(NoPart::Usage(message));
                }
                (passed.bytes, Some(line - 1))
            }
            Err(_) => (text.tail_start(start.unsigned_abs())?, None),
        };
        let until = end.map_or(Ok(text.size), |end| text.line_end(end, at, line_ends))?;
        if until < at || until == at && text.size > 0 {
            let end = end.unwrap_or(-1);
            return Err(NoPart::Usage(format!("no line is between line {start} and line {end}")));
        }
        Ok(Part { at, until, line_ends })
    }
}

/// A file that is read as text.
#[derive(Clone, Copy)]
struct TextFile<'f> {
    file: &'f File,
    size: u64,
}

impl TextFile<'_> {
    /// Passes line ends from an offset on.
    fn pass(self, at: u64, line_ends: u64) -> Result<PassedLines, Error> {
        let mut file = self.at(at)?.take(self.size - at);
        pass_lines(&mut file, line_ends, &mut |_| Ok(()))
    }

    /// Returns the offset at which the last lines start.
    fn tail_start(self, count: u64) -> Result<u64, Error> {
        let mut file = self.file;
        tail_start(&mut file, self.size, count, &mut |_| Ok(()))
    }

    /// Returns the offset after a line, from a known offset before it.
    fn line_end(self, line: i64, at: u64, line_ends: Option<u64>) -> Result<u64, Error> {
        let Ok(line) = u64::try_from(line) else { return self.tail_start(line.unsigned_abs() - 1) };
        match line_ends {
            Some(line_ends) if line <= line_ends => Ok(at.min(self.pass(0, line)?.bytes)),
            Some(line_ends) => Ok(at + self.pass(at, line - line_ends)?.bytes),
            None => Ok(self.pass(0, line)?.bytes),
        }
    }

    fn ends_with_line(self) -> Result<bool, Error> {
        Ok(self.piece(self.size.saturating_sub(1), self.size)?.first().is_none_or(|last| *last == b'\n'))
    }

    /// Returns the offset of the character that contains a byte.
    fn character_start(self, offset: u64) -> Result<u64, Error> {
        let from = offset.saturating_sub(MAX_CHARACTER_BYTES - 1);
        let piece = self.piece(from, (offset + 1).min(self.size))?;
        let is_inside = |at: &usize| piece.get(*at).is_some_and(|byte| is_continuation(*byte));
        let before = (offset - from) as usize;
        let steps = (0..=before).rev().take_while(is_inside).count();
        // More continuation bytes do not belong to one character.
        Ok(if steps > before { offset } else { offset - steps as u64 })
    }

    fn piece(self, start: u64, end: u64) -> Result<Vec<u8>, Error> {
        let mut piece = Vec::new();
        let read = self.at(start)?.take(end - start).read_to_end(&mut piece);
        read.map_err(|error| Error::io(error, start))?;
        Ok(piece)
    }

    fn at(&self, offset: u64) -> Result<&File, Error> {
        let mut file = self.file;
        file.seek(SeekFrom::Start(offset)).map_err(|error| Error::io(error, offset))?;
        Ok(self.file)
    }
}
