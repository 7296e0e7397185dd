//! Compares searches with naive ones, and tests inputs of every kind.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod inputs;
mod json;
mod long;
mod naive;
mod support;
mod text;
