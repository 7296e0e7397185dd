//! The index: one row per output. It is built from the files of the outputs alone and can always be
//! rebuilt.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use trommel_base::{Progress, files};

use crate::control::Control;
use crate::db::{Contents, Fault, Locked, TransactionResult};
use crate::error::{ErrorClass, Result};
use crate::filter::Row;
use crate::layout::{Layout, Part};
use crate::meta;
use crate::output::Stored;
use crate::{clock, disk, id};

pub(crate) use record::Record;

pub(crate) mod audit;
pub(crate) mod record;

/// The source of the index: the folder of a store.
pub(crate) struct Outputs(pub(crate) Layout);

impl Contents for Outputs {
    const APPLICATION: i32 = 0x7472_6F6D;
    const VERSION: i32 = 3;
    const SCHEMA: &'static str = include_str!("schema.sql");
    const DISPOSABLE: bool = true;
    // On Linux a reboot can be detected, and the index is compared with the files after it.
    const SYNCHRONOUS: &'static str = if cfg!(target_os = "linux") { "normal" } else { "full" };

    fn fill(&self, transaction: &Transaction<'_>) -> TransactionResult<()> {
        for id in ids(&self.0)? {
            if let Some(entry) = read_entry(&self.0, &id?) {
                insert(transaction, &entry)?;
            }
        }
        record_boot(transaction)
    }

    fn is_stale(connection: &Connection) -> rusqlite::Result<bool> {
        is_after_boot(connection)
    }

    fn reconcile(&self, transaction: &Transaction<'_>) -> TransactionResult<()> {
        audit::reconcile(transaction, &self.0)
    }
}

/// The state of an output according to its files.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) row: Row,
    pub(crate) disk_bytes: u64,
    /// Distinguishes versions of `meta.json`.
    pub(crate) stamp: String,
}

impl Entry {
    pub(crate) fn new(stored: Stored, stamp: String) -> Self {
        let disk_bytes = stored.bytes_on_disk();
        Self { row: stored.into(), disk_bytes, stamp }
    }
}

/// A text that changes whenever a file changes, without reading the file.
pub(crate) fn stamp(metadata: &Metadata) -> String {
    let (changed, modified) = (metadata.ctime_nsec(), metadata.mtime_nsec());
    format!(
        "{:x}.{:x}.{:x}.{changed:x}.{:x}.{modified:x}",
        metadata.ino(),
        metadata.len(),
        metadata.ctime(),
        metadata.mtime()
    )
}

/// The current stamp of an output's `meta.json`. `None` if there is no such file.
pub(crate) fn current_stamp(layout: &Layout, id: &str) -> Option<String> {
    files::inspect(&layout.meta(id)).ok().flatten().map(|metadata| stamp(&metadata))
}

/// A stamp that matches no file, so that the output is checked again each time.
pub(crate) const NO_STAMP: &str = "";

/// Reads the files of an output. Returns `None` only if there is no `meta.json`; any other problem
/// yields a damaged entry. Failed reads and missing payloads may be temporary, so their entries get
/// no stamp and are checked again each time.
pub(crate) fn read_entry(layout: &Layout, id: &str) -> Option<Entry> {
    let path = layout.meta(id);
    match disk::read(&path, meta::MAX_BYTES) {
        Err(error) if error.is_missing() => None,
        Err(_) => Some(damaged(layout, id, NO_STAMP.into())),
        Ok((bytes, metadata)) => {
            let stamp = stamp(&metadata);
            Some(match meta::open(&bytes, id) {
                Ok(stored) if has_payload(layout, &stored) => Entry::new(stored, stamp),
                // A deletion removes the description first, so a description that is gone now
                // explains the missing payload.
                Ok(_) if matches!(files::inspect(&path), Ok(None)) => return None,
                Ok(_) => damaged(layout, id, NO_STAMP.into()),
                Err(_) => damaged(layout, id, stamp),
            })
        }
    }
}

fn has_payload(layout: &Layout, stored: &Stored) -> bool {
    let found = files::inspect(&layout.payload(&stored.id, stored.packed));
    found.is_ok_and(|found| found.is_some_and(|found| found.is_file() && found.len() == stored.disk_bytes))
}

