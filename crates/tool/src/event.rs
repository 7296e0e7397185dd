//! What an executor tells while a call goes on.

use crate::delivery::Manifest;
use crate::output::Output;
use crate::result::ToolResult;

/// What an executor tells while a call goes on. `Started` comes first and `Finished` last, each once, whatever happens.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The call begins.
    Started,
    /// The tool tells how far it is; never less than before.
    Progress {
        /// How much is done.
        done: u64,
        /// Of how much, where that is known.
        total: Option<u64>,
    },
    /// What the caller gets.
    Output(&'a Output),
    /// Where the result went.
    Manifest(&'a Manifest),
    /// The call has ended.
    Finished(&'a ToolResult),
}
