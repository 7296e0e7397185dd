//! Tests that record or fail individual file operations.

mod broken;
mod full;
mod opens;
