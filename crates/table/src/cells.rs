//! The values of rows on their way through the two passes: in chunks of encoded rows.
//!
//! A row has for each column the offset of its value in the input (8 bytes), the length (4 bytes,
//! all ones if there is no value), and the value as JSON.

use std::io;

use trommel::reader::{Config, Cursor, Framing, Validation};
use trommel::{Damage, Match, Report, Sink};

use crate::error::Error;

/// Bytes that complete a chunk.
pub(crate) const CHUNK_BYTES: usize = 1 << 20;

/// Bytes of a chunk for the part of its last row that exceeds it.
const SPARE_BYTES: usize = 64 << 10;

/// Maximum bytes of a row. Arrow's texts have offsets of 31 bits.
const MAX_ROW_BYTES: usize = 1 << 30;

/// The length of a missing value.
const MISSING: u32 = u32::MAX;

/// The value of one column in one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell<'c> {
    pub(crate) offset: u64,
    /// JSON; `None` if the row has no value.
    pub(crate) value: Option<&'c [u8]>,
}

/// The first values of a column in the current row.
#[derive(Debug, Default)]
struct OpenCell {
    offset: u64,
    count: u64,
    value: Vec<u8>,
    /// True if the column's query can select several values, which are then an array.
    is_list: bool,
}

/// Receives chunks of encoded rows.
pub(crate) trait TakeRows {
    /// Takes one row, encoded.
    fn row(&mut self, row: &[u8]) -> io::Result<()>;
}

/// A sink that encodes rows.
pub(crate) struct RowSink<'t> {
    columns: Vec<OpenCell>,
    row: Vec<u8>,
    take: &'t mut dyn TakeRows,
    pub(crate) rows: u64,
    /// Rows to skip, and the number of rows to take after them.
    skip: u64,
    left: Option<u64>,
    /// The number of the current record, if rows end where the number of the record changes.
    current: Option<u64>,
    /// The number of malformed records that were skipped.
    pub(crate) damaged: &'t mut dyn FnMut(&Damage),
    /// The error of a row, which ended the run.
    failed: Option<Error>,
    /// The configuration to validate containers with, if the engine skips their contents.
    strict: Option<Config>,
}

/// The rows of the input to take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Window {
    pub(crate) skip: u64,
    pub(crate) limit: Option<u64>,
    /// True if every record is a row, so that the numbers of records show where rows end, and the
    /// run need not report it. Only then can it be divided among threads.
    pub(crate) all_records: bool,
}

impl<'t> RowSink<'t> {
    /// Encodes rows of columns, of which each is a list or not.
    pub(crate) fn new(
        lists: &[bool],
        config: &Config,
        window: Window,
        take: &'t mut dyn TakeRows,
        damaged: &'t mut dyn FnMut(&Damage),
    ) -> Self {
        let columns = lists.iter().map(|&is_list| OpenCell { is_list, ..OpenCell::default() }).collect();
        let Window { skip, limit: left, all_records } = window;
        let current = all_records.then_some(0);
        let is_structural = config.validation_level() == Validation::Structural;
        let strict = is_structural.then(|| config.validation(Validation::Strict));
        Self { columns, row: Vec::new(), take, rows: 0, skip, left, current, damaged, failed: None, strict }
    }

