//! From text to tree: recursive descent over the grammar of RFC 9535 (appendix A), with the rules
//! of well-typedness (section 2.4.3) checked on the way.
//!
//! One function per production, in the grammar's order and words. White space is skipped exactly
//! where the grammar has `S`. The parser never looks back; recursion happens only through
//! `Parser::enter`, which bounds it.
//!
//! What a production has read goes on a stack of the parser, from which the production around it
//! takes it. Nothing large is returned, and what does not recur is kept out of line, so that the
//! frames of the functions that call each other stay small: the deepest query fits a thread of
//! 256 KiB twice, optimized or not.
//!
//! `near` works out the suggestion for a text that fails, on the cold path only.
//!
//! | module | contents |
//! | --- | --- |
//! | `parser` | the parser's state, its limits, and its primitives |
//! | `text` | whole texts: a query, or a filter alone |
//! | `segment`, `filter`, `function` | segments and selectors; logical expressions; calls |
//! | `literal`, `string` | numbers and strings |
//! | `near` | the kind of error, and what may have been meant |

mod filter;
mod function;
mod literal;
mod near;
mod parser;
mod segment;
mod string;
mod text;

use std::str::FromStr;

use crate::error::ParseError;
use crate::tree::{Logical, Query, Segments};
use near::{Reparse, checked};
use text::{filter_once, query_once};

pub use parser::QueryLimits;

impl Query {
    /// Parses a text within the given limits; `FromStr` uses the default ones.
    ///
    /// Time and memory are linear in the text; the stack is bounded by the nesting.
    pub fn parse_with(text: &str, limits: &QueryLimits) -> Result<Self, ParseError> {
        query(text, limits).map(Self::from)
    }

    /// Parses the expression of a filter alone, in any of the spellings `@.a > 1`, `?@.a > 1` and
    /// `[?(@.a > 1)]`, with white space around it; default limits.
    ///
    /// ```
    /// use trommel_query::Query;
    ///
    /// let filter = Query::parse_filter("@.price > 10")?;
    /// assert_eq!(filter, Query::parse_filter("[?(@.price > 10)]")?);
    /// let query = "$.books".parse::<Query>()?.with_filter(filter);
    /// assert_eq!(query.to_string(), "$['books'][?@['price'] > 10]");
    /// # Ok::<(), trommel_query::ParseError>(())
    /// ```
    pub fn parse_filter(text: &str) -> Result<Logical, ParseError> {
        Self::parse_filter_with(text, &QueryLimits::default())
    }

    /// [`parse_filter`](Self::parse_filter) within the given limits.
    pub fn parse_filter_with(text: &str, limits: &QueryLimits) -> Result<Logical, ParseError> {
        filter(text, limits)
    }
}

impl FromStr for Query {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Self::parse_with(text, &QueryLimits::default())
    }
}

/// `jsonpath-query`: the whole text.
fn query(text: &str, limits: &QueryLimits) -> Result<Segments, ParseError> {
    let parse = |text: &str| query_once(text, limits).map(drop);
    let reparse = Reparse { translate: &near::query_of_jq, parse: &parse };
    query_once(text, limits).map_err(|error| checked(error, text, &reparse))
}

/// A filter's expression alone: `logical-expr`, `?logical-expr` or `[?logical-expr]`, white space
/// around it.
fn filter(text: &str, limits: &QueryLimits) -> Result<Logical, ParseError> {
    let parse = |text: &str| filter_once(text, limits).map(drop);
    let reparse = Reparse { translate: &near::filter_of_jq, parse: &parse };
    filter_once(text, limits).map_err(|error| checked(error, text, &reparse))
}
