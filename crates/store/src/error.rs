//! Errors of a store: kinds with their data for programs, one line with advice for people.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use trommel_base::error::Kind;
use trommel_base::files::{self, Op};
use trommel_base::text::{shown_name, shown_path};

trommel_base::error_type! {
    /// An error of a store: what happened, where, and what to do next. One pointer wide.
    ///
    /// [`kind`](Self::kind) is for programs; [`Display`](fmt::Display) is one safe line of bounded
    /// length for people.
    pub struct Error(ErrorKind);
}

/// The result of an operation of a store.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, with its data.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text is not an ID: it does not match `^[A-Za-z0-9_-]{1,64}$`. No path was made of it.
    InvalidId(String),
    /// There is no output of this ID.
    NotFound {
        /// The ID, or the prefix of one.
        id: String,
        /// The characters that a prefix needs, where this one has fewer.
        needs: Option<usize>,
        /// IDs that resemble it, the most similar first.
        near: Vec<String>,
    },
    /// A prefix fits several outputs.
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// The first IDs that begin with it.
        ids: Vec<String>,
        /// True if there are more.
        more: bool,
    },
    /// There is an output of this ID already.
    Exists {
        /// The ID.
        id: String,
        /// Its description.
        path: PathBuf,
    },
    /// Another writer holds the output.
    Held {
        /// The ID.
        id: String,
        /// The marker that it holds.
        path: PathBuf,
    },
    /// The description of an output is damaged.
    Metadata {
        /// The ID.
        id: String,
        /// The description.
        path: PathBuf,
        /// The damage.
        why: String,
    },
    /// A later version stored the output.
    MetadataVersion {
        /// The ID.
        id: String,
        /// The description.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The latest version that can be read.
        known: u32,
    },
    /// The description of an output was changed while it was read.
    Unsealed,
    /// A payload is missing or damaged.
    Payload {
        /// The ID.
        id: String,
        /// The payload.
        path: PathBuf,
        /// The damage.
        why: PayloadFault,
    },
    /// A payload is text, and a document is wanted.
    NotJson {
        /// The ID.
        id: String,
        /// Why it is not JSON, if it was to be.
        why: Option<String>,
    },
    /// A filter selects no time.
    NoTime {
        /// The start, excluded.
        after: i64,
        /// The end, excluded.
        before: i64,
        /// The largest number that is taken for seconds.
        seconds_up_to: i64,
    },
    /// A word of a filter is unknown.
    FilterWord {
        /// The member of the filter.
        what: &'static str,
        /// The word.
        found: String,
        /// The words that are known.
        known: &'static str,
    },
    /// A name of an origin is too long.
    LongName {
        /// Which name.
        what: &'static str,
        /// Its bytes.
        bytes: usize,
        /// The largest number of bytes.
        limit: usize,
    },
    /// An execution is larger than the history.
    LongExecution {
        /// Its bytes.
        bytes: u64,
        /// The bytes of the whole history.
        limit: u64,
        /// The entries of the whole history.
        entries: u64,
    },
    /// An execution is not JSON.
    Execution(serde_json::Error),
    /// A description cannot be written as JSON.
    Description(serde_json::Error),
    /// An output is pinned, and was to be deleted.
    Pinned(String),
    /// A payload is larger than the store.
    LongPayload {
        /// The bytes that were needed.
        bytes: u64,
        /// The bytes of the whole store.
        limit: u64,
    },
    /// Pinned and open outputs leave no room for a new one.
    NoRoom {
        /// The limit.
        limit: u64,
        /// What is limited: `bytes` or `outputs`.
        what: &'static str,
        /// The number of pinned outputs.
        pinned: u64,
        /// The number of outputs being read.
        open: u64,
    },
    /// Another process kept a lock for too long.
    Locked {
        /// The lock.
        path: PathBuf,
        /// The seconds waited.
        seconds: u64,
    },
    /// A file or folder is not the store's own.
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// What it is.
        why: ForeignFault,
    },
    /// A database cannot be used.
    Database {
        /// The database.
        path: PathBuf,
        /// The fault.
        why: DatabaseFault,
    },
    /// The work was cancelled.
    Cancelled {
        /// Outputs that were done by then.
        outputs: u64,
        /// All outputs.
        total: u64,
    },
    /// A write to the output failed before.
    GivenUp(String),
    /// The source of a payload cannot be read.
    Source {
        /// The bytes read by then.
        bytes: u64,
        /// The error of the source.
        cause: io::Error,
    },
    /// A payload cannot be compressed.
    Compression(PathBuf),
    /// The check of a payload ended early.
    Check(PathBuf),
    /// The system refused an operation on a file.
    File {
        /// The operation, the file, and the cause.
        error: files::Error,
        /// The bytes there was no room for, where known.
        bytes_needed: Option<u64>,
    },
}

