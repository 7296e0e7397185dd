//! The matcher against suites, oracles and everything an input can do, however it is fed.

mod bad_input;
mod conditions;
mod conformance;
mod decided;
mod forwarding;
mod hostile;
mod lookback;
mod orders;
mod random;
mod records;
mod regress;
mod support;
