//! Filters on whole records: evaluated before a record is matched, so that a dropped one yields no
//! step.

use trommel_query::Logical;
use trommel_reader::Result;

use super::machine::Matcher;
use super::memory::Scratch;
use crate::compile::Filters;
use crate::eval::{Context, answer_absolutes};
use crate::options::Duplicates;
use crate::program::{Absolute, Test};

/// Filters on whole records, compiled. A record passes if all of them hold, with `@` and `$` both
/// the record.
///
/// Immutable and shared between threads, as a [`Plan`](crate::Plan) is.
///
/// ```
/// use trommel_path::{Duplicates, Plan, PlanOptions, Query, RecordFilter, Scratch, Step, Wants};
/// use trommel_reader::{Config, Cursor, Framing};
///
/// let log = "{\"level\":\"info\",\"id\":1}\n{\"level\":\"error\",\"id\":2}\n";
/// let level = Query::parse_filter("@.level == 'error'")?;
/// let filter = RecordFilter::new(&[level], Duplicates::First);
/// let plan = Plan::new(&["$.id".parse()?], PlanOptions::new());
/// let (mut scratch, wants) = (Scratch::new(), Wants::default());
/// let mut cursor = Cursor::from_reader(log.as_bytes(), Framing::Lines, &Config::new());
/// let mut matcher = plan.matcher(&mut scratch, &mut cursor, &wants);
/// let mut records = Vec::new();
/// while matcher.next_record()? {
///     if !matcher.keeps_record(&filter)? {
///         continue;
///     }
///     while let Some(step) = matcher.advance()? {
///         if matches!(step, Step::Leave { .. }) {
///             records.push(matcher.cursor().record());
///         }
///     }
/// }
/// assert_eq!(records, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct RecordFilter {
    test: Test,
    /// Queries from `$`, those within others first.
    absolutes: Vec<Absolute>,
}

impl RecordFilter {
    /// Compiles filters. Time and memory are linear in their text.
    pub fn new(filters: &[Logical], duplicates: Duplicates) -> Self {
        let mut absolutes = Vec::new();
        let mut compiler = Filters { duplicates, absolutes: &mut absolutes };
        let test = match filters {
            [filter] => compiler.test(filter),
            filters => Test::And(filters.iter().map(|filter| compiler.test(filter)).collect()),
        };
        Self { test, absolutes }
    }
}

impl Matcher<'_, '_> {
    /// Returns true if the record passes the filter. Called before the record's first step; the
    /// cursor stays before its value.
    ///
    /// Costs what the filter inspects: each of its queries walks to its nodes and stops there. On a
    /// stream that part of the record is held meanwhile.
    pub fn keeps_record(&mut self, filter: &RecordFilter) -> Result<bool> {
        let candidate = self.cursor.hold();
        let Scratch { filters, record_answers, .. } = &mut *self.scratch;
        filters.forget();
        let answered = answer_absolutes(&filter.absolutes, self.cursor, filters, record_answers);
        let passes = answered.and_then(|()| {
            let cursor = &mut *self.cursor;
            filter.test.holds(&mut Context {
                cursor,
                candidate,
                answers: record_answers,
                subqueries: filters,
            })
        });
        let passes = self.noted(passes)?;
        self.cursor.rewind(&candidate);
        self.cursor.release();
        Ok(passes)
    }
}
