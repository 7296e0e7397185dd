//! The contract between tools and their callers: how a tool describes itself, how its calls are
//! checked, run, delivered, and recorded, and how tools are exported to models.
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
//! // A model wrote a number as a string.
//! let done = executor.call("repeat", json!({"text": "ho", "times": "3"}), &context);
//! assert_eq!(done.result.output, Some("hohoho".into()));
//! assert_eq!(done.result.metadata["healed"], json!([{"path": "times", "from": "3", "to": 3}]));
//!
//! // All faults are reported at once.
//! let result = executor.call("repeat", json!({"txt": "ho", "times": 0}), &context).result;
//! let error = result.error.unwrap_or_default();
//! assert_eq!(error.kind, ErrorKind::InvalidArguments);
//! assert_eq!(
//!     error.message,
//!     "Missing required parameter: text; Unknown parameter: txt; \
//!      Value for times is below minimum: 1"
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
//! - [Healing](#healing)
//! - [Secrets, history, logs](#secrets-history-logs)
//! - [Exports to models](#exports-to-models)
//! - [Limits](#limits)
//! - [Errors](#errors)
//!
//! # Should I use this crate?
//!
//! Yes, to give tools of any kind to a model: it knows no concrete tool, no transport, and no
//! store. The tools that query stored outputs are in `trommel-toolbox`, which implements [`Record`]
//! with `trommel-store`; the router of `trommel-route` implements [`Delivery`]. `trommel-display`
//! shows calls and tools to people.
//!
//! # Terms
//!
//! A *tool* does something when it is called; its [`Metadata`] describes it. A *call* is a tool's
//! name with *arguments* and a [`Context`]. It has a *result*, and all of it together is an
//! *execution*. An output is *stored* or *delivered* when it goes elsewhere than to the caller, who
//! gets a *manifest* of it instead.
//!
//! # Tools
//!
//! A [`Tool`] is a type, or a [`Function`]. An asynchronous one is an [`AsyncTool`], wrapped in
//! [`Async`]: its future is driven on the thread of the call, and dropped when the call is
//! cancelled. The example `own_tool` registers one of either kind.
//!
//! ```
//! use serde_json::json;
//! use trommel_tool::{
//!     Async, AsyncTool, Call, Context, Executor, Failure, Metadata, Output, Registry,
//! };
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
//! # let schema = json!({"type": "object", "properties": {"url": {"type": "string"}}});
//! let registry = Registry::new();
//! registry.register(Async(Fetch(Metadata::new("fetch", "Fetch a page", schema))))?;
//! let executor = Executor::new(registry.into());
//! let done = executor.call("fetch", json!({"url": "https://example.org"}), &Context::new("."));
//! assert_eq!(done.result.output, Some("the page at https://example.org".into()));
//! # Ok(())
//! # }
//! ```
//!
//! # Calls
//!
//! An [`Executor`] finds the tool by its name or exported spelling, heals the arguments, validates
//! them, and asks for approval if the tool needs it. It lets the tool describe a dry run, or else
//! runs it under the context's timeout. Then it delivers the result, stamps the duration, and
//! records the execution. A caller can listen to [`Event`]s. A call always returns a result and
//! never panics: a panic of the tool is a failed result, and the parts of the host may panic as
//! well.
//!
//! Stopping is cooperative. A call's [`Cancel`] token is cancelled at its deadline, or with the
//! context's token. A tool that checks it stops within milliseconds; one that does not is left
//! running after a grace.
//!
//! # Results, and where they go
//!
//! A tool returns its output, up to the context's `max_output_size`, or [streams](Call::writer) one
//! of any length. A result that is longer than the tool's [`ResultMode`] allows goes to the
//! [`Delivery`] while it is written: no more of it is held in memory than the caller could get. A
//! delivery may also decide regardless of the length, with a [`DeliveryMode`]. JSON values stay
//! verbatim ([`Output::Json`]); no number is rounded.
//!
//! # Healing
//!
//! Models write numbers, booleans, arrays, and objects as strings, and null for what they omit. If
//! arguments are invalid, and the validator wants another type at a place, a string there that
//! spells such a value is replaced by it: a number in JSON (unless it would be rounded), `true` or
//! `false`, `null`, an array or an object; for an array also a one-element array with such a
//! string. An optional member that is null, and may not be, is removed. The arguments as a whole
//! may be a JSON text, or null. Valid arguments are never changed; the result's metadata reports
//! each change.
//!
//! # Secrets, history, logs
//!
//! [`Redaction`] redacts secrets, by their names and their form, before anything is logged,
//! remembered, recorded, or shown in an error or a manifest; the tool itself gets its arguments
//! unchanged. The newest executions are remembered, without payloads; a [`Record`] keeps them
//! beyond the process. Logs go through `tracing` under the target [`LOG_TARGET`], arguments only at
//! level debug.
//!
//! # Exports to models
//!
//! A [`dialect`] describes tools as a provider wants them, under [`names`] that all providers
//! accept, and within their [`budget`]s.
//!
//! # Limits
//!
//! Arguments and schemas have at most 128 levels. Schemas refer to nothing outside themselves;
//! their patterns run in linear time, except those with look-around, which give up after a million
//! steps. At most twenty faults are listed. A history has [`HISTORY`] executions unless set
//! otherwise, with strings of 1,000 characters and parameters of about 16,000 in all. A tool that
//! overflows its stack, or aborts, ends the process.
//!
//! # Errors
//!
//! A tool returns a [`Failure`]; a result has a [`ToolError`], whose [`ErrorKind`] separates
//! invalid requests from failed work; a [`Registry`] has a [`RegistryError`]. Each states the
//! fault, its place, and the next step.

mod arguments;
mod contract;
mod executor;
mod export;
pub mod names;
mod nesting;
mod redact;
mod registry;
mod text;

pub use arguments::schema::SchemaError;
pub use contract::asynchronous::{Async, AsyncTool};
pub use contract::call::{Call, ProgressHandle};
pub use contract::context::{Context, MAX_OUTPUT_SIZE, TIMEOUT};
pub use contract::delivery::{
    About, Delivery, DeliveryMode, Finished, Limits, Manifest, PREVIEW_CHARS, Reason, Sink,
};
pub use contract::error::{ErrorKind, ToolError};
pub use contract::failure::{Failure, FailureKind};
pub use contract::fault::{Fault, FaultKind};
pub use contract::function::Function;
pub use contract::host::{Approval, Decision, Event, Record};
pub use contract::metadata::{Category, Effects, Metadata, ResultMode};
pub use contract::output::Output;
pub use contract::parameter::ToolParameter;
pub use contract::result::{Delivered, Status, ToolExecution, ToolResult};
pub use contract::tool::{Permissions, Tool};
pub use executor::log::LOG_TARGET;
pub use executor::{Executor, GRACE, HISTORY};
pub use export::{budget, dialect};
pub use redact::{REDACTED, Redaction};
pub use registry::{Registry, RegistryError, RegistryState};
pub use text::one_line_json;
pub use trommel_base::{Cancel, Progress};
