//! The program as a whole: each command, what is stored and routed, terminals, and how it ends.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "a test that cannot run says so")]

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
mod errors;
#[cfg(unix)]
mod exits;
mod extract;
mod help;
mod input;
mod pages;
mod readme;
mod routes;
mod runs;
mod sample;
#[cfg(unix)]
mod sessions;
mod specification;
mod stats;
#[cfg(unix)]
mod stored;
#[cfg(unix)]
mod terminal;
