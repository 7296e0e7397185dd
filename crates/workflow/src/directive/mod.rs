//! Directives: the lines at the top of a step that declare its inputs, its tools, and its targets.
//!
//! ```text
//! @input file: notes/* (output=variable:notes, write-mode=replace)
//! @tools web_search(output=variable:found), buffer_ops
//! @model none
//! @output file: reports/{today}
//! @write-mode new
//! @header Report
//! ```
//!
//! A directive is a line of `@`, a name, an optional colon, a space, and a value. Directives are at
//! the top of a step; blank lines may separate them, and the first other line ends them. A value
//! may be quoted with `'`, `"`, or `[[…]]`. Parentheses at the end of the line contain parameters,
//! and an unknown key in them is an error. Two kinds of names may end in parentheses: quoted names,
//! and names whose parentheses contain only a number, such as `note (1)`. A remark, ` # …`, may
//! follow parameters and quotes. Keys are case-insensitive, and `write-mode` is `write_mode`.

mod block;
mod error;
mod fault;
mod lines;
mod parameters;
mod piece;
pub(crate) mod stray;
mod tools;
mod value;
mod write;

pub use error::DirectiveError;
pub use fault::{Fault, ParameterHint};
pub use lines::{Directives, Input, Model, Output, Source};
pub use tools::{ToolSelection, ToolUse, Tools};

#[cfg(test)]
mod tests;