/// What is wrong with a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PayloadFault {
    /// It has another length than was written.
    Length {
        /// Its bytes on disk.
        found: u64,
        /// The bytes that were written.
        written: u64,
    },
    /// It does not exist any more.
    Missing,
    /// It is packed, and damaged.
    Packed,
}

/// What is in the place of a file or folder of the store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForeignFault {
    /// Not a regular file.
    NotFile,
    /// A link, in the place of a folder.
    Link,
    /// Not a folder.
    NotFolder,
    /// A folder of another user.
    Owner {
        /// Its owner.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// A folder that others can write to.
    Writable {
        /// Its permissions.
        mode: u32,
    },
}

/// What is wrong with a database.
#[derive(Debug)]
#[non_exhaustive]
pub enum DatabaseFault {
    /// A later version wrote it: the version of its tables.
    Version(i32),
    /// SQLite refused an operation.
    Refused {
        /// The operation.
        doing: &'static str,
        /// The error of SQLite.
        cause: rusqlite::Error,
        /// The class that it belongs to.
        class: ErrorClass,
        /// The bytes there was no room for, where known.
        bytes_needed: Option<u64>,
    },
    /// It is damaged.
    Damaged(String),
    /// It is damaged again each time it is rebuilt.
    Unusable,
}

trommel_base::error_class! {
    /// The class of an error, without its data.
    pub enum ErrorClass {
        /// A text is not an ID.
        InvalidId = "invalid_id",
        /// There is no output of this ID; [`Error::candidates`] has IDs that resemble it.
        NotFound = "not_found",
        /// A prefix fits several outputs; [`Error::candidates`] has the first of them.
        Ambiguous = "ambiguous",
        /// An output of this ID exists already, or is being written.
        Exists = "exists",
        /// The output's metadata or payload is not what was stored.
        Corrupt = "corrupt",
        /// The payload is text, and a document is wanted.
        NotJson = "not_json",
        /// The filter contradicts itself.
        Filter = "filter",
        /// A text to be kept is too long, or is not JSON where it must be.
        Invalid = "invalid",
        /// The output is pinned, and was to be deleted.
        Pinned = "pinned",
        /// The disk, or the store's own limit, has no room.
        Full = "full",
        /// Another process has kept the store locked for too long.
        Busy = "busy",
        /// The folder belongs to another user, others may write to it, or it leads elsewhere.
        Foreign = "foreign",
        /// A later version wrote it.
        Version = "version",
        /// The work was [cancelled](crate::Control::cancel_with).
        Cancelled = "cancelled",
        /// Reading or writing failed.
        Io = "io",
    }
}