/// The entry of an output whose description cannot be used.
fn damaged(layout: &Layout, id: &str, stamp: String) -> Entry {
    let file = |part| files::inspect(&layout.part(id, part)).ok().flatten();
    let payload = file(Part::Plain).or_else(|| file(Part::Packed));
    let bytes = payload.as_ref().map_or(0, Metadata::len);
    let modified = || payload.or_else(|| file(Part::Meta)).and_then(|file| file.modified().ok());
    let created_at = id::creation_time(id).or_else(|| modified().map(clock::milliseconds)).unwrap_or(0);
    let row = Row {
        id: id.into(),
        tool_name: String::new(),
        conversation_id: None,
        message_id: None,
        created_at,
        success: false,
        size_bytes: bytes,
        kind: None,
        preview: None,
        summary: None,
        damaged_records: 0,
        pinned: false,
        corrupted: true,
    };
    Entry { row, disk_bytes: bytes, stamp }
}

/// The IDs of all outputs, folder by folder, sorted within each folder. A description in the wrong
/// folder does not count, so no ID is returned twice.
pub(crate) fn ids(layout: &Layout) -> Result<impl Iterator<Item = Result<String>> + '_> {
    let ids_in = |folder: &Path, names: Vec<String>| {
        let outputs = names.into_iter().filter_map(|name| match Part::parse(&name) {
            Some((id, Part::Meta)) if layout.meta(id).parent() == Some(folder) => Some(id.to_owned()),
            _ => None,
        });
        outputs.collect::<Vec<_>>()
    };
    let folders = layout.folders()?.into_iter();
    Ok(folders.flat_map(move |folder| {
        let (ids, failed) = match files::names(&folder) {
            Ok(names) => (ids_in(&folder, names), None),
            Err(error) => (Vec::new(), Some(Err(error.into()))),
        };
        ids.into_iter().map(Ok).chain(failed)
    }))
}

/// Synchronizes the row of one output with its files. An up-to-date row is not written, because the
/// disk may be full.
pub(crate) fn sync(transaction: &Transaction<'_>, layout: &Layout, id: &str) -> TransactionResult<()> {
    let found = read_entry(layout, id);
    if indexed(transaction, id)? == found {
        return Ok(());
    }
    match found {
        Some(entry) => upsert(transaction, &entry),
        None => remove(transaction, id),
    }
}

/// Synchronizes several outputs. If a full disk prevents the change, the index is removed; the next
/// read rebuilds it.
pub(crate) fn sync_or_discard<'a>(
    locked: &mut Locked<'_, Outputs>,
    layout: &Layout,
    ids: impl IntoIterator<Item = &'a str>,
) -> Result<()> {
    let ids = ids.into_iter().collect::<Vec<_>>();
    let synced =
        locked.transaction(|transaction| ids.iter().try_for_each(|id| sync(transaction, layout, id)));
    match synced {
        Err(error) if error.class() == ErrorClass::Full => locked.discard(),
        synced => synced,
    }
}

pub(crate) fn upsert(transaction: &Transaction<'_>, entry: &Entry) -> TransactionResult<()> {
    remove(transaction, &entry.row.id)?;
    insert(transaction, entry)
}

fn insert(transaction: &Transaction<'_>, entry: &Entry) -> TransactionResult<()> {
    let record = Record::from_entry(entry)?;
    transaction
        .prepare_cached(
            "INSERT INTO output (id, tool_name, conversation_id, success, created_at, size, disk, kept, stamp)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute(params![
            record.id,
            record.tool_name,
            record.conversation_id,
            record.success,
            record.created_at,
            record.size,
            record.disk,
            record.kept,
            record.stamp,
        ])?;
    transaction
        .prepare_cached("INSERT INTO shown (output, row, sum) VALUES (?1, ?2, ?3)")?
        .execute(params![transaction.last_insert_rowid(), record.row, record.checksum()])?;
    Ok(())
}

