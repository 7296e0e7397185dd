//! `tool_outputs.count`: how many.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::json;
use trommel::path::{Logical, Query};
use trommel::reader::Validation;
use trommel::{CountAs, Measure};
use trommel_base::text::shown;
use trommel_hints::Asked as Questioned;
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::{Id, MaxChars, Where};
use super::describe::{self, PATHS, Results, metadata};
use super::filters::Filters;
use super::hints::Silence;
use super::job::{Basis, Job};
use super::page::{Cut, DEFAULT_CHARS, Next, Reason, Sheet, push_warning, unit_text};
use super::shared::{Asked, Shared, note, warning};
use super::source::Source;
use crate::schema;
use crate::text::{chars, string};

/// The tool.
pub(super) struct Count {
    metadata: Metadata,
    shared: Arc<Shared>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    id: Id,
    /// Array of count operations to perform
    #[schemars(length(min = 1))]
    counts: Vec<Counted>,
    #[serde(default, rename = "where")]
    filters: Where,
    #[serde(default)]
    max_chars: MaxChars<DEFAULT_CHARS>,
}

#[derive(Deserialize, JsonSchema)]
struct Counted {
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

fn describe() -> Metadata {
    let first = "Count items in arrays, object keys, or matches without loading full data. Efficient for large datasets.";
    let kinds = "count_type: `array_length` (elements of the arrays at `path`; the default), `object_keys` (members of the \
        objects there), `matches` (how many values `path` selects), `nested_total` (elements and members of everything it \
        selects). `filter` counts only what passes it, written @.price > 100: elements and members, for `matches` the values \
        themselves. No match counts 0. `total` is the sum of all counts. In `truncated`, `next` is the number (from 0) of the \
        first count that was left out: ask for it and those behind it again.";
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
        .result_mode(ResultMode::Inline)
}

impl Tool for Count {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let asked = Asked::new(&self.metadata.name, "count in", &arguments.id.0, arguments.max_chars.0);
        let stored = self.shared.json(asked.doing)?;
        let questions = questions(&self.shared, asked, &arguments.counts)?;
        let filters = &Filters::new(&self.shared, asked.doing, &arguments.filters.0)?;
        let mut source = self.shared.open(asked.doing, stored)?;
        let job = Job::new(call);
        let counting = Counting { shared: &self.shared, asked, questions: &questions, filters, job: &job };
        let (output, basis) = counting.answer(&mut source)?;
        note(call, basis, job.took());
        Ok(output)
    }
}

/// One count that is asked for.
struct Question<'a> {
    name: &'a str,
    path: &'a str,
    query: Arc<Query>,
    filter: Option<Arc<Logical>>,
    count_as: CountAs,
    /// The key of the count in the cache.
    key: String,
}

fn questions<'a>(
    shared: &Shared,
    asked: Asked<'_>,
    counts: &'a [Counted],
) -> Result<Vec<Question<'a>>, Failure> {
    let doing = asked.doing;
    if counts.is_empty() {
        let next = r#"give at least one, such as {"name": "all", "path": "$"}"#;
        return Err(doing.refuse("no_counts", format!("`counts` is empty; {next}")));
    }
    let mut names = BTreeSet::new();
    let question = |counted: &'a Counted| {
        let Counted { name, path, filter, count_type } = counted;
        if !names.insert(name.as_str()) {
            let why = format!("two counts have the name `{}`; give each its own", shown(name, 80));
            return Err(doing.refuse("duplicate_name", why));
        }
        let query = shared.query(doing, "the path", path)?;
        let filter_text = filter.as_deref();
        let filter = filter_text.map(|text| shared.filter(doing, "the filter", text)).transpose()?;
        let mut key = format!("{count_type:?} {query}");
        if let Some(text) = filter_text {
            let _ = write!(key, " where {text}");
        }
        Ok(Question { name, path, query, filter, count_as: *count_type, key })
    };
    counts.iter().map(question).collect()
}

/// Counts that are made.
struct Counting<'a> {
    shared: &'a Shared,
    asked: Asked<'a>,
    questions: &'a [Question<'a>],
    filters: &'a Filters<'a>,
    job: &'a Job,
}

impl Counting<'_> {
    fn answer(&self, source: &mut Source<'_>) -> Result<(Output, Basis), Failure> {
        let total = source.stored.size_bytes;
        let (counts, basis) = self.counts(source)?;
        let all: Vec<_> = self.questions.iter().map(Question::questioned).collect();
        let none = all.iter().zip(&counts).filter(|(_, count)| **count == 0);
        let empty: Vec<_> = none.map(|(questioned, _)| *questioned).collect();
        let silence =
            Silence { filters: self.filters, all: &all, is_silent: !empty.is_empty(), empty: &empty };
        let hint = silence.hint(self.shared, source, self.job);
        let counts = self.questions.iter().map(|question| question.name).zip(counts).collect();
        let warning = warning(hint.as_ref(), self.asked.max_chars);
        self.job.finished(total);
        Ok((self.asked.fit(&Counts { counts, warning })?, basis))
    }

    /// Returns all counts. One pass makes those that are not known from earlier calls.
    #[expect(clippy::expect_used, reason = "a report has an answer for each measure")]
    fn counts(&self, source: &mut Source<'_>) -> Result<(Vec<u64>, Basis), Failure> {
        let total = source.stored.size_bytes;
        let filters = self.filters.key();
        let key = |question: &Question<'_>| format!("{} {}{filters}", source.stored.digest, question.key);
        let known: Vec<Option<u64>> =
            self.questions.iter().map(|question| self.shared.counts.get(&key(question))).collect();
        let keys: Vec<String> = self.questions.iter().map(key).collect();
        let mut analysis = self.filters.narrow(self.job.analysis(source, Validation::Structural));
        for (question, _) in self.questions.iter().zip(&known).filter(|(_, known)| known.is_none()) {
            analysis = analysis.ask(Measure::Count(question.count()));
        }
        if known.iter().all(Option::is_some) {
            return Ok((known.into_iter().flatten().collect(), Basis::known(total)));
        }
        let report = analysis.run(&mut source.document);
        let report = report.map_err(|error| self.asked.doing.engine(&error))?;
        let mut made = report.answers.iter().filter_map(trommel::Answer::count);
        let mut counts = Vec::with_capacity(known.len());
        for (known, key) in known.into_iter().zip(keys) {
            let count = known.or_else(|| made.next()).expect("each count that is not known was asked");
            let weight = key.len();
            self.shared.counts.put(key, count, weight);
            counts.push(count);
        }
        Ok((counts, Basis::of(&report.coverage, total)))
    }
}

impl Question<'_> {
    fn questioned(&self) -> Questioned<'_> {
        Questioned::new(self.path, &self.query).filter(self.filter.as_deref(), self.count_as)
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
    warning: Option<&'a str>,
}

impl Sheet for Counts<'_> {
    fn len(&self) -> usize {
        self.counts.len()
    }

    fn least(&self, unit: usize) -> usize {
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
            Cut { reason: Reason::MaxChars, returned, next }.push(&mut out);
        }
        push_warning(self.warning, &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, _: usize) -> Option<String> {
        None
    }
}
