//! An SQLite database shared by any number of processes. It is in WAL mode. Every change uses
//! `BEGIN IMMEDIATE` and holds a separate lock file, so that no process ever gets a busy error.
//!
//! Each use first detects a missing, replaced, or damaged database. One that can be rebuilt is
//! rebuilt. If the disk has no space, it is replaced by a database in memory.
//!
//! Closing a connection does not checkpoint the log: by then, the file of that name could be the
//! log of another database. Instead, the process that holds the lock truncates a long log
//! ([`Locked`]). Without that, the log would grow forever if every change is made by a new process,
//! because SQLite restarts a log only within one connection.

mod lock;
mod locked;
mod paths;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use trommel_base::files::{self, Op, is_disk_full};
use trommel_base::text::display_name;

use crate::disk;
use crate::error::{DatabaseFault, Error, ErrorClass, ErrorKind, Result};

use lock::FileLock;
pub(crate) use locked::Locked;
use paths::Files;

/// The contents of a database.
pub(crate) trait Contents: Send + Sync {
    /// Written into the file's header to identify the kind of database.
    const APPLICATION: i32;
    /// The version of the schema.
    const VERSION: i32;
    /// The schema.
    const SCHEMA: &'static str;
    /// True if the database can be rebuilt from other files. Such a database is sealed after each
    /// change, and inspected when the seal is broken.
    const DISPOSABLE: bool;
    /// SQLite's `synchronous` setting: `normal` keeps the database consistent after a power
    /// failure, `full` also keeps the latest changes.
    const SYNCHRONOUS: &'static str;

    /// Fills new tables.
    fn fill(&self, transaction: &Transaction<'_>) -> TransactionResult<()>;

    /// True if recent changes may be lost although the seal is intact.
    fn is_stale(connection: &Connection) -> rusqlite::Result<bool>;

    /// Synchronizes the tables with their source files. Fails with [`Fault::Damaged`] if they are
    /// damaged.
    fn reconcile(&self, transaction: &Transaction<'_>) -> TransactionResult<()>;
}

/// A failure within a transaction.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(rusqlite::Error),
    /// The contents differ from the data that was written.
    Damaged(String),
    Other(Error),
}

pub(crate) type TransactionResult<T> = std::result::Result<T, Fault>;

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

impl Fault {
    /// A description of the damage, if the fault is damage.
    pub(crate) fn damage(&self) -> Option<String> {
        match self {
            Self::Sql(error) => is_damage(error).then(|| display_name(&error.to_string())),
            Self::Damaged(what) => Some(what.clone()),
            Self::Other(_) => None,
        }
    }
}

/// Maximum number of attempts, with a rebuilt database each time.
const MAX_ATTEMPTS: u32 = 4;

/// How long a reader waits for another process to write the seal.
const SEAL_TIMEOUT: Duration = Duration::from_millis(250);
/// Interval between two checks of the seal.
const POLL_INTERVAL: Duration = Duration::from_micros(200);

/// A database in a file.
pub(crate) struct Database<C> {
    files: Files,
    lock: FileLock,
    lock_timeout: Duration,
    contents: C,
    writer: Mutex<Option<Open>>,
    reader: Mutex<Option<Open>>,
    /// True if the file could not be brought up to date. Reads then use a database in memory.
    bypassed: AtomicBool,
}

/// An open connection, and the identity of its file.
struct Open {
    connection: Connection,
    file: (u64, u64),
    /// True if recent changes may be lost.
    stale: bool,
}

/// The result of opening a database.
enum OpenOutcome {
    Ready(Open),
    /// The file is missing or empty.
    Missing,
    /// The file has another version or kind. Contains the version.
    OtherVersion(i32),
    /// The file cannot be read as a database.
    Damaged(String),
    /// One of the files is not a regular file.
    Foreign,
}

impl<C: Contents> Database<C> {
    /// Creates a handle; the file is opened at the first use.
    pub(crate) fn new(path: PathBuf, lock: &Path, lock_timeout: Duration, contents: C) -> Result<Self> {
        let lock = FileLock::open(lock, lock_timeout)?;
        let (writer, reader) = (Mutex::new(None), Mutex::new(None));
        let bypassed = AtomicBool::new(false);
        Ok(Self { files: Files::new(path), lock, lock_timeout, contents, writer, reader, bypassed })
    }

