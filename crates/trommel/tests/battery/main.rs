//! Batteries over the whole of the facade, by subject. Oracles are those of the test kit.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_records;
mod changing;
mod control;
mod counts;
mod coverage;
mod divided;
mod errors;
mod extracts;
mod filters;
mod hints;
mod hostile;
mod mixes;
mod packed;
mod parallel;
mod partials;
mod programs;
mod samples;
mod stats;
mod support;
