//! End-to-end tests of the program: commands, storage, routing, terminals, and exit.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a test that cannot run says so")]

mod arguments;
#[cfg(unix)]
mod calls;
#[cfg(unix)]
mod changing;
mod check;
#[cfg(all(unix, feature = "cloud"))]
mod cloud;
mod common;
mod count;
mod directives;
mod du;
mod each;
mod errors;
#[cfg(unix)]
mod examples;
#[cfg(unix)]
mod exits;
#[cfg(all(unix, feature = "explore"))]
mod explore;
mod extract;
mod files;
mod filters;
mod forms;
#[cfg(unix)]
mod friction;
mod from_jq;
mod group;
mod guide;
mod help;
mod hints;
mod input;
#[cfg(unix)]
mod jobs;
#[cfg(all(unix, feature = "mcp"))]
mod mcp;
#[cfg(unix)]
mod mistakes;
#[cfg(unix)]
mod narrow;
mod pages;
#[cfg(unix)]
mod profiles;
mod readme;
#[cfg(unix)]
mod reports;
mod routes;
mod rows;
mod runs;
mod sample;
mod search;
#[cfg(unix)]
mod sessions;
mod specification;
mod stats;
#[cfg(unix)]
mod stored;
#[cfg(unix)]
mod streams;
mod strict;
#[cfg(feature = "table")]
mod tables;
#[cfg(unix)]
mod terminal;
#[cfg(unix)]
mod truncated;
