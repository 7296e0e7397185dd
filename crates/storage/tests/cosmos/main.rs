//! Cosmos DB, tested with two emulators.
//!
//! - One runs in this process (feature `cosmos-emulator`). It supports batches and injected faults.
//! - The other comes from npm and is reached over HTTP. `TROMMEL_EMULATORS` names the folder that
//!   contains its `node_modules`.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

#[path = "../../../blocks/tests/common/blocks.rs"]
mod blocks;
mod config;
mod container;
#[path = "../../../blocks/tests/common/contract.rs"]
mod contract;
#[cfg(feature = "cosmos-emulator")]
mod inside;
mod large;
#[path = "../../../blocks/tests/common/machine.rs"]
mod machine;
mod machines;
#[cfg(feature = "cosmos-emulator")]
#[path = "../../../blocks/tests/common/net.rs"]
mod net;
mod node;
mod stopped;
#[path = "../../../blocks/tests/common/stopping.rs"]
mod stopping;
mod support;
#[cfg(feature = "cosmos-emulator")]
#[path = "../../../blocks/tests/common/world.rs"]
mod world;
