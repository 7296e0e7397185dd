//! The newest executions of this process.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::contract::result::ToolExecution;

/// The newest executions, redacted.
#[derive(Debug)]
pub(crate) struct History {
    state: Mutex<HistoryState>,
    max: usize,
}

#[derive(Debug, Default)]
struct HistoryState {
    /// All executions, including the dropped ones.
    total: u64,
    executions: VecDeque<ToolExecution>,
}

impl History {
    pub(crate) fn new(max: usize) -> Self {
        Self { state: Mutex::default(), max }
    }

    pub(crate) fn add(&self, execution: ToolExecution) {
        let mut state = self.state();
        state.total += 1;
        if self.max == 0 {
            return;
        }
        while state.executions.len() >= self.max {
            state.executions.pop_front();
        }
        state.executions.push_back(execution);
    }

    /// The number of all executions.
    pub(crate) fn total(&self) -> u64 {
        self.state().total
    }

    /// The newest executions, oldest first.
    pub(crate) fn newest(&self, newest: usize) -> Vec<ToolExecution> {
        let executions = &self.state().executions;
        executions.iter().skip(executions.len().saturating_sub(newest)).cloned().collect()
    }

    fn state(&self) -> MutexGuard<'_, HistoryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
