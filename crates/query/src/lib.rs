//! JSONPath queries by RFC 9535: from text to a checked syntax tree and back.
//!
//! Who wants to *run* queries takes `trommel-path`, which re-exports everything here, or the facade
//! `trommel`. This crate is for who only reads, checks, rewrites or evaluates queries in a way of
//! their own.
//!
//! # Terms
//!
//! A [`Query`] is `$` and [`Segments`]; a [`Segment`] holds [`Selector`]s; a filter selector holds
//! a [`Logical`] expression. The words are the RFC's. The *canonical* spelling writes every segment
//! in brackets; the *shorthand* is for people.
//!
//! # Example
//!
//! ```
//! use trommel_query::Query;
//!
//! let query: Query = "$.store..book[?@.price<10].title".parse()?;
//! assert_eq!(query.to_string(), "$['store']..['book'][?@['price'] < 10]['title']");
//! assert_eq!(query.shorthand(), "$.store..book[?@.price < 10].title");
//!
//! let error = "$.store.book[?@.price = 10]".parse::<Query>().unwrap_err();
//! let suggestion = error.suggestion().map(ToString::to_string);
//! assert_eq!(suggestion.as_deref(), Some("write `==` instead of `=`"));
//! # Ok::<(), trommel_query::ParseError>(())
//! ```
//!
//! # Limits, errors, cost
//!
//! [`QueryLimits`] bounds the text (1 MiB), the nesting (128, which also bounds the stack of
//! everything that walks a tree) and the number of selectors (4,096). Parsing is linear in the
//! text. A [`ParseError`] says what is wrong, where, what was expected, and, if a near text is
//! valid, what to write instead: the text parses after every [`Suggestion`]. Patterns are I-Regexps
//! (RFC 9485), translated to a linear-time engine whose memory is bounded; numbers compare by their
//! exact value, whatever their spelling and size.

mod display;
mod error;
mod function;
mod parse;
mod patterns;
mod regexp;
mod shorthand;
mod spelling;
mod tree;

pub use error::{ParseError, ParseErrorKind, Suggestion};
pub use function::{Function, FunctionResult, Parameter, Signature};
pub use parse::QueryLimits;
pub use regexp::{Pattern, PatternError, RegexCache};
pub use tree::{
    Argument, Comparable, Comparison, FilterQuery, FunctionCall, Literal, Logical, Query, Segment, Segments,
    Selector, Slice, compare_strings,
};
pub use trommel_base::decimal::compare_numbers;
