//! `tool_outputs.sample`: draws a sample from an array or from the nodes of a query.
//!
//! A single pass draws the sample. It keeps spans only, so its memory depends on the size of the
//! sample, and not on that of the items. The values at these spans are then read, as many as fit on
//! a page.

mod draw;

use std::fmt::Write;
use std::hash::{BuildHasher, RandomState};
use std::num::{NonZeroU64, NonZeroUsize};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value, json};
use trommel::path::Query;
use trommel::reader::{Span, Validation};
use trommel::sampler::Seed;
use trommel::{CountAs, Error, Measure};
use trommel_hints::UnmatchedQuery as HintQuery;
use trommel_store::Stored;
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::{Cursor, Each, Id, MaxChars, Where};
use super::cache::Cache;
use super::cursor::Binding;
use super::damage::warning;
use super::describe::{self, Results, metadata};
use super::failures::Action;
use super::filters::Filters;
use super::hints::EmptyResult;
use super::item::{Item, kind_of};
use super::job::{AnswerCoverage, Job};
use super::mark::TruncationMark;
use super::page::{DEFAULT_CHARS, Next, PagedAnswer, Reason, Truncation, push_warning, unit_text};
use super::shared::{CallSubject, Shared, note};
use super::source::Source;
use draw::{DrawRequest, DrawnItem, DrawnSample, Group, Population, Rule, draw};

/// The tool `tool_outputs.sample`.
pub(super) struct Sample {
    metadata: Metadata,
    shared: Arc<Shared>,
    /// Samples, by output and arguments.
    cache: Cache<Arc<DrawnSample>>,
}

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    id: Id,
    /// JSONPath to the array to sample from
    path: String,
    /// Number of items to sample
    #[schemars(range(min = 1, max = 1000))]
    size: NonZeroUsize,
    /// Sampling strategy to use
    #[serde(default)]
    strategy: Strategy,
    /// Random seed for reproducible sampling
    #[schemars(with = "i64")]
    #[serde(default)]
    seed: Option<Number>,
    /// Step size for systematic sampling
    stride: Option<NonZeroU64>,
    /// JSONPath within items for stratified sampling
    strata_path: Option<String>,
    each: Option<Each>,
    #[serde(default, rename = "where")]
    filters: Where,
    cursor: Option<Cursor>,
    #[serde(default)]
    max_chars: MaxChars<DEFAULT_CHARS>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Strategy {
    #[default]
    Random,
    First,
    Last,
    Systematic,
    Stratified,
}

impl Sample {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self { metadata: describe(), shared: Arc::clone(shared), cache: Cache::new(50, 4 << 20) }
    }
}

/// The description in exports.
const BRIEF: &str = "Sample the elements of the array at `path`, the values it selects, or with $ the records. `strategy`: random (repeat with \
    `seed`), first, last, systematic (every `stride`-th), stratified (by `strata_path`, such as $.region).";

fn describe() -> Metadata {
    let first = "Extract a sample of items from arrays in stored output. Supports random, systematic, and edge sampling \
        strategies.";
    let kinds = "A path that can select only one value must lead to an array, whose elements are sampled, or in records to other values; any other path \
        ($.orders[*].items[*]) samples the values it selects, and `$` in a stream of records the records. `sample` is in the \
        order of the output, with `indices` from 0. strategy: `random` (the same `seed` always gives the same sample), `first`, \
        `last`, `systematic` (every `stride`-th; without `stride` evenly spaced), `stratified` (a proportional share of each group; needs \
        `strata_path`, a path within items such as $.region).";
    let properties = json!({
        "sample": {
            "type": "array",
            "description": "Sampled items"
        },
        "total_items": {
            "type": "integer",
            "description": "Total number of items in source array"
        },
        "sample_size": {
            "type": "integer",
            "description": "Actual number of items sampled"
        },
        "indices": {
            "type": "array",
            "items": { "type": "integer" },
            "description": "Indices of sampled items in original array"
        },
        "strata": strata()
    });
    let required = &["sample", "total_items", "sample_size"];
    let results = Results { properties, required, next: describe::Next::Cursor };
    metadata::<Arguments>("tool_outputs.sample", &[first, kinds], results)
        .brief(BRIEF)
        .result_mode(ResultMode::Auto)
}

