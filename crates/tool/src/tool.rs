//! The trait that every tool implements.

use std::sync::Arc;

use crate::call::Call;
use crate::failure::Failure;
use crate::metadata::Metadata;
use crate::output::Output;

/// What a caller lets a tool do beyond answering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Permissions {
    /// Create files, and append to files.
    pub write_files: bool,
    /// Replace files. Without [`write_files`](Self::write_files) it means nothing.
    pub replace_files: bool,
    /// Change the logs of agents' sessions.
    pub change_sessions: bool,
}

impl Permissions {
    /// Everything.
    pub const ALL: Self = Self { write_files: true, replace_files: true, change_sessions: true };

    /// Nothing but answers.
    pub const NONE: Self = Self { write_files: false, replace_files: false, change_sessions: false };
}

/// A tool. It is called from any thread, several times at once.
pub trait Tool: Send + Sync {
    /// What it says about itself; always the same.
    fn metadata(&self) -> &Metadata;

    /// Does the work. The arguments are valid; what they mean may still be refused.
    ///
    /// It runs on a thread of its own. It should look at [`Call::cancel`] at least every 50 ms.
    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure>;

    /// The same tool without the operations that these permissions do not cover: they are neither described nor done. Nothing
    /// where the tool stays within them as it is.
    fn within(&self, permissions: Permissions) -> Option<Arc<dyn Tool>> {
        let _ = permissions;
        None
    }

    /// What it would do, in a sentence; nothing for the executor's own sentence. It must change nothing.
    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        let _ = call;
        None
    }
}
