//! Sessions of several machines and of the storage between them, as one view, and made the same.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod changes;
#[path = "../common/mod.rs"]
mod common;
mod exchange;
mod machines;
mod offline;
mod questions;
mod support;
mod views;
