//! Chats: a file of messages at any location, each with a role and content.

use crate::format::{FirstRecord, LogFormat, PartLocation, Profile, SearchedParts, SessionRef};
use crate::layout;
use crate::metadata::SessionFacts;
use crate::searcher;

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
    description: PartLocation::Nowhere,
    events: PartLocation::Nowhere,
    counts_turns: false,
    // Chats reuse call IDs.
    has_unique_calls: false,
    layout: &layout::RECORDS,
    searched: SearchedParts {
        description: &searcher::ALL_MEMBERS,
        messages: &searcher::MESSAGES,
        events: &searcher::MESSAGES,
    },
    home: None,
};

impl LogFormat for Chat {
    fn profile(&self) -> &'static Profile {
        &PROFILE
    }

    fn recognizes(&self, record: &FirstRecord<'_>) -> bool {
        record.has("role")
    }

    /// Ignores the parent, as a chat's records may have members with the names that Claude Code
    /// uses for it.
    fn facts(&self, session: SessionRef<'_>) -> SessionFacts {
        SessionFacts { parent_id: None, ..claude_code::facts(session, self) }
    }
}
