//! The table of formats. To add one, write a file here that implements [`LogFormat`], and add a row
//! to the table.

mod amplifier;
mod chat;
mod claude_code;

use serde::Serialize;

use crate::format::{Home, LogFormat, Profile};

/// Declares the formats. A file has the first format in the table that recognizes one of its
/// records.
macro_rules! formats {
    ($($(#[$doc:meta])+ $name:ident = $format:expr;)+) => {
        /// The program or format that a session's logs were written by.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum Format {
            $($(#[$doc])+ $name,)+
        }

        impl Format {
            /// All formats.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            pub(crate) fn log(self) -> &'static dyn LogFormat {
                match self {
                    $(Self::$name => &$format,)+
                }
            }
        }
    };
}

formats! {
    /// A folder with `metadata.json`, `transcript.jsonl` and `events.jsonl`.
    Amplifier = amplifier::Amplifier;
    /// Claude Code: a file of lines, or a document with a list of records.
    ClaudeCode = claude_code::ClaudeCode;
    /// Messages with a role and content, as lines or as a list in a document.
    Chat = chat::Chat;
}

impl Format {
    /// The format of sessions that can be synchronized with cloud storage.
    pub const MIRRORED: Self = Self::Amplifier;

    pub(crate) fn profile(self) -> &'static Profile {
        self.log().profile()
    }

    /// The display name.
    pub fn name(self) -> &'static str {
        self.profile().name
    }

    /// A shorter display name, for tables.
    pub fn short_name(self) -> &'static str {
        self.profile().short_name
    }

    /// True if sessions of this format can be rewound and repaired.
    pub fn is_changeable(self) -> bool {
        self.profile().is_changeable
    }

    /// The default location of sessions. None if the format has no fixed location.
    pub fn home(self) -> Option<Home> {
        self.profile().home
    }

    /// True if sessions of this format can be synchronized with cloud storage.
    pub fn is_mirrored(self) -> bool {
        self == Self::MIRRORED
    }
}
