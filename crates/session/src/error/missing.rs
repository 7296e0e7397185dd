//! Sessions, turns, messages, and files that do not exist.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use trommel_base::text::{display_path, excerpt};

/// A session, turn, message, or file that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Missing {
    /// No session belongs to the requested project.
    Project {
        /// The searched locations, or the closest projects.
        notes: Vec<String>,
    },
    /// No session has this ID.
    Session {
        /// The ID or its prefix.
        id: String,
    },
    /// A folder contains no session file.
    Files {
        /// The folder.
        path: PathBuf,
        /// The names of session files.
        names: &'static [&'static str],
    },
    /// A session lacks one of its files.
    Part {
        /// The session.
        session: String,
        /// The file's name.
        name: &'static str,
        /// An explanation.
        note: &'static str,
    },
    /// The session has no change that can be undone.
    Change {
        /// The session.
        session: String,
    },
    /// The transcript has no such turn.
    Turn {
        /// The turn.
        turn: u64,
        /// The number of turns.
        turns: u64,
    },
    /// The transcript has no such message.
    Message {
        /// The message's index, from 0.
        index: u64,
        /// The number of messages.
        messages: u64,
    },
    /// No message has a timestamp.
    Times,
}

impl Missing {
    pub(super) fn help(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::Session { .. } => "list all sessions, including sub-sessions, to see their ids".into(),
            Self::Files { .. } => "pass a session's folder or file".into(),
            Self::Times => "use to_turn or to_message".into(),
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
            Self::Session { id } => write!(f, "no session {}", excerpt(id, 100)),
            Self::Files { path, names } => {
                let names = crate::text::listed(names, "and");
                write!(f, "{} is not a session: it is a folder without {names}", display_path(path))
            }
            Self::Part { session, name, note } => {
                write!(f, "session {} has no {name}: {note}", excerpt(session, 100))
            }
            Self::Change { session } => {
                write!(f, "session {} has no change to undo", excerpt(session, 100))
            }
            Self::Turn { turn, turns } => {
                write!(f, "no turn {turn}: the session has {turns} turns")
            }
            Self::Message { index, messages } => {
                write!(f, "no message {index}: the session has {messages}, counted from 0")
            }
            Self::Times => f.write_str("no message has a timestamp"),
        }
    }
}
