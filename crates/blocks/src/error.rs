//! Errors of blocks and their storages: kinds with their data, and their classes.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trommel_base::error::Kind;
use trommel_base::text::{display_path, excerpt};
use trommel_base::{commit, files};
use trommel_session::ErrorClass as SessionClass;

trommel_base::error_type! {
    /// An error about blocks: the fact, and what to do next. One pointer wide.
    ///
    /// No message holds a secret: keys, tokens, and connection strings never reach one.
    pub struct Error(ErrorKind);
}

/// The result of an operation on blocks.
pub type Result<T> = std::result::Result<T, Error>;

/// The kinds of errors, each with its data.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A name cannot be part of ids and paths.
    InvalidName {
        /// Its role: `user`, `session`.
        role: &'static str,
        /// The name.
        name: String,
    },
    /// No resolution of conflicts has this name.
    UnknownResolution {
        /// The name.
        name: String,
    },
    /// The target folder already contains a session.
    HoldsSession {
        /// The folder.
        folder: PathBuf,
    },
    /// A block's text is stored as a payload, and no payload storage is configured.
    NoPayloadStorage {
        /// The block.
        sequence: u64,
        /// Its session.
        session: String,
    },
    /// The library of local sessions returned an error.
    Session(trommel_session::Error),
    /// The session was not found on this machine, and the storage could not be queried.
    NotFoundOffline {
        /// The error of the local search.
        error: trommel_session::Error,
        /// The reason why the storage could not be queried.
        problem: Arc<Error>,
    },
    /// A block has a later version than this release knows.
    BlockVersion {
        /// The block.
        sequence: u64,
        /// Its session.
        session: String,
        /// Its version.
        version: u32,
        /// The latest version that this release knows.
        known: u32,
    },
    /// A journal has a version that this release does not know.
    JournalVersion {
        /// The journal.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// A record is encoded in a way that this release does not know.
    UnknownEncoding {
        /// The encoding.
        encoding: String,
    },
    /// The storage is not a folder, so this program cannot create its root.
    NotAFolder {
        /// The storage.
        storage: String,
    },
    /// The storage has a read-only layout.
    ReadOnlyStorage {
        /// The storage.
        storage: String,
    },
    /// The session belongs to another program, and is not synced.
    ForeignSession {
        /// The session.
        session: String,
    },
    /// The chain of forks is too long.
    TooManyForks {
        /// The session.
        session: String,
        /// The limit.
        limit: u32,
    },
    /// All block numbers are used.
    NoNumbers,
    /// The data of a block does not match its checksum.
    Checksum {
        /// The block.
        sequence: u64,
        /// Its session.
        session: String,
    },
    /// The data of a block does not have the members that its type needs.
    BlockData {
        /// The block.
        sequence: u64,
        /// Its session.
        session: String,
        /// Its type.
        block_type: &'static str,
        /// The error of the parser.
        cause: serde_json::Error,
    },
    /// The record of a block does not match the length and hash that its block declares.
    Record {
        /// The block.
        sequence: u64,
        /// Its length in bytes.
        found: u64,
        /// The declared length in bytes.
        written: u64,
    },
    /// A piece of a record is not Base64.
    Piece(base64::DecodeError),
    /// The data has no canonical form.
    NotCanonical {
        /// The error of the parser; `None` if the data is nested too deep.
        cause: Option<serde_json::Error>,
    },
    /// The number of a block is too large.
    NumberTooLarge {
        /// The session.
        session: String,
        /// The number.
        sequence: u64,
        /// The storage.
        storage: String,
    },
    /// A journal is damaged.
    Journal {
        /// The journal.
        path: PathBuf,
        /// The error of the parser; `None` for a malformed hash.
        cause: Option<serde_json::Error>,
    },
    /// Several files could not be committed together.
    Commit(commit::Error),
    /// A block cannot be written as JSON.
    Unwritable(serde_json::Error),
    /// The storage has not been queried yet.
    NotQueried,
    /// A session is only in the cloud, which cannot be reached.
    OnlyInCloud {
        /// The session.
        session: String,
        /// The reason why the storage cannot be reached.
        problem: Arc<Error>,
    },
    /// The thread that probes the storage ended without an answer.
    ProbeEnded,
    /// The storage did not list its sessions in time.
    ListTooLate {
        /// The storage.
        storage: String,
        /// The time that passed.
        after: Duration,
    },
    /// The last line of a file is unfinished.
    HalfLine {
        /// The folder of the session.
        folder: PathBuf,
    },
    /// Another program writes to a session.
    BeingWritten {
        /// The folder of the session.
        folder: PathBuf,
    },
    /// A file changed while it was read.
    ChangedFile {
        /// The file.
        path: PathBuf,
    },
    /// A session changed in the storage while it was read.
    ChangedSession {
        /// The session.
        session: String,
    },
    /// Several machines keep writing to a session.
    Contended {
        /// The session.
        session: String,
    },
    /// The storage has fewer blocks than the journal.
    BlocksLost {
        /// The storage.
        storage: String,
        /// The session.
        session: String,
        /// The last block in the storage,
        head: u64,
        /// and the last block in the journal.
        known: u64,
        /// The journal.
        journal: PathBuf,
    },
    /// The storage returns a block, but not yet all blocks before it.
    BlocksLate {
        /// The storage.
        storage: String,
        /// The session.
        session: String,
    },
    /// Another process held a lock for too long.
    Locked {
        /// The locked file or folder.
        path: PathBuf,
        /// The time that was spent waiting.
        waited: Duration,
    },
    /// An operation on a file failed.
    File(files::Error),
    /// A thread could not be started.
    Thread(io::Error),
    /// The work was cancelled.
    Cancelled,
    /// A fault of a storage, in its own terms.
    Storage(Box<dyn StorageFault>),
}

