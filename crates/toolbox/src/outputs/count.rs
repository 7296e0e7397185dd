//! `tool_outputs.count`: counts elements, members, and matches.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;
use trommel::path::{Logical, Query};
use trommel::reader::Validation;
use trommel::{CountAs, Measure};
use trommel_base::text::excerpt;
use trommel_hints::UnmatchedQuery as HintQuery;
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::{Each, Id, MaxChars, Where};
use super::damage::warning;
use super::describe::{self, PATHS, Results, metadata};
use super::filters::Filters;
use super::hints::EmptyResult;
use super::job::{AnswerCoverage, Job};
use super::page::{DEFAULT_CHARS, Next, PagedAnswer, Reason, Truncation, push_warning, unit_text};
use super::shared::{CallSubject, Shared, note};
use super::source::Source;
use crate::schema;
use crate::text::{chars, string};

/// The tool `tool_outputs.count`.
pub(super) struct Count {
    metadata: Metadata,
    shared: Arc<Shared>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    id: Id,
    /// Array of count operations to perform
    #[schemars(length(min = 1))]
    counts: Vec<CountArgument>,
    each: Option<Each>,
    #[serde(default, rename = "where")]
    filters: Where,
    #[serde(default)]
    max_chars: MaxChars<DEFAULT_CHARS>,
}

#[derive(Deserialize, JsonSchema)]
struct CountArgument {
    /// Name for this count operation
    name: String,
    /// JSONPath to the element to count
    path: String,
    /// Optional JSONPath filter expression
    filter: Option<String>,
    /// Type of counting operation
    #[serde(default = "array_length")]
    #[schemars(schema_with = "count_types")]
    count_type: CountAs,
}

fn array_length() -> CountAs {
    CountAs::ArrayLength
}

fn count_types(_: &mut SchemaGenerator) -> Schema {
    schema::one_of(&[CountAs::ArrayLength, CountAs::ObjectKeys, CountAs::Matches, CountAs::NestedTotal])
}

impl Count {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: describe(), shared: Arc::clone(shared) }
    }
}

/// The description in exports.
const BRIEF: &str = "Count `matches` of a path, elements of its arrays (`array_length`, the default), members (`object_keys`), or both at all \
    selected values (`nested_total`); with `filter` (@.price > 100) only those for which it holds.";

fn describe() -> Metadata {
    let first = "Count items in arrays, object keys, or matches without loading full data. Efficient for large datasets.";
    let kinds = "count_type: `array_length` (elements of the arrays at `path`; the default), `object_keys` (members of the \
        objects there), `matches` (how many values `path` selects), `nested_total` (elements and members of all selected \
        values). `filter`, written @.price > 100, restricts the count to elements and members for which it holds, for `matches` to \
        such values. No match counts 0. `total` is the sum of all counts. `truncated.next` is the index (from 0) of the \
        first omitted count: request it and the following ones again.";
    let properties = json!({
        "counts": {
            "type": "object",
            "additionalProperties": { "type": "integer" }
        },
        "total": {
            "type": "integer",
            "description": "Sum of all counts"
        }
    });
    let results = Results { properties, required: &["counts"], next: describe::Next::Number };
    metadata::<Arguments>("tool_outputs.count", &[first, kinds, PATHS], results)
        .brief(BRIEF)
        .result_mode(ResultMode::Inline)
}

impl Tool for Count {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let subject =
            CallSubject::new(&self.metadata.name, "count in", &arguments.id.0, arguments.max_chars.0);
        let stored = self.shared.json(subject.action)?;
        let count_queries = count_queries(&self.shared, subject, &arguments.counts)?;
        let (filters, each) = (&arguments.filters, arguments.each.as_ref());
        let filters = &Filters::new(&self.shared, subject.action, filters, each)?;
        let mut source = self.shared.open(subject.action, stored)?;
        let job = Job::new(call);
        let run =
            CountRun { shared: &self.shared, subject, count_queries: &count_queries, filters, job: &job };
        let (output, coverage) = run.answer(&mut source)?;
        note(call, coverage, job.elapsed());
        Ok(output)
    }
}

/// One requested count.
struct CountQuery<'a> {
    name: &'a str,
    path: &'a str,
    query: Arc<Query>,
    filter: Option<Arc<Logical>>,
    count_as: CountAs,
    /// The cache key of the count, without the output and the filters on records.
    key: String,
}

fn count_queries<'a>(
    shared: &Shared,
    subject: CallSubject<'_>,
    counts: &'a [CountArgument],
) -> Result<Vec<CountQuery<'a>>, Failure> {
    let action = subject.action;
    if counts.is_empty() {
        let next = r#"give at least one, such as {"name": "all", "path": "$"}"#;
        return Err(action.refuse("no_counts", format!("`counts` is empty; {next}")));
    }
    let mut names = BTreeSet::new();
    let count_query = |argument: &'a CountArgument| {
        let CountArgument { name, path, filter, count_type } = argument;
        if !names.insert(name.as_str()) {
            let why = format!("two counts have the name `{}`; give each its own", excerpt(name, 80));
            return Err(action.refuse("duplicate_name", why));
        }
        let query = shared.query(action, "the path", path)?;
        let filter_text = filter.as_deref();
        let filter = filter_text.map(|text| shared.filter(action, "the filter", text)).transpose()?;
        let mut key = format!("{count_type:?} {query}");
        if let Some(text) = filter_text {
            let _ = write!(key, " where {text}");
        }
        Ok(CountQuery { name, path, query, filter, count_as: *count_type, key })
    };
    counts.iter().map(count_query).collect()
}

