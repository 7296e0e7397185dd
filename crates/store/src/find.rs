//! From what somebody calls an output to the output.

use rusqlite::{Transaction, params};
use trommel_base::{files, nearest};

use crate::db::Done;
use crate::error::{Error, ErrorKind, Result};
use crate::id::{self, SHORTEST_PREFIX};
use crate::output::Stored;
use crate::store::Store;
use crate::{disk, meta, rows};

/// Ids that an error names at most.
const CANDIDATES: usize = 10;
/// How often rows whose files are gone are taken out, to see what is behind them.
const ROUNDS: u32 = 100;
/// Ids that are offered where none fits, at most, and rows looked at for them.
const NEAR: usize = 3;
const NEIGHBOURS: u32 = 50;

impl Store {
    /// The id of an output, for the id or for a prefix of at least 6 characters that no other has.
    pub fn resolve(&self, id_or_prefix: &str) -> Result<String> {
        id::check(id_or_prefix)?;
        if self.exists(id_or_prefix)? {
            return Ok(id_or_prefix.into());
        }
        if id_or_prefix.len() < SHORTEST_PREFIX {
            return Err(self.not_found(id_or_prefix));
        }
        for _ in 0..ROUNDS {
            let ids = self.index().read(|transaction| with_prefix(transaction, id_or_prefix))?;
            let all_seen = ids.len() <= CANDIDATES;
            // A row whose files are gone is a row no more.
            let (there, gone): (Vec<_>, Vec<_>) =
                ids.into_iter().partition(|id| self.exists(id).unwrap_or(true));
            match there.as_slice() {
                [_, _, ..] => return Err(ambiguous(id_or_prefix, there)),
                [one] if all_seen => return Ok(one.clone()),
                [] if all_seen => break,
                _ => self.sync(&gone)?,
            }
        }
        Err(self.not_found(id_or_prefix))
    }

    /// The id of an output as [`resolve`](Self::resolve) finds it, but from the names of the files
    /// alone: an index that misses one of two outputs must not decide which of them is deleted. It
    /// reads up to 256 folders for a prefix.
    pub fn resolve_in_files(&self, id_or_prefix: &str) -> Result<String> {
        id::check(id_or_prefix)?;
        if self.exists(id_or_prefix)? {
            return Ok(id_or_prefix.into());
        }
        if id_or_prefix.len() < SHORTEST_PREFIX {
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

    /// What is known of an output, for its id or a prefix of it.
    pub fn get(&self, id_or_prefix: &str) -> Result<Stored> {
        let id = self.resolve(id_or_prefix)?;
        self.read_meta(&id)?.ok_or_else(|| self.not_found(&id))
    }

    /// The description of an output, nothing where there is none.
    pub(crate) fn read_meta(&self, id: &str) -> Result<Option<Stored>> {
        Ok(self.read_sealed(id)?.map(|(stored, _)| stored))
    }

    /// The same with the bytes of its file.
    pub(crate) fn read_sealed(&self, id: &str) -> Result<Option<(Stored, Vec<u8>)>> {
        let path = self.layout().meta(id);
        match disk::read(&path, meta::LONGEST) {
            Ok((bytes, _)) => match meta::open(&bytes, id) {
                Ok(stored) => Ok(Some((stored, bytes))),
                Err(fault) => Err(fault.error(id, &path)),
            },
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether there is an output of this id.
    pub(crate) fn exists(&self, id: &str) -> Result<bool> {
        Ok(files::inspect(&self.layout().meta(id))?.is_some())
    }

    pub(crate) fn not_found(&self, id: &str) -> Error {
        // Where the index cannot be read, none is suggested: the error is that the output is
        // missing.
        let known =
            self.index().read(|transaction| neighbours(transaction, id)).unwrap_or_else(|_| Vec::new());
        let near = nearest(id, known.iter().map(String::as_str), NEAR);
        let near = near.into_iter().map(str::to_owned).collect();
        let needs = (id.len() < SHORTEST_PREFIX).then_some(SHORTEST_PREFIX);
        ErrorKind::NotFound { id: id.to_owned(), needs, near }.into()
    }
}

fn with_prefix(transaction: &Transaction<'_>, prefix: &str) -> Done<Vec<String>> {
    // All characters of ids lie below `~`.
    let mut statement = transaction
        .prepare_cached("SELECT id FROM output WHERE id >= ?1 AND id < ?1 || '~' ORDER BY id LIMIT ?2")?;
    let ids = statement.query_map(params![prefix, CANDIDATES as i64 + 1], |row| row.get(0))?;
    Ok(ids.collect::<rusqlite::Result<_>>()?)
}

fn ambiguous(prefix: &str, mut ids: Vec<String>) -> Error {
    let more = ids.len() > CANDIDATES;
    ids.truncate(CANDIDATES);
    ErrorKind::Ambiguous { prefix: prefix.to_owned(), ids, more }.into()
}

/// Ids around this one, and the newest.
fn neighbours(transaction: &Transaction<'_>, id: &str) -> Done<Vec<String>> {
    let mut ids: Vec<String> = Vec::new();
    for sql in [
        "SELECT id FROM output WHERE id >= ?1 ORDER BY id LIMIT ?2",
        "SELECT id FROM output WHERE id < ?1 ORDER BY id DESC LIMIT ?2",
        "SELECT id FROM output WHERE ?1 <> '' ORDER BY created_at DESC, id LIMIT ?2",
    ] {
        let mut statement = transaction.prepare_cached(sql)?;
        let found = statement.query_map(params![id, NEIGHBOURS], |row| row.get(0))?;
        ids.extend(found.collect::<rusqlite::Result<Vec<String>>>()?);
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}
