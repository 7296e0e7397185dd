//! Errors of blocks and their storages: kinds with their data, and their classes.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use trommel_base::error::Kind;
use trommel_base::text::{shown, shown_path};
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

/// What went wrong, with the data that says where.
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
    /// No settlement of conflicts has this name.
    UnknownSettlement {
        /// The name.
        name: String,
    },
    /// A folder that sessions were to be written to has one already.
    HoldsSession {
        /// The folder.
        folder: PathBuf,
    },
    /// A block's text is among the payloads, and no storage of payloads is configured.
    NoPayloadStorage {
        /// The block.
        sequence: u64,
        /// Its session.
        session: String,
    },
    /// The sessions of this machine refused the request, or could not answer it.
    Session(trommel_session::Error),
    /// No session is found on this machine, and the storage could not be asked.
    NotFoundOffline {
        /// What this machine answered.
        error: trommel_session::Error,
        /// Why the storage could not be asked.
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
    /// The place of a storage is not a folder, so that it cannot be created here.
    NotAFolder {
        /// The storage.
        storage: String,
    },
    /// The storage has a layout that is only read.
    ReadOnlyStorage {
        /// The storage.
        storage: String,
    },
    /// The session belongs to another program, and is not sent.
    ForeignSession {
        /// The session.
        session: String,
    },
    /// A session is a fork of too many forks.
    TooManyForks {
        /// The session.
        session: String,
        /// The limit.
        limit: u32,
    },
    /// No number is left for a block.
    NoNumbers,
    /// The data of a block has another checksum than it had when it was written.
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
        /// What the parser says.
        cause: serde_json::Error,
    },
    /// The record of a block has other bytes than were written.
    Record {
        /// The block.
        sequence: u64,
        /// The bytes that were found.
        found: u64,
        /// The bytes that were written.
        written: u64,
    },
    /// A piece of a record is not Base64.
    Piece(base64::DecodeError),
    /// Data that a checksum cannot be taken of.
    NotCanonical {
        /// What the parser says; `None` where the data is nested too deep.
        cause: Option<serde_json::Error>,
    },
    /// A block has a number that no session reaches.
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
        /// What the parser says; `None` for a hash that is malformed.
        cause: Option<serde_json::Error>,
    },
    /// Several files could not be changed as one.
    Commit(commit::Error),
    /// A block cannot be written as JSON.
    Unwritable(serde_json::Error),
    /// The storage was not asked yet.
    NotAsked,
    /// A session is stored only in the cloud, which cannot be reached.
    OnlyInCloud {
        /// The session.
        session: String,
        /// Why the storage cannot be reached.
        problem: Arc<Error>,
    },
    /// The thread that probes the storage ended without an answer.
    ProbeEnded,
    /// A storage gave no list of sessions in time.
    ListTooLate {
        /// The storage.
        storage: String,
        /// The time that passed.
        after: Duration,
    },
    /// The last line of a file has no end yet.
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
    /// Several machines write to a session.
    Restless {
        /// The session.
        session: String,
    },
    /// The storage has fewer blocks than were known.
    BlocksLost {
        /// The storage.
        storage: String,
        /// The session.
        session: String,
        /// The last block that it has,
        head: u64,
        /// and the last one that was known.
        known: u64,
        /// The journal that knows it.
        journal: PathBuf,
    },
    /// The storage shows a block, and not yet all before it.
    BlocksLate {
        /// The storage.
        storage: String,
        /// The session.
        session: String,
    },
    /// Another process kept a lock for too long.
    Locked {
        /// The locked file or folder.
        path: PathBuf,
        /// How long it was waited for.
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

/// A fault of a storage: its own kind of error, with its own data. [`Display`](fmt::Display) is the
/// fact, without a secret.
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
        /// There is no such session, block, or payload.
        NotFound = "not_found",
        /// Several sessions begin like that.
        Ambiguous = "ambiguous",
        /// The storage is only read, or a block is of a later version.
        Unsupported = "unsupported",
        /// A limit is exceeded.
        Limit = "limit",
        /// Stored data is not what was written.
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
            | Self::UnknownSettlement { .. }
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
            Self::NotAsked | Self::OnlyInCloud { .. } | Self::ProbeEnded | Self::ListTooLate { .. } => {
                ErrorClass::Offline
            }
            Self::HalfLine { .. }
            | Self::BeingWritten { .. }
            | Self::ChangedFile { .. }
            | Self::ChangedSession { .. }
            | Self::Restless { .. }
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
                "use at most 200 letters, digits, and `._-@`, and begin with no dot".into()
            }
            Self::UnknownSettlement { .. } => "pass `local`, `remote`, `merge`, or `manual`".into(),
            Self::HoldsSession { .. } => "name another folder".into(),
            Self::NoPayloadStorage { .. } => "set `objects.url`".into(),
            // Each of these texts ends with its own advice.
            Self::Session(_) | Self::NotFoundOffline { .. } | Self::OnlyInCloud { .. } | Self::NotAsked => {
                return None;
            }
            Self::BlockVersion { .. } | Self::JournalVersion { .. } | Self::UnknownEncoding { .. } => {
                "update trommel".into()
            }
            Self::NotAFolder { .. } => "let its service create the place for blocks".into(),
            Self::ReadOnlyStorage { .. } => "list and query them only: they cannot be sent or fetched".into(),
            Self::ForeignSession { .. } => "choose a session of Amplifier".into(),
            Self::TooManyForks { .. } => "sync its source to this machine first".into(),
            Self::NoNumbers => "begin a new session".into(),
            Self::Checksum { .. } | Self::Record { .. } => {
                "fetch it again, or settle from another device".into()
            }
            Self::Journal { .. }
            | Self::Commit(
                commit::Error::Damaged { .. } | commit::Error::Version { .. } | commit::Error::Foreign { .. },
            ) => "remove it, and the session is compared afresh".into(),
            Self::Commit(_) => "try again when the session rests".into(),
            Self::Thread(_) => "end other programs".into(),
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
    /// The advice for what another program or another machine causes, and for what passes by
    /// itself.
    fn help_later(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Self::BlockData { .. } | Self::Piece(_) | Self::NotCanonical { .. } | Self::Unwritable(_) => {
                return None;
            }
            Self::NumberTooLarge { storage, .. } => format!("another program wrote it into {storage}").into(),
            Self::ProbeEnded => "try again".into(),
            Self::ListTooLate { .. } => {
                "look at the network, or allow more time (`first_answer_timeout_ms`, `answer_timeout_ms`)"
                    .into()
            }
            Self::HalfLine { .. } | Self::BeingWritten { .. } | Self::ChangedFile { .. } => {
                "try again when the session rests".into()
            }
            Self::ChangedSession { .. } => "ask again".into(),
            Self::Restless { .. } => "try again later".into(),
            Self::BlocksLost { journal, .. } => format!(
                "it may be behind, so try again later; if it was replaced by another one, remove {}",
                shown_path(journal)
            )
            .into(),
            Self::BlocksLate { .. } => "try again in a moment".into(),
            Self::Locked { .. } => "see what it is doing, and try again".into(),
            _ => "go on later: it resumes where it stopped".into(),
        })
    }

    /// The fact about what another program or another machine causes, and about what passes by
    /// itself.
    fn fact_later(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAsked => f.write_str("it was not asked"),
            Self::OnlyInCloud { session, problem } => {
                write!(f, "session {session} lies in the cloud only: {problem}")
            }
            Self::ProbeEnded => f.write_str("what looks for the storage ended by itself"),
            Self::ListTooLate { storage, after } => {
                write!(f, "{storage} gave no list of sessions within {:.1} s", after.as_secs_f32())
            }
            Self::HalfLine { folder } => {
                write!(f, "{} ends in half a line: it is being written to", shown_path(folder))
            }
            Self::BeingWritten { folder } => write!(f, "{} is being written to", shown_path(folder)),
            Self::ChangedFile { path } => {
                write!(f, "{} is being changed while it is read", shown_path(path))
            }
            Self::ChangedSession { session } => write!(f, "session {session} was changed while it was read"),
            Self::Restless { session } => {
                write!(f, "session {session} is being written to from several sides")
            }
            Self::BlocksLost { storage, session, head, known, .. } => {
                write!(f, "{storage} has {head} blocks of session {session}, where it had {known}")
            }
            Self::BlocksLate { storage, session } => {
                write!(
                    f,
                    "{storage} does not show all blocks of session {session} yet, though it has later ones"
                )
            }
            Self::Locked { path, waited } => {
                let seconds = waited.as_secs();
                write!(
                    f,
                    "{} has been kept locked by another process for {seconds} seconds",
                    shown_path(path)
                )
            }
            Self::File(error) => write!(f, "{error}"),
            Self::Thread(cause) => write!(f, "cannot start a thread: {cause}"),
            Self::Storage(fault) => write!(f, "{fault}"),
            _ => f.write_str("cancelled before it was done"),
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidName { role, name } => {
                write!(f, "`{}` cannot be a {role} in a storage", shown(name, 60))
            }
            Self::UnknownSettlement { name } => write!(f, "`{}` settles nothing", shown(name, 40)),
            Self::HoldsSession { folder } => write!(f, "{} holds a session already", shown_path(folder)),
            Self::NoPayloadStorage { sequence, session } => write!(
                f,
                "block {sequence} of session {session} keeps its text among the payloads, and no storage of payloads is configured"
            ),
            Self::Session(error) => write!(f, "{error}"),
            Self::NotFoundOffline { error, problem } => {
                write!(f, "{error}. In the cloud it could not be looked for: {problem}")
            }
            Self::BlockVersion { sequence, session, version, known } => {
                write!(
                    f,
                    "block {sequence} of session {session} has version {version}, and this release knows {known}"
                )
            }
            Self::JournalVersion { path, version } => {
                write!(f, "{} has version {version}, which this release does not know", shown_path(path))
            }
            Self::UnknownEncoding { encoding } => {
                write!(
                    f,
                    "a record is encoded as `{}`, which this release does not know",
                    shown(encoding, 20)
                )
            }
            Self::NotAFolder { storage } => write!(f, "{storage} is not a folder"),
            Self::ReadOnlyStorage { storage } => {
                write!(f, "{storage} keeps sessions in a layout that is only read")
            }
            Self::ForeignSession { session } => {
                write!(
                    f,
                    "session {session} is another program's, and is not sent: only sessions of Amplifier are"
                )
            }
            Self::TooManyForks { session, limit } => {
                write!(f, "session {session} is a fork of forks, {limit} deep or in a circle")
            }
            Self::NoNumbers => f.write_str("no numbers are left for blocks"),
            Self::Checksum { sequence, session } => write!(
                f,
                "block {sequence} of session {session} is not what was written: its data has another checksum"
            ),
            Self::BlockData { sequence, session, block_type, cause } => {
                write!(f, "the data of block {sequence} of session {session} is no {block_type}: {cause}")
            }
            Self::Record { sequence, found, written } => write!(
                f,
                "the record of block {sequence} has {found} bytes and not the {written} that were written, or others"
            ),
            Self::Piece(cause) => write!(f, "a piece of a record is no base64: {cause}"),
            Self::NotCanonical { cause: Some(cause) } => {
                write!(f, "no checksum can be taken of this data: {cause}")
            }
            Self::NotCanonical { cause: None } => {
                f.write_str("no checksum can be taken of this data: it is nested deeper than 500")
            }
            Self::NumberTooLarge { session, sequence, .. } => {
                write!(
                    f,
                    "session {session} has a block with the number {sequence}, which no session reaches"
                )
            }
            Self::Journal { path, cause } => {
                let path = shown_path(path);
                match cause {
                    Some(cause) => write!(f, "{path} is no journal of a session ({cause})"),
                    None => write!(f, "{path} is no journal of a session (a hash is malformed)"),
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

/// Marks the error of a read that ended because it was cancelled.
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

    /// The same error about a session that was not found, where the storage could not be asked.
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
