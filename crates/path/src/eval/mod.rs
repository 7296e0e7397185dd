//! Filters evaluated on demand over the candidate they test.
//!
//! Nothing of a candidate is kept: the answer to a query inside a filter is the span of its node,
//! and a comparison reads the value from there. Evaluation nests as deep as the filter does, which
//! the parser bounds.
//!
//! | module | contents |
//! | --- | --- |
//! | `test` | logical expressions and values |
//! | `function` | the functions: one arm each |
//! | `nodes` | what an expression is evaluated with, and queries inside filters |
//! | `operand`, `item`, `equal` | the sides of a comparison, scalars, and containers |
//!
//! Running a query inside a filter takes a matcher, which evaluates filters in turn. The matcher is
//! above this module, and provides the running by the trait [`Subqueries`].

mod equal;
mod function;
mod item;
mod nodes;
mod operand;
mod test;

pub(crate) use nodes::{Context, Subqueries, answer_absolutes, count_elements};
pub(crate) use operand::Operand;
