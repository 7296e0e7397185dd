//! Batteries over the whole of the store, by subject.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod controls;
mod crowds;
mod errors;
mod finds;
mod full;
mod history;
mod keeps;
mod kills;
mod lists;
mod many;
mod memory;
mod modes;
mod packed;
mod puts;
mod rebuilds;
mod secrets;
mod support;
mod verifies;
mod versions;
