//! An SQLite database that any number of processes share: in WAL, every change `BEGIN IMMEDIATE` and under a lock of ours, so
//! that nobody ever meets a busy database.
//!
//! A database that is gone, or that was replaced, is noticed before each use, and one that cannot be used is made anew. No
//! connection ever writes its WAL back when it closes: it could be that of another file of the same name by then.

mod lock;

use std::fmt;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::disk::{self, Op};
use crate::error::{Error, ErrorKind, Result, shown};

pub(crate) use lock::{FileLock, wait};

/// What a database is for.
pub(crate) trait Contents: Send + Sync {
    /// Written into the file's header, so that no other is taken for it.
    const APPLICATION: i32;
    /// The version of the tables.
    const VERSION: i32;
    /// The tables.
    const SCHEMA: &'static str;
    /// Whether it can be made anew from other files, so that one of another version is simply replaced.
    const DISPOSABLE: bool;
    /// How closely SQLite waits for the disk: `normal` keeps the database whole, `full` the last changes as well.
    const SYNCHRONOUS: &'static str;

    /// Fills new tables.
    fn fill(&self, transaction: &Transaction<'_>) -> Done<()>;
}

/// What can go wrong in a transaction.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(rusqlite::Error),
    Other(Error),
}

pub(crate) type Done<T> = std::result::Result<T, Fault>;

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

/// How often an operation is tried with a database made anew.
const TRIES: u32 = 3;

/// A database in a file.
pub(crate) struct Database<C> {
    path: PathBuf,
    patience: Duration,
    contents: C,
    writer: Mutex<Writer>,
    reader: Mutex<Option<Open>>,
}

struct Writer {
    lock: FileLock,
    open: Option<Open>,
}

/// An open connection, and which file it belongs to.
struct Open {
    connection: Connection,
    file: (u64, u64),
}

/// How opening went.
enum Found {
    Ready(Open),
    /// There is none, or it is empty.
    Nothing,
    /// It is of another version or kind, which is given.
    Strange(i32),
}

impl<C: Contents> Database<C> {
    /// A database that is opened when it is used.
    pub(crate) fn new(path: PathBuf, lock: &Path, patience: Duration, contents: C) -> Result<Self> {
        let lock = FileLock::open(lock, patience)?;
        let writer = Mutex::new(Writer { lock, open: None });
        Ok(Self { path, patience, contents, writer, reader: Mutex::new(None) })
    }

    /// Reads, seeing one state of everything.
    pub(crate) fn read<T>(&self, mut work: impl FnMut(&Transaction<'_>) -> Done<T>) -> Result<T> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..TRIES {
            if reader.as_ref().is_none_or(|open| !self.is_current(open)) {
                *reader = None;
                match self.open()? {
                    Found::Ready(open) => *reader = Some(open),
                    Found::Nothing | Found::Strange(_) => {
                        self.lock()?.ready()?;
                        continue;
                    }
                }
            }
            let Some(open) = reader.as_mut() else { continue };
            let done = open.connection.transaction().map_err(Fault::from).and_then(|open| work(&open));
            match done {
                Ok(read) => return Ok(read),
                Err(Fault::Other(error)) => return Err(error),
                Err(Fault::Sql(error)) if is_damage(&error) => {
                    // Kept open until there is another, so that the two cannot have the same number.
                    self.lock()?.replace(open.file)?;
                    *reader = None;
                }
                Err(Fault::Sql(error)) => return Err(self.error("read", error)),
            }
        }
        Err(self.unusable())
    }

