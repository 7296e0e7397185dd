//! The arguments that belong to cursors: a table of the index, which any loss only makes shorter.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::db::{Fault, TransactionResult};
use crate::error::Result;
use crate::store::Store;

/// Maximum number of cursors.
const MAX_CURSORS: usize = 10_000;
/// Maximum bytes of the arguments of all cursors.
const MAX_BYTES: usize = 16 << 20;
/// Maximum bytes of the arguments of one cursor.
const MAX_ARGUMENT_BYTES: usize = 64 << 10;

impl Store {
    /// Remembers the arguments that belong to a cursor, for the 10,000 newest cursors within 16
    /// MiB. `cursor` may be any text; only its hash is kept.
    ///
    /// Nothing else depends on these arguments, so they are dropped rather than waited for: if they
    /// exceed 64 KiB, if another process holds the index for longer than a quarter of a second, or
    /// if the store cannot be changed. Returns true if they are remembered.
    pub fn remember_cursor(&self, cursor: &str, arguments: &str) -> bool {
        if arguments.len() > MAX_ARGUMENT_BYTES {
            return false;
        }
        let hash = hash(cursor);
        if self
            .index()
            .read_file_only(|transaction| find(transaction, &hash))
            .is_ok_and(|known| known.is_some_and(|known| known == arguments))
        {
            return true;
        }
        let Some(mut locked) = self.index().lock_briefly() else { return false };
        locked.transaction(|transaction| insert(transaction, &hash, arguments)).is_ok()
    }

    /// Returns the arguments of a cursor, if they are [remembered](Self::remember_cursor).
    pub fn cursor_arguments(&self, cursor: &str) -> Result<Option<String>> {
        let hash = hash(cursor);
        self.index().read_file_only(|transaction| find(transaction, &hash))
    }
}

/// The key of a cursor.
fn hash(cursor: &str) -> [u8; 16] {
    let mut key = [0; 16];
    blake3::Hasher::new().update(cursor.as_bytes()).finalize_xof().fill(&mut key);
    key
}

fn find(transaction: &Transaction<'_>, hash: &[u8; 16]) -> TransactionResult<Option<String>> {
    let mut statement = transaction.prepare_cached("SELECT arguments FROM cursor WHERE hash = ?1")?;
    Ok(statement.query_row([hash], |row| row.get(0)).optional()?)
}

/// Adds a cursor as the newest one, and removes the oldest beyond the limits.
fn insert(transaction: &Transaction<'_>, hash: &[u8; 16], arguments: &str) -> TransactionResult<()> {
    let mut total = Total::read(transaction)?;
    if let Some(known) = find(transaction, hash)? {
        transaction.execute("DELETE FROM cursor WHERE hash = ?1", [hash])?;
        total.remove(known.len());
    }
    transaction.execute("INSERT INTO cursor (hash, arguments) VALUES (?1, ?2)", params![hash, arguments])?;
    total.count += 1;
    total.bytes += arguments.len();
    let mut oldest = transaction.prepare_cached(
        "DELETE FROM cursor WHERE number = (SELECT min(number) FROM cursor) RETURNING octet_length(arguments)",
    )?;
    while total.count > MAX_CURSORS || total.bytes > MAX_BYTES {
        match oldest.query_row([], |row| row.get::<_, u32>(0)).optional()? {
            Some(bytes) => total.remove(bytes as usize),
            None => return Err(Fault::Damaged("its number of cursors is wrong".into())),
        }
    }
    total.write(transaction)
}

/// The number of cursors, and of the bytes of their arguments. It is a fact of the index, because
/// counting 10,000 rows takes longer than adding one.
#[derive(Default)]
struct Total {
    count: usize,
    bytes: usize,
}

impl Total {
    fn read(transaction: &Transaction<'_>) -> TransactionResult<Self> {
        let find = "SELECT value FROM fact WHERE name = 'cursors'";
        let Some(text) = transaction.query_row(find, [], |row| row.get::<_, String>(0)).optional()? else {
            return Ok(Self::default());
        };
        let numbers = text.split_once(' ').map(|(count, bytes)| (count.parse(), bytes.parse()));
        match numbers {
            Some((Ok(count), Ok(bytes))) => Ok(Self { count, bytes }),
            _ => Err(Fault::Damaged("its number of cursors is not a number".into())),
        }
    }

    fn remove(&mut self, bytes: usize) {
        self.count = self.count.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    fn write(&self, transaction: &Transaction<'_>) -> TransactionResult<()> {
        let text = format!("{} {}", self.count, self.bytes);
        transaction.execute("INSERT OR REPLACE INTO fact VALUES ('cursors', ?1)", [text])?;
        Ok(())
    }
}
