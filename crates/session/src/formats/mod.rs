//! The table of formats. To add one, write a file here that implements [`LogFormat`], and add a row
//! to the table.

mod amplifier;
mod chat;
mod claude_code;

use serde::Serialize;

use crate::format::{Home, LogFormat, Profile};

/// Declares the formats. A file is of the first format that recognizes one of its records.
macro_rules! formats {
    ($($(#[$doc:meta])+ $name:ident = $format:expr;)+) => {
        /// What wrote a session's logs.
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
    /// Claude Code: one file of lines, or one document with a list of them.
    ClaudeCode = claude_code::ClaudeCode;
    /// Messages with a role and contents, as lines or as a list in a document.
    Chat = chat::Chat;
}

impl Format {
    /// The format of the sessions that a storage in the cloud can hold.
    pub const MIRRORED: Self = Self::Amplifier;

    pub(crate) fn profile(self) -> &'static Profile {
        self.log().profile()
    }

    /// Its name, for people.
    pub fn name(self) -> &'static str {
        self.profile().name
    }

    /// A shorter name, for tables.
    pub fn short_name(self) -> &'static str {
        self.profile().short_name
    }

    /// True if its sessions can be rewound and repaired.
    pub fn is_changeable(self) -> bool {
        self.profile().is_changeable
    }

    /// Where the program keeps its sessions; none where sessions are anywhere.
    pub fn home(self) -> Option<Home> {
        self.profile().home
    }

    /// True if its sessions can be synchronized with a storage in the cloud.
    pub fn is_mirrored(self) -> bool {
        self == Self::MIRRORED
    }
}
