//! Sessions from outside: what is listed, found, shown, counted, searched, cut and put right.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod analysis;
mod cloud;
mod damage;
mod events;
mod listing;
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
