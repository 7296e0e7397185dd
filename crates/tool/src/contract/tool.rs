//! The trait that every tool implements.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::call::Call;
use super::failure::Failure;
use super::metadata::Metadata;
use super::output::Output;

/// Permissions of a tool beyond answering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Permissions {
    /// Create files, and append to files.
    pub write_files: bool,
    /// Replace files. Needs [`write_files`](Self::write_files) as well.
    pub replace_files: bool,
    /// Change the logs of agents' sessions.
    pub change_sessions: bool,
    /// Call tools of other servers that do not declare that they only read.
    pub act_outside: bool,
}

impl Permissions {
    /// All permissions.
    pub const ALL: Self =
        Self { write_files: true, replace_files: true, change_sessions: true, act_outside: true };

    /// No permission: only answers.
    pub const NONE: Self =
        Self { write_files: false, replace_files: false, change_sessions: false, act_outside: false };
}

/// A tool. It is called from any thread, also several times at once.
pub trait Tool: Send + Sync {
    /// The description of the tool; always the same.
    fn metadata(&self) -> &Metadata;

    /// Completes the arguments of a call, after they were healed and before they are checked. A
    /// tool that can continue an earlier answer adds the arguments of that call.
    ///
    /// It runs on the thread of the caller, must be quick, and must change nothing.
    ///
    /// # Errors
    /// If the arguments contradict each other. The call then fails without running the tool.
    fn complete(&self, arguments: &mut Map<String, Value>) -> Result<(), Failure> {
        let _ = arguments;
        Ok(())
    }

    /// Runs the tool. The arguments are valid by the schema; it may still refuse what they mean.
    ///
    /// It runs on a thread of its own. It should check [`Call::cancel`] at least every 50 ms.
    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure>;

    /// The same tool without the operations that these permissions do not cover: it neither
    /// describes nor runs them. `None` if the tool stays within the permissions anyway.
    fn within(&self, permissions: Permissions) -> Option<Arc<dyn Tool>> {
        let _ = permissions;
        None
    }

    /// Describes a dry run in a sentence; `None` for the executor's own sentence. It must change
    /// nothing.
    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        let _ = call;
        None
    }
}
