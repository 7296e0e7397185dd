//! What the events of a session were, in figures: all of them, errors, turns, usage, and figures of
//! any field.

mod aggregate;
mod common;
mod errors;
mod summary;
mod timeline;
mod usage;

pub use aggregate::{Aggregate, AggregateQuery, Group};
pub use common::Page;
pub use errors::{ErrorRow, Errors};
pub use summary::{Largest, Summary};
pub use timeline::{Timeline, Turn};
#[cfg(test)]
pub(crate) use usage::FIELDS as USAGE_FIELDS;
pub use usage::{LeftOut, ModelUsage, SessionUsage, ToolCalls, UsageReport};
