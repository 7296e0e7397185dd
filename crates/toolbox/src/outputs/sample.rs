//! `tool_outputs.sample`: some of many.
//!
//! One pass draws. It remembers spans, so that memory follows the size of the sample and not that
//! of its items. The values are then read at these spans, as many as a page holds.

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
use trommel_hints::Asked as Questioned;
use trommel_store::Stored;
use trommel_tool::{Call, Failure, Metadata, Output, ResultMode, Tool};

use super::arguments::{Cursor, Id, MaxChars, Where};
use super::cache::Cache;
use super::cursor::Binding;
use super::describe::{self, Results, metadata};
use super::failures::Doing;
use super::filters::Filters;
use super::hints::Silence;
use super::item::{Item, kind_of};
use super::job::{Basis, Job};
use super::mark::Mark;
use super::page::{Cut, DEFAULT_CHARS, Next, Reason, Sheet, push_warning, unit_text};
use super::shared::{Asked, Shared, note, warning};
use super::source::Source;
use draw::{Drawn, Group, Picked, Population, Rule, Wanted, draw};

/// The tool.
pub(super) struct Sample {
    metadata: Metadata,
    shared: Arc<Shared>,
    /// Samples, by output and what was asked.
    drawn: Cache<Arc<Drawn>>,
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
        Self { metadata: describe(), shared: Arc::clone(shared), drawn: Cache::new(50, 4 << 20) }
    }
}

fn describe() -> Metadata {
    let first = "Extract a sample of items from arrays in stored output. Supports random, systematic, and edge sampling \
        strategies.";
    let kinds = "A path that can select only one value must lead to an array, whose elements are sampled; any other path \
        ($.orders[*].items[*]) samples the values it selects, and `$` in a stream of records the records. `sample` stands in the \
        order of the output, with `indices` from 0. strategy: `random` (the same `seed` always gives the same sample), `first`, \
        `last`, `systematic` (every `stride`-th; without `stride` evenly spread), `stratified` (from each group its share; needs \
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
    metadata::<Arguments>("tool_outputs.sample", &[first, kinds], results).result_mode(ResultMode::Auto)
}

