//! A database under its lock: the only way to change one.

use std::path::Path;
use std::sync::MutexGuard;
use std::time::Duration;

use rusqlite::{Connection, Transaction};

use super::{Contents, Database, Done, Found, Open, TRIES};
use crate::error::{DatabaseFault, Error, ErrorClass, ErrorKind, Result};

/// Bytes of the log up to which it is never truncated, and beyond which it always is. In between it
/// may be as long as the database. Each process that opens the database reads the whole log first,
/// and each truncation waits for the disk.
const SHORT_LOG: u64 = 256 << 10;
const LONG_LOG: u64 = 2 << 20;

/// A database that no other process changes.
pub(crate) struct Locked<'a, C: Contents> {
    database: &'a Database<C>,
    writer: MutexGuard<'a, Option<Open>>,
    /// True once the seal was checked, or is being repaired.
    checked: bool,
    /// True once the contents are known to be right: what was not inspected must not be sealed.
    trusted: bool,
}

impl<C: Contents> Drop for Locked<'_, C> {
    fn drop(&mut self) {
        self.database.lock.release();
    }
}

impl<'a, C: Contents> Locked<'a, C> {
    /// For [`Database::lock`], which has taken the lock.
    pub(super) fn new(database: &'a Database<C>, writer: MutexGuard<'a, Option<Open>>) -> Self {
        Self { database, writer, checked: false, trusted: false }
    }

    /// Creates the database if there is none of this version, and checks its seal.
    pub(crate) fn ready(&mut self) -> Result<()> {
        self.opened().map(|_| ())
    }

    fn opened(&mut self) -> Result<&mut Open> {
        let database = self.database;
        let current = self.writer.take().filter(|open| database.is_current(open));
        let open = match current {
            Some(open) => open,
            None => self.found()?,
        };
        self.trusted |= !self.checked && C::DISPOSABLE && !open.stale && database.is_sealed();
        *self.writer = Some(open);
        if C::DISPOSABLE && !self.trusted && !self.checked {
            self.reconcile()?;
        }
        self.writer.as_mut().ok_or_else(|| database.unusable())
    }

    /// Opens the file, and replaces one that cannot be used.
    fn found(&mut self) -> Result<Open> {
        let database = self.database;
        let mut found = database.open()?;
        if matches!(found, Found::Foreign) {
            database.files.move_foreign_aside()?;
            found = database.open()?;
        }
        match found {
            Found::Ready(open) => Ok(open),
            Found::Nothing => self.made(),
            Found::Strange(version) if !C::DISPOSABLE && version > C::VERSION => {
                Err(later(database.files.main(), version))
            }
            Found::Strange(_) | Found::Damaged(_) | Found::Foreign => self.made_again(),
        }
    }

    fn made(&mut self) -> Result<Open> {
        let open = self.database.make()?;
        truncate(&open.connection, self.database.patience);
        self.trusted = true;
        self.seal();
        Ok(open)
    }

    fn made_again(&mut self) -> Result<Open> {
        if !C::DISPOSABLE {
            self.database.files.set_aside()?;
        }
        self.made()
    }

    /// Rebuilds a damaged database, unless another process has done so already.
    pub(super) fn replace(&mut self, damaged: (u64, u64)) -> Result<()> {
        let files = &self.database.files;
        let found = files.identity()?;
        if found == Some(damaged) {
            let open = self.made_again()?;
            *self.writer = Some(open);
        }
        Ok(())
    }

    /// Inspects the contents, brings them in line with the files that they are built from, and
    /// rebuilds them if they are damaged.
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

    /// Does all of `work`, or nothing. It is done a second time when the database had to be
    /// rebuilt, or a full disk has room again after the log was truncated.
    pub(crate) fn transaction<T>(&mut self, mut work: impl FnMut(&Transaction<'_>) -> Done<T>) -> Result<T> {
        let database = self.database;
        let mut has_truncated = false;
        for _ in 0..TRIES {
            let open = self.opened()?;
            let file = open.file;
            let fault = match database.within(open, &mut work) {
                Ok(done) => {
                    self.tidy();
                    return Ok(done);
                }
                Err(fault) => fault,
            };
            if fault.damage().is_some() {
                self.replace(file)?;
                continue;
            }
            let error = database.failed("write", fault);
            let may_fit = error.class() == ErrorClass::Full && !has_truncated && self.truncate();
            // What was written of it to the log is not valid, but has broken the seal.
            self.seal();
            if !may_fit {
                return Err(error);
            }
            has_truncated = true;
        }
        Err(database.unusable())
    }

    /// Reads what deletions are decided by: with `verify`, after the contents were reconciled.
    /// Where they cannot be, as on a full disk, they are built in memory.
    pub(crate) fn survey<T>(
        &mut self,
        verify: bool,
        mut work: impl FnMut(&Transaction<'_>) -> Done<T>,
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
        // An open file keeps its space. A reader of this process that is still working releases it
        // later.
        if let Ok(mut reader) = self.database.reader.try_lock() {
            *reader = None;
        }
        self.database.files.remove()
    }

    /// Truncates the log; true if it is shorter now.
    pub(crate) fn truncate(&mut self) -> bool {
        let before = self.database.files.sizes().1;
        if let Some(open) = self.writer.as_ref().filter(|open| self.database.is_current(open)) {
            truncate(&open.connection, self.database.patience);
            self.seal();
        }
        self.database.files.sizes().1 < before
    }

    /// Truncates a long log, and renews the seal.
    fn tidy(&mut self) {
        let (size, log) = self.database.files.sizes();
        if log <= size.clamp(SHORT_LOG, LONG_LOG) || !self.truncate() {
            self.seal();
        }
    }

    /// Records the state of the files, unless they are as they were.
    fn seal(&self) {
        if C::DISPOSABLE && self.trusted && !self.database.is_sealed() {
            self.database.files.touch();
            self.database.lock.note(&self.database.files.seal());
        }
    }
}

/// Writes the log back and empties it, unless another process reads an older state just now: then
/// the next change does it.
fn truncate(connection: &Connection, patience: Duration) {
    let _ = connection.busy_timeout(Duration::ZERO);
    let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    let _ = connection.busy_timeout(patience);
}

fn later(path: &Path, version: i32) -> Error {
    ErrorKind::Database { path: path.to_owned(), why: DatabaseFault::Version(version) }.into()
}
