//! `tool_outputs.stats`: reports size, structure, types, and values of an output.

mod rendered;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use trommel::path::Query;
use trommel::reader::Validation;
use trommel::{Answer, Measure};
use trommel_hints::UnmatchedQuery as HintQuery;
use trommel_store::Stored;
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::{Cursor, Each, Id, MaxChars, Where};
use super::cache::Cache;
use super::cursor::Binding;
use super::damage::warning;
use super::describe::{self, Results, metadata};
use super::filters::Filters;
use super::hints::EmptyResult;
use super::item::Item;
use super::job::{AnswerCoverage, Job};
use super::page::{DEFAULT_CHARS, Next, PagedAnswer, Reason, Truncation, push_warning};
use super::shared::{CallSubject, Shared, note};
use super::source::Source;
use crate::text::{chars, string};
use rendered::{RenderedStats, Row, Section};

/// The tool `tool_outputs.stats`.
pub(super) struct Stats {
    metadata: Metadata,
    shared: Arc<Shared>,
    /// Rendered statistics, by output and arguments.
    cache: Cache<Arc<RenderedStats>>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    id: Id,
    /// Generate and include JSON schema of the data
    #[serde(default)]
    include_schema: bool,
    /// Maximum depth to analyze
    #[serde(default = "depth")]
    #[schemars(range(min = 1, max = 10))]
    max_depth: u32,
    /// Sample arrays to determine item types
    #[serde(default = "yes")]
    sample_arrays: bool,
    /// Specific paths to analyze (analyzes root if not specified)
    #[serde(default)]
    paths: Vec<String>,
    /// Include figures of the values at each path: sum, mean, min, max, quantiles, string lengths,
    /// distinct and frequent values
    #[serde(default)]
    include_values: bool,
    /// Include `fields`: every path with its types, values, and the number of objects without it
    #[serde(default)]
    include_fields: bool,
    each: Option<Each>,
    #[serde(default, rename = "where")]
    filters: Where,
    cursor: Option<Cursor>,
    #[serde(default)]
    max_chars: MaxChars<DEFAULT_CHARS>,
}

/// The default of `max_depth`.
const fn depth() -> u32 {
    5
}

const fn yes() -> bool {
    true
}

impl Stats {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: describe(), shared: Arc::clone(shared), cache: Cache::new(50, 16 << 20) }
    }
}

/// The description in exports.
const BRIEF: &str = "Exact size, structure, types, arrays, and objects of an output, or of the values at `paths`. `include_fields`: types and \
    presence of every path; `include_values`: distinct, frequent, least, greatest values; `include_schema`: JSON Schema.";

fn describe() -> Metadata {
    let first = "Get statistics and metadata about stored tool output including size, structure, types, and optional schema \
        generation.";
    let contents = "Call this first on an unknown output. Without options it lists containers only: `arrays` and `objects` \
        have every path of a container ($.users[*].tags), with lengths and types, for use in other calls. `include_fields` \
        adds `fields`: every path with its types, values, and the number of objects without it. Members of maps (IDs as \
        names) share the path `.*`. All figures are exact and cover the whole output; `max_depth` bounds only the rows and \
        the schema. A row for several arrays or objects has their total as `length` or `keys`, and also `count`, smallest, \
        and largest. `paths` restricts the figures to the selected values, with one entry a path in `by_path`. \
        `include_values` adds figures of the values at each path; those that are approximate say so.";
    let required = &["id", "size", "structure", "types"];
    let results = Results { properties: results(), required, next: describe::Next::Cursor };
    metadata::<Arguments>("tool_outputs.stats", &[first, contents], results)
        .brief(BRIEF)
        .result_mode(ResultMode::Inline)
}

