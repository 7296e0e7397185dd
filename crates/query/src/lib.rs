//! Parses, checks, and prints JSONPath queries (RFC 9535).
//!
//! To *run* queries, use `trommel-path`, which re-exports everything here, or the facade `trommel`.
//! Use this crate to read, check, rewrite, or evaluate queries with code of your own.
//!
//! # Terms
//!
//! A [`Query`] is `$` followed by [`Segments`]. A [`Segment`] holds [`Selector`]s, and a filter
//! selector holds a [`Logical`] expression. All terms are those of the RFC. The *canonical* form
//! writes every segment in brackets. The *shorthand* form is meant for people to read.
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
//! [`QueryLimits`] bounds the length of the text (1 MiB), the nesting (128), and the number of
//! selectors (4,096). The nesting also bounds the stack of every function that walks a tree.
//! Parsing takes time linear in the text.
//!
//! A [`ParseError`] reports the fault, its position, and the syntax expected there. If a similar
//! text is valid, the error carries a [`Suggestion`]; applying it always yields a text that parses.
//!
//! Patterns are I-Regexps (RFC 9485). They are translated for a linear-time engine with bounded
//! memory. Numbers compare by their exact value, regardless of how they are written and how large
//! they are.

mod display;
mod error;
mod function;
mod parse;
mod patterns;
mod regexp;
mod shorthand;
mod translate;
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
