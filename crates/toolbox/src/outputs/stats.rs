//! `tool_outputs.stats`: what is in an output.

mod described;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use trommel::path::Query;
use trommel::reader::Validation;
use trommel::{Answer, Measure};
use trommel_hints::Asked as Questioned;
use trommel_store::Stored;
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::{Cursor, Id, MaxChars, Where};
use super::cache::Cache;
use super::cursor::Binding;
use super::describe::{self, Results, metadata};
use super::filters::Filters;
use super::hints::Silence;
use super::item::Item;
use super::job::{Basis, Job};
use super::page::{Cut, DEFAULT_CHARS, Next, Reason, Sheet, push_warning};
use super::shared::{Asked, Shared, note, warning};
use super::source::Source;
use crate::text::{chars, string};
use described::{Described, Row, Section};

/// The tool.
pub(super) struct Stats {
    metadata: Metadata,
    shared: Arc<Shared>,
    /// Descriptions, by output and what was asked.
    described: Cache<Arc<Described>>,
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
    #[serde(default, rename = "where")]
    filters: Where,
    cursor: Option<Cursor>,
    #[serde(default)]
    max_chars: MaxChars<DEFAULT_CHARS>,
}

/// The depth to go to, unless the call says otherwise.
const fn depth() -> u32 {
    5
}

const fn yes() -> bool {
    true
}

impl Stats {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: describe(), shared: Arc::clone(shared), described: Cache::new(50, 16 << 20) }
    }
}

fn describe() -> Metadata {
    let first = "Get statistics and metadata about stored tool output including size, structure, types, and optional schema \
        generation.";
    let contents = "Call this first on an output you do not know: `arrays` and `objects` list every path there is \
        ($.users[*].tags), with lengths and types, ready to be used in other calls. All figures are exact and cover the whole \
        output; `max_depth` bounds only how deep `arrays`, `objects`, `schema` and `values` go. A row that stands for several \
        arrays or objects has their total as `length` or `keys`, and `count`, smallest and largest besides. `paths` narrows the \
        figures to what they select, one by one in `by_path`. `include_values` adds figures of the values at each path: sum, \
        mean, minimum, maximum and quantiles of numbers, lengths of strings, distinct and most frequent values; what is not \
        exact among these says so.";
    let required = &["id", "size", "structure", "types"];
    let results = Results { properties: results(), required, next: describe::Next::Cursor };
    metadata::<Arguments>("tool_outputs.stats", &[first, contents], results).result_mode(ResultMode::Inline)
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
        "schema": {
            "description": "Generated JSON schema if requested"
        },
        "records": {
            "type": "integer",
            "description": "Number of records, when the output is a stream of records"
        },
        "capped": {
            "type": "object",
            "description": "What there is more of than can be kept: how many rows are shown, and how many there are"
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

impl Tool for Stats {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let asked = Asked::new(&self.metadata.name, "describe", &arguments.id.0, arguments.max_chars.0)
            .from(arguments.cursor.as_ref());
        let stored = self.shared.json(asked.doing)?;
        let path = |text: &String| self.shared.query(asked.doing, "the path", text);
        let queries = arguments.paths.iter().map(path).collect::<Result<Vec<_>, _>>()?;
        let filters = &Filters::new(&self.shared, asked.doing, &arguments.filters.0)?;
        let question = arguments.key(&stored, &queries) + &filters.key();
        let binding = Binding::new(&self.metadata.name, &stored.id, &stored.digest).and(&question);
        let from = usize::try_from(asked.unit(&binding)?).unwrap_or(usize::MAX);
        let start = Start { unit: from, binding: &binding };
        let mut source = self.shared.open(asked.doing, stored)?;
        let job = Job::new(call);
        let description = Description {
            shared: &self.shared,
            known: &self.described,
            asked,
            arguments: &arguments,
            queries: &queries,
            filters,
            job: &job,
        };
        let (output, basis) = description.answer(&mut source, question, start)?;
        note(call, basis, job.took());
        Ok(output)
    }
}

/// Where a page begins: the number of its first unit, and the question that cursors are bound to.
#[derive(Clone, Copy)]
struct Start<'a> {
    unit: usize,
    binding: &'a Binding,
}

impl Arguments {
    /// The key of a description in the cache.
    fn key(&self, stored: &Stored, queries: &[Arc<Query>]) -> String {
        let Self { include_schema, max_depth, sample_arrays, include_values, .. } = self;
        let flags = [include_schema, sample_arrays, include_values].map(|flag| u8::from(*flag));
        let queries: Vec<String> = queries.iter().map(|query| query.shorthand()).collect();
        format!("{} {flags:?} {max_depth} {}", stored.digest, queries.join("\n"))
    }

    fn measure(&self, queries: &[Arc<Query>]) -> Measure {
        let mut stats = trommel::Stats::new();
        stats.queries = queries.iter().map(|query| (**query).clone()).collect();
        stats.schema = self.include_schema;
        stats.values = self.include_values;
        stats.item_types = self.sample_arrays;
        stats.max_depth = Some(self.max_depth);
        Measure::Stats(stats)
    }
}

/// A description that is made.
struct Description<'a> {
    shared: &'a Shared,
    known: &'a Cache<Arc<Described>>,
    asked: Asked<'a>,
    arguments: &'a Arguments,
    queries: &'a [Arc<Query>],
    filters: &'a Filters<'a>,
    job: &'a Job,
}

