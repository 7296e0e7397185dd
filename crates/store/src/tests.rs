//! Tests that look inside: which operations are done, and what comes of each that fails.

mod broken;
mod full;
mod opens;
