//! The index: one row for each output, made from its files alone, so that it can always be made
//! again.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use trommel_base::{Progress, files};

use crate::control::Control;
use crate::db::{Contents, Done, Fault, Locked};
use crate::error::{ErrorClass, Result};
use crate::filter::Row;
use crate::layout::{Layout, Part};
use crate::meta;
use crate::output::Stored;
use crate::{clock, disk, id};

pub(crate) use record::Record;

pub(crate) mod audit;
pub(crate) mod record;

/// What the index is made from.
pub(crate) struct Outputs(pub(crate) Layout);

impl Contents for Outputs {
    const APPLICATION: i32 = 0x7472_6F6D;
    const VERSION: i32 = 2;
    const SCHEMA: &'static str = include_str!("schema.sql");
    const DISPOSABLE: bool = true;
    // Where a restart of the system can be detected, the index is compared with the files after it.
    const SYNCHRONOUS: &'static str = if cfg!(target_os = "linux") { "normal" } else { "full" };

    fn fill(&self, transaction: &Transaction<'_>) -> Done<()> {
        for id in ids(&self.0)? {
            if let Some(entry) = look(&self.0, &id?) {
                insert(transaction, &entry)?;
            }
        }
        note_boot(transaction)
    }

    fn is_stale(connection: &Connection) -> rusqlite::Result<bool> {
        is_after_boot(connection)
    }

    fn reconcile(&self, transaction: &Transaction<'_>) -> Done<()> {
        audit::reconcile(transaction, &self.0)
    }
}

/// An output as its files show it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) row: Row,
    pub(crate) disk_bytes: u64,
    /// What tells this `meta.json` from another.
    pub(crate) stamp: String,
}

impl Entry {
    pub(crate) fn of(stored: Stored, stamp: String) -> Self {
        let disk_bytes = stored.disk_bytes;
        Self { row: stored.into(), disk_bytes, stamp }
    }
}

/// What tells a file from what it was before, without reading it.
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

/// The stamp of an output's `meta.json` as it is now; nothing when there is none.
pub(crate) fn current_stamp(layout: &Layout, id: &str) -> Option<String> {
    files::inspect(&layout.meta(id)).ok().flatten().map(|metadata| stamp(&metadata))
}

/// A stamp that no file has: what was found is to be looked at again each time.
pub(crate) const UNSETTLED: &str = "";

/// Reads the files of an output. Whatever is wrong with them makes a damaged entry; only where
/// there is no `meta.json` there is no output. What the system refused may be had another time, as
/// may a payload that is missing.
pub(crate) fn look(layout: &Layout, id: &str) -> Option<Entry> {
    let path = layout.meta(id);
    match disk::read(&path, meta::LONGEST) {
        Err(error) if error.is_missing() => None,
        Err(_) => Some(damaged(layout, id, UNSETTLED.into())),
        Ok((bytes, metadata)) => {
            let stamp = stamp(&metadata);
            Some(match meta::open(&bytes, id) {
                Ok(stored) if has_payload(layout, &stored) => Entry::of(stored, stamp),
                // Who deletes an output begins with its description.
                Ok(_) if matches!(files::inspect(&path), Ok(None)) => return None,
                Ok(_) => damaged(layout, id, UNSETTLED.into()),
                Err(_) => damaged(layout, id, stamp),
            })
        }
    }
}

fn has_payload(layout: &Layout, stored: &Stored) -> bool {
    let found = files::inspect(&layout.payload(&stored.id, stored.packed));
    found.is_ok_and(|found| found.is_some_and(|found| found.is_file() && found.len() == stored.disk_bytes))
}

/// What can be said of an output whose description cannot be used.
fn damaged(layout: &Layout, id: &str, stamp: String) -> Entry {
    let file = |part| files::inspect(&layout.part(id, part)).ok().flatten();
    let payload = file(Part::Plain).or_else(|| file(Part::Packed));
    let bytes = payload.as_ref().map_or(0, Metadata::len);
    let dated = || payload.or_else(|| file(Part::Meta)).and_then(|file| file.modified().ok());
    let created_at = id::time_of(id).or_else(|| dated().map(clock::milliseconds)).unwrap_or(0);
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
        pinned: false,
        corrupted: true,
    };
    Entry { row, disk_bytes: bytes, stamp }
}

