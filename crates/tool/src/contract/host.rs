//! The parts of a host: who approves calls, who records them, and who hears their events.

use serde_json::{Map, Value};
use trommel_base::Progress;

use super::delivery::Manifest;
use super::failure::Failure;
use super::metadata::Metadata;
use super::output::Output;
use super::result::{ToolExecution, ToolResult};

/// Decides if a tool that [needs approval](Metadata::requires_approval) may run. A function can be
/// one.
pub trait Approval: Send + Sync {
    /// Decides about one call, on the thread of the caller.
    fn decide(&self, tool: &Metadata, arguments: &Map<String, Value>) -> Decision;
}

impl<F> Approval for F
where
    F: Fn(&Metadata, &Map<String, Value>) -> Decision + Send + Sync,
{
    fn decide(&self, tool: &Metadata, arguments: &Map<String, Value>) -> Decision {
        self(tool, arguments)
    }
}

/// The decision about one call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// The tool may run.
    Granted,
    /// The tool may not run, and why, or how it could: `pass --approve to run it`.
    Denied(String),
}

/// Keeps executions beyond the process. They hold no secrets and no payloads.
pub trait Record: Send + Sync {
    /// Keeps one execution.
    fn record(&self, execution: &ToolExecution) -> Result<(), Failure>;

    /// The number of all executions, including those no longer kept.
    fn total(&self) -> Result<u64, Failure>;

    /// The newest executions, at most `newest`, oldest first.
    fn load(&self, newest: usize) -> Result<Vec<ToolExecution>, Failure>;
}

/// An event that an executor reports during a call. `Started` comes first and `Finished` last, each
/// once, in any case.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The call starts.
    Started,
    /// The tool reports its progress. It never decreases.
    Progress(Progress),
    /// The output for the caller.
    Output(&'a Output),
    /// The destination of the result.
    Manifest(&'a Manifest),
    /// The call has ended.
    Finished(&'a ToolResult),
}