/// A fault of a storage: an error type of its own. [`Display`](fmt::Display) is the fact, without
/// secrets.
pub trait StorageFault: fmt::Display + fmt::Debug + Send + Sync + 'static {
    /// The class, by which callers decide what to do.
    fn class(&self) -> ErrorClass;

    /// The advice: what to do next, as an imperative.
    fn help(&self) -> Option<Cow<'_, str>>;
}

trommel_base::error_class! {
    /// The class of an error, by which callers decide what to do.
    pub enum ErrorClass {
        /// The request or a setting is invalid.
        Request = "request",
        /// The session, block, or payload does not exist.
        NotFound = "not_found",
        /// Several sessions match the prefix.
        Ambiguous = "ambiguous",
        /// The storage is read-only, or a block has a later version.
        Unsupported = "unsupported",
        /// A limit is exceeded.
        Limit = "limit",
        /// Stored data differs from the data that was written.
        Corrupt = "corrupt",
        /// The storage cannot be reached.
        Offline = "offline",
        /// The storage refused access.
        Denied = "denied",
        /// The storage, or another process, was busy for too long.
        Busy = "busy",
        /// The storage failed otherwise.
        Storage = "storage",
        /// The work was cancelled.
        Cancelled = "cancelled",
        /// Reading or writing on this machine failed.
        Io = "io",
    }
}

impl ErrorClass {
    /// True if the request has to change before it can succeed.
    pub const fn is_request(self) -> bool {
        matches!(self, Self::Request | Self::NotFound | Self::Ambiguous | Self::Unsupported)
    }
}

