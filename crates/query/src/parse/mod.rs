//! Parses a text to a tree by recursive descent over the grammar of RFC 9535 (appendix A), and
//! checks the rules of well-typedness (section 2.4.3) on the way.
//!
//! There is one function per production, with the grammar's name and in its order. White space is
//! skipped exactly where the grammar has `S`. The parser never backtracks. All recursion goes
//! through `Parser::enter`, which bounds it.
//!
//! A production pushes its result on a stack of the parser, and the enclosing production pops it.
//! Together with moving non-recursive code out of line, this keeps the stack frames of the
//! recursive functions small: parsing the deepest query needs less than half of a 256 KiB stack,
//! optimized or not.
//!
//! `diagnose` finds a suggestion for a text that fails to parse. It runs on the cold path only.
//!
//! | module | contents |
//! | --- | --- |
//! | `parser` | the parser's state, its limits, and its primitives |
//! | `text` | entry points: a whole query, or a filter alone |
//! | `segment`, `filter`, `function` | segments and selectors; logical expressions; calls |
//! | `literal`, `string` | numbers and strings |
//! | `diagnose` | the kind of an error, and a suggested fix |

mod diagnose;
mod filter;
mod function;
mod literal;
mod parser;
mod segment;
mod string;
mod text;

use std::str::FromStr;

use crate::error::ParseError;
use crate::tree::{Logical, Query, Segments};
use diagnose::{Reparse, check_suggestion};
use text::{filter_once, query_once};

pub use parser::QueryLimits;

impl Query {
    /// Parses a text within the given limits. [`FromStr`] uses the default limits.
    ///
    /// Time and memory are linear in the text. The nesting limit bounds the stack.
    pub fn parse_with(text: &str, limits: &QueryLimits) -> Result<Self, ParseError> {
        query(text, limits).map(Self::from)
    }

    /// Parses the expression of a filter alone, with the default limits.
    ///
    /// It may be written as `@.a > 1`, `?@.a > 1`, or `[?(@.a > 1)]`, with white space around it.
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

    /// Parses a filter within the given limits; see [`parse_filter`](Self::parse_filter).
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

/// `jsonpath-query`, which must be the whole text.
fn query(text: &str, limits: &QueryLimits) -> Result<Segments, ParseError> {
    let parse = |text: &str| query_once(text, limits).map(drop);
    let reparse = Reparse { translate: &diagnose::query_of_jq, parse: &parse };
    query_once(text, limits).map_err(|error| check_suggestion(error, text, &reparse))
}

/// The expression of a filter alone: `logical-expr`, `?logical-expr`, or `[?logical-expr]`, with
/// optional white space around it.
fn filter(text: &str, limits: &QueryLimits) -> Result<Logical, ParseError> {
    let parse = |text: &str| filter_once(text, limits).map(drop);
    let reparse = Reparse { translate: &diagnose::filter_of_jq, parse: &parse };
    filter_once(text, limits).map_err(|error| check_suggestion(error, text, &reparse))
}