fn results() -> Value {
    json!({
        "id": { "type": "string" },
        "tool_name": { "type": "string" },
        "created_at": { "type": "integer" },
        "size": {
            "type": "object",
            "properties": {
                "bytes": { "type": "integer" },
                "characters": { "type": "integer" },
                "formatted": { "type": "string" }
            }
        },
        "structure": {
            "type": "object",
            "properties": {
                "root_type": { "type": "string" },
                "max_depth": { "type": "integer" },
                "total_keys": { "type": "integer" },
                "total_values": { "type": "integer" }
            }
        },
        "types": {
            "type": "object",
            "additionalProperties": { "type": "integer" },
            "description": "Count of each JSON type"
        },
        "arrays": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "length": { "type": "integer" },
                    "item_type": { "type": "string" }
                }
            }
        },
        "objects": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "path": { "type": "string" },
                    "keys": { "type": "integer" }
                }
            }
        },
        "fields": fields(),
        "schema": {
            "description": "Generated JSON schema if requested"
        },
        "records": {
            "type": "integer",
            "description": "Number of records, when the output is a stream of records"
        },
        "capped": {
            "type": "object",
            "description": "The sections that were truncated: the number of rows shown, and their total"
        },
        "by_path": {
            "type": "array",
            "items": { "type": "object" },
            "description": "The same figures for each of several paths"
        },
        "values": {
            "type": "array",
            "items": { "type": "object" },
            "description": "Figures of the values at each path, if requested"
        }
    })
}

/// The schema of `fields`.
fn fields() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "types": { "type": "object", "additionalProperties": { "type": "integer" } },
                "count": { "type": "integer" },
                "missing": { "type": "integer" }
            }
        },
        "description": "The values at every path, if requested"
    })
}

impl Tool for Stats {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let subject =
            CallSubject::new(&self.metadata.name, "describe", &arguments.id.0, arguments.max_chars.0)
                .from(arguments.cursor.as_ref());
        let stored = self.shared.json(subject.action)?;
        let path = |text: &String| self.shared.query(subject.action, "the path", text);
        let queries = arguments.paths.iter().map(path).collect::<Result<Vec<_>, _>>()?;
        let (filters, each) = (&arguments.filters, arguments.each.as_ref());
        let filters = &Filters::new(&self.shared, subject.action, filters, each)?;
        let key = arguments.key(&stored, &queries) + &filters.key();
        let binding = Binding::new(&self.metadata.name, &stored.id, &stored.digest).and(&key);
        let from = usize::try_from(subject.unit(&binding)?).unwrap_or(usize::MAX);
        let start = Start { unit: from, binding: &binding };
        let mut source = self.shared.open(subject.action, stored)?;
        let job = Job::new(call);
        let run = StatsRun {
            shared: &self.shared,
            cached: &self.cache,
            subject,
            arguments: &arguments,
            queries: &queries,
            filters,
            job: &job,
        };
        let (output, coverage) = run.answer(&mut source, key, start)?;
        note(call, coverage, job.elapsed());
        Ok(output)
    }
}

/// The start of a page: the index of its first unit, and the binding of its cursors.
#[derive(Clone, Copy)]
struct Start<'a> {
    unit: usize,
    binding: &'a Binding,
}

impl Arguments {
    /// Returns the cache key of the statistics that the arguments select.
    fn key(&self, stored: &Stored, queries: &[Arc<Query>]) -> String {
        let Self { include_schema, max_depth, sample_arrays, include_values, include_fields, .. } = self;
        let flags = [include_schema, sample_arrays, include_values, include_fields];
        let flags = flags.map(|flag| u8::from(*flag));
        let queries: Vec<String> = queries.iter().map(|query| query.shorthand()).collect();
        format!("{} {flags:?} {max_depth} {}", stored.digest, queries.join("\n"))
    }

    fn measure(&self, queries: &[Arc<Query>]) -> Measure {
        let mut stats = trommel::Stats::new();
        stats.queries = queries.iter().map(|query| (**query).clone()).collect();
        stats.schema = self.include_schema;
        stats.values = self.include_values;
        stats.fields = self.include_fields;
        stats.item_types = self.sample_arrays;
        stats.max_depth = Some(self.max_depth);
        Measure::Stats(stats)
    }
}

