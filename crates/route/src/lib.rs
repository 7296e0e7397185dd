//! Where contents go: the results of tools, what a document reads, what a model answers.
//!
//! ```
//! use std::sync::Arc;
//!
//! use serde_json::json;
//! use trommel_route::{Buffers, Destinations, Document, Files, Manifest, Reply, Runner, notice};
//! use trommel_route::{Model, Request};
//! use trommel_tool::{Executor, Failure, Function, Metadata, Output, Registry};
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
//! let document = Document::parse("## Search\n@tools web_search(output=variable:found)\n@output file:answer\n\nWhat is new?\n")?;
//! let runner = Runner::new(Executor::new(Arc::new(registry)), places.clone()).model(Arc::new(Searcher));
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
//! - [Destinations](#destinations)
//! - [Directives](#directives)
//! - [Results of tools](#results-of-tools)
//! - [Documents](#documents)
//! - [Buffers](#buffers)
//! - [Files](#files)
//! - [What is promised when things go wrong](#what-is-promised-when-things-go-wrong)
//! - [Choices](#choices)
//! - [Limits and cost](#limits-and-cost)
//! - [Errors](#errors)
//!
//! # Should I use this crate?
//!
//! Yes, to send what tools return somewhere else than into a model's context, by rules or by the model's own choice, and to run
//! documents whose steps do so. It knows no store and no concrete tool: `trommel-toolbox` has the tool `buffer_ops`, and the store as
//! a [`Shelf`].
//!
//! # Terms
//!
//! A *content* goes from a *source* to a *target*, on a [`Route`]. What stands in its place is a [`Manifest`], and in words a
//! [`notice`]; [`plain_notice`] has the words of other programs. A *variable* is the name of a *buffer*, in the *scope* of the run or of the session. A *directive* is a line of a
//! document that begins with `@`; a *step* is what stands under a heading.
//!
//! # Destinations
//!
//! | target | what becomes of the content |
//! | --- | --- |
//! | `inline` | it goes where it would have gone anyway: into the prompt, or to the caller |
//! | `variable:NAME` | into a buffer |
//! | `file:PATH` | into a file below the root; a name without an extension gets that of Markdown |
//! | `discard` | nothing is kept of it |
//!
//! [`WriteMode`] says how: `append` (the default) adds it to the existing content, `replace` replaces that, `new` writes under a new
//! name with a free number, from `_000` on. In a buffer, what is appended follows without a separator; in a file, it begins on a line
//! of its own, and its last line is ended. Names may hold [patterns](Pattern) such as `{today}`. Every source goes to every
//! destination, also to itself, as a stream: what is on its way is in memory up to 256 KiB, and beyond that in a file
//! without a name.
//!
//! # Directives
//!
//! [`Directives`] are the lines at the top of a step: `@input`, `@tools`, `@output`, `@model`, `@write-mode`, `@header`. An
//! [error](DirectiveError) has its place in the line, and says what to write instead.
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
//! Parentheses at the end of a line are parameters; what is not understood in them or after them is an error, and never part of a
//! name. Lines that look like directives but are read as text are [warnings](Document::warnings) of the document.
//!
//! Sources are `file:` (with `*`, `?` and `[…]` in the last part of the path), `variable:`, and `url:` and `query:` through what the
//! host gives to [fetch](Fetch) them. Parameters of an `@input`: `output`, `write-mode`, `scope` (of the variable that is written, else
//! of the one that is read), `required`, `refs-only`, `properties` (of the frontmatter, all or some), `head=N`; where several are
//! there, `refs-only` comes before `properties`, and that before `head`.
//!
//! # Results of tools
//!
//! [`Router`] is the executor's `Delivery`. In this order: the rule of a directive, which is hard, so that `inline` is inline whatever the
//! length; the caller's own choice, for tools that are [`Choosing`]; the length, beyond which a result goes to the
//! [`Shelf`] or to a new buffer; inline. The caller and the events get the manifest and never the payload.
//!
//! # Documents
//!
//! A [`Document`] has frontmatter and steps, `## NAME`; a section named for its "instructions" stands before each prompt. A
//! [`Runner`] checks all steps first, and then runs them: inputs in their order, then the [`Model`], with the step's tools, then
//! outputs. With `@model none` no model is asked, and the prompt takes the answer's place for `@output`. A step that has tools, or
//! routes inputs to variables, also gets `buffer_ops` where the host has it, and `tool_outputs.*` where results may go to a shelf;
//! `@tools none` has none. What a step names decides what its tools may change ([`Permissions`](trommel_tool::Permissions)): a tool
//! that it does not name only answers, replacing files takes `(write-mode=replace)`, and `all` does not include changes of agents'
//! sessions unless the host [approves](Runner::approve). [`Runner::dry_run`] says what would happen. With the feature `endpoint`,
//! `Endpoint` is a model behind an `OpenAI`-compatible address.
//!
//! In a prompt, notices and names stand first, then contents between marks that do not stand in them, then the document's words.
//!
//! # Buffers
//!
//! [`Buffers`] are looked at with [`look`]: peeks, ranges of lines or characters, searches, on a line of any length. Those of a
//! run are in memory while they are short. Those of a session lie in its folder: a description, which says how much of the content
//! counts, the content, and a lock. What is read is what was there when reading began.
//!
//! # Files
//!
//! [`Files`] are resolved beneath the opened root by the system. Links that stay inside are followed; links, `..`, pipes, devices and
//! folders that are exchanged meanwhile lead nowhere else. New files have the mode 0600 and folders 0700; what is replaced keeps its mode.
//!
//! # What is promised when things go wrong
//!
//! - A buffer of a session, and a file that is replaced, is there as it was before or as it is after, whenever the process ends.
//! - What is appended to a file is written in one piece while its folder is locked, and taken back when that fails. A
//!   process that is ended in the middle of a long piece leaves its beginning, behind all that was there.
//! - Writers of the same file or buffer wait for each other, up to a minute; nothing is lost, and no number is taken twice.
//! - A step that fails leaves its outputs as they were: an empty answer is a failure, and so is a missing input that would empty its
//!   destination. [`RunError`] has the completed steps, and what the failed one had done.
//!
//! # Choices
//!
//! Where the formats that exist differ or are silent: `variable:` of an input is looked for in the run first, then in the session. A
//! missing file is not an error unless it is `required`, or `write-mode=replace` would empty its destination; the prompt says that it
//! is missing, and the report has a warning. A name that ends in parentheses must be quoted, but for a number, as in `note (1)`. With `new`, several files of one
//! input have a destination each, under the title `--- FILE: PATH ---`; otherwise they are joined with a blank line. `context` as an
//! `@output` is `inline`: it belongs to what a context document makes. A rule holds for tools that bound themselves as well.
//! `@run_on`, `@cache`, `@recent_runs` and `@recent_summaries` are refused by name, as there is neither a schedule nor a chat here.
//!
//! # Limits and cost
//!
//! | what | how much | beyond |
//! |---|---|---|
//! | contents, names and notices of inputs in a prompt | [1,000,000 characters](PROMPT_CHARS) | refused, with what to do |
//! | a line of directives; `@tools` | 4,096 characters; 64 KiB | refused |
//! | a document | [16 MiB](DOCUMENT_BYTES) | refused |
//! | a variable's name; a path | [128 characters](NAME_CHARS); 1,024 bytes | refused |
//! | files of one input; to choose `{latest}` and `{pending}` from | 100,000; any number | refused |
//! | rounds of tool calls before an answer | [50](ROUNDS) | the step fails |
//! | a peek, a reading, a search | 2,000; 8,000 characters; 100 hits of 300 | refused, or goes on |
//!
//! Routing takes about 1 MiB of memory whatever the length of a content. To look at a place takes time in proportion to what is before
//! it, unless all characters are of one byte and it is asked for by offset.
//!
//! # Errors
//!
//! [`Error`] has a kind for programs and a sentence for people; [`DirectiveError`] and [`RunError`] have their place in the document as
//! well. Unix; Linux is tested.

