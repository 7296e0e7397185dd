//! What an expression is evaluated with.

use trommel_query::RegexCache;
use trommel_reader::{Cursor, Mark, Result};

use super::operand::Operand;
use crate::program::{Program, Wanted};

/// A candidate, and what its evaluation may use.
pub(crate) struct Context<'e, 'c, S> {
    pub(crate) cursor: &'e mut Cursor<'c>,
    /// The position before the candidate; held.
    pub(crate) candidate: Mark,
    /// The answers of the queries from `$`.
    pub(crate) answers: &'e [Operand<'static>],
    pub(crate) subqueries: &'e mut S,
}

/// Runs the queries inside filters, and keeps the memory for it.
pub(crate) trait Subqueries {
    /// Runs a query on the value that comes next, for as long as its nodes matter to `wanted`.
    fn run(
        &mut self,
        program: &Program,
        wanted: Wanted,
        cursor: &mut Cursor<'_>,
        answers: &[Operand<'static>],
    ) -> Result<Operand<'static>>;

    /// The compiled patterns that were met in the data.
    fn patterns(&mut self) -> &mut RegexCache;
}
