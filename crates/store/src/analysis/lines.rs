//! Analysis line by line, for a log in which some lines are not JSON.

use std::io::Read;

use trommel::reader::{Config, Cursor, Error, ErrorKind, Framing, Result, Syntax};

use super::{Analysis, Counters, not_json};
use crate::output::DamagedRecord;

/// Analyzes a payload that is not valid JSON as a whole. Returns `None` if fewer than nine of ten
/// lines are JSON. Blank lines do not count. Each line is validated before it is counted.
///
/// `line_ends` is the number of line ends in the payload. Reading stops when too many of that many
/// lines are damaged, so that text is rarely read to its end.
pub(crate) fn analyze_lines(reader: impl Read + Send, line_ends: u64) -> Result<Option<Analysis>> {
    let mut cursor = Cursor::from_reader(reader, Framing::Lines, &Config::new());
    let mut counters = Counters::new();
    let (mut damaged, mut first) = (0, None);
    loop {
        match next_line(&mut cursor, &mut counters) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) if is_damaged_line(&error) => {
                damaged += 1;
                let record = cursor.record();
                first.get_or_insert_with(|| DamagedRecord { record, why: not_json(&error) });
                if !is_log(damaged, line_ends.saturating_add(1)) {
                    return Ok(None);
                }
            }
            Err(error) if error.is_syntax() || matches!(error.kind(), ErrorKind::Limit(_)) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
    }
    let records = counters.records.saturating_add(damaged);
    if counters.records == 0 || !is_log(damaged, records) {
        return Ok(None);
    }
    let mut analysis = counters.json(Framing::Lines, true, 0);
    analysis.records = Some(records);
    analysis.summary.items = Some(records);
    (analysis.damaged_records, analysis.first_damaged) = (damaged, first);
    Ok(Some(analysis))
}

/// True if at least nine of ten lines are JSON.
fn is_log(damaged: u64, lines: u64) -> bool {
    damaged.saturating_mul(10) <= lines
}

/// True if a line is not JSON, but the next one may be. The encoding is that of the whole payload.
fn is_damaged_line(error: &Error) -> bool {
    error.is_syntax() && error.kind() != ErrorKind::Syntax(Syntax::Encoding)
}

/// Moves to the next line, validates it, and counts its value.
fn next_line(cursor: &mut Cursor<'_>, counters: &mut Counters) -> Result<bool> {
    if !cursor.next_record()? {
        return Ok(false);
    }
    let mark = cursor.hold();
    // Counters cannot undo what a line added before its first error.
    while cursor.advance()?.is_some() {}
    cursor.rewind(&mark);
    cursor.release();
    counters.record(cursor)?;
    Ok(true)
}
