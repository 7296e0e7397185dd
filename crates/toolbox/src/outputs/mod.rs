//! `tool_outputs.*`: queries of stored outputs, whose answers are bounded however large the outputs
//! are.
//!
//! | module | contents |
//! | --- | --- |
//! | `list`, `stats`, `extract`, `count`, `sample`, `read` | the tools, each with its arguments and its description |
//! | `shared` | the kernel that the tools use: the store, cached knowledge, what a call asks |
//! | `arguments`, `describe` | arguments that several tools take, and the frame of descriptions |
//! | `job` | a call at work: cancellation, progress, the basis of its answer |
//! | `source`, `item` | an open output, and values read from it as a page can hold them |
//! | `page`, `cursor`, `mark` | how much fits, where it continues, and marks for what no page can hold |
//! | `cache` | what is known of outputs from earlier calls |
//! | `filters`, `hints` | filters on records, and hints for answers that are empty |
//! | `failures` | why there is no answer |

mod arguments;
mod cache;
mod count;
mod cursor;
mod describe;
mod extract;
mod failures;
mod filters;
mod hints;
mod item;
mod job;
mod list;
mod mark;
mod page;
mod read;
mod sample;
mod shared;
pub(crate) mod source;
mod stats;

use std::sync::Arc;

use trommel_store::Store;
use trommel_tool::{Registry, RegistryError};

use shared::Shared;

pub use crate::text::size;
pub use extract::{Document, Shape};
pub use filters::{dropped_document, elements_query};
pub use item::{Item, Rendering, kind_of};
pub use list::ListedOutput;
pub use mark::Mark;
pub use page::TooSmall;
pub use read::{Character, Child, Content, Head, Position, ValuePage};

/// Adds the six tools to a registry: `tool_outputs.list`, `stats`, `extract`, `count`, `sample` and
/// `read`.
///
/// They share what they learn about the store's outputs: lengths, shapes, compiled queries, within
/// some 30 MiB.
///
/// # Errors
/// When a tool of one of their names is there already.
pub fn register(registry: &Registry, store: &Arc<Store>) -> Result<(), RegistryError> {
    let shared = Arc::new(Shared::new(store));
    registry.register(list::List::new(&shared))?;
    registry.register(stats::Stats::new(&shared))?;
    registry.register(extract::Extract::new(&shared))?;
    registry.register(count::Count::new(&shared))?;
    registry.register(sample::Sample::new(&shared))?;
    registry.register(read::Read::new(&shared))
}
