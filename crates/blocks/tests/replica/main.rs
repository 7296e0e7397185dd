//! Tests of the merged view and the sync of sessions of several machines.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/blocks.rs"]
mod blocks;
mod changes;
mod clocks;
#[path = "../common/contract.rs"]
mod contract;
mod exchange;
mod folder;
#[path = "../common/machine.rs"]
mod machine;
mod machines;
mod messages;
#[path = "../common/net.rs"]
mod net;
mod offline;
mod questions;
mod retries;
mod silent;
mod stopped;
#[path = "../common/stopping.rs"]
mod stopping;
mod support;
mod views;
#[path = "../common/world.rs"]
mod world;
mod written;