/// One call of `tool_outputs.stats`.
struct StatsRun<'a> {
    shared: &'a Shared,
    cached: &'a Cache<Arc<RenderedStats>>,
    subject: CallSubject<'a>,
    arguments: &'a Arguments,
    queries: &'a [Arc<Query>],
    filters: &'a Filters<'a>,
    job: &'a Job,
}

impl StatsRun<'_> {
    fn answer(
        &self,
        source: &mut Source<'_>,
        key: String,
        start: Start<'_>,
    ) -> Result<(Output, AnswerCoverage), Failure> {
        let total = source.stored.size_bytes;
        let (stats, coverage) = self.rendered_stats(source, key)?;
        let all = self.arguments.paths.iter().zip(self.queries);
        let all: Vec<_> = all.map(|(text, query)| HintQuery::new(text, query)).collect();
        let none = all.iter().zip(&stats.matched).filter(|(_, matched)| !**matched);
        let empty: Vec<_> = none.map(|(hint_query, _)| *hint_query).collect();
        let is_empty = !stats.matched.contains(&true);
        let empty_result = EmptyResult { filters: self.filters, all: &all, is_empty, empty: &empty };
        let hint = empty_result.hint(self.shared, source, self.job).or_else(|| self.too_long(&stats));
        let mut answer = Statistics::new(&source.stored, &stats, self.subject, start);
        answer.warning = warning(&source.stored, hint, self.subject.max_chars);
        self.job.finished(total);
        Ok((self.subject.fit(&answer)?, coverage))
    }

    /// Returns the warning for a schema that is too large for the page.
    fn too_long(&self, stats: &RenderedStats) -> Option<String> {
        let schemas = stats.rows.iter().filter(|row| row.section == Section::Schema);
        let length = schemas.map(|row| chars(&row.text)).find(|length| *length > self.subject.max_chars)?;
        Some(format!("the schema takes {length} characters: pass a smaller max_depth, or more max_chars"))
    }

    fn rendered_stats(
        &self,
        source: &mut Source<'_>,
        key: String,
    ) -> Result<(Arc<RenderedStats>, AnswerCoverage), Failure> {
        let total = source.stored.size_bytes;
        if let Some(known) = self.cached.get(&key) {
            // The pass that computed the cached statistics was strict, and the digest shows that
            // the payload is the same.
            let coverage = AnswerCoverage { validation: Validation::Strict, ..AnswerCoverage::known(total) };
            return Ok((Arc::clone(&known), AnswerCoverage { exact: known.exact, ..coverage }));
        }
        let analysis = self.filters.narrow(self.job.analysis(source, Validation::Strict));
        let report = analysis.ask(self.arguments.measure(self.queries)).run(&mut source.document);
        let report = report.map_err(|error| self.subject.action.engine(&error))?;
        let answer = report.answers.into_iter().find_map(|answer| match answer {
            Answer::Stats(answer) => Some(*answer),
            _ => None,
        });
        let stats = answer.and_then(|answer| RenderedStats::new(&answer).ok());
        let stats = stats.ok_or_else(|| {
            self.subject
                .action
                .fail("defect", "internal error: the figures cannot be written as JSON; please report this")
        })?;
        let stats = Arc::new(stats);
        let weight = stats.weight() + key.len();
        self.cached.put(key, Arc::clone(&stats), weight);
        let coverage = AnswerCoverage { exact: stats.exact, ..AnswerCoverage::of(&report.coverage, total) };
        Ok((stats, coverage))
    }
}

/// `{"id": …, "size": {…}, "structure": {…}, "types": {…}, "arrays": […], …}`: figures, then rows.
struct Statistics<'a> {
    id: &'a str,
    /// The figures, each with the section that it is a member of.
    head: Vec<(Section, String)>,
    /// The rows of all sections, in order.
    rows: Vec<(Section, Item)>,
    empty: &'a [Section],
    start: Start<'a>,
    /// True if the figures are repeated on a page after the first.
    again: bool,
    warning: Option<String>,
}

