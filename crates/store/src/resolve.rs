//! Resolves IDs and ID prefixes to outputs.

use rusqlite::{Transaction, params};
use trommel_base::{files, nearest};

use crate::db::TransactionResult;
use crate::error::{Error, ErrorKind, Result};
use crate::id::{self, MIN_PREFIX};
use crate::output::Stored;
use crate::store::Store;
use crate::{disk, meta, rows};

/// Maximum number of IDs in an error about an ambiguous prefix.
const MAX_CANDIDATES: usize = 10;
/// Maximum number of attempts to remove stale rows and query again.
const MAX_ROUNDS: u32 = 100;
/// Maximum number of suggestions for an unknown ID, and the rows per query that are considered.
const MAX_SUGGESTIONS: usize = 3;
const NEIGHBOR_ROWS: u32 = 50;

impl Store {
    /// Returns the full ID for an ID or a unique prefix of at least 6 characters.
    pub fn resolve(&self, id_or_prefix: &str) -> Result<String> {
        id::check(id_or_prefix)?;
        if self.exists(id_or_prefix)? {
            return Ok(id_or_prefix.into());
        }
        if id_or_prefix.len() < MIN_PREFIX {
            return Err(self.not_found(id_or_prefix));
        }
        for _ in 0..MAX_ROUNDS {
            let ids = self.index().read(|transaction| with_prefix(transaction, id_or_prefix))?;
            let is_complete = ids.len() <= MAX_CANDIDATES;
            // A row whose files were removed no longer counts as a candidate.
            let (existing, gone): (Vec<_>, Vec<_>) =
                ids.into_iter().partition(|id| self.exists(id).unwrap_or(true));
            match existing.as_slice() {
                [_, _, ..] => return Err(ambiguous(id_or_prefix, existing)),
                [one] if is_complete => return Ok(one.clone()),
                [] if is_complete => break,
                _ => self.sync(&gone)?,
            }
        }
        Err(self.not_found(id_or_prefix))
    }

    /// Resolves an ID like [`resolve`](Self::resolve), but from file names alone.
    ///
    /// Deletions use it, because an index that misses one of two matching outputs must not decide
    /// which one is deleted. A prefix reads up to 256 folders.
    pub fn resolve_in_files(&self, id_or_prefix: &str) -> Result<String> {
        id::check(id_or_prefix)?;
        if self.exists(id_or_prefix)? {
            return Ok(id_or_prefix.into());
        }
        if id_or_prefix.len() < MIN_PREFIX {
            return Err(self.not_found(id_or_prefix));
        }
        let mut found = Vec::new();
        for id in rows::ids(self.layout())? {
            found.extend(Some(id?).filter(|id| id.starts_with(id_or_prefix)));
        }
        found.sort_unstable();
        match found.as_slice() {
            [] => Err(self.not_found(id_or_prefix)),
            [one] => Ok(one.clone()),
            _ => Err(ambiguous(id_or_prefix, found)),
        }
    }

    /// Returns the description of an output, given its ID or a unique prefix.
    pub fn get(&self, id_or_prefix: &str) -> Result<Stored> {
        let id = self.resolve(id_or_prefix)?;
        self.read_meta(&id)?.ok_or_else(|| self.not_found(&id))
    }

    /// Reads the description of an output. Returns `None` if the output does not exist.
    pub(crate) fn read_meta(&self, id: &str) -> Result<Option<Stored>> {
        Ok(self.read_sealed(id)?.map(|(stored, _)| stored))
    }

    /// Reads a description together with the bytes of its file.
    pub(crate) fn read_sealed(&self, id: &str) -> Result<Option<(Stored, Vec<u8>)>> {
        let path = self.layout().meta(id);
        match disk::read(&path, meta::MAX_BYTES) {
            Ok((bytes, _)) => match meta::open(&bytes, id) {
                Ok(stored) => Ok(Some((stored, bytes))),
                Err(fault) => Err(fault.error(id, &path)),
            },
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// True if an output with this ID exists.
    pub(crate) fn exists(&self, id: &str) -> Result<bool> {
        Ok(files::inspect(&self.layout().meta(id))?.is_some())
    }

    pub(crate) fn not_found(&self, id: &str) -> Error {
        // An unreadable index must not replace the actual error, so there are no suggestions then.
        let known =
            self.index().read(|transaction| neighbors(transaction, id)).unwrap_or_else(|_| Vec::new());
        let near = nearest(id, known.iter().map(String::as_str), MAX_SUGGESTIONS);
        let near = near.into_iter().map(str::to_owned).collect();
        let needs = (id.len() < MIN_PREFIX).then_some(MIN_PREFIX);
        ErrorKind::NotFound { id: id.to_owned(), needs, near }.into()
    }
}

fn with_prefix(transaction: &Transaction<'_>, prefix: &str) -> TransactionResult<Vec<String>> {
    // Every character of a valid ID sorts before `~`, so this range holds exactly the prefix.
    let mut statement = transaction
        .prepare_cached("SELECT id FROM output WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT ?2")?;
    let ids = statement.query_map(params![prefix, MAX_CANDIDATES as i64 + 1], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

fn ambiguous(prefix: &str, mut ids: Vec<String>) -> Error {
    let more = ids.len() > MAX_CANDIDATES;
    ids.truncate(MAX_CANDIDATES);
    ErrorKind::Ambiguous { prefix: prefix.to_owned(), ids, more }.into()
}

/// IDs adjacent to the given one, and the newest IDs.
fn neighbors(transaction: &Transaction<'_>, id: &str) -> TransactionResult<Vec<String>> {
    let mut ids: Vec<String> = Vec::new();
    for sql in [
        "SELECT id FROM output WHERE id >= ?1 ORDER BY id LIMIT ?2",
        "SELECT id FROM output WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
        "SELECT id FROM output WHERE ?1 <> '' ORDER BY created_at DESC, id LIMIT ?2",
    ] {
        let mut statement = transaction.prepare_cached(sql)?;
        let found = statement.query_map(params![id, NEIGHBOR_ROWS], |row| row.get(0))?;
        ids.extend(found.collect::<rusqlite::Result<Vec<String>>>()?);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}
