//! The contract between tools and whoever calls them: what a tool says about itself, how a call is checked, run, delivered
//! and remembered, and how tools are told to models and shown to people.
//!
//! ```
//! use std::sync::Arc;
//!
//! use serde_json::json;
//! use trommel_tool::{Context, ErrorKind, Executor, Function, Metadata, Output, Registry};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = json!({
//!     "type": "object",
//!     "properties": {"text": {"type": "string"}, "times": {"type": "integer", "minimum": 1}},
//!     "required": ["text"],
//!     "additionalProperties": false
//! });
//! let registry = Registry::new();
//! registry.register(Function::new(Metadata::new("repeat", "Repeat a text", schema), |call| {
//!     let times = call.arguments.get("times").and_then(|times| times.as_u64()).unwrap_or(1);
//!     Ok(Output::text(call.arguments["text"].as_str().unwrap_or_default().repeat(times as usize)))
//! }))?;
//!
//! let executor = Executor::new(Arc::new(registry));
//! let context = Context::new("/home/me");
//! // A model wrote a number as a text.
//! let done = executor.call("repeat", json!({"text": "ho", "times": "3"}), &context);
//! assert_eq!(done.result.output, Some("hohoho".into()));
//! assert_eq!(done.result.metadata["healed"], json!([{"path": "times", "from": "3", "to": 3}]));
//!
//! // Everything that is wrong is told at once.
//! let error = executor.call("repeat", json!({"txt": "ho", "times": 0}), &context).result.error.unwrap_or_default();
//! assert_eq!(error.kind, ErrorKind::InvalidArguments);
//! assert_eq!(
//!     error.message,
//!     "Missing required parameter: text; Unknown parameter: txt; Value for times is below minimum: 1"
//! );
//! assert_eq!(error.faults[1].did_you_mean.as_deref(), Some("text"));
//! # Ok(())
//! # }
//! ```
//!
//! # Contents
//!
//! - [Should I use this crate?](#should-i-use-this-crate)
//! - [Terms](#terms)
//! - [Tools](#tools)
//! - [Calls](#calls)
//! - [Results, and where they go](#results-and-where-they-go)
//! - [What is healed](#what-is-healed)
//! - [Secrets, history, logs](#secrets-history-logs)
//! - [For models, and for people](#for-models-and-for-people)
//! - [Limits](#limits)
//! - [Errors](#errors)
//!
//! # Should I use this crate?
//!
//! Yes, to give tools to a model, whatever they do: it knows no concrete tool, no transport and no store. The tools that
//! question stored outputs are in `trommel-toolbox`, which implements [`Record`] with `trommel-store`; [`Delivery`] is implemented by
//! the router of `trommel-route`.
//!
//! # Terms
//!
//! A *tool* does something when it is called; its [`Metadata`] says what. A *call* is a tool's name with *arguments* and a
//! [`Context`]. What came of it is its *result*, and all of it together an *execution*. An output is *stored* or *delivered*
//! when it goes somewhere else than to the caller, who gets a *manifest* of it instead.
//!
//! # Tools
//!
//! A [`Tool`] is a type, or a [`Function`]. One whose work is a future is an [`AsyncTool`], wrapped in [`Async`]: its future is
//! driven on the thread of the call, and dropped when the call is to stop. The example `own_tool` registers one of either kind.
//!
//! ```
//! use trommel_tool::{Async, AsyncTool, Call, Context, Executor, Failure, Metadata, Output, Registry};
//!
//! struct Fetch(Metadata);
//!
//! impl AsyncTool for Fetch {
//!     fn metadata(&self) -> &Metadata {
//!         &self.0
//!     }
//!
//!     async fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
//!         let url = call.arguments["url"].as_str().unwrap_or_default().to_owned();
//!         let page = std::future::ready(format!("the page at {url}")).await;
//!         call.note("url", url);
//!         Ok(page.into())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let schema = serde_json::json!({"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]});
//! let registry = Registry::new();
//! registry.register(Async(Fetch(Metadata::new("fetch", "Fetch a page", schema))))?;
//! let executor = Executor::new(registry.into());
//! let done = executor.call("fetch", serde_json::json!({"url": "https://example.org"}), &Context::new("."));
//! assert_eq!(done.result.output, Some("the page at https://example.org".into()));
//! # Ok(())
//! # }
//! ```
//!
//! # Calls
//!
//! An [`Executor`] does, in this order: find the tool, by its name or an exported spelling; heal the arguments; validate them;
//! ask for approval where the tool needs it; for a dry run, let the tool tell what it would do; else run it under the context's
//! timeout; deliver its result; stamp the duration; record. A caller that wants to see it go on hears [`Event`]s. A call never
//! panics and never returns nothing: a tool's panic is a failed result, and what else the host gave may panic as well.
//!
//! Stopping is cooperative. A call's [`CancelFlag`] is raised at its deadline, or when the context's is; a tool that looks at it
//! stops within milliseconds, and one that does not is left behind after a grace.
//!
//! # Results, and where they go
//!
//! A tool returns its output, up to the context's `max_output_size`, or [streams](Call::writer) one of any length. What is
//! longer than the tool's [`ResultMode`] allows goes to the [`Delivery`], as it is written: no more of it is held than the
//! caller could have got. A delivery may also decide regardless of the length, with a [`Way`]. JSON values are bytes as they stand
//! ([`Output::Json`]); no number is rounded.
//!
//! # What is healed
//!
//! Models write numbers, booleans, arrays and objects as texts, and null for what they leave out. Where arguments do not
//! validate, and the validator wants another type in a place, a text there that spells such a value is replaced by it: a number
//! in JSON (unless it would be rounded), `true` or `false`, `null`, an array or an object; for an array also a one-element
//! array that holds such a text. An optional member that is null, and may not be, is taken away. Arguments as a whole may be a
//! JSON text, or null. Arguments that validate are never touched; what was healed stands in the result's metadata.
//!
//! # Secrets, history, logs
//!
//! [`Redaction`] blots secrets out, by the names they stand under and by their look, before anything is logged, remembered,
//! recorded, or told in an error or a manifest; the tool itself gets its arguments as they are. The newest executions are
//! remembered, without payloads, and kept beyond the process by a [`Record`]. Logs go through `tracing` under the target
//! [`LOG_TARGET`], arguments at level debug only; [`LogLines`] writes them as lines.
//!
//! # For models, and for people
//!
//! [`dialect`] tells tools to models as each provider wants it, under [`names`] that all of them take and within their
//! [`budget`]s. [`display`] shows results, tools, errors, the history and the context in boxes.
//!
//! # Limits
//!
//! Arguments and schemas have 128 levels at most. Schemas refer to nothing outside themselves; their patterns run in linear
//! time, but for those that look around, which give up after a million steps. Twenty faults are told one by one. A history
//! has [`HISTORY`] executions unless set otherwise, with texts of 1,000 characters and parameters of about 16,000 in all. A tool
//! that overflows its stack, or aborts, takes the process with it.
//!
//! # Errors
//!
//! A tool returns a [`Failure`]; a result has a [`ToolError`], whose [`ErrorKind`] tells a wrong request from failed work; adding
//! and taking away tools has a [`RegistryError`]. Each says what happened, where, and what to do next.