impl<'a> Statistics<'a> {
    fn new(stored: &'a Stored, stats: &'a RenderedStats, subject: CallSubject<'_>, start: Start<'a>) -> Self {
        let origin = [
            format!(r#""tool_name":{}"#, string(&stored.tool_name)),
            format!(r#""created_at":{}"#, stored.created_at),
        ];
        let origin = origin.into_iter().map(|member| (Section::Top, member));
        let head: Vec<_> = origin.chain(stats.head.iter().cloned()).collect();
        let max_chars = subject.max_chars;
        let row = |row: &Row| (row.section, Item::of_text(row.text.clone(), max_chars, &row.path));
        let length: usize = head.iter().map(|(_, member)| chars(member) + 1).sum();
        // Later pages repeat the figures only if those leave at least half of the page to the rows.
        Self {
            id: &stored.id,
            again: start.unit >= head.len() && length * 2 <= max_chars,
            rows: stats.rows.iter().map(row).collect(),
            head,
            empty: &stats.empty,
            start,
            warning: None,
        }
    }

    /// Returns a unit by its index among the figures and rows of all pages.
    fn unit(&self, unit: usize) -> Option<(Section, &str)> {
        let member = self.head.get(unit).map(|(section, member)| (*section, member.as_str()));
        let row = || self.rows.get(unit.checked_sub(self.head.len())?);
        member.or_else(|| row().map(|(section, item)| (*section, item.text())))
    }

    fn push_section(&self, section: Section, units: &[&str], out: &mut String) {
        let must = section.is_required() || self.empty.contains(&section) && self.has_head();
        if units.is_empty() && !must {
            return;
        }
        out.push(',');
        let (open, close) = section.brackets();
        out.push_str(open);
        out.push_str(&units.join(","));
        out.push_str(close);
    }

    fn has_head(&self) -> bool {
        self.start.unit == 0 || self.again
    }

    fn truncation(&self, shown: usize, marked: bool) -> Option<Truncation> {
        let next = self.start.unit + shown;
        let left = next < self.head.len() + self.rows.len();
        let mut rows =
            (self.start.unit..next).filter_map(|unit| self.rows.get(unit.checked_sub(self.head.len())?));
        let marked = marked || rows.any(|(_, item)| item.is_large());
        let next = left.then(|| Next::Cursor(self.start.binding.cursor(&[next as u64])));
        (left || marked).then_some(Truncation { reason: Reason::MaxChars, returned: shown as u64, next })
    }
}

impl PagedAnswer for Statistics<'_> {
    fn len(&self) -> usize {
        (self.head.len() + self.rows.len()).saturating_sub(self.start.unit)
    }

    fn min_chars(&self, unit: usize) -> usize {
        self.unit(self.start.unit + unit).map_or(0, |(_, text)| chars(text))
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let again = if self.again { 0..self.head.len() } else { 0..0 };
        let units = again.chain(self.start.unit..self.start.unit + shown).filter_map(|unit| {
            let (section, text) = self.unit(unit)?;
            Some((section, if unit == self.start.unit { first.unwrap_or(text) } else { text }))
        });
        let units: Vec<(Section, &str)> = units.collect();
        let mut out = format!(r#"{{"id":{}"#, string(self.id));
        for section in Section::ALL {
            let of_section = units.iter().filter(|(of, _)| *of == section);
            self.push_section(section, &of_section.map(|(_, text)| *text).collect::<Vec<_>>(), &mut out);
        }
        if let Some(truncation) = self.truncation(shown, first.is_some()) {
            truncation.push(&mut out);
        }
        push_warning(self.warning.as_deref(), &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, max_chars: usize) -> Option<String> {
        let row = self.start.unit.checked_sub(self.head.len())?;
        self.rows.get(row).and_then(|(_, item)| item.mark(max_chars))
    }
}
