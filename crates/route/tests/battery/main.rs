//! Routing through the public API: destinations, refusals, and reading.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod buffers;
mod confine;
mod files;
mod full;
mod messages;
mod numbers;
mod processes;
mod reading;
mod removal;
mod support;
mod tools;