impl ErrorKind {
    /// The class of the error.
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::InvalidName { .. }
            | Self::UnknownResolution { .. }
            | Self::HoldsSession { .. }
            | Self::NoPayloadStorage { .. } => ErrorClass::Request,
            Self::Session(error) => class_of(error),
            Self::NotFoundOffline { .. } => ErrorClass::NotFound,
            Self::BlockVersion { .. }
            | Self::JournalVersion { .. }
            | Self::UnknownEncoding { .. }
            | Self::NotAFolder { .. }
            | Self::ReadOnlyStorage { .. }
            | Self::ForeignSession { .. } => ErrorClass::Unsupported,
            Self::TooManyForks { .. } | Self::NoNumbers => ErrorClass::Limit,
            Self::Checksum { .. }
            | Self::BlockData { .. }
            | Self::Record { .. }
            | Self::Piece(_)
            | Self::NotCanonical { .. }
            | Self::NumberTooLarge { .. }
            | Self::Journal { .. } => ErrorClass::Corrupt,
            Self::Commit(error) => match error {
                commit::Error::Damaged { .. } => ErrorClass::Corrupt,
                commit::Error::Version { .. } | commit::Error::Foreign { .. } => ErrorClass::Unsupported,
                _ => ErrorClass::Busy,
            },
            Self::Unwritable(_) => ErrorClass::Storage,
            Self::NotQueried | Self::OnlyInCloud { .. } | Self::ProbeEnded | Self::ListTooLate { .. } => {
                ErrorClass::Offline
            }
            Self::HalfLine { .. }
            | Self::BeingWritten { .. }
            | Self::ChangedFile { .. }
            | Self::ChangedSession { .. }
            | Self::Contended { .. }
            | Self::BlocksLost { .. }
            | Self::BlocksLate { .. }
            | Self::Locked { .. } => ErrorClass::Busy,
            Self::File(_) | Self::Thread(_) => ErrorClass::Io,
            Self::Cancelled => ErrorClass::Cancelled,
            Self::Storage(fault) => fault.class(),
        }
    }
}

impl Kind for ErrorKind {
    fn code(&self) -> &'static str {
        self.class().code()
    }

    fn help(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::InvalidName { .. } => {
                "use at most 200 letters, digits, and `._-@`, and do not start with a dot".into()
            }
            Self::UnknownResolution { .. } => "pass `local`, `remote`, `merge`, or `manual`".into(),
            Self::HoldsSession { .. } => "choose another folder".into(),
            Self::NoPayloadStorage { .. } => "set `objects.url`".into(),
            // Each of these texts ends with its own advice.
            Self::Session(_) | Self::NotFoundOffline { .. } | Self::OnlyInCloud { .. } | Self::NotQueried => {
                return None;
            }
            Self::BlockVersion { .. } | Self::JournalVersion { .. } | Self::UnknownEncoding { .. } => {
                "update trommel".into()
            }
            Self::NotAFolder { .. } => "create its container with the tools of its service".into(),
            Self::ReadOnlyStorage { .. } => {
                "list and query its sessions; they cannot be pushed or pulled".into()
            }
            Self::ForeignSession { .. } => "choose a session of Amplifier".into(),
            Self::TooManyForks { .. } => "sync its source to this machine first".into(),
            Self::NoNumbers => "start a new session".into(),
            Self::Checksum { .. } | Self::Record { .. } => {
                "pull it again, or resolve the conflict from another device".into()
            }
            Self::Journal { .. }
            | Self::Commit(
                commit::Error::Damaged { .. } | commit::Error::Version { .. } | commit::Error::Foreign { .. },
            ) => "remove it; the next sync compares the session from its start".into(),
            Self::Commit(_) => "retry when the session is idle".into(),
            Self::Thread(_) => "stop other programs".into(),
            Self::File(error) => error.help().into(),
            Self::Storage(fault) => return fault.help(),
            _ => return self.help_later(),
        })
    }

    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Session(error) | Self::NotFoundOffline { error, .. } => Some(error),
            Self::BlockData { cause, .. }
            | Self::Journal { cause: Some(cause), .. }
            | Self::Unwritable(cause) => Some(cause),
            Self::Commit(error) => std::error::Error::source(error),
            Self::Piece(cause) => Some(cause),
            Self::OnlyInCloud { problem, .. } => Some(&**problem),
            Self::File(error) => Some(error.cause()),
            Self::Thread(cause) => Some(cause),
            _ => None,
        }
    }
}