    /// Runs `work` in a read transaction. A damaged database is rebuilt first. A disposable one
    /// that cannot be rebuilt, as on a full disk, is replaced by one in memory.
    pub(crate) fn read<T>(
        &self,
        mut work: impl FnMut(&Transaction<'_>) -> TransactionResult<T>,
    ) -> Result<T> {
        if !self.bypassed.load(Ordering::Relaxed) {
            match self.read_file(&mut work, true) {
                Err(error) if C::DISPOSABLE && is_unavailable(&error) => {}
                read => return read,
            }
        }
        self.read_in_memory(&mut work)
    }

    /// Reads the file without checking the seal and without repairing damage. Damage is an error of
    /// the class `Corrupt`.
    pub(crate) fn read_unrepaired<T>(
        &self,
        mut work: impl FnMut(&Transaction<'_>) -> TransactionResult<T>,
    ) -> Result<T> {
        self.read_file(&mut work, false)
    }

    fn read_file<T>(
        &self,
        work: &mut dyn FnMut(&Transaction<'_>) -> TransactionResult<T>,
        repair: bool,
    ) -> Result<T> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..MAX_ATTEMPTS {
            if reader.as_ref().is_none_or(|open| !self.is_current(open)) {
                *reader = None;
                match self.open()? {
                    OpenOutcome::Ready(open) => *reader = Some(open),
                    OpenOutcome::Damaged(what) if !repair => return Err(self.corrupt(&what)),
                    OpenOutcome::Missing
                    | OpenOutcome::OtherVersion(_)
                    | OpenOutcome::Damaged(_)
                    | OpenOutcome::Foreign => {
                        self.lock()?.ensure_ready()?;
                        continue;
                    }
                }
            }
            let Some(open) = reader.as_mut() else { continue };
            if repair {
                self.await_seal(open)?;
            }
            let done = open.connection.transaction().map_err(Fault::from).and_then(|open| work(&open));
            // SQLite opens the log by name at the first read of the transaction. If the file was
            // replaced in between, the log belongs to another database: try again.
            if !self.is_current(open) {
                continue;
            }
            match done {
                Ok(read) => return Ok(read),
                Err(fault) => match fault.damage() {
                    Some(what) if !repair => return Err(self.corrupt(&what)),
                    Some(_) => {
                        // Keep the damaged file open until it is replaced. Its inode is then still
                        // in use, so the new file cannot have the same identity.
                        self.lock()?.replace(open.file)?;
                        *reader = None;
                    }
                    None => return Err(self.failed("read", fault)),
                },
            }
        }
        Err(self.unusable())
    }

    /// Reads the file like [`read`](Self::read), but never builds the tables in memory: for data
    /// that is in the file alone.
    pub(crate) fn read_file_only<T: Default>(
        &self,
        mut work: impl FnMut(&Transaction<'_>) -> TransactionResult<T>,
    ) -> Result<T> {
        if self.bypassed.load(Ordering::Relaxed) {
            return Ok(T::default());
        }
        self.read_file(&mut work, true)
    }

    /// Builds the tables in memory and reads them.
    fn read_in_memory<T>(&self, work: &mut dyn FnMut(&Transaction<'_>) -> TransactionResult<T>) -> Result<T> {
        let build = || -> TransactionResult<Connection> {
            let mut connection = Connection::open_in_memory()?;
            let transaction = connection.transaction()?;
            transaction.execute_batch(C::SCHEMA)?;
            self.contents.fill(&transaction)?;
            transaction.commit()?;
            Ok(connection)
        };
        let done = build().and_then(|mut connection| work(&connection.transaction()?));
        done.map_err(|fault| self.failed("read", fault))
    }

    /// Makes all further reads use a database in memory, because the file is outdated and cannot be
    /// changed.
    pub(crate) fn bypass(&self) {
        self.bypassed.store(true, Ordering::Relaxed);
    }

    /// Waits until no other process is changing the database, and locks it.
    pub(crate) fn lock(&self) -> Result<Locked<'_, C>> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock.take()?;
        Ok(Locked::new(self, writer))
    }

    /// Locks the database if it becomes free within [`SEAL_TIMEOUT`], for a change that may be
    /// omitted.
    pub(crate) fn lock_briefly(&self) -> Option<Locked<'_, C>> {
        let start = Instant::now();
        while !self.bypassed.load(Ordering::Relaxed) {
            if let Some(locked) = self.try_lock() {
                return Some(locked);
            }
            if start.elapsed() >= SEAL_TIMEOUT {
                break;
            }
            thread::sleep(POLL_INTERVAL);
        }
        None
    }

    /// Locks the database if no thread and no other process holds it.
    fn try_lock(&self) -> Option<Locked<'_, C>> {
        let writer: MutexGuard<'_, _> = match self.writer.try_lock() {
            Ok(writer) => writer,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.lock.try_take().then(|| Locked::new(self, writer))
    }

    /// True if the files are unchanged since the last process sealed them.
    fn is_sealed(&self) -> bool {
        self.lock.has_seal(&self.files.seal())
    }

    /// Waits for a valid seal.
    ///
    /// If no process holds the lock, the seal is broken, and the contents are inspected. A process
    /// that holds the lock has checked the seal itself. If it takes long, reading is safe anyway,
    /// because its uncommitted changes are invisible.
    fn await_seal(&self, open: &mut Open) -> Result<()> {
        if !C::DISPOSABLE {
            return Ok(());
        }
        let start = Instant::now();
        loop {
            if !open.stale && self.is_sealed() {
                return Ok(());
            }
            if let Some(mut locked) = self.try_lock() {
                open.stale = false;
                return locked.ensure_ready();
            }
            if start.elapsed() >= SEAL_TIMEOUT {
                return Ok(());
            }
            thread::sleep(POLL_INTERVAL);
        }
    }

    fn is_current(&self, open: &Open) -> bool {
        self.files.identity().is_ok_and(|file| file == Some(open.file))
    }

    /// Opens the existing file.
    fn open(&self) -> Result<OpenOutcome> {
        files::attempt(Op::Open, self.files.main(), || Ok(()))?;
        if self.files.has_foreign()? {
            return Ok(OpenOutcome::Foreign);
        }
        let Some(file) = self.files.identity()? else { return Ok(OpenOutcome::Missing) };
        match self.connect(file) {
            Ok(found) => Ok(found),
            Err(error) if is_damage(&error) => Ok(OpenOutcome::Damaged(display_name(&error.to_string()))),
            // Another process removed it in between.
            Err(_) if self.files.identity().is_ok_and(|file| file.is_none()) => Ok(OpenOutcome::Missing),
            Err(error) => Err(self.error("open", error)),
        }
    }

    fn connect(&self, file: (u64, u64)) -> rusqlite::Result<OpenOutcome> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(self.files.main(), flags)?;
        connection.busy_timeout(self.lock_timeout)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.pragma_update(None, "temp_store", "memory")?;
        connection.pragma_update(None, "synchronous", C::SYNCHRONOUS)?;
        let application: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
        let version: i32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        Ok(match (application, version) {
            (0, 0) => OpenOutcome::Missing,
            (application, version) if application != C::APPLICATION => {
                OpenOutcome::OtherVersion(version.min(0))
            }
            (_, version) if version != C::VERSION => OpenOutcome::OtherVersion(version),
            _ => {
                let stale = C::is_stale(&connection)?;
                OpenOutcome::Ready(Open { connection, file, stale })
            }
        })
    }

