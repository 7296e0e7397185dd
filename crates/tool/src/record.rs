//! Where executions are kept beyond the process.

use crate::failure::Failure;
use crate::result::ToolExecution;

/// Where executions are kept beyond the process. What it is given holds no secrets and no payloads.
pub trait Record: Send + Sync {
    /// Keeps one execution.
    fn record(&self, execution: &ToolExecution) -> Result<(), Failure>;

    /// How many there ever were, those that are not kept any more included.
    fn total(&self) -> Result<u64, Failure>;

    /// The newest ones, at most so many, the oldest of them first.
    fn load(&self, newest: usize) -> Result<Vec<ToolExecution>, Failure>;
}