fn strata() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "value": { "description": "The value of the group's items at strata_path; null if they have none" },
                "total": { "type": "integer", "description": "Items of the group" },
                "sampled": { "type": "integer", "description": "Items of the group in the sample" },
                "missing": { "type": "boolean", "description": "True if they have no value at strata_path" },
                "$more": { "type": "integer", "description": "Alone: the number of further groups" }
            }
        },
        "description": "The groups of a stratified sample, in order of first appearance"
    })
}

impl Tool for Sample {
    fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    fn run(&self, call: &mut Call<'_>) -> Result<Output, Failure> {
        let arguments: Arguments = call.parse()?;
        let subject = CallSubject::new(&self.metadata.name, "sample", &arguments.id.0, arguments.max_chars.0)
            .from(arguments.cursor.as_ref());
        let action = subject.action;
        arguments.check(action)?;
        let stored = self.shared.json(action)?;
        let query = self.shared.query(action, "the path", &arguments.path)?;
        let strata = arguments.strata_path.as_deref();
        let strata = strata.map(|text| self.shared.query(action, "the strata_path", text)).transpose()?;
        let filters = &Filters::new(&self.shared, action, &arguments.filters, arguments.each.as_ref())?;
        let binding = Binding::new(&self.metadata.name, &stored.id, &stored.digest);
        let binding = binding.and(arguments.key()).and(filters.key());
        let start = arguments.start(subject, &binding)?;
        if arguments.is_seeded() {
            call.note("seed", start.seed);
        }
        let mut source = self.shared.open(action, stored)?;
        let job = Job::new(call);
        let run = SampleRun {
            shared: &self.shared,
            cached: &self.cache,
            subject,
            arguments: &arguments,
            query: &query,
            strata: strata.as_deref(),
            filters,
            start,
            job: &job,
        };
        let (output, coverage) = run.answer(&mut source, &binding)?;
        note(call, coverage, job.elapsed());
        Ok(output)
    }
}

/// The start of an answer: the index of a unit, and the seed.
#[derive(Clone, Copy, Debug)]
struct Start {
    unit: u64,
    seed: u64,
    /// True if the tool chose the seed, so that cursors must carry it.
    drawn: bool,
}

impl Arguments {
    /// Checks that the arguments can be combined.
    fn check(&self, action: Action<'_>) -> Result<(), Failure> {
        let refuse = |why: &str| Err(action.refuse("strategy", why));
        if self.seed.is_some() && self.seed().is_none() {
            return refuse("`seed` must be an integer from -2^63 to 2^64-1");
        }
        if self.stride.is_some() && self.strategy != Strategy::Systematic {
            return refuse("`stride` goes with strategy systematic; leave it out, or pass that strategy");
        }
        match (self.strategy, &self.strata_path) {
            (Strategy::Stratified, None) => refuse(
                "strategy stratified needs `strata_path`, the path within items to group by, such as $.region",
            ),
            (Strategy::Stratified, Some(_)) | (_, None) => Ok(()),
            (_, Some(_)) => {
                refuse("`strata_path` goes with strategy stratified; leave it out, or pass that strategy")
            }
        }
    }

    fn is_seeded(&self) -> bool {
        matches!(self.strategy, Strategy::Random | Strategy::Stratified)
    }

    /// Returns the caller's seed. A negative seed is reinterpreted as unsigned.
    fn seed(&self) -> Option<u64> {
        let seed = self.seed.as_ref()?;
        seed.as_u64().or_else(|| seed.as_i64().map(|seed| seed as u64))
    }

    /// Returns everything that the sample depends on, except the output and a seed that the tool
    /// chose.
    fn key(&self) -> String {
        let Self { path, size, strategy, stride, strata_path, .. } = self;
        let stride = stride.map_or(0, NonZeroU64::get);
        format!(
            "{strategy:?} {size} {stride} {:?}\n{path}\n{}",
            self.seed(),
            strata_path.as_deref().unwrap_or("")
        )
    }

