//! What kind of log a file is, from its first records.

use std::path::Path;

use crate::error::{Error, ErrorKind, Result, shown_path};
use crate::project::{Fields, Found};
use crate::records::{Flow, Log};
use crate::session::Format;
use crate::watch::Watch;

/// Records that are looked at.
const FIRST: u64 = 50;

/// The kind of a file: messages of Claude Code stand below `message`, those of chats have a role themselves.
pub(crate) fn format(path: &Path) -> Result<Format> {
    let log = Log::open_any(path, &Watch::new())?;
    let fields = Fields::of(&[("type", 100), ("message.role", 100), ("role", 100), ("sessionId", 200)]);
    let (mut found, mut format) = (Found::default(), None);
    log.each(
        &Watch::new(),
        |cursor| {
            fields.look_at_all(cursor, &mut found)?;
            let claude = found.get(1).or_else(|| found.get(3)).is_some() && found.get(0).is_some();
            let chat = found.get(2).is_some();
            Ok(Some(if claude { Some(Format::ClaudeCode) } else { chat.then_some(Format::Chat) }))
        },
        |kind, record| {
            format = format.or(kind);
            Ok(if format.is_some() || record.number >= FIRST { Flow::Enough } else { Flow::On })
        },
    )?;
    format.ok_or_else(|| {
        let message = format!(
            "{} is no log of a session: its first records are neither messages with a role nor Claude Code's; \
             give a session's folder, or a file of such records",
            shown_path(path)
        );
        Error::new(ErrorKind::Corrupt, message)
    })
}