impl ErrorKind {
    /// The class, without the data.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::InvalidId(_) => ErrorClass::InvalidId,
            Self::NotFound { .. } => ErrorClass::NotFound,
            Self::Ambiguous { .. } => ErrorClass::Ambiguous,
            Self::Exists { .. } | Self::Held { .. } => ErrorClass::Exists,
            Self::Metadata { .. } | Self::Unsealed | Self::Payload { .. } => ErrorClass::Corrupt,
            Self::MetadataVersion { .. } => ErrorClass::Version,
            Self::NotJson { .. } => ErrorClass::NotJson,
            Self::NoTime { .. } | Self::FilterWord { .. } => ErrorClass::Filter,
            Self::LongName { .. }
            | Self::LongExecution { .. }
            | Self::Execution(_)
            | Self::Description(_) => ErrorClass::Invalid,
            Self::Pinned(_) => ErrorClass::Pinned,
            Self::LongPayload { .. } | Self::NoRoom { .. } => ErrorClass::Full,
            Self::Locked { .. } => ErrorClass::Busy,
            Self::Foreign { .. } => ErrorClass::Foreign,
            Self::Database { why, .. } => match why {
                DatabaseFault::Version(_) => ErrorClass::Version,
                DatabaseFault::Refused { class, .. } => *class,
                DatabaseFault::Damaged(_) | DatabaseFault::Unusable => ErrorClass::Corrupt,
            },
            Self::Cancelled { .. } => ErrorClass::Cancelled,
            Self::File { error, .. } if error.is_full() => ErrorClass::Full,
            Self::File { .. }
            | Self::GivenUp(_)
            | Self::Source { .. }
            | Self::Compression(_)
            | Self::Check(_) => ErrorClass::Io,
        }
    }

    /// The file or folder, where there is one.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Exists { path, .. }
            | Self::Held { path, .. }
            | Self::Metadata { path, .. }
            | Self::MetadataVersion { path, .. }
            | Self::Payload { path, .. }
            | Self::Locked { path, .. }
            | Self::Foreign { path, .. }
            | Self::Database { path, .. }
            | Self::Compression(path)
            | Self::Check(path) => Some(path),
            Self::File { error, .. } => Some(error.path()),
            _ => None,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidId(id) if id.is_empty() => f.write_str("an empty text is no id"),
            Self::InvalidId(id) => write!(f, "`{}` is no id", shown_name(id)),
            Self::NotFound { id, needs, .. } => {
                write!(f, "there is no output {}", shown_name(id))?;
                needs.map_or(Ok(()), |needs| write!(f, " (a prefix needs at least {needs} characters)"))
            }
            Self::Ambiguous { prefix, ids, more } => {
                let more = if *more { " and others" } else { "" };
                write!(f, "{} stands for several outputs: {}{more}", shown_name(prefix), ids.join(", "))
            }
            Self::Exists { id, .. } => {
                write!(f, "there is an output {id} already, and outputs never change")
            }
            Self::Held { id, .. } => {
                write!(f, "output {id} is being written or changed elsewhere")
            }
            Self::NotJson { id, why } => {
                let why = why.as_ref().map_or(String::new(), |why| format!(" ({})", shown_name(why)));
                write!(f, "output {id} is text, no JSON{why}")
            }
            Self::NoTime { after, before, .. } => write!(
                f,
                "`after` ({after}) is not below `before` ({before}), so that nothing can lie between"
            ),
            Self::FilterWord { what, found, .. } => write!(f, "`{}` is no `{what}`", shown_name(found)),
            Self::LongName { what, bytes, limit } => {
                write!(f, "the {what} has {bytes} bytes, and may have {limit}")
            }
            Self::LongExecution { bytes, limit, entries } => write!(
                f,
                "an execution of {bytes} bytes cannot be recorded where the history may have {limit} bytes and \
                 {entries} entries"
            ),
            Self::Execution(cause) => {
                write!(f, "what is to be recorded of an execution is no JSON: {cause}")
            }
            Self::Description(_) => f.write_str("the description cannot be written as JSON"),
            Self::Pinned(id) => write!(f, "output {id} is pinned"),
            Self::LongPayload { bytes, limit } => write!(
                f,
                "the payload takes more than the {limit} bytes that this store may keep in all ({bytes} bytes \
                 were needed)"
            ),
            Self::NoRoom { limit, what, pinned, open } => write!(
                f,
                "the store may keep {limit} {what}, and what is pinned ({pinned} outputs) or being read ({open}) \
                 leaves no room"
            ),
            Self::Cancelled { outputs, total } => write!(f, "cancelled after {outputs} of {total} outputs"),
            Self::GivenUp(id) => {
                write!(f, "a write to output {id} has failed before, and nothing of it was kept")
            }
            Self::Source { bytes, cause } => {
                write!(f, "the payload cannot be read after {bytes} bytes: {cause}; nothing was stored")
            }
            Self::Compression(_) => f.write_str("the payload cannot be compressed"),
            Self::Check(_) => f.write_str("the check of the payload broke off; nothing was stored"),
            Self::File { error, bytes_needed } => {
                error.fmt(f)?;
                needed(f, *bytes_needed)
            }
            Self::Metadata { id, why, .. } => {
                write!(f, "the metadata of output {} is damaged ({})", shown_name(id), shown_name(why))
            }
            Self::MetadataVersion { id, found, known, .. } => write!(
                f,
                "output {} was stored by a later version (metadata version {found}, and this program knows {known})",
                shown_name(id)
            ),
            Self::Unsealed => f.write_str("the description is not as it was sealed"),
            Self::Payload { id, why, .. } => why.write(f, id),
            Self::Locked { path, seconds } => {
                write!(f, "another process has kept {} locked for {seconds} seconds", shown_path(path))
            }
            Self::Foreign { path, why } => why.write(f, path),
            Self::Database { path, why } => why.write(f, path),
        }
    }
}

