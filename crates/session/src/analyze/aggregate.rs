//! Sum, mean, smallest and largest of any number that events carry, by any other field.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};

use serde::Serialize;
use trommel::reader::{Kind, Number};
use trommel::statistics::{Accumulator, Numeric, NumericSummary};

use super::common::each_event;
use crate::error::Result;
use crate::layout::{Known, Layout, Parts};
use crate::names::Types;
use crate::project::{FieldPath, Found};
use crate::records::{Damage, Flow};
use crate::session::Session;
use crate::text::label;
use crate::value::Value;
use crate::watch::Watch;

/// Groups that are told apart.
const GROUPS: usize = 1_000;

/// Characters of a number, or of what groups it.
const VALUE: usize = 300;

/// Which numbers, and by what.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AggregateQuery {
    /// The field with the number, `data.duration_ms`; a name alone is also looked for in what the
    /// event carries.
    pub field: String,
    /// The field that groups them, `data.model`. Without one they are one group.
    pub by: Option<String>,
    /// Of events of these types only.
    pub event_types: Vec<String>,
}

/// Figures by group.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Aggregate {
    /// The field.
    pub field: String,
    /// What groups it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The groups, by name.
    pub groups: Vec<Group>,
    /// Events of the asked types.
    pub events: u64,
    /// Those without the field.
    pub missing: u64,
    /// Those where it is not a number.
    pub not_numbers: u64,
    /// Records that were not counted on their own: Claude Code writes a response in parts, and
    /// repeats its usage in each. The usage of a response is counted once, by its largest figure.
    #[serde(skip_serializing_if = "crate::text::is_zero")]
    pub repeated: u64,
    /// True if there were too many responses to distinguish, so that some are counted repeatedly.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
    /// What could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// Figures of a group. Sums are exact.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Group {
    /// What the numbers have in common; none where nothing groups them, or an event does not say.
    pub group: Option<String>,
    /// The figures.
    #[serde(flatten)]
    pub figures: NumericSummary,
}

/// Where a field may be: as it was asked for, and in what the event carries.
fn places(text: &str, layout: &Layout) -> Result<[FieldPath; 2]> {
    let path = FieldPath::parse(text)?;
    let inside = path.below(layout.inside);
    Ok([path, inside])
}

impl Session {
    /// Figures of a number that its events carry.
    pub fn aggregate(&self, query: &AggregateQuery, watch: &Watch<'_>) -> Result<Aggregate> {
        let (types, layout) = (Types::new(&query.event_types)?, self.layout());
        let mut asked = places(&query.field, layout)?.to_vec();
        if let Some(by) = &query.by {
            asked.extend(places(by, layout)?);
        }
        let is_usage = |parts: &&Parts| asked.iter().take(2).any(|path| is_below(path, parts.usage));
        let response = layout.parts.as_ref().filter(is_usage);
        let response = response.map(|parts| FieldPath::of(parts.response.iter().copied()));
        let looked = Looked::at(&asked, response.as_ref(), layout);
        let (mut groups, mut responses) = (Groups::default(), Responses::default());
        let (mut events, mut missing, mut not_numbers) = (0, 0, 0);
        let log = self.events(watch)?;
        let job = watch.job(log.len())?;
        let damage = each_event(&log, layout, &looked.fresh, watch, |found, _| {
            if !types.take(&Known::event(found)) {
                return Ok(Flow::On);
            }
            events += 1;
            let Some(value) = looked.value(found, 0) else {
                missing += 1;
                return Ok(Flow::On);
            };
            let is_number = value.kind() == Some(Kind::Number);
            let number = if is_number { value.json().and_then(Number::parse) } else { None };
            let Some(number) = number else {
                not_numbers += 1;
                return Ok(Flow::On);
            };
            let group = if query.by.is_some() { looked.value(found, 2).map(name) } else { None };
            let group = groups.group(group);
            let id = looked.response.and_then(|place| found.text(place));
            if !responses.take(id.as_deref(), group, number) {
                groups.observe(group, number);
            }
            Ok(Flow::On)
        })?;
        job.done();
        let (repeated, approximate) = (responses.repeated, responses.approximate);
        responses.observe(&mut groups);
        let (field, by) = (query.field.clone(), query.by.clone());
        let groups = groups.end();
        Ok(Aggregate { field, by, groups, events, missing, not_numbers, repeated, approximate, damage })
    }
}

