//! The format of a log, by its first records.

use std::path::Path;

use crate::error::{Error, ErrorKind, Refusal, Result};
use crate::format::FirstRecord;
use crate::formats::Format;
use crate::project::{Fields, Found};
use crate::records::{Flow, Log};
use crate::watch::Watch;

/// Records that are read.
const FIRST: u64 = 50;

/// Characters of a field that are read.
const FIELD: usize = 100;

/// The fields by which programs are recognized whose logs are not supported.
const OTHERS: [&str; 3] = ["type", "payload", "record_type"];

/// The format of a file.
pub(crate) fn format(path: &Path) -> Result<Format> {
    let log = Log::open_any(path, &Watch::new())?;
    let mut names = OTHERS.to_vec();
    names.extend(Format::ALL.iter().flat_map(|format| format.profile().marks));
    names.sort_unstable();
    names.dedup();
    let fields = Fields::of(&names.iter().map(|name| (*name, FIELD)).collect::<Vec<_>>());
    let (mut found, mut format, mut other) = (Found::default(), None, None);
    let mut records = 0_u64;
    let damage = log.each(
        &Watch::new(),
        |cursor| {
            fields.look_at_all(cursor, &mut found)?;
            let record = FirstRecord { names: &names, found: &found };
            other = other.or_else(|| other_program(&record));
            Ok(Some(Format::ALL.iter().copied().find(|format| format.log().recognizes(&record))))
        },
        |kind, record| {
            records += 1;
            format = format.or(kind);
            Ok(if format.is_some() || record.number >= FIRST { Flow::Enough } else { Flow::On })
        },
    )?;
    format.ok_or_else(|| unknown(path, records, other, damage.count))
}

/// The program whose records these are, where it is known but not supported.
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

/// The error for a file of no known format.
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
