//! A database under its lock, which is required for every change.

use std::path::Path;
use std::sync::MutexGuard;
use std::time::Duration;

use rusqlite::{Connection, Transaction};

use super::{Contents, Database, MAX_ATTEMPTS, Open, OpenOutcome, TransactionResult};
use crate::error::{DatabaseFault, Error, ErrorClass, ErrorKind, Result};

/// Log sizes in bytes: up to `MIN_LOG_BYTES` the log is never truncated, above `MAX_LOG_BYTES`
/// always. In between it may be as long as the database. A long log is slow because each process
/// reads all of it when it opens the database. Truncation is slow because it waits for the disk.
const MIN_LOG_BYTES: u64 = 256 << 10;
const MAX_LOG_BYTES: u64 = 2 << 20;

/// A database that no other process can change.
pub(crate) struct Locked<'a, C: Contents> {
    database: &'a Database<C>,
    writer: MutexGuard<'a, Option<Open>>,
    /// True if the seal was checked, or is being repaired.
    checked: bool,
    /// True if the contents are known to be valid. Contents that were not inspected must not be
    /// sealed.
    trusted: bool,
}

impl<C: Contents> Drop for Locked<'_, C> {
    fn drop(&mut self) {
        self.database.lock.release();
    }
}

impl<'a, C: Contents> Locked<'a, C> {
    /// Used by [`Database::lock`] after it has taken the lock.
    pub(super) fn new(database: &'a Database<C>, writer: MutexGuard<'a, Option<Open>>) -> Self {
        Self { database, writer, checked: false, trusted: false }
    }

    /// Creates the database if it is missing or has another version, and checks its seal.
    pub(crate) fn ensure_ready(&mut self) -> Result<()> {
        self.open().map(|_| ())
    }

    fn open(&mut self) -> Result<&mut Open> {
        let database = self.database;
        let current = self.writer.take().filter(|open| database.is_current(open));
        let open = match current {
            Some(open) => open,
            None => self.open_or_create()?,
        };
        self.trusted |= !self.checked && C::DISPOSABLE && !open.stale && database.is_sealed();
        *self.writer = Some(open);
        if C::DISPOSABLE && !self.trusted && !self.checked {
            self.reconcile()?;
        }
        self.writer.as_mut().ok_or_else(|| database.unusable())
    }

    /// Opens the file, replacing one that cannot be used.
    fn open_or_create(&mut self) -> Result<Open> {
        let database = self.database;
        let mut found = database.open()?;
        if matches!(found, OpenOutcome::Foreign) {
            database.files.move_foreign_aside()?;
            found = database.open()?;
        }
        match found {
            OpenOutcome::Ready(open) => Ok(open),
            OpenOutcome::Missing => self.create(),
            OpenOutcome::OtherVersion(version) if !C::DISPOSABLE && version > C::VERSION => {
                Err(newer_version(database.files.main(), version))
            }
            OpenOutcome::OtherVersion(_) | OpenOutcome::Damaged(_) | OpenOutcome::Foreign => self.recreate(),
        }
    }

    fn create(&mut self) -> Result<Open> {
        let database = self.database;
        let open = database.create()?;
        if let Err(error) =
            truncate(&open.connection, database.lock_timeout).map_err(|cause| database.error("make", cause))
            && C::DISPOSABLE
            && error.class() == ErrorClass::Full
        {
            // The log would take the space that the outputs need, and could not be truncated.
            drop(open);
            database.files.remove()?;
            return Err(error);
        }
        self.trusted = true;
        self.seal();
        Ok(open)
    }

    fn recreate(&mut self) -> Result<Open> {
        if !C::DISPOSABLE {
            self.database.files.set_aside()?;
        }
        self.create()
    }

    /// Rebuilds a damaged database, unless another process has already done so.
    pub(super) fn replace(&mut self, damaged: (u64, u64)) -> Result<()> {
        let files = &self.database.files;
        let found = files.identity()?;
        if found == Some(damaged) {
            let open = self.recreate()?;
            *self.writer = Some(open);
        }
        Ok(())
    }