/// True if a path begins with these names.
fn is_below(path: &FieldPath, names: &[&str]) -> bool {
    path.names().get(..names.len()).is_some_and(|first| first == names)
}

/// Numbers by group.
#[derive(Default)]
struct Groups {
    numbers: BTreeMap<Option<String>, usize>,
    figures: Vec<Numeric>,
}

impl Groups {
    /// The number of a group.
    fn group(&mut self, name: Option<String>) -> usize {
        let full = self.numbers.len() >= GROUPS && !self.numbers.contains_key(&name);
        let name = if full { Some("(others)".to_owned()) } else { name };
        *self.numbers.entry(name).or_insert_with(|| {
            self.figures.push(Numeric::default());
            self.figures.len() - 1
        })
    }

    fn observe(&mut self, group: usize, number: Number<'_>) {
        self.figures[group].observe(number);
    }

    fn end(self) -> Vec<Group> {
        let Self { numbers, figures } = self;
        let groups = numbers.into_iter();
        groups.map(|(group, number)| Group { group, figures: figures[number].summary() }).collect()
    }
}

/// The maximum number of responses that are distinguished.
const RESPONSES: usize = 500_000;

/// The largest figure of each response, with its group.
#[derive(Default)]
struct Responses {
    keys: RandomState,
    figures: HashMap<u64, (usize, u64)>,
    repeated: u64,
    approximate: bool,
}

impl Responses {
    /// Keeps the figure of a response. Returns `false` where it has to be observed now: it belongs
    /// to no response, is not a count, or there are too many.
    fn take(&mut self, id: Option<&str>, group: usize, number: Number<'_>) -> bool {
        let Some(id) = id else { return false };
        let Some(count) = number.as_i64().and_then(|count| u64::try_from(count).ok()) else { return false };
        let key = self.keys.hash_one(id);
        if let Some((_, most)) = self.figures.get_mut(&key) {
            *most = count.max(*most);
            self.repeated += 1;
        } else if self.figures.len() < RESPONSES {
            self.figures.insert(key, (group, count));
        } else {
            self.approximate = true;
            return false;
        }
        true
    }

    fn observe(self, groups: &mut Groups) {
        for (group, count) in self.figures.into_values() {
            if let Some(number) = Number::parse(&count.to_string()) {
                groups.observe(group, number);
            }
        }
    }
}

/// What is looked for besides the known members, and the place of each that was asked for: some are
/// known, some asked for twice.
struct Looked {
    fresh: Vec<(FieldPath, usize)>,
    places: Vec<usize>,
    /// The place of the response's ID, where figures of responses are counted once.
    response: Option<usize>,
}

impl Looked {
    fn at(asked: &[FieldPath], response: Option<&FieldPath>, layout: &Layout) -> Self {
        let mut all = Known::paths(layout);
        let (mut fresh, mut places) = (Vec::new(), Vec::new());
        for path in asked.iter().chain(response) {
            let place = all.iter().position(|other| other == path).unwrap_or_else(|| {
                all.push(path.clone());
                fresh.push((path.clone(), VALUE));
                all.len() - 1
            });
            places.push(place);
        }
        let response = response.and_then(|_| places.pop());
        Self { fresh, places, response }
    }

    /// What was asked for, there or in what the event carries.
    fn value<'f>(&self, found: &'f Found, asked: usize) -> Option<&'f Value> {
        let place = |asked: usize| self.places.get(asked).and_then(|place| found.get(*place));
        place(asked).or_else(|| place(asked + 1))
    }
}

/// A group's name.
fn name(value: &Value) -> String {
    let text = value.text().map(std::borrow::Cow::into_owned).or_else(|| value.json().map(str::to_owned));
    label(&text.unwrap_or_else(|| "(too long)".to_owned()), 200)
}
