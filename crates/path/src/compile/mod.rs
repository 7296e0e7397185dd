//! From the syntax tree of queries to a program.
//!
//! `queries` compiles the segments and selectors, `filters` the expressions in them, and `paths`
//! joins plain paths into one tree. Compiling recurses as filters nest, which the parser bounds.

mod filters;
mod paths;
mod queries;

pub(crate) use filters::Filters;