    /// Ends the rows of a run, which are those before the record of its error if it failed.
    ///
    /// # Errors
    /// That of the run, or the one that the sink caused.
    pub(crate) fn finish(&mut self, ran: Result<Report, trommel::Error>) -> Result<(), Error> {
        let records = match &ran {
            Ok(report) => report.coverage.records,
            Err(trommel::Error::Read { record, .. }) => record.unwrap_or(0),
            Err(_) => 0,
        };
        let ended = self.end_rows(records);
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        match ran {
            Ok(_) => Ok(ended?),
            Err(trommel::Error::Output(cause)) => Err(cause.into()),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends all rows before that of a record.
    fn end_rows(&mut self, record: u64) -> io::Result<()> {
        while let Some(current) = self.current.filter(|current| *current < record) {
            self.end_row()?;
            self.current = Some(current + 1);
        }
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        self.row.clear();
        for column in &mut self.columns {
            encode(column, &mut self.row);
            (column.count, column.offset) = (0, 0);
            column.value.clear();
            column.value.shrink_to(CHUNK_BYTES);
        }
        if self.row.len() > MAX_ROW_BYTES {
            return Err(self.fail(Error::RowTooLong { row: self.rows, limit: MAX_ROW_BYTES }));
        }
        self.rows += 1;
        self.take.row(&self.row)
    }

    /// Keeps the error, and returns one that ends the run.
    fn fail(&mut self, error: Error) -> io::Error {
        self.failed.get_or_insert(error);
        io::Error::other("a row ended the run")
    }

    /// Validates a container whose contents the engine has skipped.
    fn validate(&self, found: &Match<'_>) -> trommel::reader::Result<()> {
        match (&self.strict, found.value.first()) {
            (Some(strict), Some(b'{' | b'[')) => {
                let mut cursor = Cursor::from_view(found.view(), Framing::Single, strict);
                while cursor.advance()?.is_some() {}
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

impl Sink for RowSink<'_> {
    fn found(&mut self, found: &Match<'_>) -> io::Result<()> {
        if self.skip > 0 {
            return Ok(());
        }
        self.end_rows(found.record)?;
        if let Err(error) = self.validate(found) {
            return Err(self.fail(Error::Malformed { error, record: found.record }));
        }
        let column = &mut self.columns[found.measure];
        if column.count == 0 {
            column.offset = found.span.start;
        } else {
            column.value.push(b',');
        }
        column.count += 1;
        if column.value.len() + found.value.len() > MAX_ROW_BYTES {
            return Err(self.fail(Error::RowTooLong { row: self.rows, limit: MAX_ROW_BYTES }));
        }
        column.value.extend_from_slice(found.value);
        Ok(())
    }

    fn damaged(&mut self, damage: &Damage) -> io::Result<()> {
        (self.damaged)(damage);
        Ok(())
    }

    fn record_ended(&mut self, _: u64) -> io::Result<()> {
        if self.skip > 0 {
            self.skip -= 1;
            return Ok(());
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(1);
        }
        self.end_row()
    }

    fn wants_records(&self) -> bool {
        self.current.is_none()
    }

    fn records_left(&self) -> Option<u64> {
        self.left.map(|left| if left == 0 { 0 } else { left.saturating_add(self.skip) })
    }
}

fn encode(found: &OpenCell, row: &mut Vec<u8>) {
    row.extend_from_slice(&found.offset.to_le_bytes());
    let is_array = found.is_list && found.count > 0;
    let length = match found.count {
        0 => MISSING,
        // At most `MAX_ROW_BYTES` and two brackets.
        _ => found.value.len() as u32 + 2 * u32::from(is_array),
    };
    row.extend_from_slice(&length.to_le_bytes());
    row.extend(is_array.then_some(b'['));
    row.extend_from_slice(&found.value);
    row.extend(is_array.then_some(b']'));
}

/// Encoded rows that are collected into chunks.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    pub(crate) bytes: Vec<u8>,
}

impl Chunk {
    /// Adds a row. Returns the chunk once it is full.
    pub(crate) fn push(&mut self, row: &[u8]) -> Option<Vec<u8>> {
        self.bytes.extend_from_slice(row);
        let next = || Vec::with_capacity(CHUNK_BYTES + SPARE_BYTES);
        (self.bytes.len() >= CHUNK_BYTES).then(|| std::mem::replace(&mut self.bytes, next()))
    }
}

/// Reads the next cell of encoded rows. `None` at their end.
///
/// # Panics
/// If the bytes are not encoded rows: they come from this process, or an unnamed file of it.
#[expect(clippy::expect_used, reason = "rows are encoded by this module")]
pub(crate) fn next_cell<'c>(rest: &mut &'c [u8]) -> Option<Cell<'c>> {
    let offset = rest.split_off(..8)?;
    let offset = u64::from_le_bytes(offset.try_into().expect("eight bytes"));
    let length = rest.split_off(..4).and_then(|length| length.try_into().ok()).expect("a length follows");
    let length = u32::from_le_bytes(length);
    let value = (length != MISSING).then(|| rest.split_off(..length as usize).expect("a value follows"));
    Some(Cell { offset, value })
}
