//! Routing from outside: what goes where, what is refused, and what is found.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod buffers;
mod confine;
mod files;
mod full;
mod looks;
mod numbers;
mod processes;
mod removal;
mod support;
mod tools;
