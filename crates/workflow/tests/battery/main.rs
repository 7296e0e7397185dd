//! Workflow documents: the inputs that steps read, the models that they call, the destinations that
//! they write, and the faults that are refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod checks;
#[cfg(feature = "endpoint")]
mod endpoint;
mod missing;
#[cfg(feature = "endpoint")]
mod replies;
mod routing;
mod runs;
mod secrets;
mod support;
