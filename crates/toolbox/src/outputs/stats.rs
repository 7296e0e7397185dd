//! `tool_outputs.stats`: what is in an output.

mod described;

use std::sync::Arc;

use serde::Deserialize;
use trommel::path::Query;
use trommel::reader::Validation;
use trommel::{Answer, Measure};
use trommel_store::Stored;
use trommel_tool::{Call, Failure, Metadata, Output, Tool};

use super::cursor::Binding;
use super::filters::Filters;
use super::item::Item;
use super::job::{Basis, Job};
use super::page::{Cut, Next, Reason, Sheet};
use super::source::Source;
use super::text::{chars, push_string, string};
use super::{Asked, DEFAULT_CHARS, Questioned, Shared, Silence, metadata, note, warning};
pub(crate) use described::Described;
use described::Section;

/// The tool.
pub(crate) struct Stats {
    metadata: Metadata,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
struct Arguments {
    id: String,
    #[serde(default)]
    include_schema: bool,
    #[serde(default = "depth")]
    max_depth: u32,
    #[serde(default = "yes")]
    sample_arrays: bool,
    #[serde(default)]
    paths: Vec<String>,
    #[serde(default)]
    include_values: bool,
    #[serde(default, rename = "where")]
    filters: Vec<String>,
    cursor: Option<String>,
    max_chars: Option<usize>,
}

/// The depth to go to, unless the call says otherwise.
const fn depth() -> u32 {
    5
}

const fn yes() -> bool {
    true
}

impl Stats {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: metadata::stats(), shared: Arc::clone(shared) }
    }
}

impl Tool for Stats {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let max_chars = arguments.max_chars.unwrap_or(DEFAULT_CHARS);
        let asked = Asked::new(&self.metadata.name, "describe", &arguments.id, max_chars)
            .from(arguments.cursor.as_deref());
        let stored = self.shared.json(asked.doing)?;
        let path = |text: &String| self.shared.query(asked.doing, "the path", text);
        let queries = arguments.paths.iter().map(path).collect::<Result<Vec<_>, _>>()?;
        let filters = &Filters::new(&self.shared, asked.doing, &arguments.filters)?;
        let question = arguments.key(&stored, &queries) + &filters.key();
        let binding = Binding::new(&self.metadata.name, &stored.id, &stored.digest).and(&question);
        let from = asked.unit(&binding)?;
        let mut source = self.shared.open(asked.doing, stored)?;
        let (described, took) = Job::attend(call, |job| {
            let shared = &self.shared;
            let description =
                Description { shared, asked, arguments: &arguments, queries: &queries, filters, job };
            (description.answer(&mut source, question, from, &binding), job.took())
        });
        let (output, basis) = described?;
        note(call, basis, took);
        Ok(output)
    }
}

impl Arguments {
    /// What a description is known by.
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
        from: u64,
        binding: &Binding,
    ) -> Result<(Output, Basis), Failure> {
        let total = source.stored.size_bytes;
        let (described, basis) = self.described(source, key)?;
        let all = self.arguments.paths.iter().zip(self.queries);
        let all: Vec<_> = all.map(|(text, query)| Questioned::new(text, query)).collect();
        let none = all.iter().zip(&described.matched).filter(|(_, matched)| !**matched);
        let empty: Vec<_> = none.map(|(questioned, _)| *questioned).collect();
        let is_silent = !described.matched.contains(&true);
        let silence = Silence { filters: self.filters, all: &all, is_silent, empty: &empty };
        let hint = self.shared.hint(source, self.job, &silence).or_else(|| self.too_long(&described));
        let warning = warning(hint.as_ref(), self.asked.max_chars);
        let sheet = Statistics::new(&source.stored, &described, self.asked, (from, binding), warning);
        self.job.finished(total);
        Ok((self.asked.fit(&sheet)?, basis))
    }

    /// What to say of a schema that no page can hold.
    fn too_long(&self, described: &Described) -> Option<String> {
        let schemas = described.rows.iter().filter(|(section, ..)| *section == Section::Schema);
        let length =
            schemas.map(|(_, _, schema)| chars(schema)).find(|length| *length > self.asked.max_chars)?;
        Some(format!("the schema takes {length} characters: pass a smaller max_depth, or more max_chars"))
    }

    fn described(&self, source: &mut Source<'_>, key: String) -> Result<(Arc<Described>, Basis), Failure> {
        let total = source.stored.size_bytes;
        if let Some(known) = self.shared.described.get(&key) {
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
        self.shared.described.put(key, Arc::clone(&described), weight);
        let basis = Basis { exact: described.exact, ..Basis::of(&report.coverage, total) };
        Ok((described, basis))
    }
}

