//! Panics of what a host gave, turned into words.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::spaced::shortened;

/// Characters of a panic's message.
const LONGEST: usize = 1_000;

/// What the work comes to, or what its panic says. Whatever the work has changed is not looked at again after a panic.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("without a message");
    shortened(text, LONGEST).unwrap_or_else(|| text.to_owned())
}
