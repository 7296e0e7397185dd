//! Panels and log lines: results, tools, errors, the registry, the history, and the context of
//! calls, as people read them in a terminal.
//!
//! Each display is a small type that borrows its subject. As a [`Show`] it becomes text, in a box
//! or plain; as a [`Serialize`](serde::Serialize) it becomes JSON, with values verbatim and times
//! in RFC 3339.
//!
//! A box never grows with its content: lines are wrapped, with a hanging indent. All text is made
//! [`safe`](trommel_base::text::safe) first, so that no payload, name, or message can control a
//! terminal or hide anything from a reader.
//!
//! ```
//! use serde_json::json;
//! use trommel_display::{DisplayOptions, Show, ToolDetails};
//! use trommel_tool::{Category, Metadata};
//!
//! let schema = json!({
//!     "type": "object",
//!     "properties": {
//!         "file_path": {"type": "string", "description": "Absolute path to the file to read"}
//!     },
//!     "required": ["file_path"]
//! });
//! let tool = Metadata::new("Read", "Read contents of a file", schema).category(Category::File);
//! let expected = "\
//! Tool: Read
//! Category: FILE
//!
//! Description:
//! Read contents of a file
//!
//! Parameters:
//!
//!   file_path (string) [required]
//!     Absolute path to the file to read
//! ";
//! assert_eq!(ToolDetails::new(&tool).text(&DisplayOptions::new().plain()), expected);
//! ```
//!
//! # Contents
//!
//! - [Should I use this crate?](#should-i-use-this-crate)
//! - [Panels](#panels)
//! - [Log lines](#log-lines)
//!
//! # Should I use this crate?
//!
//! Yes, in a host that runs the tools of `trommel-tool` and shows its calls to people. A crate that
//! only implements or calls tools does not need it.
//!
//! # Panels
//!
//! [`Outcome`] shows any execution. [`Problem`] shows a failed one, in the form that its error kind
//! asks for: [`ToolNotFound`], [`ValidationFailed`], or [`ExecutionFailed`]. [`ToolList`],
//! [`ToolDetails`], [`RegistryView`], [`History`], and [`ContextView`] show the state of a host. A
//! [`DisplayOptions`] sets the width, the box, and the time zone.
//!
//! # Log lines
//!
//! [`LogLines`] is a layer of `tracing-subscriber` that writes each event as one line, for example
//! those that an executor logs under the target [`LOG_TARGET`](trommel_tool::LOG_TARGET).

mod context;
mod figures;
mod history;
mod json;
mod log_lines;
mod options;
mod outcome;
mod panel;
mod problems;
mod registry;
mod tools;
mod validation;
mod wrap;

pub use context::ContextView;
pub use history::History;
pub use log_lines::LogLines;
pub use options::DisplayOptions;
pub use outcome::Outcome;
pub use panel::{Panel, Show};
pub use problems::{ExecutionFailed, Problem, ToolNotFound};
pub use registry::{RegistrationFailed, RegistryView};
pub use tools::{ToolDetails, ToolList};
pub use validation::ValidationFailed;
