//! Guarantees with a time limit. The tests run one after the other in their own binary, so that
//! each has the machine for itself.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crowds;
mod index;
mod lists;
#[path = "../battery/many.rs"]
mod many;
#[path = "../battery/support.rs"]
#[expect(dead_code, reason = "shared with the battery, which uses all of it")]
mod support;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by a test while it runs.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
