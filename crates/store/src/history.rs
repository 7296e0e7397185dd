//! The history of executions: a log of JSON texts in a separate database that index rebuilds do not
//! touch.

use rusqlite::{Connection, Transaction, params};
use serde::de::IgnoredAny;

use crate::clock;
use crate::db::{Contents, Database, TransactionResult};
use crate::error::{ErrorKind, Result};
use crate::layout::Layout;
use crate::options::{HistoryLimits, StoreOptions};

/// The newest executions, up to a limit. Each entry is one JSON text, stored verbatim.
///
/// Entries are in `history.sqlite`, which is journaled, so an entry is stored completely or not at
/// all. A damaged file is moved to `history.sqlite.damaged` and replaced by an empty one.
pub struct Executions {
    database: Database<Log>,
    limits: HistoryLimits,
}

impl std::fmt::Debug for Executions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executions").field("limits", &self.limits).finish_non_exhaustive()
    }
}

struct Log;

impl Contents for Log {
    const APPLICATION: i32 = 0x7472_6F68;
    const VERSION: i32 = 1;
    const SCHEMA: &'static str = "
        CREATE TABLE entry (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            added_at INTEGER NOT NULL,
            bytes INTEGER NOT NULL,
            text TEXT NOT NULL
        ) STRICT;
        CREATE TABLE total (count INTEGER NOT NULL, bytes INTEGER NOT NULL) STRICT;
        INSERT INTO total VALUES (0, 0);
        CREATE TRIGGER added AFTER INSERT ON entry BEGIN
            UPDATE total SET count = count + 1, bytes = bytes + NEW.bytes;
        END;
        CREATE TRIGGER removed AFTER DELETE ON entry BEGIN
            UPDATE total SET count = count - 1, bytes = bytes - OLD.bytes;
        END;
    ";
    const DISPOSABLE: bool = false;
    const SYNCHRONOUS: &'static str = "full";

    fn fill(&self, _: &Transaction<'_>) -> TransactionResult<()> {
        Ok(())
    }

    fn is_stale(_: &Connection) -> rusqlite::Result<bool> {
        Ok(false)
    }

    /// Does nothing, because entries cannot be rebuilt from other files.
    fn reconcile(&self, _: &Transaction<'_>) -> TransactionResult<()> {
        Ok(())
    }
}

impl Executions {
    pub(crate) fn open(layout: &Layout, options: &StoreOptions) -> Result<Self> {
        let (file, lock) = (layout.file("history.sqlite"), layout.file("history.lock"));
        let database = Database::new(file, &lock, options.lock_timeout, Log)?;
        Ok(Self { database, limits: options.history.clone() })
    }

    /// Appends one JSON text and removes the oldest entries beyond the limits.
    pub fn append(&self, json: &str) -> Result<()> {
        let length = json.len() as u64;
        if length > self.limits.bytes || self.limits.count == 0 {
            let HistoryLimits { bytes: limit, count: entries, .. } = self.limits;
            return Err(ErrorKind::ExecutionTooLarge { bytes: length, limit, entries }.into());
        }
        serde_json::from_str::<IgnoredAny>(json).map_err(ErrorKind::Execution)?;
        self.database.lock()?.transaction(|transaction| {
            let insert = "INSERT INTO entry (added_at, bytes, text) VALUES (?1, ?2, ?3)";
            transaction.prepare_cached(insert)?.execute(params![clock::now_ms(), length as i64, json])?;
            self.trim(transaction)
        })
    }

    fn trim(&self, transaction: &Transaction<'_>) -> TransactionResult<()> {
        let bound = |limit: u64| i64::try_from(limit).unwrap_or(i64::MAX);
        let limits = params![bound(self.limits.count), bound(self.limits.bytes)];
        let mut is_over = transaction.prepare_cached("SELECT count > ?1 OR bytes > ?2 FROM total")?;
        let mut oldest =
            transaction.prepare_cached("DELETE FROM entry WHERE number = (SELECT min(number) FROM entry)")?;
        while is_over.query_row(limits, |row| row.get(0))? {
            oldest.execute([])?;
        }
        Ok(())
    }

    /// The number of entries ever added, including removed ones.
    pub fn total(&self) -> Result<u64> {
        self.database.read(|transaction| {
            // SQLite keeps this counter so that `AUTOINCREMENT` never reuses a number.
            let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'entry'";
            let last: i64 = transaction.query_row(last, [], |row| row.get(0))?;
            Ok(last.unsigned_abs())
        })
    }

    /// Returns up to `count` of the newest entries, newest first.
    pub fn newest(&self, count: usize) -> Result<Vec<String>> {
        self.database.read(|transaction| {
            let mut statement =
                transaction.prepare_cached("SELECT text FROM entry ORDER BY number DESC LIMIT ?1")?;
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            let texts = statement.query_map([count], |row| row.get(0))?;
            Ok(texts.collect::<rusqlite::Result<_>>()?)
        })
    }
}
