//! What to say about a text that fails: the kind of error, what was expected and the nearest valid
//! spelling.
//!
//! Nothing here decides whether a text is valid. Every function is called once a text has been
//! refused. A suggestion is kept only if the text parses with it. A short text may take several
//! rounds; a long one is parsed once more, so that a refusal costs time linear in the text.

mod dialect;
mod filtered;
mod jq;
mod operand;
mod path;
mod repair;
mod report;
mod scalar;
mod strings;

pub(super) use jq::{filter as filter_of_jq, query as query_of_jq};
pub(super) use repair::{Reparse, checked};
