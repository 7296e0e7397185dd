//! Evaluates the filters of a query, on one candidate at a time.
//!
//! A query inside a filter returns a node as its span in the document. A comparison reads the value
//! from these bytes, which the cursor holds. Evaluation recurses once for each nesting level of the
//! filter, and the parser limits that nesting.
//!
//! | module | contents |
//! | --- | --- |
//! | `test` | logical expressions, and the values they compare |
//! | `function` | the functions of RFC 9535, one match arm each |
//! | `nodes` | the context of an evaluation, and the queries inside filters |
//! | `operand` | the sides of comparisons, and the arguments of functions |
//! | `item` | scalars, and the bytes of containers |
//! | `equal` | the equality of arrays and objects |
//!
//! A query inside a filter may need a matcher, which in turn evaluates filters. This module must
//! not depend on the matcher, so it declares the trait [`Subqueries`], and the matcher implements
//! it.

mod equal;
mod function;
mod item;
mod nodes;
mod operand;
mod test;

pub(crate) use nodes::{Context, Subqueries, answer_root_queries, count_elements};
pub(crate) use operand::Operand;
