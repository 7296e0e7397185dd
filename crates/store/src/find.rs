//! From what somebody calls an output to the output.

use rusqlite::{Transaction, params};

use crate::db::Done;
use crate::error::{Error, ErrorKind, Result, shown};
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

    /// The id of an output as [`resolve`](Self::resolve) finds it, but from the names of the files alone: an index that misses
    /// one of two outputs must not decide which of them is deleted. It reads up to 256 folders for a prefix.
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
                Err(fault) => Err(fault.error(id).at(&path)),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(Error::io("read", &path, cause)),
        }
    }

    /// Whether there is an output of this id.
    pub(crate) fn exists(&self, id: &str) -> Result<bool> {
        let path = self.layout().meta(id);
        let found = disk::look(&path).map_err(|cause| Error::io("look at", &path, cause))?;
        Ok(found.is_some())
    }

    pub(crate) fn not_found(&self, id: &str) -> Error {
        let near = self.index().read(|transaction| neighbours(transaction, id)).unwrap_or_default();
        let near = nearest(id, near);
        let advice = match near.as_slice() {
            [] => "`list` shows what is stored".to_owned(),
            near => format!("did you mean {}? `list` shows what is stored", near.join(" or ")),
        };
        let short = if id.len() < SHORTEST_PREFIX {
            format!(" (a prefix needs at least {SHORTEST_PREFIX} characters)")
        } else {
            String::new()
        };
        let message = format!("there is no output {}{short}; {advice}", shown(id));
        Error::new(ErrorKind::NotFound, message).candidates_are(near)
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
    let more = if ids.len() > CANDIDATES { " and others" } else { "" };
    ids.truncate(CANDIDATES);
    let message = format!(
        "{} stands for several outputs: {}{more}; give more of the id",
        shown(prefix),
        ids.join(", ")
    );
    Error::new(ErrorKind::Ambiguous, message).candidates_are(ids)
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

/// Those that differ from what was asked for in a quarter of its characters at most, the nearest first.
fn nearest(asked: &str, ids: Vec<String>) -> Vec<String> {
    let allowed = (asked.len() / 4).max(1);
    let lower = asked.to_ascii_lowercase();
    let near = ids.into_iter().map(|id| (distance(&lower, &id.to_ascii_lowercase()), id));
    let mut near = near.filter(|(distance, _)| *distance <= allowed).collect::<Vec<_>>();
    near.sort();
    near.into_iter().take(NEAR).map(|(_, id)| id).collect()
}

/// How many characters have to be put in, taken out or changed.
fn distance(a: &str, b: &str) -> usize {
    let mut row = (0..=b.len()).collect::<Vec<_>>();
    for (number, byte) in a.bytes().enumerate() {
        let mut diagonal = number;
        let mut left = number + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, other) in row.iter_mut().skip(1).zip(b.bytes()) {
            let changed = diagonal + usize::from(byte != other);
            diagonal = *cell;
            left = changed.min(diagonal + 1).min(left + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in
            [("", "", 0), ("abc", "", 3), ("", "ab", 2), ("kitten", "sitting", 3), ("ab", "ba", 2)]
        {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn nothing_silly_is_offered() {
        let ids = || vec!["conv-export-1".to_owned(), "conv-export-2".to_owned(), "zzz".to_owned()];
        assert_eq!(nearest("conv-exprot-1", ids()), ["conv-export-1", "conv-export-2"]);
        assert_eq!(nearest("CONV-EXPORT-2", ids()), ["conv-export-2", "conv-export-1"]);
        assert!(nearest("something-else", ids()).is_empty());
    }
}
