//! Routing from outside: what goes where, what is refused, what is found, and documents that are run.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod buffers;
mod checks;
mod confine;
#[cfg(feature = "endpoint")]
mod endpoint;
mod files;
mod full;
mod looks;
mod missing;
mod numbers;
mod processes;
mod removal;
#[cfg(feature = "endpoint")]
mod replies;
mod routing;
mod runs;
mod secrets;
mod support;
mod tools;
