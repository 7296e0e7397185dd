//! Parts of a stream of records: byte ranges, moved to the starts of records.

use std::io;
use std::ops::Range;

use trommel_reader::{Framing, Input, Span};

use super::{Document, Source, read_error};
use crate::error::{Error, PartError};

/// The byte that precedes a record of a text sequence.
const RECORD_SEPARATOR: u8 = 0x1E;

impl Document<'_> {
    /// Restricts the document to the records that start in a range of bytes: lines, or the elements
    /// of a text sequence (RFC 7464). A record that extends beyond the range is read to its end. So
    /// consecutive ranges contain each record exactly once, wherever they are cut.
    ///
    /// Offsets remain those in the whole document; lines and records are counted from the start of
    /// the part. The cost is that of reading one record at each end.
    ///
    /// ```
    /// use trommel::reader::Framing;
    /// use trommel::{Analysis, Document};
    ///
    /// let lines = "{\"a\":1}\n{\"a\":2}\n{\"a\":3}\n";
    /// let mut all = 0;
    /// for range in [0..3, 3..9, 9..24] {
    ///     let mut part = Document::from_bytes(lines).framing(Framing::Lines).range(range)?;
    ///     let report = Analysis::new().count("$.a".parse()?).run(&mut part)?;
    ///     all += report.answers[0].count().unwrap();
    /// }
    /// assert_eq!(all, 3);
    /// # Ok::<(), trommel::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Part`] if the framing does not separate records by a byte ([`Framing::Lines`] and
    /// [`Framing::JsonSeq`] do), if the input is compressed or can be read only once, and if the
    /// range is not in the document. A part can be divided again.
    pub fn range(self, range: Range<u64>) -> Result<Self, Error> {
        let Self { source, framing, .. } = self;
        let input = match source {
            Source::Input(input) => input,
            Source::Packed(_, codec) => return Err(PartError::Packed(codec.name()).into()),
            Source::Reader(_) => return Err(PartError::Reader.into()),
        };
        if !matches!(framing, Framing::Lines | Framing::JsonSeq) {
            return Err(PartError::SingleDocument.into());
        }
        let length = input.known_len().ok_or(PartError::UnknownLength)?;
        let all = input.start()..input.start() + length;
        if range.start > range.end || range.start < all.start || range.end > all.end {
            return Err(PartError::Outside { range, all }.into());
        }
        let start = |at| record_start(&input, framing, at).map_err(read_error);
        let span = Span::new(start(range.start)?, start(range.end)?);
        let input = input.range(span).ok_or(PartError::Outside { range, all })?;
        Ok(Self { source: Source::Input(input), framing, ..self })
    }

    /// Restricts the document to part `number`, from 0, of `count` parts of about the same length.
    /// The parts contain each record exactly once. Every document has one part: all of it.
    ///
    /// # Errors
    /// Those of [`range`](Self::range), and if `number` is not below `count`.
    pub fn part(self, number: u64, count: u64) -> Result<Self, Error> {
        if number >= count {
            return Err(PartError::NoSuchPart { number, count }.into());
        }
        if count == 1 {
            return Ok(self);
        }
        // Without a length there are no parts, and `range` returns the reason.
        let (start, length) = (self.start(), self.len().unwrap_or(0));
        // At most the length.
        let at = |number: u64| start + (u128::from(length) * u128::from(number) / u128::from(count)) as u64;
        self.range(at(number)..at(number + 1))
    }
}

/// A part of one document: consecutive elements of one array. The first part also has all that is
/// before them, the last part all that is after them.
///
/// Offsets are those of bytes in the document. They come from an earlier pass over it, such as the
/// one that makes a guide (crate `trommel-guide`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(clippy::exhaustive_structs, reason = "it has exactly these members")]
pub struct ElementPart {
    /// The number of the part, from 0.
    pub number: u64,
    /// The number of parts.
    pub count: u64,
    /// The length of the document.
    pub length: u64,
    /// The offset of the array's opening bracket.
    pub array: u64,
    /// The indices of the elements.
    pub elements: Range<u64>,
    /// From the end of the element before them to the end of the last one.
    pub bytes: Range<u64>,
    /// The offset after the white space and the comma that follow.
    pub next: u64,
    /// The end of the elements of the first part.
    pub first_end: u64,
}

/// The offset of the first record that starts at or after an offset, or the end of the input.
fn record_start(input: &Input<'_>, framing: Framing, at: u64) -> io::Result<u64> {
    let end = input.start() + input.len();
    if at == input.start() || at == end {
        return Ok(at);
    }
    Ok(match framing {
        Framing::JsonSeq => input.find(RECORD_SEPARATOR, at)?.unwrap_or(end),
        // A line starts at `at` if the byte before it is a line end.
        _ => input.find(b'\n', at - 1)?.map_or(end, |line_end| line_end + 1),
    })
}
