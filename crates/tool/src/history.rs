//! The executions of this process, the newest of them.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::result::ToolExecution;

/// The newest executions, as they may be remembered.
#[derive(Debug)]
pub(crate) struct History {
    kept: Mutex<Kept>,
    most: usize,
}

#[derive(Debug, Default)]
struct Kept {
    /// Those that had to go included.
    total: u64,
    executions: VecDeque<ToolExecution>,
}

impl History {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Mutex::default(), most }
    }

    pub(crate) fn add(&self, execution: ToolExecution) {
        let mut kept = self.kept();
        kept.total += 1;
        if self.most == 0 {
            return;
        }
        while kept.executions.len() >= self.most {
            kept.executions.pop_front();
        }
        kept.executions.push_back(execution);
    }

    /// How many there were.
    pub(crate) fn total(&self) -> u64 {
        self.kept().total
    }

    /// The newest ones, the oldest of them first.
    pub(crate) fn newest(&self, newest: usize) -> Vec<ToolExecution> {
        let executions = &self.kept().executions;
        executions.iter().skip(executions.len().saturating_sub(newest)).cloned().collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