    /// Creates the file and its tables.
    fn create(&self) -> Result<Open> {
        self.files.remove()?;
        drop(disk::create(self.files.main())?);
        // Another process may have removed the file again. No file has the identity (0, 0), so the
        // connection is then replaced at its next use.
        let file = self.files.identity()?.unwrap_or((0, 0));
        self.set_up(file).map_err(|fault| {
            let error = self.failed("make", fault);
            // An incomplete database is useless. If it cannot be removed, it is replaced next time.
            let _ = self.files.remove();
            error
        })
    }

    fn set_up(&self, file: (u64, u64)) -> TransactionResult<Open> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(self.files.main(), flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // If the file system does not support WAL, SQLite keeps its default mode. Everything still
        // works, with less concurrency.
        connection.pragma_update_and_check(None, "journal_mode", "wal", |_| Ok(()))?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(C::SCHEMA)?;
        self.contents.fill(&transaction)?;
        transaction.pragma_update(None, "application_id", C::APPLICATION)?;
        transaction.pragma_update(None, "user_version", C::VERSION)?;
        transaction.commit()?;
        drop(connection);
        match self.connect(file)? {
            OpenOutcome::Ready(open) => Ok(open),
            _ => Err(self.unusable().into()),
        }
    }

    fn failed(&self, doing: &'static str, fault: Fault) -> Error {
        match fault {
            Fault::Sql(error) => self.error(doing, error),
            Fault::Damaged(what) => self.corrupt(&what),
            Fault::Other(error) => error,
        }
    }

    fn error(&self, doing: &'static str, error: rusqlite::Error) -> Error {
        let class = match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => ErrorClass::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorClass::Busy,
            Some(ErrorCode::SystemIoFailure) if is_disk_full(self.files.main()) => ErrorClass::Full,
            _ => ErrorClass::Io,
        };
        self.fault(DatabaseFault::Refused { doing, cause: error, class, bytes_needed: None })
    }

    fn corrupt(&self, why: &str) -> Error {
        self.fault(DatabaseFault::Damaged(why.to_owned()))
    }

    fn unusable(&self) -> Error {
        self.fault(DatabaseFault::Unusable)
    }

    fn fault(&self, why: DatabaseFault) -> Error {
        ErrorKind::Database { path: self.files.main().to_owned(), why }.into()
    }

    /// Runs `work` in a write transaction. The caller holds the lock, so no other process can block
    /// it.
    fn run_in_transaction<T>(
        &self,
        open: &mut Open,
        work: &mut dyn FnMut(&Transaction<'_>) -> TransactionResult<T>,
    ) -> TransactionResult<T> {
        let path = self.files.main();
        files::attempt(Op::Database, path, || Ok(())).map_err(Error::from)?;
        let transaction = open.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        files::attempt(Op::Database, path, || Ok(())).map_err(Error::from)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// True for an error that a database in memory would not have.
fn is_unavailable(error: &Error) -> bool {
    matches!(error.class(), ErrorClass::Full | ErrorClass::Io)
}

/// True if an error means that the contents are invalid, rather than that the system refused an
/// operation.
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