impl ErrorKind {
    /// The advice for faults that other programs or machines cause, and that pass by themselves.
    fn help_later(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::BlockData { .. } | Self::Piece(_) | Self::NotCanonical { .. } | Self::Unwritable(_) => {
                return None;
            }
            Self::NumberTooLarge { storage, .. } => {
                format!("check the program that wrote it to {storage}").into()
            }
            Self::ListTooLate { .. } => {
                "check the network, or raise the timeouts (`first_answer_timeout_ms`, `answer_timeout_ms`)"
                    .into()
            }
            Self::HalfLine { .. } | Self::BeingWritten { .. } | Self::ChangedFile { .. } => {
                "retry when the session is idle".into()
            }
            Self::ProbeEnded | Self::ChangedSession { .. } => "retry".into(),
            Self::Contended { .. } => "retry later".into(),
            Self::BlocksLost { journal, .. } => format!(
                "retry later, as the storage may lag; if it was replaced, remove {}",
                display_path(journal)
            )
            .into(),
            Self::BlocksLate { .. } => "retry in a moment".into(),
            Self::Locked { .. } => "check that process, then retry".into(),
            _ => "run it again; it resumes where it stopped".into(),
        })
    }

    /// The fact about faults that other programs or machines cause, and that pass by themselves.
    fn fact_later(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotQueried => f.write_str("it has not been queried"),
            Self::OnlyInCloud { session, problem } => {
                write!(f, "session {session} is only in the cloud: {problem}")
            }
            Self::ProbeEnded => f.write_str("the probe of the storage ended without a result"),
            Self::ListTooLate { storage, after } => {
                write!(f, "{storage} did not list its sessions within {:.1} s", after.as_secs_f32())
            }
            Self::HalfLine { folder } => {
                write!(
                    f,
                    "the last line of {} is unfinished: a program is writing to it",
                    display_path(folder)
                )
            }
            Self::BeingWritten { folder } => {
                write!(f, "another program is writing to {}", display_path(folder))
            }
            Self::ChangedFile { path } => {
                write!(f, "{} changed while it was read", display_path(path))
            }
            Self::ChangedSession { session } => write!(f, "session {session} changed while it was read"),
            Self::Contended { session } => {
                write!(f, "session {session} is being written to by several machines")
            }
            Self::BlocksLost { storage, session, head, known, .. } => {
                write!(f, "{storage} has {head} blocks of session {session}, but the journal has {known}")
            }
            Self::BlocksLate { storage, session } => {
                write!(f, "{storage} does not return all blocks of session {session} yet, but later ones")
            }
            Self::Locked { path, waited } => {
                let seconds = waited.as_secs();
                write!(f, "{} has been locked by another process for {seconds} seconds", display_path(path))
            }
            Self::File(error) => write!(f, "{error}"),
            Self::Thread(cause) => write!(f, "cannot start a thread: {cause}"),
            Self::Storage(fault) => write!(f, "{fault}"),
            _ => f.write_str("cancelled"),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidName { role, name } => {
                write!(f, "`{}` cannot be a {role} in a storage", excerpt(name, 60))
            }
            Self::UnknownResolution { name } => {
                write!(f, "unknown conflict resolution `{}`", excerpt(name, 40))
            }
            Self::HoldsSession { folder } => write!(f, "{} already contains a session", display_path(folder)),
            Self::NoPayloadStorage { sequence, session } => write!(
                f,
                "block {sequence} of session {session} has its text in a payload, but no payload storage is configured"
            ),
            Self::Session(error) => write!(f, "{error}"),
            Self::NotFoundOffline { error, problem } => {
                write!(f, "{error}; the cloud could not be searched: {problem}")
            }
            Self::BlockVersion { sequence, session, version, known } => {
                write!(
                    f,
                    "block {sequence} of session {session} has version {version}, but this release knows versions up to {known}"
                )
            }
            Self::JournalVersion { path, version } => {
                write!(f, "{} has version {version}, which this release does not know", display_path(path))
            }
            Self::UnknownEncoding { encoding } => {
                write!(
                    f,
                    "a record is encoded as `{}`, which this release does not know",
                    excerpt(encoding, 20)
                )
            }
            Self::NotAFolder { storage } => write!(f, "{storage} is not a folder"),
            Self::ReadOnlyStorage { storage } => write!(f, "{storage} has a read-only layout"),
            Self::ForeignSession { session } => {
                write!(
                    f,
                    "session {session} belongs to another program; only sessions of Amplifier are synced"
                )
            }
            Self::TooManyForks { session, limit } => {
                write!(f, "session {session} is a chain of more than {limit} forks, or a cycle")
            }
            Self::NoNumbers => f.write_str("all block numbers are used"),
            Self::Checksum { sequence, session } => write!(
                f,
                "block {sequence} of session {session} is corrupt: its data does not match its checksum"
            ),
            Self::BlockData { sequence, session, block_type, cause } => {
                write!(
                    f,
                    "the data of block {sequence} of session {session} is not valid for `{block_type}`: {cause}"
                )
            }
            Self::Record { sequence, found, written } => write!(
                f,
                "the record of block {sequence} is corrupt: {found} bytes were read, {written} bytes were written"
            ),
            Self::Piece(cause) => write!(f, "a piece of a record is not base64: {cause}"),
            Self::NotCanonical { cause: Some(cause) } => {
                write!(f, "no checksum can be taken of this data: {cause}")
            }
            Self::NotCanonical { cause: None } => {
                f.write_str("no checksum can be taken of this data: it is nested deeper than 500")
            }
            Self::NumberTooLarge { session, sequence, .. } => {
                write!(f, "session {session} has a block with the number {sequence}, which is too large")
            }
            Self::Journal { path, cause } => {
                let path = display_path(path);
                match cause {
                    Some(cause) => write!(f, "{path} is not a valid session journal ({cause})"),
                    None => write!(f, "{path} is not a valid session journal (a hash is malformed)"),
                }
            }
            Self::Commit(error) => write!(f, "{error}"),
            Self::Unwritable(cause) => write!(f, "a block cannot be written: {cause}"),
            _ => self.fact_later(f),
        }
    }
}