    fn start(&self, subject: CallSubject<'_>, binding: &Binding) -> Result<Start, Failure> {
        let given = self.seed();
        let drawn = given.is_none() && self.is_seeded();
        let Some(cursor) = subject.cursor else {
            return Ok(Start {
                unit: 0,
                seed: given.unwrap_or_else(|| if drawn { random_seed() } else { 0 }),
                drawn,
            });
        };
        let position = binding.position(cursor).map_err(|bad| subject.action.cursor(bad))?;
        let mut numbers = position.into_iter();
        // The binding has verified that this tool created the cursor. It has the index of a unit,
        // and the seed if the caller gave none.
        let unit = numbers.next().unwrap_or(0);
        Ok(Start { unit, seed: given.or_else(|| numbers.next()).unwrap_or(0), drawn })
    }
}

/// Returns a random seed, taken from the keys of a hash map, which the system's random numbers
/// initialize. It has 28 bits to keep cursors short.
fn random_seed() -> u64 {
    RandomState::new().hash_one("seed") >> 36
}

/// One call of `tool_outputs.sample`.
struct SampleRun<'a> {
    shared: &'a Shared,
    cached: &'a Cache<Arc<DrawnSample>>,
    subject: CallSubject<'a>,
    arguments: &'a Arguments,
    query: &'a Query,
    strata: Option<&'a Query>,
    filters: &'a Filters<'a>,
    start: Start,
    job: &'a Job,
}

