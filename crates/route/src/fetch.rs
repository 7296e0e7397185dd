//! Sources beyond files and variables, which the host provides.

use std::io::Write;

use trommel_tool::Failure;

/// Fetches what an address leads to, or answers a query. It is called from any thread.
pub trait Fetch: Send + Sync {
    /// An error if this source could never be fetched. It is called for all steps before the first one runs, and fetches nothing.
    fn check(&self, source: &str) -> Result<(), Failure> {
        let _ = source;
        Ok(())
    }

    /// Writes it, piece by piece, as it comes. A failure says what went wrong and what to do, without secrets.
    fn fetch(&self, source: &str, to: &mut dyn Write) -> Result<(), Failure>;
}

impl<F> Fetch for F
where
    F: Fn(&str, &mut dyn Write) -> Result<(), Failure> + Send + Sync,
{
    fn fetch(&self, source: &str, to: &mut dyn Write) -> Result<(), Failure> {
        self(source, to)
    }
}
