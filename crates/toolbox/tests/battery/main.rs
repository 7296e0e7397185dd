//! Batteries over the tools, through an executor and a store as hosts use them.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bounds;
mod counts;
mod damage;
mod delivery;
mod errors;
mod extracts;
mod known;
mod lists;
mod reads;
mod samples;
mod schemas;
mod specification;
mod stats;
mod stopping;
mod support;
