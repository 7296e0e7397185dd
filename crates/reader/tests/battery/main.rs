//! Compares the reader with oracles and suites, one subject per module.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod ahead;
mod bounded;
mod chunks;
mod corpus;
mod errors;
mod framings;
mod holds;
mod hostile;
mod monitors;
mod named;
mod numbers;
mod offsets;
mod oracles;
mod pieces;
mod seeks;
mod shared;
mod suites;
mod tallies;
mod trace;
