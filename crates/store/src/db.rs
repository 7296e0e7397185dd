//! An SQLite database that any number of processes share: in WAL mode, every change `BEGIN
//! IMMEDIATE` and under a lock of ours, so that no process ever meets a busy database.
//!
//! A database that is missing, was replaced, or is damaged is noticed before each use. One that can
//! be rebuilt is rebuilt, or replaced by one in memory where the disk has no room for it.
//!
//! No connection writes its log back when it closes: by then the file of that name could be the log
//! of another database. For that reason whoever holds the lock truncates the log once it is long
//! ([`Locked`]); otherwise it would grow for ever when each change is made by a process of its own,
//! as SQLite only restarts a log within one connection.

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
use trommel_base::text::shown_name;

use crate::disk;
use crate::error::{DatabaseFault, Error, ErrorClass, ErrorKind, Result};

use lock::FileLock;
pub(crate) use locked::Locked;
use paths::Files;

/// What a database is for.
pub(crate) trait Contents: Send + Sync {
    /// Written into the file's header, so that no other is taken for it.
    const APPLICATION: i32;
    /// The version of the tables.
    const VERSION: i32;
    /// The tables.
    const SCHEMA: &'static str;
    /// True if it can be rebuilt from other files. Such a database is sealed after each change, and
    /// inspected when the seal is broken.
    const DISPOSABLE: bool;
    /// How closely SQLite waits for the disk: `normal` keeps the database whole, `full` the last
    /// changes as well.
    const SYNCHRONOUS: &'static str;