/// The bytes there was no room for, as a remark.
fn needed(f: &mut fmt::Formatter<'_>, bytes: Option<u64>) -> fmt::Result {
    bytes.map_or(Ok(()), |bytes| write!(f, " ({bytes} bytes were needed)"))
}

impl PayloadFault {
    fn write(&self, f: &mut fmt::Formatter<'_>, id: &str) -> fmt::Result {
        match self {
            Self::Length { found, written } => write!(
                f,
                "the payload of output {id} has {found} bytes on disk, and {written} were written: it is damaged"
            ),
            Self::Missing => write!(f, "output {id} has no payload any more"),
            Self::Packed => write!(f, "the packed payload of output {id} is damaged"),
        }
    }
}

impl ForeignFault {
    fn write(&self, f: &mut fmt::Formatter<'_>, path: &Path) -> fmt::Result {
        let path = shown_path(path);
        match self {
            Self::NotFile => write!(f, "{path} is not a regular file"),
            Self::Link => write!(f, "{path} leads out of the store"),
            Self::NotFolder => write!(f, "the folder {path} is no place for a store: it is no folder"),
            Self::Owner { owner, user } => write!(
                f,
                "the folder {path} is no place for a store: it belongs to user {owner}, and this is user {user}"
            ),
            Self::Writable { mode } => write!(
                f,
                "the folder {path} is no place for a store: others may write to it (mode {mode:04o})"
            ),
        }
    }

    fn help(&self) -> &'static str {
        match self {
            Self::NotFile => "move it out of the store, and a new one is created",
            Self::Link => "put the folder itself in its place",
            Self::NotFolder => "name one, or one that does not exist yet",
            Self::Owner { .. } => "use a folder of your own",
            Self::Writable { .. } => "take that away: chmod go-w",
        }
    }
}

impl DatabaseFault {
    fn write(&self, f: &mut fmt::Formatter<'_>, path: &Path) -> fmt::Result {
        let path = shown_path(path);
        match self {
            Self::Version(found) => {
                write!(f, "{path} was written by a later version (tables of version {found})")
            }
            Self::Refused { doing, cause, bytes_needed, .. } => {
                write!(f, "cannot {doing} {path}: {}", shown_name(&cause.to_string()))?;
                needed(f, *bytes_needed)
            }
            Self::Damaged(why) => write!(f, "{path} is damaged: {}", shown_name(why)),
            Self::Unusable => write!(f, "{path} is damaged again each time it is made"),
        }
    }

