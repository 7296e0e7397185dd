//! Errors of a store. Kinds carry data for programs; messages are one line with advice for people.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use trommel_base::error::Kind;
use trommel_base::files::{self, Op};
use trommel_base::text::{display_name, display_path};

trommel_base::error_type! {
    /// An error of a store, with the cause, the location, and advice. One pointer wide.
    ///
    /// Programs should match on [`kind`](Self::kind). [`Display`](fmt::Display) is a single line of
    /// bounded length that is safe to print.
    pub struct Error(ErrorKind);
}

/// The result of an operation of a store.
pub type Result<T> = std::result::Result<T, Error>;

/// The kind of an error, with its data.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A text is not a valid ID: it does not match `^[A-Za-z0-9_-]{1,64}$`. It was not used in any
    /// path.
    InvalidId(String),
    /// No output has this ID.
    NotFound {
        /// The ID, or the prefix of one.
        id: String,
        /// The minimum length of a prefix, if this one is shorter.
        needs: Option<usize>,
        /// Similar IDs, the most similar first.
        near: Vec<String>,
    },
    /// Several outputs match a prefix.
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// The first IDs that begin with it.
        ids: Vec<String>,
        /// True if there are more.
        more: bool,
    },
    /// An output with this ID already exists.
    Exists {
        /// The ID.
        id: String,
        /// The description of the existing output.
        path: PathBuf,
    },
    /// Another process is writing or changing the output.
    InUse {
        /// The ID.
        id: String,
        /// The marker that the process has locked.
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
    /// The output was stored by a newer version.
    MetadataVersion {
        /// The ID.
        id: String,
        /// The description.
        path: PathBuf,
        /// Its version.
        found: u64,
        /// The newest version that can be read.
        known: u32,
    },
    /// The description of an output changed while it was read.
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
    /// The payload is text, but a document was requested.
    NotJson {
        /// The ID.
        id: String,
        /// The reason, if the payload was declared to be JSON.
        why: Option<String>,
    },
    /// The time range of a filter is empty.
    EmptyTimeRange {
        /// The start, exclusive.
        after: i64,
        /// The end, exclusive.
        before: i64,
        /// The largest number that is interpreted as seconds.
        seconds_up_to: i64,
    },
    /// An unknown value in a filter.
    UnknownFilterValue {
        /// The field of the filter.
        what: &'static str,
        /// The unknown value.
        found: String,
        /// The valid values.
        known: &'static str,
    },
    /// A name in an origin is too long.
    NameTooLong {
        /// The name.
        what: &'static str,
        /// Its length in bytes.
        bytes: usize,
        /// The maximum length in bytes.
        limit: usize,
    },
    /// An execution exceeds the limits of the history.
    ExecutionTooLarge {
        /// Its length in bytes.
        bytes: u64,
        /// The maximum number of bytes of the history.
        limit: u64,
        /// The maximum number of entries of the history.
        entries: u64,
    },
    /// An execution is not JSON.
    Execution(serde_json::Error),
    /// A description cannot be serialized.
    Description(serde_json::Error),
    /// A pinned output was to be deleted.
    Pinned(String),
    /// A payload exceeds the limit of the store by itself.
    PayloadTooLarge {
        /// The number of bytes needed.
        bytes: u64,
        /// The maximum number of bytes of the store.
        limit: u64,
    },
    /// A new output does not fit, because pinned and open outputs cannot be evicted.
    NoRoom {
        /// The limit.
        limit: u64,
        /// The limited quantity: `bytes` or `outputs`.
        what: &'static str,
        /// The number of pinned outputs.
        pinned: u64,
        /// The number of outputs being read.
        open: u64,
    },
    /// A lock held by another process timed out.
    Locked {
        /// The lock.
        path: PathBuf,
        /// The seconds waited.
        seconds: u64,
    },
    /// A file or folder that the store must not use.
    Foreign {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
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
        /// The number of outputs processed until then.
        outputs: u64,
        /// The total number of outputs.
        total: u64,
    },
    /// An earlier write to the output failed.
    PutFailed(String),
    /// The reader of a new payload failed.
    Source {
        /// The number of bytes read until then.
        bytes: u64,
        /// The error of the reader.
        cause: io::Error,
    },
    /// A payload cannot be compressed.
    Compression(PathBuf),
    /// The thread that analyzes a payload failed.
    Check(PathBuf),
    /// The system refused an operation on a file.
    File {
        /// The operation, the file, and the cause.
        error: files::Error,
        /// The number of bytes that did not fit, if known.
        bytes_needed: Option<u64>,
    },
}