/// `{"id": …, "size": {…}, "structure": {…}, "types": {…}, "arrays": […], …}`: figures first, then rows.
struct Statistics<'a> {
    id: &'a str,
    /// Figures, of which each is a member.
    head: Vec<(Section, String)>,
    rows: Vec<(Section, Item)>,
    empty: &'a [Section],
    /// The unit that the page begins with.
    from: usize,
    /// Whether the figures stand on this page although another one had them.
    again: bool,
    binding: &'a Binding,
    warning: Option<&'a str>,
}

impl<'a> Statistics<'a> {
    fn new(
        stored: &'a Stored,
        described: &'a Described,
        asked: Asked<'_>,
        (from, binding): (u64, &'a Binding),
        warning: Option<&'a str>,
    ) -> Self {
        let origin = [
            format!(r#""tool_name":{}"#, string(&stored.tool_name)),
            format!(r#""created_at":{}"#, stored.created_at),
        ];
        let origin = origin.into_iter().map(|member| (Section::Top, member));
        let head: Vec<_> = origin.chain(described.head.iter().cloned()).collect();
        let most = asked.max_chars;
        let row = |(section, path, text): &(Section, String, String)| {
            (*section, Item::of_text(text.clone(), most, path))
        };
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let length: usize = head.iter().map(|(_, member)| chars(member) + 1).sum();
        Self {
            id: &stored.id,
            again: from >= head.len() && length * 2 <= most,
            rows: described.rows.iter().map(row).collect(),
            head,
            empty: &described.empty,
            from,
            binding,
            warning,
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
        self.from == 0 || self.again
    }

    fn cut(&self, shown: usize, marked: bool) -> Option<Cut> {
        let next = self.from + shown;
        let left = next < self.head.len() + self.rows.len();
        let mut rows = (self.from..next).filter_map(|unit| self.rows.get(unit.checked_sub(self.head.len())?));
        let marked = marked || rows.any(|(_, item)| item.is_large());
        let next = left.then(|| Next::Cursor(self.binding.cursor(&[next as u64])));
        (left || marked).then_some(Cut { reason: Reason::MaxChars, returned: shown as u64, next })
    }
}

impl Sheet for Statistics<'_> {
    fn len(&self) -> usize {
        (self.head.len() + self.rows.len()).saturating_sub(self.from)
    }

    fn least(&self, unit: usize) -> usize {
        self.unit(self.from + unit).map_or(0, |(_, text)| chars(text))
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let again = if self.again { 0..self.head.len() } else { 0..0 };
        let units = again.chain(self.from..self.from + shown).filter_map(|unit| {
            let (section, text) = self.unit(unit)?;
            Some((section, first.filter(|_| unit == self.from).unwrap_or(text)))
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
        if let Some(warning) = self.warning {
            out.push_str(r#","warning":"#);
            push_string(warning, &mut out);
        }
        out.push('}');
        out
    }

    fn stand_in(&self, room: usize) -> Option<String> {
        let row = self.from.checked_sub(self.head.len())?;
        self.rows.get(row).and_then(|(_, item)| item.mark(room))
    }
}