fn strata() -> Value {
    json!({
        "type": "array",
        "items": {
            "type": "object",
            "properties": {
                "value": { "description": "What the items of the group have at strata_path; null when they have nothing" },
                "total": { "type": "integer", "description": "Items of the group" },
                "sampled": { "type": "integer", "description": "Items of the group in the sample" },
                "missing": { "type": "boolean", "description": "Whether they have nothing at strata_path" }
            },
            "required": ["value", "total", "sampled"]
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
        let asked = Asked::new(&self.metadata.name, "sample", &arguments.id.0, arguments.max_chars.0)
            .from(arguments.cursor.as_ref());
        let doing = asked.doing;
        arguments.check(doing)?;
        let stored = self.shared.json(doing)?;
        let query = self.shared.query(doing, "the path", &arguments.path)?;
        let strata = arguments.strata_path.as_deref();
        let strata = strata.map(|text| self.shared.query(doing, "the strata_path", text)).transpose()?;
        let filters = &Filters::new(&self.shared, doing, &arguments.filters.0)?;
        let binding = Binding::new(&self.metadata.name, &stored.id, &stored.digest);
        let binding = binding.and(arguments.question()).and(filters.key());
        let start = arguments.start(asked, &binding)?;
        if arguments.is_seeded() {
            call.note("seed", start.seed);
        }
        let mut source = self.shared.open(doing, stored)?;
        let job = Job::new(call);
        let sampling = Sampling {
            shared: &self.shared,
            known: &self.drawn,
            asked,
            arguments: &arguments,
            query: &query,
            strata: strata.as_deref(),
            filters,
            start,
            job: &job,
        };
        let (output, basis) = sampling.answer(&mut source, &binding)?;
        note(call, basis, job.took());
        Ok(output)
    }
}

/// Where an answer begins: the number of a unit, and the seed.
#[derive(Clone, Copy, Debug)]
struct Start {
    unit: u64,
    seed: u64,
    /// True if the seed is not the caller's, and must be in cursors.
    drawn: bool,
}

impl Arguments {
    /// Whether the arguments go together.
    fn check(&self, doing: Doing<'_>) -> Result<(), Failure> {
        let refuse = |why: &str| Err(doing.refuse("strategy", why));
        if self.seed.is_some() && self.seed().is_none() {
            return refuse("`seed` must be an integer from -2^63 to 2^64-1");
        }
        if self.stride.is_some() && self.strategy != Strategy::Systematic {
            return refuse("`stride` goes with strategy systematic; leave it out, or pass that strategy");
        }
        match (self.strategy, &self.strata_path) {
            (Strategy::Stratified, None) => refuse(
                "strategy stratified needs `strata_path`, the path within items that makes the groups, such as $.region",
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

    /// The caller's seed. Negative ones are as good as any.
    fn seed(&self) -> Option<u64> {
        let seed = self.seed.as_ref()?;
        seed.as_u64().or_else(|| seed.as_i64().map(|seed| seed as u64))
    }

    /// What the drawing depends on, but for the output and a seed that was drawn.
    fn question(&self) -> String {
        let Self { path, size, strategy, stride, strata_path, .. } = self;
        let stride = stride.map_or(0, NonZeroU64::get);
        format!(
            "{strategy:?} {size} {stride} {:?}\n{path}\n{}",
            self.seed(),
            strata_path.as_deref().unwrap_or("")
        )
    }

    fn start(&self, asked: Asked<'_>, binding: &Binding) -> Result<Start, Failure> {
        let given = self.seed();
        let drawn = given.is_none() && self.is_seeded();
        let Some(cursor) = asked.cursor else {
            return Ok(Start {
                unit: 0,
                seed: given.unwrap_or_else(|| if drawn { fresh() } else { 0 }),
                drawn,
            });
        };
        let position = binding.position(cursor).map_err(|bad| asked.doing.cursor(bad))?;
        let mut numbers = position.into_iter();
        // A cursor of this binding was made here: it has a unit, and the seed where the caller gave
        // none.
        let unit = numbers.next().unwrap_or(0);
        Ok(Start { unit, seed: given.or_else(|| numbers.next()).unwrap_or(0), drawn })
    }
}

/// A seed that nobody chose: the system's random numbers, by way of the keys of a hash map. Few
/// digits make short cursors.
fn fresh() -> u64 {
    RandomState::new().hash_one("seed") >> 36
}

/// A sample that is drawn.
struct Sampling<'a> {
    shared: &'a Shared,
    known: &'a Cache<Arc<Drawn>>,
    asked: Asked<'a>,
    arguments: &'a Arguments,
    query: &'a Query,
    strata: Option<&'a Query>,
    filters: &'a Filters<'a>,
    start: Start,
    job: &'a Job,
}

impl Sampling<'_> {
    fn answer(&self, source: &mut Source<'_>, binding: &Binding) -> Result<(Output, Basis), Failure> {
        let size = source.stored.size_bytes;
        let (drawn, basis) = self.drawn(source).map_err(|error| self.asked.doing.engine(&error))?;
        let mut page = Page::new(&drawn, self.start, binding);
        self.fill(&mut page, &drawn, source).map_err(|error| self.asked.doing.read(&error, None))?;
        let few = self.warning(source, &drawn);
        page.warning = warning(few.as_ref(), self.asked.max_chars);
        self.job.finished(size);
        Ok((self.asked.fit(&page)?, basis))
    }

    fn population(&self, source: &Source<'_>) -> Population {
        let is_root = self.query.segments().iter().len() == 0;
        let records = is_root && source.is_stream();
        if records || !self.query.is_singular() { Population::Nodes } else { Population::Elements }
    }

    /// What is drawn, in this call or an earlier one.
    fn drawn(&self, source: &mut Source<'_>) -> Result<(Arc<Drawn>, Basis), Error> {
        let Stored { digest, size_bytes, .. } = &source.stored;
        let (digest, total) = (digest.clone(), *size_bytes);
        let (most, seed) = (self.asked.max_chars, self.start.seed);
        let filters = self.filters.key();
        let key = format!("{digest} {most} {seed} {}{filters}", self.arguments.question());
        if let Some(known) = self.known.get(&key) {
            return Ok((known, Basis::known(total)));
        }
        let population = self.population(source);
        let count_as = if population == Population::Nodes { CountAs::Matches } else { CountAs::ArrayLength };
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
        let wanted = Wanted {
            query: self.query,
            filter: filter.as_ref(),
            population,
            rule,
            size: self.arguments.size,
            seed: Seed::new(seed),
            total: self.shared.counts.get(&length),
            long: most as u64 / 4,
        };
        let drawn = draw(source, self.job, wanted)?;
        let passes = if read > 0 { 2 } else { 1 };
        let complete = drawn.read >= total;
        let basis = Basis { passes, read: read + drawn.read, complete, ..Basis::known(total) };
        let weight = length.len();
        self.shared.counts.put(length, drawn.total, weight);
        let drawn = Arc::new(drawn);
        let weight = drawn.weight() + key.len();
        self.known.put(key, Arc::clone(&drawn), weight);
        Ok((drawn, basis))
    }

    /// Returns the size of the population, and counts it unless it is known.
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
            // It is no array: as a sample says it.
            Error::NotCountable(what) => Error::NotAnArray { query: self.query.shorthand(), kind: what.kind },
            error => error,
        })?;
        *read = report.coverage.bytes_read;
        let length = report.answers.first().and_then(trommel::Answer::count);
        let length = length.expect("the count that was asked is answered");
        self.shared.counts.put(key, length, key.len());
        Ok(length)
    }

    /// Reads values at their spans, as many as there may be room for.
    #[expect(clippy::expect_used, reason = "an item that needs a mark takes more than `Wanted::long` bytes")]
    fn fill(
        &self,
        page: &mut Page<'_>,
        drawn: &Drawn,
        source: &Source<'_>,
    ) -> Result<(), trommel::reader::Error> {
        let most = self.asked.max_chars;
        let mut values = source.values()?;
        let mut sum = 0;
        for Picked { index, place } in drawn.items.iter().skip(page.from) {
            if sum > most {
                return Ok(());
            }
            let span = Span::new(place.start, place.end);
            let rendering = values.rendering(span, most)?;
            let kind = kind_of(rendering.text.as_bytes());
            let item = Item::new(rendering, most, || {
                let path = place.path.clone().expect("the drawing pass notes the path of each long item");
                Mark::new(path, kind, span.len())
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

    fn warning(&self, source: &mut Source<'_>, drawn: &Drawn) -> Option<String> {
        let questioned = [Questioned::new(&self.arguments.path, self.query)];
        let is_silent = drawn.total == 0;
        let empty = if is_silent { &questioned[..] } else { &[] };
        let silence = Silence { filters: self.filters, all: &questioned, is_silent, empty };
        let hint = silence.hint(self.shared, source, self.job);
        let wanted = self.arguments.size.get() as u64;
        if drawn.total >= wanted {
            return hint;
        }
        let why = hint.unwrap_or_else(|| trommel_hints::few(drawn.total).to_owned());
        Some(format!("only {} of {wanted} drawn: {why}", drawn.total))
    }
}

/// `{"sample": […], "total_items": …, "sample_size": …, "indices": […], …}`
struct Page<'a> {
    units: Vec<Unit>,
    drawn: &'a Drawn,
    from: usize,
    start: Start,
    binding: &'a Binding,
    warning: Option<&'a str>,
}

/// An item with its index, or a group.
enum Unit {
    Item(u64, Item),
    Group(String, bool),
}

/// Characters of what a group has in common that are shown whole.
const VALUE: usize = 200;

impl Unit {
    fn group(group: &Group, path: Option<&str>) -> Self {
        let value = group.value.clone().unwrap_or_else(|| "null".into());
        let value = Item::of_text(value, VALUE, path.unwrap_or("$"));
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
    fn new(drawn: &'a Drawn, start: Start, binding: &'a Binding) -> Self {
        let from = usize::try_from(start.unit).unwrap_or(usize::MAX);
        Self { units: Vec::new(), drawn, from, start, binding, warning: None }
    }

    fn cut(&self, shown: usize, marked: bool) -> Option<Cut> {
        let next = self.from.saturating_add(shown);
        let all = self.drawn.items.len() + self.drawn.strata.as_ref().map_or(0, Vec::len);
        let large = self.units[..shown].iter().any(Unit::is_large);
        let next = (next < all).then(|| {
            let seed = self.start.drawn.then_some(self.start.seed);
            let position: Vec<u64> = std::iter::once(next as u64).chain(seed).collect();
            Next::Cursor(self.binding.cursor(&position))
        });
        let cut = next.is_some() || marked || large;
        cut.then_some(Cut { reason: Reason::MaxChars, returned: shown as u64, next })
    }
}

impl Sheet for Page<'_> {
    fn len(&self) -> usize {
        self.units.len()
    }

    fn least(&self, unit: usize) -> usize {
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
        if !groups.is_empty() || self.drawn.strata.as_ref().is_some_and(Vec::is_empty) {
            let _ = write!(out, r#","strata":[{}]"#, groups.join(","));
        }
        if let Some(cut) = self.cut(shown, first.is_some()) {
            cut.push(&mut out);
        }
        push_warning(self.warning, &mut out);
        out.push('}');
        out
    }

    fn stand_in(&self, room: usize) -> Option<String> {
        match self.units.first() {
            Some(Unit::Item(_, item)) => item.mark(room),
            _ => None,
        }
    }
}
