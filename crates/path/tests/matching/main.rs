//! The matcher against suites, oracles and everything an input can do, however it is fed.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod apart;
mod bad_input;
mod conditions;
mod conformance;
mod decided;
mod descents;
mod forwarding;
mod hostile;
mod lookback;
mod orders;
mod random;
mod records;
mod regress;
mod support;
mod told;
