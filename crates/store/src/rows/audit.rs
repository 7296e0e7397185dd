//! Inspecting the index: its structure, its rows, and whether it agrees with the files of the
//! outputs.

use rusqlite::{Connection, Transaction};

use super::{
    Outputs, Record, Totals, current_stamp, ids, is_after_boot, is_indexed, note_boot, record, sync, totals,
    two,
};
use crate::db::{Contents, Done, Fault};
use crate::layout::Layout;

/// What an inspection found.
#[derive(Debug)]
pub(crate) enum Finding {
    /// Everything is as it was written.
    Sound,
    /// Rows, of which the first is described: each can be looked up by its id.
    Rows(String),
    /// The structure: no answer of the index can be trusted.
    Structure(String),
}

impl Finding {
    /// Fails unless everything is as it was written.
    pub(crate) fn sound(self) -> Done<()> {
        match self {
            Self::Sound => Ok(()),
            Self::Rows(what) | Self::Structure(what) => Err(Fault::Damaged(what)),
        }
    }
}

/// Inspects all of the index, in time linear in its size. Files of outputs are not read.
pub(crate) fn inspect(transaction: &Transaction<'_>) -> Done<Finding> {
    scan(transaction, &mut |_| {})
}

/// Brings the index in line with the files: rows whose description is another one, or missing, and
/// outputs without a row. Fails with [`Fault::Damaged`] where the index is not what was written to
/// it.
pub(crate) fn reconcile(transaction: &Transaction<'_>, layout: &Layout) -> Done<()> {
    let mut stale = Vec::new();
    let finding = scan(transaction, &mut |record| {
        if current_stamp(layout, &record.id).as_deref() != Some(record.stamp.as_str()) {
            stale.push(record.id);
        }
    })?;
    finding.sound()?;
    for id in ids(layout)? {
        let id = id?;
        if !is_indexed(transaction, &id)? {
            stale.push(id);
        }
    }
    stale.iter().try_for_each(|id| sync(transaction, layout, id))?;
    // Nothing is written where nothing has changed: there may be no room for it.
    if is_after_boot(transaction)? { note_boot(transaction) } else { Ok(()) }
}

/// Inspects the index, and passes on each of its rows once the structure is known to be sound:
/// until then a scan may not end.
fn scan(transaction: &Transaction<'_>, each: &mut dyn FnMut(Record)) -> Done<Finding> {
    if let Some(damage) = structure(transaction)? {
        return Ok(Finding::Structure(damage));
    }
    let expected = totals(transaction)?;
    let mut found = Totals::default();
    let sql = format!(
        "SELECT {} FROM output LEFT JOIN shown ON shown.output = number ORDER BY number",
        record::COLUMNS
    );
    let mut statement = transaction.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let record = match Record::read(row) {
            Ok(record) => record,
            Err(fault) => return damaged(fault).map(Finding::Rows),
        };
        found.count += 1;
        let Ok(bytes) = u64::try_from(record.disk) else {
            return Ok(Finding::Rows("a row has a negative size".into()));
        };
        found.bytes = found.bytes.saturating_add(bytes);
        each(record);
    }
    let (shown, _) = two(transaction, "SELECT count(*), 0 FROM shown")?;
    if found != expected || shown != found.count {
        return Ok(Finding::Structure("the totals are not those of the rows".into()));
    }
    Ok(Finding::Sound)
}

/// What is damaged, for a fault that is damage.
fn damaged(fault: Fault) -> Done<String> {
    match fault.damage() {
        Some(what) => Ok(what),
        None => Err(fault),
    }
}

/// Checks the trees of tables and indexes, that each row is in each index, and that the tables are
/// ours.
fn structure(transaction: &Transaction<'_>) -> Done<Option<String>> {
    let check = || -> rusqlite::Result<Option<String>> {
        let answer: String = transaction.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if answer != "ok" {
            return Ok(Some(answer));
        }
        let fresh = Connection::open_in_memory()?;
        fresh.execute_batch(Outputs::SCHEMA)?;
        let is_ours = definitions(transaction)? == definitions(&fresh)?;
        Ok((!is_ours).then(|| "the tables are not those of this version".into()))
    };
    match check() {
        Ok(found) => Ok(found),
        Err(error) => damaged(error.into()).map(Some),
    }
}

/// The tables, indexes, and triggers of a database.
fn definitions(connection: &Connection) -> rusqlite::Result<Vec<[Option<String>; 4]>> {
    let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    rows.collect()
}
