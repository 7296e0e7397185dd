//! Runs Markdown documents whose steps have inputs, tools, a model, and outputs.
//!
//! ```
//! use std::sync::Arc;
//!
//! use serde_json::json;
//! use trommel_route::{Buffers, Destinations, Files, notice};
//! use trommel_tool::{Executor, Failure, Function, Metadata, Output, Registry};
//! use trommel_workflow::{Document, Model, Reply, Request, Runner};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! /// A model that searches first, and then answers.
//! struct Searcher;
//!
//! impl Model for Searcher {
//!     fn answer(&self, request: &Request<'_>) -> Result<Reply, Failure> {
//!         Ok(match request.messages.len() {
//!             1 => Reply::default().call("1", "web_search", json!({})),
//!             _ => Reply::text("It is all in the variable."),
//!         })
//!     }
//! }
//!
//! let registry = Registry::new();
//! let search = Metadata::new("web_search", "Searches the web", serde_json::Value::Null);
//! registry.register(Function::new(search, |_| Ok(Output::text("a long page"))))?;
//!
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path();
//! let files = Arc::new(Files::open(root)?);
//! let destinations = Destinations::new(Arc::new(Buffers::new())).files(files);
//! let document = Document::parse(
//!     "## Search\n@tools web_search(output=variable:found)\n@output file:answer\n\nWhat is new?\n",
//! )?;
//! let executor = Executor::new(Arc::new(registry));
//! let runner = Runner::new(executor, destinations.clone()).model(Arc::new(Searcher));
//! let report = runner.run(&document, &mut |_| {})?;
//!
//! let notices: Vec<String> = report.steps[0].manifests.iter().map(notice).collect();
//! assert_eq!(
//!     notices,
//!     [
//!         "[output routed] web_search -> variable:found (total 11 chars)",
//!         "[output routed] model -> file:answer.md (total 26 chars)",
//!     ]
//! );
//! let (info, _) = destinations.buffers().find("found", None)?;
//! assert_eq!((info.chars, info.source.as_str()), (11, "web_search"));
//! # Ok(())
//! # }
//! ```
//!
//! # Contents
//!
//! - [Should I use this crate?](#should-i-use-this-crate)
//! - [Terms](#terms)
//! - [Directives](#directives)
//! - [Documents](#documents)
//! - [Guarantees](#guarantees)
//! - [Choices](#choices)
//! - [Limits](#limits)
//! - [Errors](#errors)
//!
//! # Should I use this crate?
//!
//! Yes, to run Markdown documents whose steps read files and variables, call tools, and query a
//! model. `trommel-route` writes inputs, results, and answers to their destinations. To route the
//! results of tools without documents, use that crate alone.
//!
//! # Terms
//!
//! A *step* is a section of a document: a heading, directives, and a text for the model. A
//! *directive* is a line at the top of a step that begins with `@`. The *host* is the program that
//! uses this crate. An *agent's session* is the log of a conversation with an AI agent.
//! `trommel-route` defines *targets*, *variables*, *manifests*, and *notices*.
//!
//! # Directives
//!
//! [`Directives`] contains the directives of a step: `@input`, `@tools`, `@output`, `@model`,
//! `@write-mode`, and `@header`. A [`DirectiveError`] has the position of the fault in the line,
//! and suggests a correction.
//!
//! ```text
//! @input file: notes/* (output=variable:notes)         read all notes into a variable
//! @input variable: notes (head=500)                    add its start to the prompt
//! @input file: inbox/{pending:5} (refs-only)           add only names of new files
//! @tools web_search(output=variable:found), buffer_ops
//! @model none                                          do not call a model
//! @output file: reports/{today}
//! ```
//!
//! Parentheses at the end of a line contain parameters. An unknown parameter, or text after the
//! parentheses, is an error; it never becomes part of a name. A line that looks like a directive
//! but is read as text causes a [warning](Document::warnings).
//!
//! The sources of an `@input` are:
//!
//! - `file:`, with the wildcards `*`, `?`, and `[…]` in the last part of the path;
//! - `variable:`;
//! - `url:` and `query:`, if the host sets a [fetcher](Fetch) for them.
//!
//! The parameters of an `@input` are:
//!
//! - `output`: the destination, instead of the prompt;
//! - `write-mode`: append to the existing content of the destination, replace it, or write to a new
//!   destination;
//! - `scope`: the scope of the destination variable, or, without `output=variable:`, of the source
//!   variable;
//! - `required`: fail if there is nothing to read;
//! - `refs-only`: read only names;
//! - `properties`: read only the frontmatter, or only the listed keys of it;
//! - `head=N`: read only the first `N` characters.
//!
//! `refs-only` overrides `properties`, and both override `head`.
//!
//! # Documents
//!
//! A [`Document`] consists of frontmatter and sections. Each heading `## NAME` begins a section. If
//! the name contains "instructions", the text of the section is prepended to the text of every
//! step. Every other section is a step.
//!
//! A [`Runner`] checks all steps before it runs the first one. A step then runs in three stages:
//!
//! 1. The runner reads the inputs, in the order of their lines.
//! 2. The [`Model`] answers the prompt, and may call the step's tools first. With `@model none`,
//!    the prompt itself is the answer.
//! 3. The runner writes the answer to the step's outputs.
//!
//! A prompt has four parts, in this order: the notices of routed inputs, the names of inputs that
//! are missing or `refs-only`, the contents of the other inputs, and the document's own text. The
//! contents are enclosed in marks that do not occur in them.
//!
//! The runner adds registered tools to a step that has tools, or that routes inputs to variables:
//!
//! - `buffer_ops`, with which the model reads routed content;
//! - `tool_outputs.*`, if the host sets an [overflow store](Runner::overflow_store) and a tool of
//!   the step can return long results.
//!
//! `@tools none` prevents both.
//!
//! The `@tools` lines determine the [`Permissions`](trommel_tool::Permissions) of each tool:
//!
//! - A tool that the runner added can only read.
//! - A tool can replace files only if the step names it with `(write-mode=replace)`.
//! - `@tools all` permits neither changes to agents' sessions nor calls of other servers' tools
//!   that may change something, unless the host [approves](Runner::approve) them.
//!
//! [`Runner::dry_run`] describes a run without performing it. With the feature `endpoint`,
//! `Endpoint` is a [`Model`] that calls a server with an `OpenAI`-compatible API.
//!
//! # Guarantees
//!
//! If a step fails before its answer is complete, the destinations of its `@output` lines are
//! unchanged. An empty answer is an error. A missing input is an error if `write-mode=replace`
//! would empty its destination. [`RunError`] contains the reports of the completed steps, and a
//! partial report of the failed one.
//!
//! # Choices
//!
//! Other programs that run such documents differ in these points, or do not define them. This crate
//! behaves as follows:
//!
//! - A `variable:` without `scope` is looked up among the variables of the run first, then among
//!   those of the session.
//! - A missing file is an error only if it is `required`, or if `write-mode=replace` would empty
//!   its destination. Otherwise, the report has a warning, and the prompt says that the file is
//!   missing.
//! - A name that ends in parentheses must be quoted, except if they contain only a number, as in
//!   `note (1)`.
//! - If an input with `write-mode=new` matches several files, each is written to its own
//!   destination, below a title line `--- FILE: PATH ---`. In other modes, all files are written to
//!   one destination, separated by blank lines.
//! - `@output context` means `inline`: the answer is added to [`Report::context`].
//! - The `output` parameter of a tool routes every result, even of a tool that limits the size of
//!   its own results.
//! - `@run_on`, `@cache`, `@recent_runs`, and `@recent_summaries` are errors, because this crate
//!   has neither schedules nor chats.
//!
//! # Limits
//!
//! | item | limit | beyond the limit |
//! |---|---|---|
//! | contents, names, and notices of inputs in a prompt | [1,000,000 characters](MAX_PROMPT_CHARS) | the step fails; the error suggests a route |
//! | the value of a directive; of `@tools` | 4,096 characters; 64 KiB | the document is refused |
//! | a document | [16 MiB](MAX_DOCUMENT_BYTES) | it is refused |
//! | rounds of tool calls before an answer | [50](DEFAULT_ROUNDS) | the step fails |
//!
//! # Errors
//!
//! [`DirectiveError`] and [`RunError`] contain their position in the document. Programs can
//! distinguish errors by [`RunError::kind`].

mod directive;
mod document;
#[cfg(feature = "endpoint")]
mod endpoint;
mod error;
mod model;
mod report;
mod runner;
mod steps;

pub use directive::{
    DirectiveError, Directives, Fault, Input, Model as ModelChoice, Output as OutputDirective, ParameterHint,
    Source, ToolSelection, ToolUse, Tools,
};
pub use document::{Document, MAX_DOCUMENT_BYTES, Step};
#[cfg(feature = "endpoint")]
pub use endpoint::Endpoint;
pub use error::{Error, ErrorKind, Missing};
pub use model::{Fetch, Message, Model, Reply, Request, ToolCall};
pub use report::{CallReport, Progress, Report, RunError, StepReport};
pub use runner::{DEFAULT_ROUNDS, Runner};
pub use steps::{MAX_PROMPT_CHARS, Plan, StepPlan};
