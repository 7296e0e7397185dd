//! What is promised with a time: one test after another, each with the machine for itself, as a
//! program of tests has it.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crowds;
mod index;
mod lists;
#[path = "../battery/many.rs"]
mod many;
#[path = "../battery/support.rs"]
#[expect(dead_code, reason = "the battery uses all of it")]
mod support;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by a test while it runs.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