impl SampleRun<'_> {
    fn answer(
        &self,
        source: &mut Source<'_>,
        binding: &Binding,
    ) -> Result<(Output, AnswerCoverage), Failure> {
        let size = source.stored.size_bytes;
        let (drawn, coverage) = self.drawn(source).map_err(|error| self.subject.action.engine(&error))?;
        let mut page = Page::new(&drawn, self.start, binding);
        self.fill(&mut page, &drawn, source).map_err(|error| self.subject.action.read(&error, None))?;
        let hint = self.warning(source, &drawn);
        page.warning = warning(&source.stored, hint, self.subject.max_chars);
        self.job.finished(size);
        Ok((self.subject.fit(&page)?, coverage))
    }

    fn population(&self, source: &mut Source<'_>) -> Population {
        let (has_records, is_root) =
            (self.filters.has_records(source), self.query.segments().iter().len() == 0);
        if !self.query.is_singular() || has_records && is_root {
            return Population::Nodes;
        }
        if !has_records {
            return Population::Elements;
        }
        // Of records, the first match decides. The count ends at the first element, and fails at
        // the first match that has none.
        let count = trommel::Count::new(self.query.clone()).count_as(CountAs::ArrayLength).limit(1);
        let analysis = self.filters.narrow(self.job.quiet_analysis(source)).ask(Measure::Count(count));
        match analysis.run(&mut source.document) {
            Err(Error::NotCountable(_)) => Population::Values,
            // The drawing pass meets any other error itself.
            _ => Population::Elements,
        }
    }

    /// Draws the sample, or returns it from the cache.
    fn drawn(&self, source: &mut Source<'_>) -> Result<(Arc<DrawnSample>, AnswerCoverage), Error> {
        let Stored { digest, size_bytes, .. } = &source.stored;
        let (digest, total) = (digest.clone(), *size_bytes);
        let (max_chars, seed) = (self.subject.max_chars, self.start.seed);
        let filters = self.filters.key();
        // The size of the page is part of the key, because it determines for which items paths are
        // recorded.
        let key = format!("{digest} {max_chars} {seed} {}{filters}", self.arguments.key());
        if let Some(known) = self.cached.get(&key) {
            return Ok((known, AnswerCoverage::known(total)));
        }
        let population = self.population(source);
        let count_as =
            if population == Population::Elements { CountAs::ArrayLength } else { CountAs::Matches };
        let length = format!("{digest} {count_as:?} {}{filters}", self.query);
        let mut read = 0;
        let rule = match (self.arguments.strategy, self.arguments.stride, self.strata) {
            (Strategy::Stratified, _, Some(strata)) => Rule::Groups(strata),
            (Strategy::Random | Strategy::Stratified, ..) => Rule::Random,
            (Strategy::First, ..) => Rule::First,
            (Strategy::Last, ..) => Rule::Last,
            (Strategy::Systematic, Some(stride), _) => Rule::Stride(stride),
            (Strategy::Systematic, None, _) => {
                Rule::Spread(self.length(source, &length, count_as, &mut read)?)
            }
        };
        let filter = self.filters.compile(source.duplicates());
        let wanted = DrawRequest {
            query: self.query,
            each: self.filters.each(),
            filter: filter.as_ref(),
            population,
            rule,
            size: self.arguments.size,
            seed: Seed::new(seed),
            total: self.shared.counts.get(&length),
            // `Item::new` needs no mark for a value of at most a quarter of the page, and a
            // character takes at least one byte.
            long: max_chars as u64 / 4,
        };
        let drawn = draw(source, self.job, wanted)?;
        let passes = if read > 0 { 2 } else { 1 };
        let complete = drawn.read >= total;
        let coverage = AnswerCoverage {
            passes,
            read: read + drawn.read,
            complete,
            guide: drawn.guide,
            ..AnswerCoverage::known(total)
        };
        let weight = length.len();
        self.shared.counts.put(length, drawn.total, weight);
        let drawn = Arc::new(drawn);
        let weight = drawn.weight() + key.len();
        self.cached.put(key, Arc::clone(&drawn), weight);
        Ok((drawn, coverage))
    }

    /// Returns the size of the population. It is counted unless it is cached.
    #[expect(clippy::expect_used, reason = "a report has an answer for each measure")]
    fn length(
        &self,
        source: &mut Source<'_>,
        key: &str,
        count_as: CountAs,
        read: &mut u64,
    ) -> Result<u64, Error> {
        if let Some(known) = self.shared.counts.get(key) {
            return Ok(known);
        }
        let count = trommel::Count::new(self.query.clone()).count_as(count_as);
        let analysis = self.filters.narrow(self.job.analysis(source, Validation::Structural));
        let analysis = analysis.ask(Measure::Count(count));
        let counted = self.job.first_pass(source.stored.size_bytes, || analysis.run(&mut source.document));
        let report = counted.map_err(|error| match error {
            // Reported like the same fault in the drawing pass.
            Error::NotCountable(what) => Error::NotAnArray { query: self.query.shorthand(), kind: what.kind },
            error => error,
        })?;
        *read = report.coverage.bytes_read;
        let length = report.answers.first().and_then(trommel::Answer::count);
        let length = length.expect("the report answers its only count");
        self.shared.counts.put(key, length, key.len());
        Ok(length)
    }

    /// Reads values at their spans until they exceed the size of the page.
    #[expect(
        clippy::expect_used,
        reason = "an item that needs a mark takes more than `DrawRequest::long` bytes"
    )]
    fn fill(
        &self,
        page: &mut Page<'_>,
        drawn: &DrawnSample,
        source: &Source<'_>,
    ) -> Result<(), trommel::reader::Error> {
        let max_chars = self.subject.max_chars;
        let mut values = source.values()?;
        let mut sum = 0;
        for DrawnItem { index, location } in drawn.items.iter().skip(page.from) {
            if sum > max_chars {
                return Ok(());
            }
            let span = Span::new(location.start, location.end);
            let rendering = values.rendering(span, max_chars)?;
            let kind = kind_of(rendering.text.as_bytes());
            let item = Item::new(rendering, max_chars, || {
                let path =
                    location.path.clone().expect("the drawing pass records the path of each long item");
                TruncationMark::new(path, kind, span.len())
            });
            sum += item.chars() + 1;
            page.units.push(Unit::Item(*index, item));
        }
        let strata = drawn.strata.iter().flatten();
        let from = page.from.saturating_sub(drawn.items.len());
        page.units
            .extend(strata.skip(from).map(|group| Unit::group(group, self.arguments.strata_path.as_deref())));
        Ok(())
    }

    fn warning(&self, source: &mut Source<'_>, drawn: &DrawnSample) -> Option<String> {
        let hint_query = [HintQuery::new(&self.arguments.path, self.query)];
        let is_empty = drawn.total == 0;
        let empty = if is_empty { &hint_query[..] } else { &[] };
        let empty_result = EmptyResult { filters: self.filters, all: &hint_query, is_empty, empty };
        let hint = empty_result.hint(self.shared, source, self.job);
        let size = self.arguments.size.get() as u64;
        if drawn.total >= size {
            return hint;
        }
        let why = hint.unwrap_or_else(|| trommel_hints::shortfall_reason(drawn.total).to_owned());
        Some(format!("only {} of {size} drawn: {why}", drawn.total))
    }
}

