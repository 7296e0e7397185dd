//! Detection of a log's format from its first records.

use std::path::Path;

use crate::error::{Error, ErrorKind, Refusal, Result};
use crate::fields::{FieldValues, Fields};
use crate::format::FirstRecord;
use crate::formats::Format;
use crate::records::{Flow, Log};
use crate::watch::Watch;

/// The number of the last record that is read.
const HEAD_RECORDS: u64 = 50;

/// The maximum number of characters read of a field.
const MAX_FIELD_CHARS: usize = 100;

/// Fields that identify logs of unsupported programs.
const OTHERS: [&str; 3] = ["type", "payload", "record_type"];

/// Detects the format of a file.
pub(crate) fn format(path: &Path) -> Result<Format> {
    let log = Log::open_any(path, &Watch::new())?;
    let mut names = OTHERS.to_vec();
    // One pass reads the identifying fields of all formats. Formats are tried in the order of the
    // table, as a chat's `role` also occurs in the records of other programs.
    names.extend(Format::ALL.iter().flat_map(|format| format.profile().marks));
    names.sort_unstable();
    names.dedup();
    let fields = Fields::from_dotted(&names.iter().map(|name| (*name, MAX_FIELD_CHARS)).collect::<Vec<_>>());
    let (mut found, mut format, mut other) = (FieldValues::default(), None, None);
    let mut records = 0_u64;
    let damage = log.each(
        &Watch::new(),
        |cursor| {
            fields.read_all(cursor, &mut found)?;
            let record = FirstRecord { names: &names, found: &found };
            // Recorded even if a format matches later: it only serves the error message.
            other = other.or_else(|| other_program(&record));
            Ok(Some(Format::ALL.iter().copied().find(|format| format.log().recognizes(&record))))
        },
        |kind, record| {
            records += 1;
            format = format.or(kind);
            // Not every record identifies its format: Claude Code may start with summaries or
            // snapshots.
            Ok(if format.is_some() || record.number >= HEAD_RECORDS { Flow::Stop } else { Flow::Continue })
        },
    )?;
    format.ok_or_else(|| unknown(path, records, other, damage.count))
}

/// Returns the program that wrote a record, if it is a known but unsupported one.
fn other_program(record: &FirstRecord<'_>) -> Option<&'static str> {
    match record.text("type").as_deref() {
        Some("session_meta" | "response_item" | "event_msg" | "turn_context") if record.has("payload") => {
            Some("Codex")
        }
        Some("gemini") => Some("Gemini CLI"),
        _ if record.has("record_type") => Some("Codex"),
        _ => None,
    }
}

/// Returns the error for a file of unknown format.
fn unknown(path: &Path, records: u64, program: Option<&'static str>, damaged: u64) -> Error {
    let path = path.to_owned();
    if records == 0 && damaged > 0 {
        return ErrorKind::NoRecords { path }.into();
    }
    let profiles = || Format::ALL.iter().map(|format| format.profile());
    let supported = profiles().map(|profile| profile.name).collect();
    let expected = profiles().rev().filter_map(|profile| profile.records).collect();
    Refusal::Format { path, records, program, supported, expected }.into()
}