    /// Waits until nobody else changes anything.
    pub(crate) fn lock(&self) -> Result<Locked<'_, C>> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.lock.take()?;
        Ok(Locked { database: self, writer })
    }

    fn is_current(&self, open: &Open) -> bool {
        file_of(&self.path).is_ok_and(|file| file == Some(open.file))
    }

    /// Opens what is there.
    fn open(&self) -> Result<Found> {
        let failed = |cause| Error::io("open", &self.path, cause);
        disk::pass(Op::Open, &self.path).map_err(failed)?;
        let Some(file) = file_of(&self.path).map_err(failed)? else { return Ok(Found::Nothing) };
        match self.connect(file) {
            Ok(found) => Ok(found),
            Err(error) if is_damage(&error) => Ok(Found::Strange(0)),
            Err(error) => Err(self.error("open", error)),
        }
    }

    fn connect(&self, file: (u64, u64)) -> rusqlite::Result<Found> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(self.patience)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.pragma_update(None, "synchronous", C::SYNCHRONOUS)?;
        let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        Ok(match (application, version) {
            (0, 0) => Found::Nothing,
            (application, version) if application != C::APPLICATION => Found::Strange(version.min(0)),
            (_, version) if version != C::VERSION => Found::Strange(version),
            _ => Found::Ready(Open { connection, file }),
        })
    }

    /// Makes the file and its tables.
    fn make(&self) -> Result<Open> {
        self.remove()?;
        let failed = |cause| Error::io("make", &self.path, cause);
        drop(disk::create(&self.path).map_err(failed)?);
        let file = file_of(&self.path).map_err(failed)?.unwrap_or_default();
        self.set_up(file).map_err(|fault| {
            let error = match fault {
                Fault::Sql(error) => self.error("make", error),
                Fault::Other(error) => error,
            };
            // What was begun is of no use; where it cannot be removed, it is made anew next time all the same.
            let _ = self.remove();
            error
        })
    }

    fn set_up(&self, file: (u64, u64)) -> Done<Open> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(&self.path, flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // Where the file system cannot do it, another mode is left on, and all works as well with less at a time.
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(C::SCHEMA)?;
        self.contents.fill(&transaction)?;
        transaction.pragma_update(None, "application_id", C::APPLICATION)?;
        transaction.pragma_update(None, "user_version", C::VERSION)?;
        transaction.commit()?;
        drop(connection);
        match self.connect(file)? {
            Found::Ready(open) => Ok(open),
            Found::Nothing | Found::Strange(_) => Err(self.unusable().into()),
        }
    }

    /// Removes the file and what SQLite keeps beside it.
    fn remove(&self) -> Result<()> {
        for ending in ["-wal", "-shm", "-journal", ""] {
            let mut path = self.path.clone().into_os_string();
            path.push(ending);
            disk::remove(Path::new(&path))?;
        }
        Ok(())
    }

    /// Puts a damaged file that cannot be made again out of the way, for whoever may want to look at it.
    fn set_aside(&self) -> Result<()> {
        let mut aside = self.path.clone().into_os_string();
        aside.push(".damaged");
        disk::rename(&self.path, Path::new(&aside))
    }

    fn error(&self, doing: &str, error: rusqlite::Error) -> Error {
        let path = shown(&self.path.to_string_lossy());
        let (kind, advice) = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => {
                (ErrorKind::Full, "the disk is full: free some space, or evict outputs")
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                (ErrorKind::Busy, "another process keeps it locked: find out which, or try again")
            }
            Some(ErrorCode::SystemIoFailure) if disk::is_full(&self.path) => {
                (ErrorKind::Full, "the disk is full: free some space, or evict outputs")
            }
            _ => (ErrorKind::Io, "nothing was changed: look at the disk, and try again"),
        };
        Error::new(kind, format!("cannot {doing} {path}: {}; {advice}", Shown(&error)))
            .at(&self.path)
            .because(error)
    }

    fn unusable(&self) -> Error {
        let path = shown(&self.path.to_string_lossy());
        let message =
            format!("{path} is damaged again each time it is made: look at the disk, or move the store");
        Error::new(ErrorKind::Corrupt, message).at(&self.path)
    }
}

/// A database that nobody else changes.
pub(crate) struct Locked<'a, C: Contents> {
    database: &'a Database<C>,
    writer: MutexGuard<'a, Writer>,
}

impl<C: Contents> Drop for Locked<'_, C> {
    fn drop(&mut self) {
        self.writer.lock.release();
    }
}

