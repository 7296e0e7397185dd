//! Tests the matcher against suites, oracles, and all kinds of input, fed in all ways.

#![expect(clippy::unwrap_used, reason = "a test fails if it cannot continue")]

mod bad_input;
mod conditions;
mod conformance;
mod decided;
mod descents;
mod forwarding;
mod hostile;
mod lookback;
mod nodes;
mod orders;
mod random;
mod records;
mod regress;
mod shared_arrays;
mod step_selection;
mod support;
mod trails;
