//! `tool_outputs.count`: how many.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use serde::Deserialize;
use trommel::path::{Logical, Query};
use trommel::reader::Validation;
use trommel::{CountAs, Measure};
use trommel_tool::{Call, Failure, Metadata, Output, Tool};

use super::filters::Filters;
use super::job::{Basis, Job};
use super::page::{Cut, Next, Reason, Sheet};
use super::source::Source;
use super::text::{chars, push_string, shown, string};
use super::{Asked, DEFAULT_CHARS, Questioned, Shared, Silence, metadata, note, warning};

/// The tool.
pub(crate) struct Count {
    metadata: Metadata,
    shared: Arc<Shared>,
}

#[derive(Deserialize)]
struct Arguments {
    id: String,
    counts: Vec<Counted>,
    #[serde(default, rename = "where")]
    filters: Vec<String>,
    max_chars: Option<usize>,
}

#[derive(Deserialize)]
struct Counted {
    name: String,
    path: String,
    filter: Option<String>,
    #[serde(default)]
    count_type: CountType,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum CountType {
    #[default]
    ArrayLength,
    ObjectKeys,
    Matches,
    NestedTotal,
}

impl From<CountType> for CountAs {
    fn from(count_type: CountType) -> Self {
        match count_type {
            CountType::ArrayLength => Self::ArrayLength,
            CountType::ObjectKeys => Self::ObjectKeys,
            CountType::Matches => Self::Matches,
            CountType::NestedTotal => Self::NestedTotal,
        }
    }
}

impl Count {
    pub(crate) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: metadata::count(), shared: Arc::clone(shared) }
    }
}

impl Tool for Count {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let max_chars = arguments.max_chars.unwrap_or(DEFAULT_CHARS);
        let asked = Asked::new(&self.metadata.name, "count in", &arguments.id, max_chars);
        let stored = self.shared.json(asked.doing)?;
        let questions = questions(&self.shared, asked, &arguments.counts)?;
        let filters = &Filters::new(&self.shared, asked.doing, &arguments.filters)?;
        let mut source = self.shared.open(asked.doing, stored)?;
        let (counted, took) = Job::attend(call, |job| {
            let counting = Counting { shared: &self.shared, asked, questions: &questions, filters, job };
            (counting.answer(&mut source), job.took())
        });
        let (output, basis) = counted?;
        note(call, basis, took);
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
    /// What the count is known by, once it is known.
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
        Ok(Question { name, path, query, filter, count_as: (*count_type).into(), key })
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
        let hint = self.shared.hint(source, self.job, &silence);
        let counts = self.questions.iter().map(|question| question.name).zip(counts).collect();
        let warning = warning(hint.as_ref(), self.asked.max_chars);
        self.job.finished(total);
        Ok((self.asked.fit(&Counts { counts, warning })?, basis))
    }

    /// All counts; those that are not known from earlier calls are made in one pass.
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
            let count = known.or_else(|| made.next()).unwrap_or_default();
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
        self.counts.get(unit).map_or(0, |(name, _)| chars(name) + 4)
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let counts = self.counts.get(..shown).unwrap_or_default().iter().enumerate();
        let counts = counts.map(|(at, (name, count))| match first.filter(|_| at == 0) {
            Some(first) => first.to_owned(),
            None => format!("{}:{count}", string(name)),
        });
        let total = self.counts.iter().fold(0_u64, |total, (_, count)| total.saturating_add(*count));
        let counts = counts.collect::<Vec<_>>().join(",");
        let mut out = format!(r#"{{"counts":{{{counts}}},"total":{total}"#);
        if shown < self.counts.len() {
            let returned = shown as u64;
            let next = Some(Next::Number(returned));
            Cut { reason: Reason::MaxChars, returned, next }.push(&mut out);
        }
        if let Some(warning) = self.warning {
            out.push_str(r#","warning":"#);
            push_string(warning, &mut out);
        }
        out.push('}');
        out
    }

    fn stand_in(&self, _: usize) -> Option<String> {
        None
    }
}
