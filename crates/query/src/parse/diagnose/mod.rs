//! Diagnoses a text that fails to parse: the kind of the error, the expected tokens, and the
//! nearest valid text.
//!
//! Nothing in this module decides whether a text is valid. It only runs after the parser has
//! rejected a text. A suggestion is kept only if the text parses with it. Finding one may take
//! several rounds for a short text. A long text is parsed only once more, so that rejecting it
//! takes time linear in the text.

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
pub(super) use repair::{Reparse, check_suggestion};
