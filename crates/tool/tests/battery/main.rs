//! The contract of tools against its promises, one subject a module.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod calls;
mod deliveries;
mod dialects;
mod golden;
mod hostile;
mod names;
mod records;
mod registries;
mod rules;
mod sound;
mod stopping;
mod support;