/// The class of an error about sessions of this machine.
fn class_of(error: &trommel_session::Error) -> ErrorClass {
    match error.class() {
        SessionClass::Request => ErrorClass::Request,
        SessionClass::NotFound => ErrorClass::NotFound,
        SessionClass::Ambiguous => ErrorClass::Ambiguous,
        SessionClass::Unsupported => ErrorClass::Unsupported,
        SessionClass::Limit => ErrorClass::Limit,
        SessionClass::Corrupt => ErrorClass::Corrupt,
        SessionClass::Busy => ErrorClass::Busy,
        SessionClass::Cancelled => ErrorClass::Cancelled,
        _ => ErrorClass::Io,
    }
}

/// Marks the error of a read that was cancelled.
#[derive(Debug)]
struct Ended;

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("cancelled")
    }
}

impl std::error::Error for Ended {}

impl Error {
    /// The class of the error, by which callers decide what to do.
    pub fn class(&self) -> ErrorClass {
        self.kind().class()
    }

    /// The same error for a session that was not found while the storage could not be queried.
    pub(crate) fn offline(self, problem: Arc<Self>) -> Self {
        match self.0.kind {
            ErrorKind::Session(error) => ErrorKind::NotFoundOffline { error, problem }.into(),
            kind => kind.into(),
        }
    }

    /// The error of a reader that was cancelled. [`From<files::Error>`](Self::from) recognizes it.
    pub(crate) fn ended() -> io::Error {
        io::Error::other(Ended)
    }
}

impl From<files::Error> for Error {
    fn from(error: files::Error) -> Self {
        // A `Read` can only fail with an `io::Error`, so a cancellation is wrapped in one.
        let is_cancelled =
            error.cause().get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<Ended>);
        if is_cancelled { ErrorKind::Cancelled.into() } else { ErrorKind::File(error).into() }
    }
}

impl From<commit::Error> for Error {
    fn from(error: commit::Error) -> Self {
        match error {
            commit::Error::File(error) => error.into(),
            error => ErrorKind::Commit(error).into(),
        }
    }
}

impl From<trommel_session::Error> for Error {
    fn from(error: trommel_session::Error) -> Self {
        match class_of(&error) {
            ErrorClass::Cancelled => ErrorKind::Cancelled.into(),
            _ => ErrorKind::Session(error).into(),
        }
    }
}

/// A storage's own fault.
impl<F: StorageFault> From<F> for Error {
    fn from(fault: F) -> Self {
        ErrorKind::Storage(Box::new(fault)).into()
    }
}
