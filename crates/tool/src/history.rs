//! The executions of this process, the newest of them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::result::ToolExecution;

/// The newest executions, as they may be remembered.
#[derive(Debug)]
pub(crate) struct History {
    kept: Mutex<VecDeque<ToolExecution>>,
    most: usize,
}

impl History {
    pub(crate) fn new(most: usize) -> Self {
        Self { kept: Mutex::default(), most }
    }

    pub(crate) fn add(&self, execution: ToolExecution) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if self.most == 0 {
            return;
        }
        while kept.len() >= self.most {
            kept.pop_front();
        }
        kept.push_back(execution);
    }

    /// The newest ones, the oldest of them first.
    pub(crate) fn newest(&self, newest: usize) -> Vec<ToolExecution> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().skip(kept.len().saturating_sub(newest)).cloned().collect()
    }
}
