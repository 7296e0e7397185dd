//! The concrete tools: `tool_outputs.*` over stored outputs, `buffer_ops` over buffers, and
//! `session` over the logs of agent sessions.
//!
//! The crate connects `trommel-tool` (the contract), `trommel-route` (the destinations of results),
//! `trommel-store` (the stored outputs), and `trommel-session` (the logs) for programs that run
//! tools for a model. To query JSON in other programs, use the facade `trommel`, whose answers are
//! not limited to the context of a model.
//!
//! # Contents
//!
//! | | |
//! | --- | --- |
//! | [`outputs::register`] | registers the tools `tool_outputs.list`, `stats`, `extract`, `count`, `sample`, `read`, `aggregate`, and `search` |
//! | [`outputs::ValuePage`] | a page of one value, from a stored output or a file |
//! | [`outputs::OutputSource`] | a stored output as an input of a search |
//! | [`outputs::Document`] | writes the document of extracted values, of any length |
//! | [`outputs::TruncationMark`] | replaces a value that is too large for a page |
//! | [`outputs::ListedOutput`] | a stored output as a row of `tool_outputs.list` |
//! | [`buffers::register`] | registers the tool `buffer_ops` |
//! | [`buffers::answer`] | the same for programs: typed requests, answers, and errors |
//! | [`sessions::register`] | registers the tool `session` |
//! | [`QueryInputs`] | resolves the `query:` inputs of documents to values of files and stored outputs |
//! | [`StoreOverflow`] | stores long results, and returns a preview and suggested calls in their place |
//! | [`manifest`] | the manifest that a caller gets in place of a stored result |
//! | [`StoreRecord`] | records executions in the store's history |
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
//! use trommel_toolbox::{StoreRecord, StoreOverflow, outputs};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let store = Arc::new(Store::open(folder.path().join("outputs"), StoreOptions::default())?);
//! let registry = Arc::new(Registry::new());
//! outputs::register(&registry, &store)?;
//! let executor = Executor::new(registry)
//!     .delivery(Arc::new(Router::default().overflow_store(Arc::new(StoreOverflow::new(&store)))))
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
//! - **Bounded.** The JSON text of an answer has at most `max_chars` characters. Units that do not
//!   fit are omitted whole from the end. `truncated` then has the reason (`max_chars`, `limit`,
//!   `time`, `damage`), the number of units returned, and in `next` the argument that continues: a
//!   cursor, for `list` the offset, for `count` the index of the first omitted count. A value that
//!   is too large for any page becomes a *mark*: `{"$truncated": true, "path", "kind", "bytes",
//!   "preview"}`. If the mark does not fit either, it loses its preview, then its path, then the
//!   rest. If not even one unit fits, the call is refused with the `max_chars` that would be
//!   enough.
//! - **Verbatim values.** A value has the bytes of the output, without insignificant white space:
//!   numbers keep every digit, and members keep their order and duplicates. Returned values were
//!   validated.
//! - **Cursors** contain only a position. A hash binds them to the tool, the arguments, and the
//!   digest of the output. The index of the store keeps the arguments of the newest 10,000
//!   cursors, so that a cursor works with `id` alone; a cursor that it no longer knows works with
//!   its arguments repeated. `max_chars` and `limit` may change from page to page.
//! - **`read`** shows the children of a container, each of them whole or as a mark. A cut array
//!   ends with `{"$more": N}`, a cut object with `"$more": N`, and a cut string with `…`. A text
//!   with lines ends at a line break instead. A stream of records is read as the array of its
//!   records, so `$[7].name` is a field of the eighth record, and so is `record` 7 with the path
//!   `$.name`. Marks in a stream have such paths. Lines of a text are chosen by their numbers, from
//!   the end, or by an offset. A line index finds them without reading the text.
//! - **`search`** finds lines of a text, or string values of JSON with their paths and records.
//!   Each page continues after the last match of the one before.
//! - **Coverage** is in the metadata of each result: the bytes read and their total, the kind of
//!   validation, whether all figures are exact, whether the whole output was read, and the
//!   duration. The metadata also has the `seed` of a random sample, if the call had none.
//! - **`where`** (in `extract`, `count`, `sample`, `stats`, and `aggregate`) keeps the records for
//!   which all of its filters hold. Both `@` and `$` are the record. Cursors and cache entries are
//!   bound to the filters. A single document is kept or dropped whole; if it is dropped, `warning`
//!   has the path that filters the elements of its longest array.
//! - **`each`** (in `aggregate`) makes the nodes of a path the records, and `$` is then that node.
//! - **`stats`** lists containers by default. With `include_fields`, `fields` has every path: its
//!   types, the number of its values, and the number of objects without it. The members of maps
//!   share the path `.*` ([`trommel::statistics`]).
//! - **Hints.** If a path selects nothing, `warning` suggests the nearest path that selects
//!   something, the length of the array, or `where` for a filter on records ([`trommel_hints`]).
//!   Suggestions include names inside filters. A pattern that is not an I-Regexp is always
//!   reported. In `read`, the error has the nearest path.
//!
//! # Errors
//!
//! A message names the tool, the action that failed, the reason, and what to do next. The `code` in
//! the metadata never changes. Invalid requests are *refused*, which distinguishes them from
//! failures of valid ones. If the payload is damaged, `extract` and `read` return the values before
//! the damage, and in a stream all other records. The other tools report an error with its
//! location.
//!
//! # Limits and cost
//!
//! Memory is bounded by the answer and the engine's own limits, never by the size of an output or
//! of a value in it. `extract`, `count`, and `stats` take one pass. `sample` draws in one pass that
//! records spans, and then reads the drawn items. `read` locates its value in one pass; later pages
//! start at the cursor. Lengths, figures, samples, outlines, and compiled queries are cached by
//! digest, within about 30 MiB.
//!
//! A call stops within milliseconds of its cancellation. Once `extract` and `read` have something
//! to return, they stop a tenth of their time before the deadline, or two seconds before if that is
//! less.

pub mod buffers;
pub mod outputs;
mod overflow;
mod preview;
mod queries;
mod record;
mod schema;
pub mod sessions;
mod text;

pub use overflow::{StoreOverflow, manifest};
pub use queries::QueryInputs;
pub use record::StoreRecord;
