//! A row of the database, with a checksum that detects damage which SQLite does not notice.

use rusqlite::Row as SqlRow;

use super::Entry;
use crate::db::{Fault, TransactionResult};

/// The columns of a record, in the order of [`Record::read`].
pub(crate) const COLUMNS: &str =
    "id, tool_name, conversation_id, success, created_at, size, disk, kept, stamp, row, sum";

/// All columns of a row except the checksum.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) id: String,
    pub(crate) tool_name: Option<String>,
    pub(crate) conversation_id: Option<String>,
    pub(crate) success: Option<i64>,
    pub(crate) created_at: i64,
    pub(crate) size: i64,
    pub(crate) disk: i64,
    pub(crate) kept: i64,
    pub(crate) stamp: String,
    /// The listed row, as JSON.
    pub(crate) row: String,
}

/// Converts to SQLite's signed integers, saturating at 63 bits.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

impl Record {
    pub(crate) fn from_entry(entry: &Entry) -> TransactionResult<Self> {
        let row = &entry.row;
        let unwritable = |error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        Ok(Self {
            id: row.id.clone(),
            tool_name: (!row.corrupted).then(|| row.tool_name.clone()),
            conversation_id: row.conversation_id.clone(),
            success: (!row.corrupted).then(|| row.success.into()),
            created_at: row.created_at,
            size: signed(row.size_bytes),
            disk: signed(entry.disk_bytes),
            kept: (row.pinned || row.corrupted).into(),
            stamp: entry.stamp.clone(),
            row: serde_json::to_string(row).map_err(unwritable)?,
        })
    }

    /// Reads [`COLUMNS`]. Fails if they do not match the checksum.
    pub(crate) fn read(row: &SqlRow<'_>) -> TransactionResult<Self> {
        let record = Self {
            id: row.get(0)?,
            tool_name: row.get(1)?,
            conversation_id: row.get(2)?,
            success: row.get(3)?,
            created_at: row.get(4)?,
            size: row.get(5)?,
            disk: row.get(6)?,
            kept: row.get(7)?,
            stamp: row.get(8)?,
            row: row.get(9)?,
        };
        if record.checksum() != row.get::<_, i64>(10)? {
            return Err(Fault::Damaged("a row does not match its checksum".into()));
        }
        Ok(record)
    }

    /// The first bytes of the BLAKE3 hash of all columns. Each text is preceded by its length, so
    /// that different rows never hash the same bytes.
    pub(crate) fn checksum(&self) -> i64 {
        let mut hasher = blake3::Hasher::new();
        let texts = [
            Some(&self.id),
            self.tool_name.as_ref(),
            self.conversation_id.as_ref(),
            Some(&self.stamp),
            Some(&self.row),
        ];
        for text in texts {
            hasher.update(&text.map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
            hasher.update(text.map_or(&[][..], |text| text.as_bytes()));
        }
        let success = self.success.unwrap_or(i64::MIN);
        for number in [success, self.created_at, self.size, self.disk, self.kept] {
            hasher.update(&number.to_le_bytes());
        }
        let mut sum = [0; 8];
        hasher.finalize_xof().fill(&mut sum);
        i64::from_le_bytes(sum)
    }

    pub(crate) fn entry(self) -> TransactionResult<Entry> {
        let unreadable = |error| Fault::Damaged(format!("a row cannot be read: {error}"));
        let row = serde_json::from_str(&self.row).map_err(unreadable)?;
        let disk_bytes = u64::try_from(self.disk).ok();
        let disk_bytes = disk_bytes.ok_or_else(|| Fault::Damaged("a row has a negative size".into()))?;
        Ok(Entry { row, disk_bytes, stamp: self.stamp })
    }
}
