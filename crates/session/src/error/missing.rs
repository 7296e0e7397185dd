//! What there is not.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use trommel_base::text::{shown, shown_path};

/// A session, a turn, a message, or a file that there is not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// No session is in the project that was named.
    Project {
        /// Where sessions were looked for, or the nearest projects.
        notes: Vec<String>,
    },
    /// There is no session of this ID.
    Session {
        /// The ID, or its beginning.
        id: String,
    },
    /// A folder has no file of a session.
    Files {
        /// The folder.
        path: PathBuf,
        /// The names of a session's files.
        names: &'static [&'static str],
    },
    /// A session has no such file.
    Part {
        /// The session.
        session: String,
        /// The file's name.
        name: &'static str,
        /// What that means.
        note: &'static str,
    },
    /// No change of the session could be undone.
    Change {
        /// The session.
        session: String,
    },
    /// There is no such turn.
    Turn {
        /// The turn.
        turn: u64,
        /// The number of turns.
        turns: u64,
    },
    /// There is no such message.
    Message {
        /// The message, from 0.
        index: u64,
        /// The number of messages.
        messages: u64,
    },
    /// No message has a time.
    Times,
}

impl Missing {
    pub(super) fn help(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Session { .. } => "list all sessions, with sub-sessions, to see their ids".into(),
            Self::Files { .. } => "give a session's folder or file".into(),
            Self::Times => "give to_turn or to_message".into(),
            Self::Project { .. }
            | Self::Part { .. }
            | Self::Change { .. }
            | Self::Turn { .. }
            | Self::Message { .. } => return None,
        })
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project { notes } => f.write_str(&notes.join("; ")),
            Self::Session { id } => write!(f, "there is no session {}", shown(id, 100)),
            Self::Files { path, names } => {
                let names = crate::text::listed(names, "and");
                write!(f, "{} is not a session: it is a folder without {names}", shown_path(path))
            }
            Self::Part { session, name, note } => {
                write!(f, "session {} has no {name}: {note}", shown(session, 100))
            }
            Self::Change { session } => {
                write!(f, "nothing was changed in session {} that could be undone", shown(session, 100))
            }
            Self::Turn { turn, turns } => {
                write!(f, "there is no turn {turn}: the session has {turns} turns")
            }
            Self::Message { index, messages } => {
                write!(f, "there is no message {index}: the session has {messages}, and the first is 0")
            }
            Self::Times => f.write_str("no message says when it was written"),
        }
    }
}
