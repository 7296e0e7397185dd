//! A block: one change of a session, numbered, and told apart from every other.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::checksum;
use crate::error::{ErrorKind, Result};

/// The version of blocks that is written. Those without a number are of the first one, which is the
/// same but for the number.
pub const VERSION: u32 = 1;

/// Whose session it is, and which.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Key {
    user: String,
    session: String,
}

/// Characters of a user or a session at most.
const LONGEST: usize = 200;

impl Key {
    /// An error unless both are names: letters, digits, `.`, `_`, `-` and `@`, not beginning with a
    /// dot, so that they can be parts of ids and of paths everywhere.
    pub fn new(user: &str, session: &str) -> Result<Self> {
        for (role, name) in [("user", user), ("session", session)] {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@".contains(&byte);
            let fits = !name.is_empty() && name.len() <= LONGEST && !name.starts_with('.');
            if !fits || !name.bytes().all(is_plain) {
                return Err(ErrorKind::InvalidName { role, name: name.to_owned() }.into());
            }
        }
        Ok(Self { user: user.to_owned(), session: session.to_owned() })
    }

    /// Whose it is.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The value that keeps a session's blocks together: `<user>_<session>`.
    pub fn partition(&self) -> String {
        format!("{}_{}", self.user, self.session)
    }

    /// A block's name in a storage: `<session>_<20 digits>`, so that two writers of one number
    /// collide.
    pub fn document(&self, sequence: u64) -> String {
        format!("{}_{sequence:020}", self.session)
    }
}

/// One change of a session. Blocks of a session are numbered from 1 without a gap.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Block {
    /// `<session>_blk_<12 hexadecimal digits>`.
    pub block_id: String,
    /// The session it belongs to.
    pub session_id: String,
    /// Whose session it is.
    pub user_id: String,
    /// Its place in the session, from 1.
    pub sequence: u64,
    /// When what it tells happened, RFC 3339.
    pub timestamp: String,
    /// The device that wrote it.
    pub device_id: String,
    /// What kind of change it is.
    pub block_type: BlockType,
    /// What changed; see the types of [`data`](crate::data).
    #[serde(default = "nothing")]
    pub data: Box<RawValue>,
    /// The block it continues, for a piece of a long one.
    #[serde(default)]
    pub parent_block_id: Option<String>,
    /// Which piece, from 0.
    #[serde(default)]
    pub chunk_index: Option<u64>,
    /// Whether it is the last piece; `true` for what is in one piece.
    #[serde(default = "yes")]
    pub is_final_chunk: bool,
    /// SHA-256 of the data, see [`checksum`](crate::checksum), in hexadecimal digits.
    #[serde(default)]
    pub checksum: String,
    /// Length of the text that the checksum was taken of, in bytes.
    #[serde(default)]
    pub size_bytes: u64,
    /// The version of the format.
    #[serde(default = "first", skip_serializing_if = "is_unnumbered")]
    pub version: u32,
}

/// A block as other programs look for it, with what tells it from others beside it.
#[derive(Serialize)]
pub struct BlockDocument<'a> {
    id: &'a str,
    user_id_session_id: String,
    #[serde(flatten)]
    block: &'a Block,
}

impl<'a> BlockDocument<'a> {
    /// In a storage where its id is that of the block.
    pub fn new(key: &Key, block: &'a Block) -> Self {
        Self { id: &block.block_id, user_id_session_id: key.partition(), block }
    }
}

fn nothing() -> Box<RawValue> {
    RawValue::NULL.to_owned()
}

fn yes() -> bool {
    true
}

fn first() -> u32 {
    0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde passes")]
fn is_unnumbered(version: &u32) -> bool {
    *version == 0
}

/// What kind of change a block tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockType {
    /// The session was begun, with its description.
    SessionCreated,
    /// Its description changed.
    SessionUpdated,
    /// It is gone.
    SessionDeleted,
    /// Something was said.
    Message,
    /// Something happened.
    Event,
    /// A piece of a long event or message.
    EventData,
    /// What was told since some block is hidden.
    Rewind,
    /// It goes on where another session was.
    Fork,
}

impl BlockType {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::SessionCreated,
        Self::SessionUpdated,
        Self::SessionDeleted,
        Self::Message,
        Self::Event,
        Self::EventData,
        Self::Rewind,
        Self::Fork,
    ];

    /// Its name in blocks.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SessionCreated => "session_created",
            Self::SessionUpdated => "session_updated",
            Self::SessionDeleted => "session_deleted",
            Self::Message => "message",
            Self::Event => "event",
            Self::EventData => "event_data",
            Self::Rewind => "rewind",
            Self::Fork => "fork",
        }
    }

    /// Whether it tells of the session as a whole: what a list of sessions needs.
    pub const fn describes(self) -> bool {
        matches!(self, Self::SessionCreated | Self::SessionUpdated | Self::SessionDeleted | Self::Fork)
    }
}

impl fmt::Display for BlockType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Block {
    /// Whether it is the block that another one is: two writers who meet at one number wrote two
    /// different ones.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.block_id == other.block_id && self.checksum == other.checksum && self.sequence == other.sequence
    }

    /// An error unless it is of a version that is known, and its data is what its checksum was
    /// taken of.
    ///
    /// A block without a checksum is taken as it is. Linear in its length.
    pub fn verify(&self) -> Result<()> {
        self.check_version()?;
        if self.checksum.is_empty() {
            return Ok(());
        }
        let found = checksum::of(self.data.get())?;
        if found.hex == self.checksum.to_ascii_lowercase() {
            return Ok(());
        }
        let (sequence, session) = (self.sequence, self.session_id.clone());
        Err(ErrorKind::Checksum { sequence, session }.into())
    }

    /// An error when it is of a version that is not known.
    pub fn check_version(&self) -> Result<()> {
        if self.version <= VERSION {
            return Ok(());
        }
        Err(ErrorKind::BlockVersion {
            sequence: self.sequence,
            session: self.session_id.clone(),
            version: self.version,
            known: VERSION,
        }
        .into())
    }

    /// Returns its data as one of the types of [`data`](crate::data). Other members are skipped.
    pub fn data<'a, T: Deserialize<'a>>(&'a self) -> Result<T> {
        serde_json::from_str(self.data.get()).map_err(|cause| {
            let (sequence, session) = (self.sequence, self.session_id.clone());
            ErrorKind::BlockData { sequence, session, block_type: self.block_type.name(), cause }.into()
        })
    }
}
