//! The `tool_outputs.*` tools: queries of stored outputs. The size of an answer is bounded,
//! regardless of the size of the output.
//!
//! | module | contents |
//! | --- | --- |
//! | `list`, `stats`, `extract`, `count`, `sample`, `read`, `aggregate`, `search` | the tools, each with its arguments and its description |
//! | `shared` | state that the tools share: the store, caches, the subject of a call |
//! | `arguments`, `describe` | arguments and descriptions that several tools have in common |
//! | `job` | a running call: cancellation, progress, the coverage of its answer |
//! | `source`, `item` | an open output, and values read from it in a form that fits a page |
//! | `page`, `cursor`, `mark` | paging, the cursors that continue an answer, and marks for values too large for a page |
//! | `resume` | cursors that work with `id` alone |
//! | `cache` | results of earlier calls |
//! | `groups` | groups of records as JSON |
//! | `filters`, `hints` | filters on records, and hints for empty answers |
//! | `damage` | streams with damaged records |
//! | `failures` | error messages |

mod aggregate;
mod arguments;
mod cache;
mod count;
mod cursor;
pub(crate) mod damage;
mod describe;
mod extract;
mod failures;
mod filters;
mod groups;
mod hints;
mod item;
mod job;
mod list;
mod mark;
mod page;
mod read;
mod resume;
mod sample;
mod search;
mod shared;
pub(crate) mod source;
mod stats;

use std::sync::Arc;

use trommel_store::Store;
use trommel_tool::{Registry, RegistryError};

use resume::Resumable;
use shared::Shared;

pub use extract::{Document, Shape};
pub use filters::{elements_query, is_document_dropped, longest_array};
pub use item::{Item, Rendering, kind_of};
pub use list::ListedOutput;
pub use mark::TruncationMark;
pub use page::PageTooSmall;
pub use read::{Character, Child, Content, Head, Position, ValuePage};
pub use search::{MatchRow, OutputSource};
pub use trommel_answer::size;

/// Registers the tools `tool_outputs.list`, `stats`, `extract`, `count`, `sample`, `read`,
/// `aggregate`, and `search`.
///
/// The tools share their caches of lengths, shapes, and compiled queries. The caches take at most
/// about 30 MiB.
///
/// # Errors
/// Returns an error if the registry already has a tool of one of these names.
pub fn register(registry: &Registry, store: &Arc<Store>) -> Result<(), RegistryError> {
    let shared = Arc::new(Shared::new(store));
    registry.register(list::List::new(&shared))?;
    registry.register(Resumable::new(stats::Stats::new(&shared), store))?;
    registry.register(Resumable::new(extract::Extract::new(&shared), store))?;
    registry.register(count::Count::new(&shared))?;
    registry.register(Resumable::new(sample::Sample::new(&shared), store))?;
    registry.register(Resumable::new(read::Read::new(&shared), store))?;
    registry.register(Resumable::new(aggregate::Aggregate::new(&shared), store))?;
    registry.register(Resumable::new(search::Search::new(&shared), store))
}