pub(crate) fn remove(transaction: &Transaction<'_>, id: &str) -> TransactionResult<()> {
    transaction.prepare_cached("DELETE FROM output WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// Number and bytes on disk of all outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

pub(crate) fn totals(transaction: &Transaction<'_>) -> TransactionResult<Totals> {
    let (count, bytes) = two_numbers(transaction, "SELECT count, disk FROM total")?;
    Ok(Totals { count, bytes })
}

/// Returns both columns of a query with a single row.
fn two_numbers(transaction: &Transaction<'_>, sql: &str) -> TransactionResult<(u64, u64)> {
    let mut statement = transaction.prepare_cached(sql)?;
    Ok(statement.query_row([], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))?)
}

/// Reads a column that is never negative. A negative value means that the index is damaged.
pub(crate) fn unsigned(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).ok().ok_or(rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// Number and uncompressed bytes of all indexed outputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) outputs: u64,
    pub(crate) bytes: u64,
}

/// Counts the indexed outputs in linear time.
pub(crate) fn content(transaction: &Transaction<'_>) -> TransactionResult<Content> {
    let (outputs, bytes) = two_numbers(transaction, "SELECT count(*), coalesce(sum(size), 0) FROM output")?;
    Ok(Content { outputs, bytes })
}

/// The ID of the current boot. Empty on systems without one.
fn boot() -> String {
    disk::read("/proc/sys/kernel/random/boot_id".as_ref(), 100)
        .map_or_else(|_| String::new(), |(bytes, _)| String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// True if the system was rebooted since the index was last compared with the files. Recent changes
/// may be lost then, because changes do not wait for the disk.
fn is_after_boot(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached("SELECT value FROM fact WHERE name = 'boot'")?;
    let noted: Option<String> = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(noted != Some(boot()))
}

fn record_boot(transaction: &Transaction<'_>) -> TransactionResult<()> {
    let boot = boot();
    transaction
        .prepare_cached("INSERT OR REPLACE INTO fact (name, value) VALUES ('boot', ?1)")?
        .execute([boot])?;
    Ok(())
}

/// Replaces all rows. Returns the number of rows, and of damaged outputs among them.
pub(crate) fn refill(
    transaction: &Transaction<'_>,
    layout: &Layout,
    control: &Control,
) -> TransactionResult<(u64, u64)> {
    let mut progress = Progress::default().with_items(0, Some(totals(transaction)?.count));
    // The triggers of the table make SQLite delete row by row and keep the totals consistent.
    transaction.execute("DELETE FROM output", [])?;
    for id in ids(layout)? {
        control.report_progress(progress)?;
        if let Some(entry) = read_entry(layout, &id?) {
            insert(transaction, &entry)?;
        }
        progress.items += 1;
    }
    record_boot(transaction)?;
    let (outputs, corrupted) =
        two_numbers(transaction, "SELECT count(*), coalesce(sum(tool_name IS NULL), 0) FROM output")?;
    // If a table was damaged, deleting its rows may leave damage behind.
    audit::inspect(transaction)?.ok_or_damaged()?;
    Ok((outputs, corrupted))
}

/// Returns the next IDs of the index in ascending order. Fails if they are out of order: paging
/// through such a damaged index might never end.
pub(crate) fn indexed_after(transaction: &Transaction<'_>, id: &str) -> TransactionResult<Vec<String>> {
    let mut statement =
        transaction.prepare_cached("SELECT id FROM output WHERE id > ?1 ORDER BY id LIMIT 1000")?;
    let ids = statement.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    let mut last = id;
    for id in &ids {
        if id.as_str() <= last || !id::is_valid(id) {
            return Err(Fault::Damaged("IDs are out of order".into()));
        }
        last = id;
    }
    Ok(ids)
}

/// True if the index has a row for this output.
pub(crate) fn is_indexed(transaction: &Transaction<'_>, id: &str) -> TransactionResult<bool> {
    let mut statement = transaction.prepare_cached("SELECT 1 FROM output WHERE id = ?1")?;
    Ok(statement.exists([id])?)
}

/// Reads the row of an output from the index.
pub(crate) fn indexed(transaction: &Transaction<'_>, id: &str) -> TransactionResult<Option<Entry>> {
    let sql = format!(
        "SELECT {} FROM output LEFT JOIN shown ON shown.output = number WHERE id = ?1",
        record::COLUMNS
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let record = Record::read(row)?;
    if record.id != id {
        return Err(Fault::Damaged("a lookup returned the row of another output".into()));
    }
    record.entry().map(Some)
}