mod buffers;
mod destinations;
mod directive;
mod disk;
mod document;
#[cfg(feature = "endpoint")]
mod endpoint;
mod error;
mod fetch;
mod files;
pub mod look;
mod mode;
mod model;
mod near;
mod notice;
mod pattern;
mod router;
mod spool;
mod steps;
mod target;
#[cfg(test)]
mod tests;

pub use buffers::{BufferInfo, Buffers, Content, Listed, Reader};
pub use destinations::{Destinations, Origin, Parcel};
pub use directive::{
    Asked, DirectiveError, Directives, Input, Model as ModelChoice, Output as OutputDirective, Source,
    ToolUse, Tools,
};
pub use document::{DOCUMENT_BYTES, Document, Step};
#[cfg(feature = "endpoint")]
pub use endpoint::Endpoint;
pub use error::{Error, ErrorKind, Result};
pub use fetch::Fetch;
pub use files::Files;
pub use mode::{Scope, WriteMode};
pub use model::{Message, Model, Reply, Request, ToolCall};
pub use notice::{full_notice, notice, plain_notice};
pub use pattern::{Files as FilePattern, Now, Pattern};
pub use router::{Choosing, Router, Shelf};
pub use steps::{
    CallReport, PROMPT_CHARS, Plan, Progress, ROUNDS, Report, RunError, Runner, StepPlan, StepReport,
};
pub use target::{NAME_CHARS, Route, Target};

pub use trommel_tool::Manifest;
