//! Tests of the tools through an executor and a store, as hosts use them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod aggregates;
mod bounds;
mod buffers;
mod counts;
mod cursors;
mod damage;
mod delivery;
mod errors;
mod extracts;
mod filters;
mod hints;
#[cfg(feature = "cloud")]
mod hybrid;
mod known;
mod lists;
mod mixed;
mod nodes;
mod providers;
mod questions;
mod reads;
mod rows;
/// The providers' rules are shared with the tests of the crate that exports by them.
#[path = "../../../tool/tests/battery/rules.rs"]
mod rules;
mod samples;
mod schemas;
mod searches;
mod sessions;
mod specification;
mod stats;
mod stopping;
mod support;
mod texts;
