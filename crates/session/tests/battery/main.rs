//! Tests of the public API: list, find, get, analyze, search, rewind, and repair sessions.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod analysis;
mod cloud;
mod damage;
mod events;
mod listing;
mod messages;
mod oracle;
mod outlines;
mod properties;
mod repairs;
mod rewinds;
mod samples;
mod searches;
mod support;
mod transcripts;
mod watching;
mod writers;