impl Description<'_> {
    fn answer(
        &self,
        source: &mut Source<'_>,
        key: String,
        start: Start<'_>,
    ) -> Result<(Output, Basis), Failure> {
        let total = source.stored.size_bytes;
        let (described, basis) = self.described(source, key)?;
        let all = self.arguments.paths.iter().zip(self.queries);
        let all: Vec<_> = all.map(|(text, query)| Questioned::new(text, query)).collect();
        let none = all.iter().zip(&described.matched).filter(|(_, matched)| !**matched);
        let empty: Vec<_> = none.map(|(questioned, _)| *questioned).collect();
        let is_silent = !described.matched.contains(&true);
        let silence = Silence { filters: self.filters, all: &all, is_silent, empty: &empty };
        let hint = silence.hint(self.shared, source, self.job).or_else(|| self.too_long(&described));
        let mut sheet = Statistics::new(&source.stored, &described, self.asked, start);
        sheet.warning = warning(hint.as_ref(), self.asked.max_chars);
        self.job.finished(total);
        Ok((self.asked.fit(&sheet)?, basis))
    }

    /// What to say of a schema that no page can hold.
    fn too_long(&self, described: &Described) -> Option<String> {
        let schemas = described.rows.iter().filter(|row| row.section == Section::Schema);
        let length = schemas.map(|row| chars(&row.text)).find(|length| *length > self.asked.max_chars)?;
        Some(format!("the schema takes {length} characters: pass a smaller max_depth, or more max_chars"))
    }

    fn described(&self, source: &mut Source<'_>, key: String) -> Result<(Arc<Described>, Basis), Failure> {
        let total = source.stored.size_bytes;
        if let Some(known) = self.known.get(&key) {
            let basis = Basis { validation: Validation::Strict, ..Basis::known(total) };
            return Ok((Arc::clone(&known), Basis { exact: known.exact, ..basis }));
        }
        let analysis = self.filters.narrow(self.job.analysis(source, Validation::Strict));
        let report = analysis.ask(self.arguments.measure(self.queries)).run(&mut source.document);
        let report = report.map_err(|error| self.asked.doing.engine(&error))?;
        let answer = report.answers.into_iter().find_map(|answer| match answer {
            Answer::Stats(answer) => Some(*answer),
            _ => None,
        });
        let described = answer.and_then(|answer| Described::new(&answer).ok());
        let described = described.ok_or_else(|| {
            self.asked.doing.fail("defect", "the figures cannot be written as JSON; tell the makers")
        })?;
        let described = Arc::new(described);
        let weight = described.weight() + key.len();
        self.known.put(key, Arc::clone(&described), weight);
        let basis = Basis { exact: described.exact, ..Basis::of(&report.coverage, total) };
        Ok((described, basis))
    }
}

/// `{"id": …, "size": {…}, "structure": {…}, "types": {…}, "arrays": […], …}`: figures first, then
/// rows.
struct Statistics<'a> {
    id: &'a str,
    /// Figures, of which each is a member.
    head: Vec<(Section, String)>,
    rows: Vec<(Section, Item)>,
    empty: &'a [Section],
    start: Start<'a>,
    /// True if the figures are on this page although another one had them.
    again: bool,
    warning: Option<&'a str>,
}

impl<'a> Statistics<'a> {
    fn new(stored: &'a Stored, described: &'a Described, asked: Asked<'_>, start: Start<'a>) -> Self {
        let origin = [
            format!(r#""tool_name":{}"#, string(&stored.tool_name)),
            format!(r#""created_at":{}"#, stored.created_at),
        ];
        let origin = origin.into_iter().map(|member| (Section::Top, member));
        let head: Vec<_> = origin.chain(described.head.iter().cloned()).collect();
        let most = asked.max_chars;
        let row = |row: &Row| (row.section, Item::of_text(row.text.clone(), most, &row.path));
        let length: usize = head.iter().map(|(_, member)| chars(member) + 1).sum();
        Self {
            id: &stored.id,
            again: start.unit >= head.len() && length * 2 <= most,
            rows: described.rows.iter().map(row).collect(),
            head,
            empty: &described.empty,
            start,
            warning: None,
        }
    }

    /// The text of a unit, counted from the first of all.
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

    fn cut(&self, shown: usize, marked: bool) -> Option<Cut> {
        let next = self.start.unit + shown;
        let left = next < self.head.len() + self.rows.len();
        let mut rows =
            (self.start.unit..next).filter_map(|unit| self.rows.get(unit.checked_sub(self.head.len())?));
        let marked = marked || rows.any(|(_, item)| item.is_large());
        let next = left.then(|| Next::Cursor(self.start.binding.cursor(&[next as u64])));
        (left || marked).then_some(Cut { reason: Reason::MaxChars, returned: shown as u64, next })
    }
}

impl Sheet for Statistics<'_> {
    fn len(&self) -> usize {
        (self.head.len() + self.rows.len()).saturating_sub(self.start.unit)
    }

    fn least(&self, unit: usize) -> usize {
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
        if let Some(cut) = self.cut(shown, first.is_some()) {
            cut.push(&mut out);
        }
        push_warning(self.warning, &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, room: usize) -> Option<String> {
        let row = self.start.unit.checked_sub(self.head.len())?;
        self.rows.get(row).and_then(|(_, item)| item.mark(room))
    }
}
