//! Sessions of several machines and of the storage between them, as one view, and made the same.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod changes;
mod exchange;
mod offline;
mod questions;
mod support;
mod views;
