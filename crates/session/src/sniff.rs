//! The format of a log, by its first records.

use std::path::Path;

use crate::error::{Error, ErrorKind, Result, shown_path};
use crate::project::{Fields, Found};
use crate::records::{Flow, Log};
use crate::session::Format;
use crate::watch::Watch;

/// Records that are read.
const FIRST: u64 = 50;

/// The kind of a file: Claude Code puts messages below `message`, those of chats have a role themselves.
pub(crate) fn format(path: &Path) -> Result<Format> {
    let log = Log::open_any(path, &Watch::new())?;
    let fields = Fields::of(&[
        ("type", 100),
        ("message.role", 100),
        ("role", 100),
        ("sessionId", 200),
        ("payload", 1),
        ("record_type", 100),
    ]);
    let (mut found, mut format, mut other) = (Found::default(), None, None);
    let mut records = 0_u64;
    let damage = log.each(
        &Watch::new(),
        |cursor| {
            fields.look_at_all(cursor, &mut found)?;
            let claude = found.get(1).or_else(|| found.get(3)).is_some() && found.get(0).is_some();
            let chat = found.get(2).is_some();
            other = other.or_else(|| other_program(&found));
            Ok(Some(if claude { Some(Format::ClaudeCode) } else { chat.then_some(Format::Chat) }))
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
fn other_program(found: &Found) -> Option<&'static str> {
    let kind = found.text(0);
    match kind.as_deref() {
        Some("session_meta" | "response_item" | "event_msg" | "turn_context") if found.get(4).is_some() => {
            Some("Codex")
        }
        Some("gemini") => Some("Gemini CLI"),
        _ if found.get(5).is_some() => Some("Codex"),
        _ => None,
    }
}

/// The error for a file of no known format.
fn unknown(path: &Path, records: u64, program: Option<&str>, damaged: u64) -> Error {
    let path = shown_path(path);
    if records == 0 && damaged > 0 {
        let message = format!("{path} is not a log of a session: it holds no JSON objects");
        return Error::new(ErrorKind::Corrupt, message);
    }
    let found = match program {
        Some(program) => format!("it is a log of {program}"),
        None if records == 0 => "it has no records".to_owned(),
        None => "its first records are neither messages with a `role` nor records of Claude Code".to_owned(),
    };
    let message = format!(
        "format not supported: {path} is not a session of Amplifier or Claude Code or a chat, {found}; give a session's folder or file"
    );
    Error::new(ErrorKind::Unsupported, message)
}