/// The damage of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PayloadFault {
    /// Its length differs from the one that was written.
    Length {
        /// Its bytes on disk.
        found: u64,
        /// The bytes that were written.
        written: u64,
    },
    /// Its file is missing.
    Missing,
    /// It is compressed, and damaged.
    Packed,
}

/// The reason why a file or folder must not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForeignFault {
    /// Not a regular file.
    NotFile,
    /// A symbolic link instead of a folder.
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
    /// A folder that other users can write to.
    Writable {
        /// Its permissions.
        mode: u32,
    },
}

/// A fault of a database.
#[derive(Debug)]
#[non_exhaustive]
pub enum DatabaseFault {
    /// It was written by a newer version; contains the version of its schema.
    Version(i32),
    /// SQLite refused an operation.
    Refused {
        /// The operation.
        doing: &'static str,
        /// The error of SQLite.
        cause: rusqlite::Error,
        /// The class of the error.
        class: ErrorClass,
        /// The number of bytes that did not fit, if known.
        bytes_needed: Option<u64>,
    },
    /// It is damaged.
    Damaged(String),
    /// It is damaged again after each rebuild.
    Unusable,
}

trommel_base::error_class! {
    /// The class of an error, without its data.
    pub enum ErrorClass {
        /// A text is not a valid ID.
        InvalidId = "invalid_id",
        /// No output has this ID. [`Error::candidates`] has similar IDs.
        NotFound = "not_found",
        /// Several outputs match a prefix. [`Error::candidates`] has some of them.
        Ambiguous = "ambiguous",
        /// An output with this ID exists or is being written.
        Exists = "exists",
        /// The metadata or the payload of an output differs from the data that was stored.
        Corrupt = "corrupt",
        /// The payload is text, but a document was requested.
        NotJson = "not_json",
        /// The filter is not valid.
        Filter = "filter",
        /// A text is too long, or is not JSON.
        Invalid = "invalid",
        /// A pinned output was to be deleted.
        Pinned = "pinned",
        /// The disk is full, or the limits of the store are reached.
        Full = "full",
        /// A lock held by another process timed out.
        Busy = "busy",
        /// The folder belongs to another user, is writable for others, or is a link.
        Foreign = "foreign",
        /// The data was written by a newer version.
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
            Self::Exists { .. } | Self::InUse { .. } => ErrorClass::Exists,
            Self::Metadata { .. } | Self::Unsealed | Self::Payload { .. } => ErrorClass::Corrupt,
            Self::MetadataVersion { .. } => ErrorClass::Version,
            Self::NotJson { .. } => ErrorClass::NotJson,
            Self::EmptyTimeRange { .. } | Self::UnknownFilterValue { .. } => ErrorClass::Filter,
            Self::NameTooLong { .. }
            | Self::ExecutionTooLarge { .. }
            | Self::Execution(_)
            | Self::Description(_) => ErrorClass::Invalid,
            Self::Pinned(_) => ErrorClass::Pinned,
            Self::PayloadTooLarge { .. } | Self::NoRoom { .. } => ErrorClass::Full,
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
            | Self::PutFailed(_)
            | Self::Source { .. }
            | Self::Compression(_)
            | Self::Check(_) => ErrorClass::Io,
        }
    }

    /// The affected file or folder, if any.
    fn path(&self) -> Option<&Path> {
        match self {
            Self::Exists { path, .. }
            | Self::InUse { path, .. }
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
            Self::InvalidId(id) if id.is_empty() => f.write_str("the ID is empty"),
            Self::InvalidId(id) => write!(f, "`{}` is not a valid ID", display_name(id)),
            Self::NotFound { id, needs, .. } => {
                write!(f, "no output {}", display_name(id))?;
                needs.map_or(Ok(()), |needs| write!(f, " (a prefix needs at least {needs} characters)"))
            }
            Self::Ambiguous { prefix, ids, more } => {
                let more = if *more { " and others" } else { "" };
                write!(f, "{} matches several outputs: {}{more}", display_name(prefix), ids.join(", "))
            }
            Self::Exists { id, .. } => {
                write!(f, "output {id} already exists, and outputs are immutable")
            }
            Self::InUse { id, .. } => {
                write!(f, "output {id} is being changed by another process")
            }
            Self::NotJson { id, why } => {
                let why = why.as_ref().map_or(String::new(), |why| format!(" ({})", display_name(why)));
                write!(f, "output {id} is text, not JSON{why}")
            }
            Self::EmptyTimeRange { after, before, .. } => {
                write!(f, "empty time range: `after` ({after}) is not below `before` ({before})")
            }
            Self::UnknownFilterValue { what, found, .. } => {
                write!(f, "`{}` is not a valid `{what}`", display_name(found))
            }
            Self::NameTooLong { what, bytes, limit } => {
                write!(f, "the {what} has {bytes} bytes; the limit is {limit}")
            }
            Self::ExecutionTooLarge { bytes, limit, entries } => write!(
                f,
                "an execution of {bytes} bytes exceeds the history's limits of {limit} bytes and {entries} entries"
            ),
            Self::Execution(cause) => {
                write!(f, "the execution record is not valid JSON: {cause}")
            }
            Self::Description(_) => f.write_str("the description cannot be serialized"),
            Self::Pinned(id) => write!(f, "output {id} is pinned"),
            Self::PayloadTooLarge { bytes, limit } => write!(
                f,
                "the payload exceeds the store's limit of {limit} bytes ({bytes} bytes were needed)"
            ),
            Self::NoRoom { limit, what, pinned, open } => write!(
                f,
                "no room within the store's limit of {limit} {what}: {pinned} outputs are pinned and {open} are being read"
            ),
            Self::Cancelled { outputs, total } => write!(f, "cancelled after {outputs} of {total} outputs"),
            Self::PutFailed(id) => {
                write!(f, "an earlier write to output {id} failed, and the output was discarded")
            }
            Self::Source { bytes, cause } => {
                write!(f, "reading the payload failed after {bytes} bytes: {cause}; nothing was stored")
            }
            Self::Compression(_) => f.write_str("the payload cannot be compressed"),
            Self::Check(_) => f.write_str("the analysis of the payload failed; nothing was stored"),
            Self::File { error, bytes_needed } => {
                error.fmt(f)?;
                needed(f, *bytes_needed)
            }
            Self::Metadata { id, why, .. } => {
                write!(f, "the metadata of output {} is damaged ({})", display_name(id), display_name(why))
            }
            Self::MetadataVersion { id, found, known, .. } => write!(
                f,
                "output {} was stored by a newer version (metadata version {found}; this program supports {known})",
                display_name(id)
            ),
            Self::Unsealed => f.write_str("the description does not match its seal"),
            Self::Payload { id, why, .. } => why.write(f, id),
            Self::Locked { path, seconds } => {
                write!(f, "another process has held the lock {} for {seconds} seconds", display_path(path))
            }
            Self::Foreign { path, why } => why.write(f, path),
            Self::Database { path, why } => why.write(f, path),
        }
    }
}

