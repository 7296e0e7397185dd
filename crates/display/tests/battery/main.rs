//! Panels against the wireframes of the specification, and against hostile texts.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod displays;
mod golden;