/// One call of `tool_outputs.count`.
struct CountRun<'a> {
    shared: &'a Shared,
    subject: CallSubject<'a>,
    count_queries: &'a [CountQuery<'a>],
    filters: &'a Filters<'a>,
    job: &'a Job,
}

impl CountRun<'_> {
    fn answer(&self, source: &mut Source<'_>) -> Result<(Output, AnswerCoverage), Failure> {
        let total = source.stored.size_bytes;
        let (counts, coverage) = self.counts(source)?;
        let all: Vec<_> = self.count_queries.iter().map(CountQuery::hint_query).collect();
        let none = all.iter().zip(&counts).filter(|(_, count)| **count == 0);
        let empty: Vec<_> = none.map(|(hint_query, _)| *hint_query).collect();
        let empty_result =
            EmptyResult { filters: self.filters, all: &all, is_empty: !empty.is_empty(), empty: &empty };
        let hint = empty_result.hint(self.shared, source, self.job);
        let counts = self.count_queries.iter().map(|query| query.name).zip(counts).collect();
        let warning = warning(&source.stored, hint, self.subject.max_chars);
        self.job.finished(total);
        Ok((self.subject.fit(&Counts { counts, warning })?, coverage))
    }

    /// Returns all counts. A single pass computes those that are not cached.
    #[expect(clippy::expect_used, reason = "a report has an answer for each measure")]
    fn counts(&self, source: &mut Source<'_>) -> Result<(Vec<u64>, AnswerCoverage), Failure> {
        let total = source.stored.size_bytes;
        let filters = self.filters.key();
        let key = |query: &CountQuery<'_>| format!("{} {}{filters}", source.stored.digest, query.key);
        // The cache may evict entries at any time, so it is read only once.
        let known: Vec<Option<u64>> =
            self.count_queries.iter().map(|query| self.shared.counts.get(&key(query))).collect();
        let keys: Vec<String> = self.count_queries.iter().map(key).collect();
        let mut analysis = self.filters.narrow(self.job.analysis(source, Validation::Structural));
        for (query, _) in self.count_queries.iter().zip(&known).filter(|(_, known)| known.is_none()) {
            analysis = analysis.ask(Measure::Count(query.count()));
        }
        if known.iter().all(Option::is_some) {
            return Ok((known.into_iter().flatten().collect(), AnswerCoverage::known(total)));
        }
        let report = analysis.run(&mut source.document);
        let report = report.map_err(|error| self.subject.action.engine(&error))?;
        let mut new_counts = report.answers.iter().filter_map(trommel::Answer::count);
        let mut counts = Vec::with_capacity(known.len());
        for (known, key) in known.into_iter().zip(keys) {
            let count = known.or_else(|| new_counts.next()).expect("each uncached count was queried");
            let weight = key.len();
            self.shared.counts.put(key, count, weight);
            counts.push(count);
        }
        Ok((counts, AnswerCoverage::of(&report.coverage, total)))
    }
}

impl CountQuery<'_> {
    fn hint_query(&self) -> HintQuery<'_> {
        HintQuery::new(self.path, &self.query).filter(self.filter.as_deref(), self.count_as)
    }

    fn count(&self) -> trommel::Count {
        let count = trommel::Count::new((*self.query).clone()).name(self.name).count_as(self.count_as);
        match &self.filter {
            Some(filter) => count.filter((**filter).clone()),
            None => count,
        }
    }
}

/// `{"counts": {NAME: …, …}, "total": …}`
struct Counts<'a> {
    counts: Vec<(&'a str, u64)>,
    warning: Option<String>,
}

impl PagedAnswer for Counts<'_> {
    fn len(&self) -> usize {
        self.counts.len()
    }

    fn min_chars(&self, unit: usize) -> usize {
        chars(self.counts[unit].0) + 4
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let counts = self.counts[..shown].iter().map(|(name, count)| format!("{}:{count}", string(name)));
        let counts = counts.enumerate().map(|(at, own)| unit_text(at, &own, first).to_owned());
        let total = self.counts.iter().fold(0_u64, |total, (_, count)| total.saturating_add(*count));
        let counts = counts.collect::<Vec<_>>().join(",");
        let mut out = format!(r#"{{"counts":{{{counts}}},"total":{total}"#);
        if shown < self.counts.len() {
            let returned = shown as u64;
            let next = Some(Next::Number(returned));
            Truncation { reason: Reason::MaxChars, returned, next }.push(&mut out);
        }
        push_warning(self.warning.as_deref(), &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, _: usize) -> Option<String> {
        None
    }
}
