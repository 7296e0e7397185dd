//! Filters on whole records. They run before a record is matched, so a dropped record yields no
//! steps.

use trommel_query::Logical;
use trommel_reader::Result;

use super::machine::Matcher;
use super::memory::Scratch;
use crate::compile::Filters;
use crate::eval::{Context, answer_root_queries};
use crate::options::Duplicates;
use crate::program::{RootQuery, Test};

/// Compiled filters on whole records. A record passes if all of them hold, with both `@` and `$` as
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
    /// Queries from `$`. A query comes after those that its own filters contain.
    root_queries: Vec<RootQuery>,
}

impl RecordFilter {
    /// Compiles filters. Takes time and memory linear in their text.
    pub fn new(filters: &[Logical], duplicates: Duplicates) -> Self {
        let mut root_queries = Vec::new();
        let mut compiler = Filters { duplicates, root_queries: &mut root_queries };
        let test = match filters {
            [filter] => compiler.test(filter),
            filters => Test::And(filters.iter().map(|filter| compiler.test(filter)).collect()),
        };
        Self { test, root_queries }
    }
}

impl Matcher<'_, '_> {
    /// True if the record passes the filter. Call it before the first step of the record; the
    /// cursor stays before the value.
    ///
    /// The cost is that of the bytes that the filter reads: each of its queries walks to its nodes
    /// and stops there. A stream holds that part of the record meanwhile.
    pub fn keeps_record(&mut self, filter: &RecordFilter) -> Result<bool> {
        // The filter reads the record ahead, and the matcher reads it again from its start.
        let candidate = self.cursor.hold();
        let Scratch { filters, record_answers, .. } = &mut *self.scratch;
        filters.forget();
        let answered = answer_root_queries(&filter.root_queries, self.cursor, filters, record_answers);
        let passes = answered.and_then(|()| {
            let cursor = &mut *self.cursor;
            filter.test.holds(&mut Context {
                cursor,
                candidate,
                answers: record_answers,
                subqueries: filters,
            })
        });
        let passes = self.record_failure(passes)?;
        self.cursor.rewind(&candidate);
        self.cursor.release();
        Ok(passes)
    }
}
