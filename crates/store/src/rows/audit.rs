//! Inspection of the index: its structure, its rows, and its agreement with the files of the
//! outputs.

use rusqlite::{Connection, Transaction};

use super::{
    Outputs, Record, Totals, current_stamp, ids, is_after_boot, is_indexed, record, record_boot, sync,
    totals, two_numbers,
};
use crate::db::{Contents, Fault, TransactionResult};
use crate::layout::Layout;

/// The result of an inspection.
#[derive(Debug)]
pub(crate) enum Finding {
    /// No damage.
    Sound,
    /// Damaged rows; the text describes the first one. Rows can still be looked up by ID.
    Rows(String),
    /// Damaged structure. No query result can be trusted.
    Structure(String),
}

impl Finding {
    /// Fails if there is damage.
    pub(crate) fn ok_or_damaged(self) -> TransactionResult<()> {
        match self {
            Self::Sound => Ok(()),
            Self::Rows(what) | Self::Structure(what) => Err(Fault::Damaged(what)),
        }
    }
}

/// Inspects the whole index in linear time. Files of outputs are not read.
pub(crate) fn inspect(transaction: &Transaction<'_>) -> TransactionResult<Finding> {
    scan(transaction, &mut |_| {})
}

/// Synchronizes the index with the files: updates rows whose description changed or is gone, and
/// adds missing rows. Fails with [`Fault::Damaged`] if the index is damaged.
pub(crate) fn reconcile(transaction: &Transaction<'_>, layout: &Layout) -> TransactionResult<()> {
    let mut stale = Vec::new();
    let finding = scan(transaction, &mut |record| {
        if current_stamp(layout, &record.id).as_deref() != Some(record.stamp.as_str()) {
            stale.push(record.id);
        }
    })?;
    finding.ok_or_damaged()?;
    for id in ids(layout)? {
        let id = id?;
        if !is_indexed(transaction, &id)? {
            stale.push(id);
        }
    }
    stale.iter().try_for_each(|id| sync(transaction, layout, id))?;
    // Write only if there is something to write, because the disk may be full.
    if is_after_boot(transaction)? { record_boot(transaction) } else { Ok(()) }
}

/// Inspects the index and passes each row to `each`. The structure is checked first, because a scan
/// of a damaged one might never end.
fn scan(transaction: &Transaction<'_>, each: &mut dyn FnMut(Record)) -> TransactionResult<Finding> {
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
    let (shown, _) = two_numbers(transaction, "SELECT count(*), 0 FROM shown")?;
    if found != expected || shown != found.count {
        return Ok(Finding::Structure("the totals are not those of the rows".into()));
    }
    Ok(Finding::Sound)
}

/// Returns the description of the damage, or the fault itself if it is not damage.
fn damaged(fault: Fault) -> TransactionResult<String> {
    match fault.damage() {
        Some(what) => Ok(what),
        None => Err(fault),
    }
}

/// Checks the B-trees, that every row is in every index, and that the schema is the expected one.
fn structure(transaction: &Transaction<'_>) -> TransactionResult<Option<String>> {
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

/// The definitions of all tables, indexes, and triggers of a database.
fn definitions(connection: &Connection) -> rusqlite::Result<Vec<[Option<String>; 4]>> {
    let sql = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
    rows.collect()
}
