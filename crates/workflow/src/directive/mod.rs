//! Directives: the lines at the top of a step that say what it reads, which tools it has, and where
//! contents go.
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
//! A line is `@`, a name, perhaps a colon, a space, and a value. They stand at the top, blank lines
//! between them; the first other line ends them. A value may be quoted with `'` or `"`, or written
//! `[[…]]`. Parentheses at the end of the line are parameters; unknown keys in them are an error. A
//! number in them is part of the name, so that `note (1)` needs no quotes; any other name that ends
//! in parentheses does. A remark, ` # …`, may follow parameters and quotes. Keys are compared
//! without case, and `write-mode` is `write_mode`.

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
pub use fault::{Fault, Near};
pub use lines::{Directives, Input, Model, Output, Source};
pub use tools::{Asked, ToolUse, Tools};

#[cfg(test)]
mod tests;
