//! Cosmos DB, by two emulators: one in this process (feature `cosmos-emulator`), which has batches and on whose way faults can be put, and
//! one from npm, spoken to over HTTP, whose folder `TROMMEL_EMULATORS` names (the one with `node_modules`).
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod config;
mod contract;
#[cfg(feature = "cosmos-emulator")]
mod inside;
mod large;
mod machines;
mod node;
mod support;
