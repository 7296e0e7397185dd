//! Queries that run within a value: those inside filters, and those of a consumer.

use trommel_query::RegexCache;
use trommel_reader::{Cursor, Result, Span};

use super::machine::{Matcher, Step, Wants};
use super::memory::{FilterMemory, Scratch};
use crate::eval::{Operand, Subqueries};
use crate::plan::Plan;
use crate::program::{Program, Wanted};

/// A match of a query that wants no events.
#[derive(Clone, Copy, Debug)]
enum Matched {
    Enter { times: u64 },
    Leave { span: Span },
}

impl Subqueries for FilterMemory {
    fn run(
        &mut self,
        program: &Program,
        wanted: Wanted,
        cursor: &mut Cursor<'_>,
        answers: &[Operand<'static>],
    ) -> Result<Operand<'static>> {
        let mut scratch = self.inner.take().unwrap_or_else(new_scratch);
        let answer = Matcher::within(program, &mut scratch, cursor, answers).answer(wanted);
        self.inner = Some(scratch);
        answer
    }

    fn patterns(&mut self) -> &mut RegexCache {
        &mut self.patterns
    }
}

/// Never inlined, so that what is moved into the box takes no stack while queries run.
#[cold]
#[inline(never)]
fn new_scratch() -> Box<Scratch> {
    Box::default()
}

impl<'m, 'c> Matcher<'m, 'c> {
    /// A matcher over the value that comes next.
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

    /// Matches for as long as nodes matter to `wanted`.
    fn answer(mut self, wanted: Wanted) -> Result<Operand<'static>> {
        let (mut count, mut only) = (0_u64, None);
        while let Some(matched) = self.next_match()? {
            match matched {
                Matched::Enter { times } => count = times.saturating_add(count),
                Matched::Leave { span } => only = only.or(Some(span)),
            }
            let enough = match wanted {
                Wanted::Existence => true,
                Wanted::First => only.is_some(),
                Wanted::Only => count > 1,
                Wanted::Count => false,
            };
            if enough {
                break;
            }
        }
        Ok(match wanted {
            Wanted::Existence | Wanted::Count => Operand::Count(count),
            Wanted::Only if count != 1 => Operand::Nothing,
            Wanted::First | Wanted::Only => only.map_or(Operand::Nothing, Operand::Node),
        })
    }

    /// The next match that begins or ends.
    fn next_match(&mut self) -> Result<Option<Matched>> {
        while let Some(step) = self.advance()? {
            match step {
                Step::Enter { times, .. } => return Ok(Some(Matched::Enter { times })),
                Step::Leave { span, .. } => return Ok(Some(Matched::Leave { span })),
                Step::Event(_) | Step::Settled(_) => {}
            }
        }
        Ok(None)
    }
}

impl Matcher<'_, '_> {
    /// The first node that a query selects when it starts at the value that was just entered; the
    /// cursor stays. The node's bytes can be read until the next step. Queries from `$` inside of
    /// its filters find nothing.
    pub fn look(&mut self, query: &Plan, scratch: &mut Scratch) -> Result<Option<Span>> {
        let mark = self.cursor.hold();
        scratch.filters.forget();
        let first = Matcher::within(&query.program, scratch, self.cursor, &[]).first_node();
        let first = self.noted(first)?;
        self.cursor.rewind(&mark);
        self.cursor.release();
        Ok(first)
    }

    fn first_node(mut self) -> Result<Option<Span>> {
        while let Some(matched) = self.next_match()? {
            if let Matched::Leave { span } = matched {
                return Ok(Some(span));
            }
        }
        Ok(None)
    }
}
