//! The trait that every tool implements.

use crate::call::Call;
use crate::failure::Failure;
use crate::metadata::Metadata;
use crate::output::Output;

/// A tool. It is called from any thread, several times at once.
pub trait Tool: Send + Sync {
    /// What it says about itself; always the same.
    fn metadata(&self) -> &Metadata;

    /// Does the work. The arguments are valid; what they mean may still be refused.
    ///
    /// It runs on a thread of its own. It should look at [`Call::cancel`] at least every 50 ms.
    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure>;

    /// What it would do, in a sentence; nothing for the executor's own sentence. It must change nothing.
    fn dry_run(&self, call: &Call<'_>) -> Option<String> {
        let _ = call;
        None
    }
}