/// `{"sample": […], "total_items": …, "sample_size": …, "indices": […], …}`
struct Page<'a> {
    units: Vec<Unit>,
    drawn: &'a DrawnSample,
    from: usize,
    start: Start,
    binding: &'a Binding,
    warning: Option<String>,
}

/// An item with its index, or a group of a stratified sample.
enum Unit {
    Item(u64, Item),
    Group(String, bool),
}

/// The maximum length of a group's value in characters.
const MAX_GROUP_VALUE_CHARS: usize = 200;

impl Unit {
    fn group(group: &Group, path: Option<&str>) -> Self {
        let value = group.value.clone().unwrap_or_else(|| "null".into());
        let value = Item::of_text(value, MAX_GROUP_VALUE_CHARS, path.unwrap_or("$"));
        let missing = if group.value.is_none() { r#","missing":true"# } else { "" };
        let Group { total, sampled, .. } = group;
        let text = format!(r#"{{"value":{},"total":{total},"sampled":{sampled}{missing}}}"#, value.text());
        Self::Group(text, value.is_large())
    }

    fn is_large(&self) -> bool {
        match self {
            Self::Item(_, item) => item.is_large(),
            Self::Group(_, large) => *large,
        }
    }
}

impl<'a> Page<'a> {
    fn new(drawn: &'a DrawnSample, start: Start, binding: &'a Binding) -> Self {
        let from = usize::try_from(start.unit).unwrap_or(usize::MAX);
        Self { units: Vec::new(), drawn, from, start, binding, warning: None }
    }

    fn truncation(&self, shown: usize, marked: bool) -> Option<Truncation> {
        let next = self.from.saturating_add(shown);
        let all = self.drawn.items.len() + self.drawn.strata.as_ref().map_or(0, Vec::len);
        let large = self.units[..shown].iter().any(Unit::is_large);
        let next = (next < all).then(|| {
            let seed = self.start.drawn.then_some(self.start.seed);
            let position: Vec<u64> = std::iter::once(next as u64).chain(seed).collect();
            Next::Cursor(self.binding.cursor(&position))
        });
        let cut = next.is_some() || marked || large;
        cut.then_some(Truncation { reason: Reason::MaxChars, returned: shown as u64, next })
    }
}

impl PagedAnswer for Page<'_> {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn min_chars(&self, unit: usize) -> usize {
        match &self.units[unit] {
            Unit::Item(_, item) => item.chars(),
            Unit::Group(text, _) => text.len() / 4,
        }
    }

    fn text(&self, shown: usize, first: Option<&str>) -> String {
        let (mut items, mut indices, mut groups) = (Vec::new(), Vec::new(), Vec::new());
        for (at, unit) in self.units[..shown].iter().enumerate() {
            match unit {
                Unit::Item(index, item) => {
                    items.push(unit_text(at, item.text(), first));
                    indices.push(index.to_string());
                }
                Unit::Group(text, _) => groups.push(text.as_str()),
            }
        }
        let (total, size) = (self.drawn.total, self.drawn.items.len());
        let mut out = format!(
            r#"{{"sample":[{}],"total_items":{total},"sample_size":{size},"indices":[{}]"#,
            items.join(","),
            indices.join(",")
        );
        if let Some(strata) = &self.drawn.strata {
            // Groups on earlier pages are not part of the rest.
            let earlier = self.from.saturating_sub(self.drawn.items.len());
            let rest = strata.len().saturating_sub(earlier + groups.len());
            let more = (rest > 0).then(|| format!(r#"{{"$more":{rest}}}"#));
            let texts: Vec<&str> = groups.into_iter().chain(more.as_deref()).collect();
            let _ = write!(out, r#","strata":[{}]"#, texts.join(","));
        }
        if let Some(truncation) = self.truncation(shown, first.is_some()) {
            truncation.push(&mut out);
        }
        push_warning(self.warning.as_deref(), &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, max_chars: usize) -> Option<String> {
        match self.units.first() {
            Some(Unit::Item(_, item)) => item.mark(max_chars),
            _ => None,
        }
    }
}