/// Appends the number of bytes that did not fit, if known.
fn needed(f: &mut fmt::Formatter<'_>, bytes: Option<u64>) -> fmt::Result {
    bytes.map_or(Ok(()), |bytes| write!(f, " ({bytes} bytes were needed)"))
}

impl PayloadFault {
    fn write(&self, f: &mut fmt::Formatter<'_>, id: &str) -> fmt::Result {
        match self {
            Self::Length { found, written } => write!(
                f,
                "the payload of output {id} is damaged: it has {found} bytes on disk, but {written} were written"
            ),
            Self::Missing => write!(f, "the payload of output {id} is missing"),
            Self::Packed => write!(f, "the compressed payload of output {id} is damaged"),
        }
    }
}

impl ForeignFault {
    fn write(&self, f: &mut fmt::Formatter<'_>, path: &Path) -> fmt::Result {
        let path = display_path(path);
        match self {
            Self::NotFile => write!(f, "{path} is not a regular file"),
            Self::Link => write!(f, "{path} is a link out of the store"),
            Self::NotFolder => write!(f, "{path} cannot hold a store: not a folder"),
            Self::Owner { owner, user } => write!(
                f,
                "the folder {path} cannot hold a store: it belongs to user {owner}, not to user {user}"
            ),
            Self::Writable { mode } => {
                write!(f, "the folder {path} cannot hold a store: others can write to it (mode {mode:04o})")
            }
        }
    }

    fn help(&self) -> &'static str {
        match self {
            Self::NotFile => "move it out of the store; a new one is then created",
            Self::Link => "replace the link with the folder itself",
            Self::NotFolder => "use a folder, or a path that does not exist yet",
            Self::Owner { .. } => "use a folder of your own",
            Self::Writable { .. } => "remove the permission: chmod go-w",
        }
    }
}

impl DatabaseFault {
    fn write(&self, f: &mut fmt::Formatter<'_>, path: &Path) -> fmt::Result {
        let path = display_path(path);
        match self {
            Self::Version(found) => {
                write!(f, "{path} was written by a newer version (schema version {found})")
            }
            Self::Refused { doing, cause, bytes_needed, .. } => {
                write!(f, "cannot {doing} {path}: {}", display_name(&cause.to_string()))?;
                needed(f, *bytes_needed)
            }
            Self::Damaged(why) => write!(f, "{path} is damaged: {}", display_name(why)),
            Self::Unusable => write!(f, "{path} is damaged again after each rebuild"),
        }
    }