    /// Fills new tables.
    fn fill(&self, transaction: &Transaction<'_>) -> Done<()>;

    /// True if the last changes may be lost, although the seal is whole.
    fn is_stale(connection: &Connection) -> rusqlite::Result<bool>;

    /// Brings the tables in line with the files that they are built from, or fails with
    /// [`Fault::Damaged`].
    fn reconcile(&self, transaction: &Transaction<'_>) -> Done<()>;
}

/// What can go wrong in a transaction.
#[derive(Debug)]
pub(crate) enum Fault {
    Sql(rusqlite::Error),
    /// The database was read, and does not contain what was written to it.
    Damaged(String),
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

impl Fault {
    /// How the database is damaged, if that is the fault.
    pub(crate) fn damage(&self) -> Option<String> {
        match self {
            Self::Sql(error) => is_damage(error).then(|| shown_name(&error.to_string())),
            Self::Damaged(what) => Some(what.clone()),
            Self::Other(_) => None,
        }
    }
}

/// How often an operation is tried with a rebuilt database.
const TRIES: u32 = 4;

/// How long a reader waits for the seal of another process.
const GLANCE: Duration = Duration::from_millis(250);
/// The time between two checks.
const PAUSE: Duration = Duration::from_micros(200);

/// A database in a file.
pub(crate) struct Database<C> {
    files: Files,
    lock: FileLock,
    patience: Duration,
    contents: C,
    writer: Mutex<Option<Open>>,
    reader: Mutex<Option<Open>>,
    /// True once the file could not be brought up to date: reads use a database in memory.
    bypassed: AtomicBool,
}

/// An open connection, and which file it belongs to.
struct Open {
    connection: Connection,
    file: (u64, u64),
    /// True if the last changes may be lost.
    stale: bool,
}

/// How opening went.
enum Found {
    Ready(Open),
    /// There is none, or it is empty.
    Nothing,
    /// It is of another version or kind, which is given.
    Strange(i32),
    /// It cannot be read.
    Damaged(String),
    /// One of its files is not a regular file.
    Foreign,
}

impl<C: Contents> Database<C> {
    /// A database that is opened when it is used.
    pub(crate) fn new(path: PathBuf, lock: &Path, patience: Duration, contents: C) -> Result<Self> {
        let lock = FileLock::open(lock, patience)?;
        let (writer, reader) = (Mutex::new(None), Mutex::new(None));
        let bypassed = AtomicBool::new(false);
        Ok(Self { files: Files::new(path), lock, patience, contents, writer, reader, bypassed })
    }

    /// Reads, seeing one state of everything. A damaged database is rebuilt first, and one that
    /// cannot be used or rebuilt, as on a full disk, is replaced by one in memory if it is
    /// disposable.
    pub(crate) fn read<T>(&self, mut work: impl FnMut(&Transaction<'_>) -> Done<T>) -> Result<T> {
        if !self.bypassed.load(Ordering::Relaxed) {
            match self.read_file(&mut work, true) {
                Err(error) if C::DISPOSABLE && is_unavailable(&error) => {}
                read => return read,
            }
        }
        self.read_in_memory(&mut work)
    }

    /// Reads the file as it is: neither the seal is checked nor damage repaired. Damage is an error
    /// of kind `Corrupt`.
    pub(crate) fn read_unrepaired<T>(&self, mut work: impl FnMut(&Transaction<'_>) -> Done<T>) -> Result<T> {
        self.read_file(&mut work, false)
    }

    fn read_file<T>(&self, work: &mut dyn FnMut(&Transaction<'_>) -> Done<T>, repair: bool) -> Result<T> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..TRIES {
            if reader.as_ref().is_none_or(|open| !self.is_current(open)) {
                *reader = None;
                match self.open()? {
                    Found::Ready(open) => *reader = Some(open),
                    Found::Damaged(what) if !repair => return Err(self.corrupt(&what)),
                    Found::Nothing | Found::Strange(_) | Found::Damaged(_) | Found::Foreign => {
                        self.lock()?.ready()?;
                        continue;
                    }
                }
            }
            let Some(open) = reader.as_mut() else { continue };
            if repair {
                self.await_seal(open)?;
            }
            let done = open.connection.transaction().map_err(Fault::from).and_then(|open| work(&open));
            // The log is opened by its name when the transaction reads first, and must be that of
            // this file.
            if !self.is_current(open) {
                continue;
            }
            match done {
                Ok(read) => return Ok(read),
                Err(fault) => match fault.damage() {
                    Some(what) if !repair => return Err(self.corrupt(&what)),
                    Some(_) => {
                        // Kept open until there is another, so that the two cannot have the same
                        // number.
                        self.lock()?.replace(open.file)?;
                        *reader = None;
                    }
                    None => return Err(self.failed("read", fault)),
                },
            }
        }
        Err(self.unusable())
    }

    /// Builds the tables in memory, and reads them.
    fn read_in_memory<T>(&self, work: &mut dyn FnMut(&Transaction<'_>) -> Done<T>) -> Result<T> {
        let build = || -> Done<Connection> {
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

    /// Reads from memory from now on: the file is not up to date, and cannot be changed.
    pub(crate) fn bypass(&self) {
        self.bypassed.store(true, Ordering::Relaxed);
    }

    /// Waits until no other process changes anything.
    pub(crate) fn lock(&self) -> Result<Locked<'_, C>> {
        let writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock.take()?;
        Ok(Locked::new(self, writer))
    }

    /// The same if no thread and no other process changes anything now.
    fn try_lock(&self) -> Option<Locked<'_, C>> {
        let writer: MutexGuard<'_, _> = match self.writer.try_lock() {
            Ok(writer) => writer,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        self.lock.try_take().then(|| Locked::new(self, writer))
    }

    /// True if the files are as the last process that changed them has left them.
    fn is_sealed(&self) -> bool {
        self.lock.has_note(&self.files.seal())
    }

    /// Waits for the seal. Where no process holds the lock the seal is broken, and the contents are
    /// inspected. A process that holds it has checked the seal itself; when it is busy for long,
    /// what it has not committed is not seen anyway.
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
                return locked.ready();
            }
            if start.elapsed() >= GLANCE {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
    }

    fn is_current(&self, open: &Open) -> bool {
        self.files.identity().is_ok_and(|file| file == Some(open.file))
    }

    /// Opens what is there.
    fn open(&self) -> Result<Found> {
        files::attempt(Op::Open, self.files.main(), || Ok(()))?;
        if self.files.has_foreign()? {
            return Ok(Found::Foreign);
        }
        let Some(file) = self.files.identity()? else { return Ok(Found::Nothing) };
        match self.connect(file) {
            Ok(found) => Ok(found),
            Err(error) if is_damage(&error) => Ok(Found::Damaged(shown_name(&error.to_string()))),
            // Another process has removed it in between.
            Err(_) if self.files.identity().is_ok_and(|file| file.is_none()) => Ok(Found::Nothing),
            Err(error) => Err(self.error("open", error)),
        }
    }

    fn connect(&self, file: (u64, u64)) -> rusqlite::Result<Found> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let connection = Connection::open_with_flags(self.files.main(), flags)?;
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
            _ => {
                let stale = C::is_stale(&connection)?;
                Found::Ready(Open { connection, file, stale })
            }
        })
    }

    /// Creates the file and its tables.
    fn make(&self) -> Result<Open> {
        self.files.remove()?;
        drop(disk::create(self.files.main())?);
        // Another process may have removed it. No file has this identity, so that it is replaced at
        // its next use.
        let file = self.files.identity()?.unwrap_or((0, 0));
        self.set_up(file).map_err(|fault| {
            let error = self.failed("make", fault);
            // Half a database is of no use; where it cannot be removed, it is replaced the next
            // time.
            let _ = self.files.remove();
            error
        })
    }

    fn set_up(&self, file: (u64, u64)) -> Done<Open> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(self.files.main(), flags)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        // Where the file system cannot do it, another mode is left on, and all works as well with
        // less at a time.
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

    /// Runs `work` in a transaction that no other process can be in the way of.
    fn within<T>(&self, open: &mut Open, work: &mut dyn FnMut(&Transaction<'_>) -> Done<T>) -> Done<T> {
        let path = self.files.main();
        files::attempt(Op::Database, path, || Ok(())).map_err(Error::from)?;
        let transaction = open.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        files::attempt(Op::Database, path, || Ok(())).map_err(Error::from)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// True for an error that a database in memory does not have.
fn is_unavailable(error: &Error) -> bool {
    matches!(error.class(), ErrorClass::Full | ErrorClass::Io)
}

/// True if an error means that the file is not what we wrote, rather than that the system refused
/// something.
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
