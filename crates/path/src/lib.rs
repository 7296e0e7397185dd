//! RFC 9535 JSONPath: queries, their canonical spelling, and what their filters compute.

mod eval;
mod location;
mod matcher;
mod order;
mod plan;

pub use location::{Location, LocationStep};
pub use matcher::{Matcher, Scratch, Step, Wants};
pub use order::{Held, HeldMatch};
pub use plan::{Duplicates, Order, Pass, Plan, PlanOptions, QueryId};
pub use trommel_query::{
    Comparable, Comparison, FilterQuery, Literal, Logical, Matching, ParseError, ParseErrorKind, Pattern, PatternError, Query,
    QueryLimits, RegexCache, Segment, Segments, Selector, Slice, Suggestion, compare_numbers, compare_strings,
};