    fn help(&self) -> Option<&'static str> {
        match self {
            Self::Version(_) => Some("use that version or a newer one"),
            Self::Refused { class: ErrorClass::Full, .. } => Some(FREE_SPACE_HELP),
            Self::Refused { class: ErrorClass::Busy, .. } => {
                Some("find the process that has locked it, or try again")
            }
            Self::Refused { .. } => Some("check the disk, and try again"),
            Self::Damaged(_) => None,
            Self::Unusable => Some("check the disk, or move the store"),
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
                "an ID has 1 to 64 letters, digits, `_` or `-`; `list` shows the stored ones".into()
            }
            Self::NotFound { near, .. } if near.is_empty() => "`list` shows the stored outputs".into(),
            Self::NotFound { near, .. } => {
                format!("did you mean {}? `list` shows the stored outputs", near.join(" or ")).into()
            }
            Self::Ambiguous { .. } => "give a longer prefix".into(),
            Self::Exists { .. } => "use another ID".into(),
            Self::InUse { .. } => "wait until it is done, or use another ID".into(),
            Self::Metadata { .. } => {
                "the payload may be intact: copy it out of the store, then delete the output".into()
            }
            Self::MetadataVersion { .. } => "use that version or a newer one".into(),
            Self::Unsealed => "try again".into(),
            Self::Payload { .. } => "delete the output, and create it again".into(),
            Self::NotJson { .. } => "read it page by page instead".into(),
            Self::EmptyTimeRange { seconds_up_to, .. } => format!(
                "swap them, or leave one out (times up to {seconds_up_to} are seconds, above milliseconds)"
            )
            .into(),
            Self::UnknownFilterValue { known, .. } => format!("use {known}").into(),
            Self::NameTooLong { .. } => "use a shorter name".into(),
            Self::ExecutionTooLarge { .. } => "record less, or raise the limits".into(),
            Self::Execution(_) => "pass one JSON text".into(),
            Self::Pinned(_) => "unpin it first".into(),
            Self::PayloadTooLarge { .. } => "raise the limit, or store less".into(),
            Self::NoRoom { .. } => "unpin some, or raise the limit".into(),
            Self::Locked { path, .. } => {
                format!("find it with `fuser {}`, or try again", display_path(path)).into()
            }
            Self::Foreign { why, .. } => why.help().into(),
            Self::Database { why, .. } => return why.help().map(Cow::from),
            Self::Cancelled { .. } => "run it again to process the rest".into(),
            Self::PutFailed(_) => "start a new output".into(),
            Self::Compression(_) => "disable compression for this payload".into(),
            Self::Check(_) => "please report this with the payload".into(),
            Self::File { error, .. } => match error.cause().kind() {
                io::ErrorKind::StorageFull => FREE_SPACE_HELP.into(),
                io::ErrorKind::PermissionDenied => "use a store that belongs to this user".into(),
                io::ErrorKind::ReadOnlyFilesystem => "use a store on a writable disk".into(),
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

/// Advice for a full disk.
const FREE_SPACE_HELP: &str = "free some space on this disk, or evict outputs";

impl Error {
    /// The error of an operation on a file.
    pub(crate) fn file(op: Op, path: &Path, cause: io::Error) -> Self {
        files::Error::new(op, path, cause).into()
    }

    /// Adds the number of bytes that did not fit to an error about a full disk.
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

    /// The affected file or folder, if any.
    pub fn path(&self) -> Option<&Path> {
        self.kind().path()
    }

    /// IDs that the caller may have meant, at most ten.
    pub fn candidates(&self) -> &[String] {
        match self.kind() {
            ErrorKind::NotFound { near, .. } => near,
            ErrorKind::Ambiguous { ids, .. } => ids,
            _ => &[],
        }
    }

    /// The number of bytes that did not fit, if known.
    pub fn bytes_needed(&self) -> Option<u64> {
        match self.kind() {
            ErrorKind::File { bytes_needed, .. }
            | ErrorKind::Database { why: DatabaseFault::Refused { bytes_needed, .. }, .. } => *bytes_needed,
            ErrorKind::PayloadTooLarge { bytes, .. } => Some(*bytes),
            _ => None,
        }
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        ErrorKind::File { error, bytes_needed: None }.into()
    }
}

/// Lets callers that write a payload through [`io::Write`] get the error. It is wrapped, and mapped
/// to the standard library's error kind where there is one.
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
