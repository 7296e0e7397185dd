//! Queries that run inside a value: those of filters, and those of a consumer.

use trommel_query::RegexCache;
use trommel_reader::{Cursor, Result, Span};

use super::machine::{Matcher, Step, Wants};
use super::memory::{FilterMemory, Scratch};
use crate::eval::{Operand, Subqueries};
use crate::plan::Plan;
use crate::program::{NodesUse, Program};

/// The begin or the end of a match.
#[derive(Clone, Copy, Debug)]
enum MatchStep {
    Enter { times: u64 },
    Leave { span: Span },
}

impl Subqueries for FilterMemory {
    fn run(
        &mut self,
        program: &Program,
        usage: NodesUse,
        cursor: &mut Cursor<'_>,
        answers: &[Operand<'static>],
    ) -> Result<Operand<'static>> {
        let mut scratch = self.inner.take().unwrap_or_else(new_scratch);
        let answer = Matcher::within(program, &mut scratch, cursor, answers).answer(usage);
        self.inner = Some(scratch);
        answer
    }

    fn patterns(&mut self) -> &mut RegexCache {
        &mut self.patterns
    }
}

/// Never inlined, so that the value moved into the box takes no stack while queries run.
#[cold]
#[inline(never)]
fn new_scratch() -> Box<Scratch> {
    Box::default()
}

impl<'m, 'c> Matcher<'m, 'c> {
    /// Creates a matcher over the next value.
    fn within(
        program: &'m Program,
        scratch: &'m mut Scratch,
        cursor: &'m mut Cursor<'c>,
        answers: &'m [Operand<'static>],
    ) -> Self {
        let mut matcher = Self::new(program, scratch, cursor, Wants::STEPS);
        matcher.answers = Some(answers);
        matcher.begin();
        matcher
    }

    /// Matches as long as further nodes affect the answer.
    fn answer(mut self, usage: NodesUse) -> Result<Operand<'static>> {
        let (mut count, mut only) = (0_u64, None);
        while let Some(matched) = self.next_match()? {
            match matched {
                MatchStep::Enter { times } => count = times.saturating_add(count),
                MatchStep::Leave { span } => only = only.or(Some(span)),
            }
            let enough = match usage {
                NodesUse::Existence => true,
                NodesUse::First => only.is_some(),
                NodesUse::Only => count > 1,
                NodesUse::Count => false,
            };
            if enough {
                break;
            }
        }
        Ok(match usage {
            NodesUse::Existence | NodesUse::Count => Operand::Count(count),
            NodesUse::Only if count != 1 => Operand::Nothing,
            NodesUse::First | NodesUse::Only => only.map_or(Operand::Nothing, Operand::Node),
        })
    }

    /// Returns the next begin or end of a match.
    fn next_match(&mut self) -> Result<Option<MatchStep>> {
        while let Some(step) = self.advance()? {
            match step {
                Step::Enter { times, .. } => return Ok(Some(MatchStep::Enter { times })),
                Step::Leave { span, .. } => return Ok(Some(MatchStep::Leave { span })),
                Step::Event(_) | Step::Settled(_) => {}
            }
        }
        Ok(None)
    }
}

impl Matcher<'_, '_> {
    /// Returns the first node that a query selects, starting at the value that was just entered.
    /// The cursor does not move. The bytes of the node are readable until the next step. Queries
    /// from `$` inside the query's filters find nothing.
    pub fn find_first(&mut self, query: &Plan, scratch: &mut Scratch) -> Result<Option<Span>> {
        let mark = self.cursor.hold();
        scratch.filters.forget();
        let first = Matcher::within(&query.program, scratch, self.cursor, &[]).first_node();
        let first = self.record_failure(first)?;
        self.cursor.rewind(&mark);
        self.cursor.release();
        Ok(first)
    }

    fn first_node(mut self) -> Result<Option<Span>> {
        while let Some(matched) = self.next_match()? {
            if let MatchStep::Leave { span } = matched {
                return Ok(Some(span));
            }
        }
        Ok(None)
    }
}