    fn help(&self) -> Option<&'static str> {
        match self {
            Self::Version(_) => Some("use that version"),
            Self::Refused { class: ErrorClass::Full, .. } => Some(FREE),
            Self::Refused { class: ErrorClass::Busy, .. } => {
                Some("another process keeps it locked: find out which, or try again")
            }
            Self::Refused { .. } => Some("check the disk, and try again"),
            Self::Damaged(_) => None,
            Self::Unusable => Some("look at the disk, or move the store"),
        }
    }
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        self.class().code()
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::InvalidId(_) => {
                "an id is 1 to 64 letters, digits, `_` or `-`; `list` shows the ids of what is stored".into()
            }
            Self::NotFound { near, .. } if near.is_empty() => "`list` shows what is stored".into(),
            Self::NotFound { near, .. } => {
                format!("did you mean {}? `list` shows what is stored", near.join(" or ")).into()
            }
            Self::Ambiguous { .. } => "give more of the id".into(),
            Self::Exists { .. } => "use another id".into(),
            Self::Held { .. } => "wait until they are done, or use another id".into(),
            Self::Metadata { .. } => {
                "its payload may be whole: copy it out of the store, then delete the output".into()
            }
            Self::MetadataVersion { .. } => "use that version".into(),
            Self::Unsealed => "try again".into(),
            Self::Payload { .. } => "delete the output, and make it again".into(),
            Self::NotJson { .. } => "read it page by page instead".into(),
            Self::NoTime { seconds_up_to, .. } => format!(
                "swap them, or leave one out (times up to {seconds_up_to} are seconds, above milliseconds)"
            )
            .into(),
            Self::FilterWord { known, .. } => format!("use {known}").into(),
            Self::LongName { .. } => "use a shorter one".into(),
            Self::LongExecution { .. } => "record less of it, or raise the limits".into(),
            Self::Execution(_) => "record one JSON text".into(),
            Self::Pinned(_) => "unpin it first, if it is to be deleted".into(),
            Self::LongPayload { .. } => "raise the limit, or store less".into(),
            Self::NoRoom { .. } => "unpin some, or raise the limit".into(),
            Self::Locked { path, .. } => {
                format!("find out which (`fuser {}`), or try again", shown_path(path)).into()
            }
            Self::Foreign { why, .. } => why.help().into(),
            Self::Database { why, .. } => return why.help().map(Cow::from),
            Self::Cancelled { .. } => "start it again to do the rest".into(),
            Self::GivenUp(_) => "start again".into(),
            Self::Compression(_) => "store it with packing switched off".into(),
            Self::Check(_) => "report this, with the payload".into(),
            Self::File { error, .. } => match error.cause().kind() {
                io::ErrorKind::StorageFull => FREE.into(),
                io::ErrorKind::PermissionDenied => "the store must belong to the user who uses it".into(),
                io::ErrorKind::ReadOnlyFilesystem => "use a store on a disk that can be written to".into(),
                _ => error.help().into(),
            },
            Self::Description(_) | Self::Source { .. } => return None,
        })
    }

    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::File { error, .. } => Some(error.cause()),
            Self::Execution(cause) | Self::Description(cause) => Some(cause),
            Self::Database { why: DatabaseFault::Refused { cause, .. }, .. } => Some(cause),
            Self::Source { cause, .. } => Some(cause),
            _ => None,
        }
    }
}

/// The advice on a full disk.
const FREE: &str = "free some space on this disk, or evict outputs";

impl Error {
    /// The error of an operation on a file.
    pub(crate) fn file(op: Op, path: &Path, cause: io::Error) -> Self {
        files::Error::new(op, path, cause).into()
    }

    /// Adds the bytes there was no room for, if that is the error.
    pub(crate) fn needs(mut self, bytes: u64) -> Self {
        match &mut self.0.kind {
            ErrorKind::File { error, bytes_needed } if error.is_full() => {
                bytes_needed.get_or_insert(bytes);
            }
            ErrorKind::Database {
                why: DatabaseFault::Refused { class: ErrorClass::Full, bytes_needed, .. },
                ..
            } => {
                bytes_needed.get_or_insert(bytes);
            }
            _ => {}
        }
        self
    }

    /// The class of the error, without its data.
    pub fn class(&self) -> ErrorClass {
        self.kind().class()
    }

    /// The file or folder it went wrong with.
    pub fn path(&self) -> Option<&Path> {
        self.kind().path()
    }

    /// The IDs that may have been meant, at most ten.
    pub fn candidates(&self) -> &[String] {
        match self.kind() {
            ErrorKind::NotFound { near, .. } => near,
            ErrorKind::Ambiguous { ids, .. } => ids,
            _ => &[],
        }
    }

    /// The bytes there was no room for, where known.
    pub fn bytes_needed(&self) -> Option<u64> {
        match self.kind() {
            ErrorKind::File { bytes_needed, .. }
            | ErrorKind::Database { why: DatabaseFault::Refused { bytes_needed, .. }, .. } => *bytes_needed,
            ErrorKind::LongPayload { bytes, .. } => Some(*bytes),
            _ => None,
        }
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        ErrorKind::File { error, bytes_needed: None }.into()
    }
}

/// For callers that write a payload through [`io::Write`]: the error is inside, and its kind is
/// kept where the standard library has one.
impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = match error.class() {
            ErrorClass::NotFound => io::ErrorKind::NotFound,
            ErrorClass::Exists => io::ErrorKind::AlreadyExists,
            ErrorClass::Full => io::ErrorKind::StorageFull,
            ErrorClass::Foreign => io::ErrorKind::PermissionDenied,
            ErrorClass::Corrupt => io::ErrorKind::InvalidData,
            _ => io::ErrorKind::Other,
        };
        Self::new(kind, error)
    }
}