impl<C: Contents> Locked<'_, C> {
    /// Makes the database if there is none of this version.
    pub(crate) fn ready(&mut self) -> Result<()> {
        self.opened().map(|_| ())
    }

    fn opened(&mut self) -> Result<&mut Open> {
        let database = self.database;
        let current = self.writer.open.take().filter(|open| database.is_current(open));
        let open = match current {
            Some(open) => open,
            None => match database.open()? {
                Found::Ready(open) => open,
                Found::Nothing => database.make()?,
                Found::Strange(version) if !C::DISPOSABLE && version > C::VERSION => {
                    return Err(later(&database.path, version));
                }
                Found::Strange(_) => self.made_anew()?,
            },
        };
        Ok(self.writer.open.insert(open))
    }

    fn made_anew(&self) -> Result<Open> {
        if !C::DISPOSABLE {
            self.database.set_aside()?;
        }
        self.database.make()
    }

    /// Makes a damaged database anew, unless somebody else has done so already.
    fn replace(&mut self, damaged: (u64, u64)) -> Result<()> {
        let found =
            file_of(&self.database.path).map_err(|cause| Error::io("open", &self.database.path, cause))?;
        if found == Some(damaged) {
            let open = self.made_anew()?;
            self.writer.open = Some(open);
        }
        Ok(())
    }

    /// Does all of `work`, or nothing. It is done a second time when the database had to be made anew.
    pub(crate) fn transaction<T>(&mut self, mut work: impl FnMut(&Transaction<'_>) -> Done<T>) -> Result<T> {
        let database = self.database;
        for _ in 0..TRIES {
            let open = self.opened()?;
            let file = open.file;
            match database.within(open, &mut work) {
                Ok(done) => return Ok(done),
                Err(Fault::Other(error)) => return Err(error),
                Err(Fault::Sql(error)) if is_damage(&error) => self.replace(file)?,
                Err(Fault::Sql(error)) => return Err(database.error("write", error)),
            }
        }
        Err(database.unusable())
    }
}

impl<C: Contents> Database<C> {
    fn within<T>(&self, open: &mut Open, work: &mut dyn FnMut(&Transaction<'_>) -> Done<T>) -> Done<T> {
        let refused = |cause| Error::io("write", &self.path, cause);
        disk::pass(Op::Database, &self.path).map_err(refused)?;
        let transaction = open.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        disk::pass(Op::Database, &self.path).map_err(refused)?;
        transaction.commit()?;
        Ok(done)
    }
}

fn later(path: &Path, version: i32) -> Error {
    let path_shown = shown(&path.to_string_lossy());
    let message = format!(
        "{path_shown} was written by a later version (tables of version {version}): use that version"
    );
    Error::new(ErrorKind::Version, message).at(path)
}

/// Device and number of a file.
fn file_of(path: &Path) -> io::Result<Option<(u64, u64)>> {
    Ok(disk::look(path)?.map(|metadata| (metadata.dev(), metadata.ino())))
}

/// Whether an error means that the file is not what we wrote, rather than that the system refused something.
fn is_damage(error: &rusqlite::Error) -> bool {
    use ErrorCode as Code;
    match error {
        rusqlite::Error::SqliteFailure(failure, _) => matches!(
            failure.code,
            Code::DatabaseCorrupt
                | Code::NotADatabase
                | Code::Unknown
                | Code::SchemaChanged
                | Code::ConstraintViolation
                | Code::TypeMismatch
                | Code::TooBig
                | Code::InternalMalfunction
                | Code::AuthorizationForStatementDenied
        ),
        rusqlite::Error::SqlInputError { .. }
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..)
        | rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::InvalidColumnName(..)
        | rusqlite::Error::InvalidColumnIndex(..)
        | rusqlite::Error::QueryReturnedNoRows => true,
        _ => false,
    }
}

/// What SQLite says, of bounded length.
struct Shown<'a>(&'a rusqlite::Error);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0.to_string()))
    }
}
