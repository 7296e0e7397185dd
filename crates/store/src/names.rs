//! The tools of which outputs are stored.

use crate::error::Result;
use crate::store::Store;

/// Names that are returned at most.
const NAMES: u32 = 1_000;

impl Store {
    /// The names of the tools of which outputs are stored, in alphabetical order, at most 1,000. No file is opened.
    pub fn tool_names(&self) -> Result<Vec<String>> {
        self.index().read(|transaction| {
            let mut statement = transaction.prepare_cached(
                "SELECT DISTINCT tool_name FROM output WHERE tool_name IS NOT NULL ORDER BY tool_name LIMIT ?1",
            )?;
            let names = statement.query_map([NAMES], |row| row.get(0))?;
            Ok(names.collect::<rusqlite::Result<_>>()?)
        })
    }
}
