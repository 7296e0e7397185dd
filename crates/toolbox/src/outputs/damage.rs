//! Streams with damaged records, such as logs with lines that are not JSON: queries skip these
//! records, and every answer reports their number.

use trommel::reader::{Cursor, Result};
use trommel_base::text::grouped;
use trommel_store::Stored;

use crate::text::chars;

/// Returns the warning that an output has damaged records. It is short on a small page, but never
/// omitted.
pub(crate) fn damage_warning(stored: &Stored, max_chars: usize) -> Option<String> {
    let first = stored.first_damaged.as_ref()?;
    let (damaged, record) = (grouped(stored.damaged_records), first.record);
    let of_all = stored.records.map_or_else(String::new, |all| format!(" of {}", grouped(all)));
    let line = first.why.line.map_or_else(String::new, |line| format!("line {line}, "));
    let offset = first.why.offset;
    let are = match stored.damaged_records {
        1 => "is damaged and skipped:",
        _ => "are damaged and skipped; the first is",
    };
    let full = format!("{damaged}{of_all} records {are} record {record} ({line}byte {offset})");
    let is_fitting = chars(&full) * 4 <= max_chars;
    Some(if is_fitting { full } else { format!("{damaged} damaged records skipped, first: {record}") })
}

/// Joins the warning about damaged records and a hint, which is omitted if both take more than a
/// quarter of `max_chars`.
pub(super) fn warning(stored: &Stored, hint: Option<String>, max_chars: usize) -> Option<String> {
    let fits = |text: &String| chars(text) * 4 <= max_chars;
    match (damage_warning(stored, max_chars), hint) {
        (Some(damage), Some(hint)) => Some(format!("{damage}; {hint}")).filter(fits).or(Some(damage)),
        (None, hint) => hint.filter(fits),
        (damage, None) => damage,
    }
}

/// Skips the known damaged records of an output. In such an output every record is validated before
/// it is used, as the engine does; further damage is an error.
pub(crate) struct RecordSkipper {
    is_damaged: bool,
    /// The number of damaged records that were not skipped yet.
    left: u64,
}

impl RecordSkipper {
    pub(crate) fn new(stored: &Stored) -> Self {
        Self { is_damaged: stored.damaged_records > 0, left: stored.damaged_records }
    }

    /// Moves to the next record that is not damaged, like [`Cursor::next_record`].
    pub(crate) fn next_record(&mut self, cursor: &mut Cursor<'_>) -> Result<bool> {
        while cursor.next_record()? {
            match if self.is_damaged { validate(cursor) } else { Ok(()) } {
                Ok(()) => return Ok(true),
                Err(error) if self.left > 0 && error.is_syntax() => self.left -= 1,
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

/// Validates the current record, then rewinds to its start.
pub(crate) fn validate(cursor: &mut Cursor<'_>) -> Result<()> {
    let start = cursor.hold();
    while cursor.advance()?.is_some() {}
    cursor.rewind(&start);
    cursor.release();
    Ok(())
}
