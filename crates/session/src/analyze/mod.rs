//! Analyses of a session's events: summary, errors, timeline, usage, and aggregates of any field.

mod aggregate;
mod common;
mod errors;
mod summary;
mod timeline;
mod totals;
mod usage;

pub use aggregate::{Aggregate, AggregateQuery, Group};
pub use common::Page;
pub use errors::{ErrorRow, Errors};
pub use summary::{LargestEvent, Summary};
pub use timeline::{Timeline, Turn};
pub use totals::{UsageRow, UsageTotals};
#[cfg(test)]
pub(crate) use usage::FIELDS as USAGE_FIELDS;
pub use usage::{Exclusion, ModelUsage, SessionUsage, ToolCalls, UsageReport};
