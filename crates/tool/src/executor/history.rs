//! The newest executions of this process.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::contract::result::ToolExecution;

/// The newest executions, redacted.
#[derive(Debug)]
pub(crate) struct History {
    kept: Mutex<Kept>,
    max: usize,
}

#[derive(Debug, Default)]
struct Kept {
    /// All executions, including the dropped ones.
    total: u64,
    executions: VecDeque<ToolExecution>,
}

impl History {
    pub(crate) fn new(max: usize) -> Self {
        Self { kept: Mutex::default(), max }
    }

    pub(crate) fn add(&self, execution: ToolExecution) {
        let mut kept = self.kept();
        kept.total += 1;
        if self.max == 0 {
            return;
        }
        while kept.executions.len() >= self.max {
            kept.executions.pop_front();
        }
        kept.executions.push_back(execution);
    }

    /// The number of all executions.
    pub(crate) fn total(&self) -> u64 {
        self.kept().total
    }

    /// The newest executions, oldest first.
    pub(crate) fn newest(&self, newest: usize) -> Vec<ToolExecution> {
        let executions = &self.kept().executions;
        executions.iter().skip(executions.len().saturating_sub(newest)).cloned().collect()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
