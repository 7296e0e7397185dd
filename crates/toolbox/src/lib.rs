//! The concrete tools: `tool_outputs.*` over stored outputs, `buffer_ops` over buffers, `session`
//! over logs of agents' sessions, and what joins tools to the store.
//!
//! Whoever runs tools for a model takes this crate with `trommel-tool` (the contract),
//! `trommel-route` (where results go), `trommel-store` (the outputs) and `trommel-session` (the
//! logs): it fits them together. Whoever wants answers about JSON in a program of their own takes
//! the facade `trommel`, whose answers are not bounded for a reader of few words.
//!
//! # Contents
//!
//! | | |
//! | --- | --- |
//! | [`outputs::register`] | the six tools `tool_outputs.list`, `stats`, `extract`, `count`, `sample` and `read` |
//! | [`outputs::ValuePage`] | a page of one value, of a stored output or of a file |
//! | [`outputs::Document`] | writes the document of extracted values, of any length |
//! | [`outputs::Mark`] | stands in for a value that no page can hold |
//! | [`outputs::ListedOutput`] | a stored output, as `tool_outputs.list` lists it |
//! | [`buffers::register`] | the tool `buffer_ops` |
//! | [`buffers::answer`] | the same for programs: typed requests, answers, and errors |
//! | [`sessions::register`] | the tool `session` |
//! | [`Queries`] | what `query:` inputs of documents are: values of files and stored outputs |
//! | [`StoreShelf`] | keeps long results in a store, and gives the caller a preview and the next calls instead |
//! | [`StoreRecord`] | keeps executions in the store's history |
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use serde_json::json;
//! use trommel_route::Router;
//! use trommel_store::{Origin, Store, StoreOptions};
//! use trommel_tool::{Context, Executor, Registry};
//! use trommel_toolbox::{StoreRecord, StoreShelf, outputs};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let store = Arc::new(Store::open(folder.path().join("outputs"), StoreOptions::default())?);
//! let registry = Arc::new(Registry::new());
//! outputs::register(&registry, &store)?;
//! let executor = Executor::new(registry)
//!     .delivery(Arc::new(Router::default().shelf(Arc::new(StoreShelf::new(&store)))))
//!     .record(Arc::new(StoreRecord::new(&store)));
//!
//! let stored = store.put_from(Origin::of("web.fetch"), &br#"{"users": [{"name": "Ada"}, {"name": "Bob"}]}"#[..])?;
//! let arguments = json!({ "id": stored.id, "paths": ["$.users[*].name"] });
//! let execution = executor.call("tool_outputs.extract", arguments, &Context::new("."));
//! let answer = execution.result.output.ok_or("no answer")?;
//! assert_eq!(answer.as_str(), r#"{"extracted":{"$.users[*].name":["Ada","Bob"]}}"#);
//! # Ok(())
//! # }
//! ```
//!
//! # Answers
//!
//! - **Bounded.** The JSON text of an answer has at most `max_chars` characters. What does not fit
//!   is left out whole from the end, and `truncated` says why (`max_chars`, `limit`, `time`,
//!   `damage`), how much was returned, and in `next`, where there is more, how to go on: a cursor,
//!   for `list` the offset, for `count` the number of the first count left out. A value that no
//!   page can hold becomes a *mark*, `{"$truncated": true, "path", "kind", "bytes", "preview"}`;
//!   where even that has no room, it loses its preview, then its path, then the rest. An answer
//!   whose frame alone is too long for `max_chars` is refused with the number that would do.
//! - **Values are the bytes that stand in the output**, without insignificant white space: numbers
//!   to the last digit, members in their order, repeated ones too. What is handed out was checked
//!   to be JSON.
//! - **Cursors** are bound to the tool, the output's digest and the arguments by a hash, and hold
//!   no more than a position: nothing is kept between calls, and any process can go on with them.
//!   `max_chars` may change from page to page.
//! - **`read`** shows the children of a container from one on, each whole or a mark, and ends a cut
//!   array with `{"$more": N}`, a cut object with `"$more": N`, a cut string with `…`. A text ends
//!   with a line where there are lines, and then has no `…`. A stream of records is read as the
//!   array of its records, so that `$[7].name` is a field of the eighth; a mark in a stream has
//!   such a path.
//! - **Coverage** stands in the metadata of each result: bytes read and in all, validation, whether
//!   every figure is exact, whether all was read, and the duration. A random sample's `seed` does,
//!   too, when nobody gave one.
//! - **`where`** (in `extract`, `count`, `sample`, and `stats`) keeps the records for which all its
//!   filters hold, with `@` and `$` both the record. Cursors belong to it, and what is kept by
//!   digest is kept for its filters. In a single document, which is kept or dropped whole,
//!   `warning` names the path that filters the elements of its longest array.
//! - **Hints.** Where a path selects nothing, `warning` names the nearest path that selects
//!   something, a name inside a filter included, or the length of the array, or `where` for a
//!   filter that looks inside each record ([`trommel_hints`]). A pattern that is not an I-Regexp is
//!   always named. In `read` the error names the nearest path.
//!
//! # Errors
//!
//! A message names the tool, what was to be done, why it was not, and what to do next; `code` in
//! the metadata never changes. What a caller can mend is refused, and told apart from what failed.
//! An output that is no longer what was stored gives what stands before the damage (`extract`,
//! `read`; in a stream all other records), else the error with its place.
//!
//! # Limits and cost
//!
//! A call takes memory for its answer and the engine's own bounds, never for an output or a value
//! in it. `extract`, `count` and `stats` are one pass of the engine, `sample` is one pass that
//! remembers places and then reads what was drawn, `read` finds and counts once and from then on
//! reads pages. What was found out (lengths, figures, samples, outlines, compiled queries) is kept
//! by digest within some 30 MiB, and not read for again. A call stops within some milliseconds of
//! its flag; `extract` and `read`, once they have something to hand over, a tenth of their time (at
//! most two seconds) before the deadline.

pub mod buffers;
pub mod outputs;
mod preview;
mod queries;
mod record;
mod schema;
pub mod sessions;
mod shelf;
mod text;

pub use queries::Queries;
pub use record::StoreRecord;
pub use shelf::StoreShelf;
