//! Chats: a file of messages, each with a role and a content, wherever it is.

use crate::format::{FirstRecord, Kept, LogFormat, Place, Profile, Searched};
use crate::layout;
use crate::metadata::Facts;
use crate::seek;

use super::claude_code;

pub(super) struct Chat;

const PROFILE: Profile = Profile {
    name: "a chat",
    short_name: "a chat",
    program: "another program",
    records: Some("messages with a `role`"),
    marks: &["role"],
    files: &[],
    is_changeable: false,
    description: Kept::Nowhere,
    events: Kept::Nowhere,
    counts_turns: false,
    // Chats use IDs again.
    has_unique_calls: false,
    layout: &layout::RECORDS,
    searched: Searched { description: &seek::EVERYTHING, messages: &seek::MESSAGES, events: &seek::MESSAGES },
    home: None,
};

impl LogFormat for Chat {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn recognizes(&self, record: &FirstRecord<'_>) -> bool {
        record.has("role")
    }

    /// Its records may have the same members as those of Claude Code.
    fn facts(&self, session: Place<'_>) -> Facts {
        Facts { parent_id: None, ..claude_code::facts(session, self) }
    }
}
