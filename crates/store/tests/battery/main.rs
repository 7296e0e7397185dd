//! Tests of the whole store, by subject.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod controls;
mod crowds;
mod cursors;
mod damages;
mod errors;
mod finds;
mod foreign;
mod full;
mod guides;
mod history;
mod keeps;
mod kills;
mod line_indexes;
mod lists;
mod logs;
mod many;
mod mapping;
mod memory;
mod messages;
mod mixed;
mod modes;
mod packed;
mod puts;
mod rebuilds;
mod secrets;
mod support;
mod verifies;
mod versions;
