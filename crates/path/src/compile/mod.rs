//! Compiles the syntax tree of queries to a program.
//!
//! `queries` compiles segments and selectors, `filters` the expressions in them, and `paths` joins
//! plain paths into one tree. Compiling recurses with the nesting of filters, which the parser
//! bounds.

mod filters;
mod paths;
mod queries;

pub(crate) use filters::Filters;