/// The ids of all outputs, folder by folder, in the order of their names. Each is returned once: a
/// description in a folder that is not its own does not count.
pub(crate) fn ids(layout: &Layout) -> Result<impl Iterator<Item = Result<String>> + '_> {
    let ids_in = |folder: &Path, names: Vec<String>| {
        let outputs = names.into_iter().filter_map(|name| match Part::of(&name) {
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

/// Brings the row of one output in line with its files. Where it is, nothing is written, which a
/// full disk has room for.
pub(crate) fn sync(transaction: &Transaction<'_>, layout: &Layout, id: &str) -> Done<()> {
    let found = look(layout, id);
    if indexed(transaction, id)? == found {
        return Ok(());
    }
    match found {
        Some(entry) => upsert(transaction, &entry),
        None => remove(transaction, id),
    }
}

/// The same for several outputs. Where the disk has no room for the change, the index is removed:
/// it is rebuilt when it is read next, and until then takes no space.
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

pub(crate) fn upsert(transaction: &Transaction<'_>, entry: &Entry) -> Done<()> {
    remove(transaction, &entry.row.id)?;
    insert(transaction, entry)
}

fn insert(transaction: &Transaction<'_>, entry: &Entry) -> Done<()> {
    let record = Record::of(entry)?;
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
        .execute(params![transaction.last_insert_rowid(), record.row, record.sum()])?;
    Ok(())
}

pub(crate) fn remove(transaction: &Transaction<'_>, id: &str) -> Done<()> {
    transaction.prepare_cached("DELETE FROM output WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

pub(crate) fn totals(transaction: &Transaction<'_>) -> Done<Totals> {
    let (count, bytes) = two(transaction, "SELECT count, disk FROM total")?;
    Ok(Totals { count, bytes })
}

/// The two numbers of a query's only row.
fn two(transaction: &Transaction<'_>, sql: &str) -> Done<(u64, u64)> {
    let mut statement = transaction.prepare_cached(sql)?;
    Ok(statement.query_row([], |row| Ok((unsigned(row, 0)?, unsigned(row, 1)?)))?)
}

/// A number of a row that is never negative. One that is shows that the index is damaged.
pub(crate) fn unsigned(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).ok().ok_or(rusqlite::Error::IntegralValueOutOfRange(column, number))
}

/// What the outputs of the index hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) outputs: u64,
    pub(crate) bytes: u64,
}

/// Counts them all: linear in their number.
pub(crate) fn content(transaction: &Transaction<'_>) -> Done<Content> {
    let (outputs, bytes) = two(transaction, "SELECT count(*), coalesce(sum(size), 0) FROM output")?;
    Ok(Content { outputs, bytes })
}

/// The ID of this run of the system; empty on systems that have none.
fn boot() -> String {
    disk::read("/proc/sys/kernel/random/boot_id".as_ref(), 100)
        .map_or_else(|_| String::new(), |(bytes, _)| String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// True if the system was restarted since the index was last compared with the files. The last
/// changes may then be lost, as no change waits for the disk.
fn is_after_boot(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached("SELECT value FROM fact WHERE name = 'boot'")?;
    let noted: Option<String> = statement.query_row([], |row| row.get(0)).optional()?;
    Ok(noted != Some(boot()))
}

fn note_boot(transaction: &Transaction<'_>) -> Done<()> {
    let boot = boot();
    transaction
        .prepare_cached("INSERT OR REPLACE INTO fact (name, value) VALUES ('boot', ?1)")?
        .execute([boot])?;
    Ok(())
}

/// Makes all rows anew; how many there are, and how many of them are damaged.
pub(crate) fn fill_again(
    transaction: &Transaction<'_>,
    layout: &Layout,
    control: &Control,
) -> Done<(u64, u64)> {
    let mut progress = Progress::default().with_items(0, Some(totals(transaction)?.count));
    // One by one, so that the totals are those of what is left.
    transaction.execute("DELETE FROM output", [])?;
    for id in ids(layout)? {
        control.pass(progress)?;
        if let Some(entry) = look(layout, &id?) {
            insert(transaction, &entry)?;
        }
        progress.items += 1;
    }
    note_boot(transaction)?;
    let (outputs, corrupted) =
        two(transaction, "SELECT count(*), coalesce(sum(tool_name IS NULL), 0) FROM output")?;
    // Deleting rows from a damaged table leaves some of the damage.
    audit::inspect(transaction)?.sound()?;
    Ok((outputs, corrupted))
}

/// Some ids of the index that follow one, in strictly rising order: a damaged index fails here, as
/// a search from the last id on would not come to an end.
pub(crate) fn indexed_after(transaction: &Transaction<'_>, id: &str) -> Done<Vec<String>> {
    let mut statement =
        transaction.prepare_cached("SELECT id FROM output WHERE id > ?1 ORDER BY id LIMIT 1000")?;
    let ids = statement.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()?;
    let mut last = id;
    for id in &ids {
        if id.as_str() <= last || !id::is_valid(id) {
            return Err(Fault::Damaged("ids are not in their order".into()));
        }
        last = id;
    }
    Ok(ids)
}

/// True if the index has a row of an output.
pub(crate) fn is_indexed(transaction: &Transaction<'_>, id: &str) -> Done<bool> {
    let mut statement = transaction.prepare_cached("SELECT 1 FROM output WHERE id = ?1")?;
    Ok(statement.exists([id])?)
}

/// The row of an output as the index has it.
pub(crate) fn indexed(transaction: &Transaction<'_>, id: &str) -> Done<Option<Entry>> {
    let sql = format!(
        "SELECT {} FROM output LEFT JOIN shown ON shown.output = number WHERE id = ?1",
        record::COLUMNS
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    let mut rows = statement.query([id])?;
    let Some(row) = rows.next()? else { return Ok(None) };
    let record = Record::read(row)?;
    if record.id != id {
        return Err(Fault::Damaged("a row was found by the id of another output".into()));
    }
    record.entry().map(Some)
}
