//! The store's history as the record of executions.

use std::sync::Arc;

use trommel_store::Store;
use trommel_tool::{Failure, Record, ToolExecution};

/// Records executions in a store's history, which other processes can read. The options of the
/// store limit its length.
#[derive(Clone)]
pub struct StoreRecord {
    store: Arc<Store>,
}

impl StoreRecord {
    /// Records executions in this store.
    pub fn new(store: &Arc<Store>) -> Self {
        Self { store: Arc::clone(store) }
    }
}

impl Record for StoreRecord {
    fn record(&self, execution: &ToolExecution) -> Result<(), Failure> {
        let failure = |why: &dyn std::fmt::Display| {
            Failure::new(format!("cannot record the call of {}: {why}", execution.tool_name))
        };
        let json = serde_json::to_string(execution).map_err(|error| failure(&error))?;
        self.store.executions().append(&json).map_err(|error| failure(&error).with("code", error.code()))
    }

    fn total(&self) -> Result<u64, Failure> {
        self.store.executions().total().map_err(|error| unread(&error))
    }

    /// Skips entries that cannot be read, such as those of a later release.
    fn load(&self, newest: usize) -> Result<Vec<ToolExecution>, Failure> {
        let entries = self.store.executions().newest(newest).map_err(|error| unread(&error))?;
        Ok(entries.iter().rev().filter_map(|entry| serde_json::from_str(entry).ok()).collect())
    }
}

fn unread(error: &trommel_store::Error) -> Failure {
    Failure::new(format!("cannot read the history: {error}")).with("code", error.code())
}