mod approval;
mod asynchronous;
pub mod budget;
mod call;
mod cancel;
mod context;
mod delivery;
pub mod dialect;
pub mod display;
mod error;
mod event;
mod executor;
mod failure;
mod fault;
mod function;
mod heal;
mod history;
mod log;
mod metadata;
pub mod names;
mod nesting;
mod output;
mod parameter;
mod record;
mod redact;
mod registry;
mod result;
mod schema;
mod spaced;
mod suggest;
mod tool;

pub use approval::{Approval, Decision};
pub use asynchronous::{Async, AsyncTool};
pub use call::{Call, Meter};
pub use cancel::CancelFlag;
pub use context::{Context, MAX_OUTPUT_SIZE, TIMEOUT};
pub use delivery::{About, Delivery, Finished, Limits, Manifest, PREVIEW_CHARS, Reason, Sink, Way};
pub use error::{ErrorKind, ToolError};
pub use event::Event;
pub use executor::{Executor, GRACE, HISTORY};
pub use failure::{Failure, FailureKind};
pub use fault::{Fault, FaultKind};
pub use function::Function;
pub use log::{LOG_TARGET, LogLines};
pub use metadata::{Category, Metadata, ResultMode};
pub use output::Output;
pub use parameter::ToolParameter;
pub use record::Record;
pub use redact::{REDACTED, Redaction};
pub use registry::{Registry, RegistryError, RegistryState};
pub use result::{Delivered, Status, ToolExecution, ToolResult};
pub use suggest::nearest;
pub use tool::{Permissions, Tool};