    /// Inspects the contents and synchronizes them with their source files. Rebuilds them if they
    /// are damaged.
    pub(crate) fn reconcile(&mut self) -> Result<()> {
        let database = self.database;
        self.checked = true;
        let reconciled = self.transaction(|transaction| database.contents.reconcile(transaction));
        self.checked = false;
        reconciled?;
        self.trusted = true;
        if let Some(open) = self.writer.as_mut() {
            open.stale = false;
        }
        self.seal();
        Ok(())
    }

    /// Runs `work` in a transaction. `work` may run again, after the database had to be rebuilt or
    /// after truncating the log made room on a full disk.
    pub(crate) fn transaction<T>(
        &mut self,
        mut work: impl FnMut(&Transaction<'_>) -> TransactionResult<T>,
    ) -> Result<T> {
        let database = self.database;
        let mut has_truncated = false;
        for _ in 0..MAX_ATTEMPTS {
            let open = self.open()?;
            let file = open.file;
            let fault = match database.run_in_transaction(open, &mut work) {
                Ok(done) => {
                    self.truncate_and_seal();
                    return Ok(done);
                }
                Err(fault) => fault,
            };
            if fault.damage().is_some() {
                self.replace(file)?;
                continue;
            }
            let error = database.failed("write", fault);
            let may_retry = error.class() == ErrorClass::Full && !has_truncated && self.truncate();
            // The log now contains a partial transaction. It is invalid and ignored, but it breaks
            // the seal.
            self.seal();
            if !may_retry {
                return Err(error);
            }
            has_truncated = true;
        }
        Err(database.unusable())
    }

    /// Reads the data that evictions are based on. With `verify`, the contents are reconciled
    /// first. If that is impossible, as on a full disk, they are built in memory.
    pub(crate) fn survey<T>(
        &mut self,
        verify: bool,
        mut work: impl FnMut(&Transaction<'_>) -> TransactionResult<T>,
    ) -> Result<T> {
        let reconciled = if verify { self.reconcile() } else { Ok(()) };
        match reconciled.and_then(|()| self.transaction(&mut work)) {
            Err(error) if C::DISPOSABLE && error.class() == ErrorClass::Full => {
                self.database.read_in_memory(&mut work)
            }
            done => done,
        }
    }

    /// Removes a database that can be rebuilt, to free its space.
    pub(crate) fn discard(&mut self) -> Result<()> {
        *self.writer = None;
        // The space of an open file is not freed. A reader of this process that is still active
        // releases it later.
        if let Ok(mut reader) = self.database.reader.try_lock() {
            *reader = None;
        }
        self.database.files.remove()
    }

    /// Truncates the log. Returns true if it is shorter now.
    pub(crate) fn truncate(&mut self) -> bool {
        let before = self.database.files.sizes().1;
        if let Some(open) = self.writer.as_ref().filter(|open| self.database.is_current(open)) {
            // A log that stays long is truncated after a later change.
            let _ = truncate(&open.connection, self.database.lock_timeout);
            self.seal();
        }
        self.database.files.sizes().1 < before
    }

    /// Truncates a long log and renews the seal.
    fn truncate_and_seal(&mut self) {
        let (size, log) = self.database.files.sizes();
        if log <= size.clamp(MIN_LOG_BYTES, MAX_LOG_BYTES) || !self.truncate() {
            self.seal();
        }
    }

    /// Seals the current state of the files, unless it is sealed already.
    fn seal(&self) {
        if C::DISPOSABLE && self.trusted && !self.database.is_sealed() {
            self.database.files.touch();
            self.database.lock.write_seal(&self.database.files.seal());
        }
    }
}

/// Checkpoints and truncates the log. If another process is reading an older snapshot, nothing
/// happens, and a later change tries again.
fn truncate(connection: &Connection, lock_timeout: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    let truncated = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    connection.busy_timeout(lock_timeout)?;
    truncated
}

fn newer_version(path: &Path, version: i32) -> Error {
    ErrorKind::Database { path: path.to_owned(), why: DatabaseFault::Version(version) }.into()
}
