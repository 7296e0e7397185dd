//! Documents whose steps are run: inputs, tools, a model, outputs.
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
//! let places = Destinations::new(Arc::new(Buffers::new())).files(Arc::new(Files::open(root)?));
//! let document = Document::parse(
//!     "## Search\n@tools web_search(output=variable:found)\n@output file:answer\n\nWhat is new?\n",
//! )?;
//! let executor = Executor::new(Arc::new(registry));
//! let runner = Runner::new(executor, places.clone()).model(Arc::new(Searcher));
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
//! let (info, _) = places.buffers().find("found", None)?;
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
//! - [What is promised when things go wrong](#what-is-promised-when-things-go-wrong)
//! - [Choices](#choices)
//! - [Limits](#limits)
//! - [Errors](#errors)
//!
//! # Should I use this crate?
//!
//! Yes, to run Markdown documents whose steps read files and variables, call tools, and ask a
//! model. The destinations of their contents are those of `trommel-route`; take that crate alone to
//! route the results of tools without documents.
//!
//! # Terms
//!
//! A *directive* is a line of a document that begins with `@`; a *step* is the text under a
//! heading, with the directives at its top. *Targets*, *variables*, *manifests* and *notices* are
//! those of `trommel-route`.
//!
//! # Directives
//!
//! [`Directives`] are the lines at the top of a step: `@input`, `@tools`, `@output`, `@model`,
//! `@write-mode`, `@header`. An [error](DirectiveError) has its place in the line, and says what to
//! write instead.
//!
//! ```text
//! @input file: notes/* (output=variable:notes)         every note, into a variable
//! @input variable: notes (head=500)                    its first characters, into the prompt
//! @input file: inbox/{pending:5} (refs-only)           the names of files that no run has had yet
//! @tools web_search(output=variable:found), buffer_ops
//! @model none                                          no model is asked
//! @output file: reports/{today}
//! ```
//!
//! Parentheses at the end of a line are parameters; what is not understood in them or after them is
//! an error, and never part of a name. Lines that look like directives but are read as text are
//! [warnings](Document::warnings) of the document.
//!
//! Sources are `file:` (with `*`, `?` and `[…]` in the last part of the path), `variable:`, and
//! `url:` and `query:` through what the host gives to [fetch](Fetch) them. Parameters of an
//! `@input`: `output`, `write-mode`, `scope` (of the variable that is written, else of the one that
//! is read), `required`, `refs-only`, `properties` (of the frontmatter, all or some), `head=N`;
//! where several are there, `refs-only` comes before `properties`, and that before `head`.
//!
//! # Documents
//!
//! A [`Document`] has frontmatter and steps, `## NAME`; a section named for its "instructions"
//! stands before each prompt. A [`Runner`] checks all steps first, and then runs them: inputs in
//! their order, then the [`Model`], with the step's tools, then outputs. With `@model none` no
//! model is asked, and the prompt takes the answer's place for `@output`. A step that has tools, or
//! routes inputs to variables, also gets `buffer_ops` where the host has it, and `tool_outputs.*`
//! where results may go to a shelf; `@tools none` has none. What a step names decides what its
//! tools may change ([`Permissions`](trommel_tool::Permissions)): a tool that it does not name only
//! answers, replacing files takes `(write-mode=replace)`, and `all` does not include changes of
//! agents' sessions unless the host [approves](Runner::approve). [`Runner::dry_run`] says what
//! would happen. With the feature `endpoint`, `Endpoint` is a model behind an `OpenAI`-compatible
//! address.
//!
//! In a prompt, notices and names stand first, then contents between marks that do not stand in
//! them, then the document's words.
//!
//! # What is promised when things go wrong
//!
//! A step that fails leaves its outputs as they were: an empty answer is a failure, and so is a
//! missing input that would empty its destination. [`RunError`] has the completed steps, and what
//! the failed one had done.
//!
//! # Choices
//!
//! Where the formats that exist differ or are silent: `variable:` of an input is looked for in the
//! run first, then in the session. A missing file is not an error unless it is `required`, or
//! `write-mode=replace` would empty its destination; the prompt says that it is missing, and the
//! report has a warning. A name that ends in parentheses must be quoted, but for a number, as in
//! `note (1)`. With `new`, several files of one input have a destination each, under the title `---
//! FILE: PATH ---`; otherwise they are joined with a blank line. `context` as an `@output` is
//! `inline`: it belongs to what a context document makes. A rule holds for tools that bound
//! themselves as well. `@run_on`, `@cache`, `@recent_runs` and `@recent_summaries` are refused by
//! name, as there is neither a schedule nor a chat here.
//!
//! # Limits
//!
//! | what | how much | beyond |
//! |---|---|---|
//! | contents, names and notices of inputs in a prompt | [1,000,000 characters](PROMPT_CHARS) | refused, with what to do |
//! | a line of directives; `@tools` | 4,096 characters; 64 KiB | refused |
//! | a document | [16 MiB](DOCUMENT_BYTES) | refused |
//! | rounds of tool calls before an answer | [50](ROUNDS) | the step fails |
//!
//! # Errors
//!
//! [`DirectiveError`] and [`RunError`] have their place in the document. [`RunError::kind`] is for
//! programs.

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
    Asked, DirectiveError, Directives, Fault, Input, Model as ModelChoice, Near, Output as OutputDirective,
    Source, ToolUse, Tools,
};
pub use document::{DOCUMENT_BYTES, Document, Step};
#[cfg(feature = "endpoint")]
pub use endpoint::Endpoint;
pub use error::{Error, ErrorKind, Missing};
pub use model::{Fetch, Message, Model, Reply, Request, ToolCall};
pub use report::{CallReport, Progress, Report, RunError, StepReport};
pub use runner::{ROUNDS, Runner};
pub use steps::{PROMPT_CHARS, Plan, StepPlan};
