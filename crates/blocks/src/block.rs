//! A block: one numbered change of a session.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::checksum;
use crate::error::{ErrorKind, Result};

/// The version of the format that is written. Blocks without a version number are of the version
/// before it, which differs only in that.
pub const VERSION: u32 = 1;

/// The identity of a session: its owner and its ID.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Key {
    user: String,
    session: String,
}

/// Maximum length of a user or session name, in characters.
const MAX_NAME: usize = 200;

impl Key {
    /// Creates a key from two names of letters, digits, `.`, `_`, `-`, and `@` that do not start
    /// with a dot, so that they can be parts of IDs and paths on every system. Other names are an
    /// error.
    pub fn new(user: &str, session: &str) -> Result<Self> {
        for (role, name) in [("user", user), ("session", session)] {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-@".contains(&byte);
            let fits = !name.is_empty() && name.len() <= MAX_NAME && !name.starts_with('.');
            if !fits || !name.bytes().all(is_plain) {
                return Err(ErrorKind::InvalidName { role, name: name.to_owned() }.into());
            }
        }
        Ok(Self { user: user.to_owned(), session: session.to_owned() })
    }

    /// The owner.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The ID of the session.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The partition key of the session's blocks: `<user>_<session>`.
    pub fn partition(&self) -> String {
        format!("{}_{}", self.user, self.session)
    }

    /// The name of a block in a storage, `<session>_<20 digits>`. Two writers of the same number
    /// collide on it.
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
    /// The owner of the session.
    pub user_id: String,
    /// Its position in the session, from 1.
    pub sequence: u64,
    /// The time of the change, RFC 3339.
    pub timestamp: String,
    /// The device that wrote it.
    pub device_id: String,
    /// The kind of change.
    pub block_type: BlockType,
    /// The change; see the types of [`data`](crate::data).
    #[serde(default = "nothing")]
    pub data: Box<RawValue>,
    /// For a piece of a long record: the block it continues.
    #[serde(default)]
    pub parent_block_id: Option<String>,
    /// The index of the piece, from 0.
    #[serde(default)]
    pub chunk_index: Option<u64>,
    /// True for the last piece, and for a record in one piece.
    #[serde(default = "yes")]
    pub is_final_chunk: bool,
    /// SHA-256 of the data in hexadecimal digits, see [`checksum`](crate::checksum).
    #[serde(default)]
    pub checksum: String,
    /// Length in bytes of the text that the checksum covers.
    #[serde(default)]
    pub size_bytes: u64,
    /// The version of the format.
    #[serde(default = "first", skip_serializing_if = "is_unnumbered")]
    pub version: u32,
}

/// A block with the members that storages index it by.
#[derive(Serialize)]
pub struct BlockDocument<'a> {
    id: &'a str,
    user_id_session_id: String,
    #[serde(flatten)]
    block: &'a Block,
}

impl<'a> BlockDocument<'a> {
    /// The document of a block in a storage that names documents by block ID.
    pub fn new(key: &Key, block: &'a Block) -> Self {
        Self { id: &block.block_id, user_id_session_id: key.partition(), block }
    }
}

fn nothing() -> Box<RawValue> {
    // A storage may return the head of a session without its data.
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

/// The kind of change that a block describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockType {
    /// The session was created, with its description.
    SessionCreated,
    /// Its description changed.
    SessionUpdated,
    /// It was deleted.
    SessionDeleted,
    /// A message was added.
    Message,
    /// An event was added.
    Event,
    /// A piece of a long event or message.
    EventData,
    /// Hides the blocks after its target.
    Rewind,
    /// The session continues a copy of another session.
    Fork,
}

impl BlockType {
    /// All types.
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

    /// Its name in the format.
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

    /// True if it describes the session as a whole; lists of sessions need only these.
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
    /// True if both are the same block. Two writers that collide at one number wrote different
    /// blocks.
    pub fn is_same_as(&self, other: &Self) -> bool {
        // The timestamp is not compared: a block that is made again after an interruption may have
        // a later one.
        self.block_id == other.block_id && self.checksum == other.checksum && self.sequence == other.sequence
    }

    /// Checks that the version is known and that the data matches its checksum. A block without a
    /// checksum is accepted. Linear in its length.
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

    /// Checks that the version is known.
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
