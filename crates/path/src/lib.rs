//! RFC 9535 JSONPath: queries, their canonical spelling, and what their filters compute.

mod compare;
mod display;
mod error;
mod eval;
mod location;
mod matcher;
mod order;
mod parse;
mod patterns;
mod plan;
pub mod query;
mod regexp;
mod shorthand;

pub use compare::{compare_numbers, compare_strings};
pub use error::{ParseError, ParseErrorKind, Suggestion};
pub use location::{Location, LocationStep};
pub use matcher::{Matcher, Scratch, Step, Wants};
pub use order::{Held, HeldMatch};
pub use parse::QueryLimits;
pub use plan::{Duplicates, Order, Pass, Plan, PlanOptions, QueryId};
pub use query::{
    Comparable, Comparison, FilterQuery, Literal, Logical, Matching, Query, Segment, Segments, Selector,
    Slice,
};
pub use regexp::{Pattern, PatternError, RegexCache};
