//! Documents from outside: what their steps read, ask and write, and what is refused.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod checks;
#[cfg(feature = "endpoint")]
mod endpoint;
mod missing;
#[cfg(feature = "endpoint")]
mod replies;
mod routing;
mod runs;
mod secrets;
mod support;
