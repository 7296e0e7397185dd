//! Routing from outside: what goes where, what is refused, what is found, and documents that are run.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod buffers;
mod confine;
#[cfg(feature = "endpoint")]
mod endpoint;
mod files;
mod full;
mod looks;
mod processes;
mod routing;
mod runs;
mod secrets;
mod support;
mod tools;
