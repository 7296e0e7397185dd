//! Aggregates of a numeric event field, optionally grouped by another field: sum, mean, minimum,
//! and maximum.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, RandomState};

use serde::Serialize;
use trommel::reader::{Kind, Number};
use trommel::statistics::{Accumulator, Numeric, NumericSummary};

use super::common::each_event;
use crate::error::Result;
use crate::event_types::EventTypes;
use crate::fields::{FieldPath, FieldValues};
use crate::layout::{EventMembers, Layout, ResponseParts};
use crate::records::{Damage, Flow};
use crate::session::Session;
use crate::text::label;
use crate::value::Value;
use crate::watch::Watch;

/// The maximum number of groups. Further groups are merged into one.
const MAX_GROUPS: usize = 1_000;

/// The maximum number of characters read of a number or a group name.
const MAX_VALUE_CHARS: usize = 300;

/// The number to aggregate, and how to group it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AggregateQuery {
    /// The numeric field, such as `data.duration_ms`. A bare name is also looked up in the event's
    /// payload.
    pub field: String,
    /// The field to group by, such as `data.model`. Without it, all numbers form one group.
    pub by: Option<String>,
    /// Aggregates only events of these types. Empty means all.
    pub event_types: Vec<String>,
}

/// Aggregated figures by group.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Aggregate {
    /// The field.
    pub field: String,
    /// The field that the numbers are grouped by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The groups, by name.
    pub groups: Vec<Group>,
    /// The number of events of the requested types.
    pub events: u64,
    /// The number of these events without the field.
    pub missing: u64,
    /// The number of these events whose field is not a number.
    pub not_numbers: u64,
    /// Records that were merged with another one. Claude Code splits a response into several
    /// records and repeats its usage in each. The largest figure of a response counts once.
    #[serde(skip_serializing_if = "crate::text::is_zero")]
    pub repeated: u64,
    /// True if there were too many responses to track, so that some are counted more than once.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub approximate: bool,
    /// The records that could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// The figures of one group. Sums are exact.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Group {
    /// The group's value. None without grouping, or if an event lacks the field.
    pub group: Option<String>,
    /// The figures.
    #[serde(flatten)]
    pub figures: NumericSummary,
}

/// Returns the paths of a field: as requested, and inside the event's payload.
fn candidate_paths(text: &str, layout: &Layout) -> Result<[FieldPath; 2]> {
    let path = FieldPath::parse(text)?;
    let inside = path.below(layout.inside);
    Ok([path, inside])
}

impl Session {
    /// Aggregates a number over the session's events.
    pub fn aggregate(&self, query: &AggregateQuery, watch: &Watch<'_>) -> Result<Aggregate> {
        let (types, layout) = (EventTypes::new(&query.event_types)?, self.layout());
        let mut requested = candidate_paths(&query.field, layout)?.to_vec();
        if let Some(by) = &query.by {
            requested.extend(candidate_paths(by, layout)?);
        }
        // A response written in parts repeats its usage in every part, so usage is deduplicated by
        // response ID. Other numbers are not.
        let is_usage =
            |parts: &&ResponseParts| requested.iter().take(2).any(|path| is_below(path, parts.usage));
        let response = layout.parts.as_ref().filter(is_usage);
        let response = response.map(|parts| FieldPath::from_names(parts.response.iter().copied()));
        let fields = FieldSlots::new(&requested, response.as_ref(), layout);
        let (mut groups, mut responses) = (Groups::default(), Responses::default());
        let (mut events, mut missing, mut not_numbers) = (0, 0, 0);
        let log = self.events(watch)?;
        let job = watch.job(log.len())?;
        let damage = each_event(&log, layout, &fields.added, watch, |found, _| {
            if !types.matches(&EventMembers::event(found)) {
                return Ok(Flow::Continue);
            }
            events += 1;
            let Some(value) = fields.value(found, 0) else {
                missing += 1;
                return Ok(Flow::Continue);
            };
            let is_number = value.kind() == Some(Kind::Number);
            let number = if is_number { value.json().and_then(Number::parse) } else { None };
            let Some(number) = number else {
                not_numbers += 1;
                return Ok(Flow::Continue);
            };
            let group = if query.by.is_some() { fields.value(found, 2).map(name) } else { None };
            let group = groups.group(group);
            let id = fields.response.and_then(|slot| found.text(slot));
            if !responses.record(id.as_deref(), group, number) {
                groups.observe(group, number);
            }
            Ok(Flow::Continue)
        })?;
        job.done();
        let (repeated, approximate) = (responses.repeated, responses.approximate);
        responses.observe(&mut groups);
        let (field, by) = (query.field.clone(), query.by.clone());
        let groups = groups.end();
        Ok(Aggregate { field, by, groups, events, missing, not_numbers, repeated, approximate, damage })
    }
}

/// True if a path starts with these names.
fn is_below(path: &FieldPath, names: &[&str]) -> bool {
    path.names().get(..names.len()).is_some_and(|first| first == names)
}

/// Accumulators by group.
#[derive(Default)]
struct Groups {
    numbers: BTreeMap<Option<String>, usize>,
    figures: Vec<Numeric>,
}

impl Groups {
    /// Returns the index of a group, adding it if it is new.
    fn group(&mut self, name: Option<String>) -> usize {
        let full = self.numbers.len() >= MAX_GROUPS && !self.numbers.contains_key(&name);
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
const MAX_RESPONSES: usize = 500_000;

/// The largest figure of each response, with the index of its group.
#[derive(Default)]
struct Responses {
    keys: RandomState,
    figures: HashMap<u64, (usize, u64)>,
    repeated: u64,
    approximate: bool,
}

impl Responses {
    /// Records the figure of a response until the end. Returns `false` if the caller has to observe
    /// it now: it has no response ID, is not a count, or there are too many responses.
    fn record(&mut self, id: Option<&str>, group: usize, number: Number<'_>) -> bool {
        let Some(id) = id else { return false };
        let Some(count) = number.as_i64().and_then(|count| u64::try_from(count).ok()) else { return false };
        // A hash keeps the table small. A collision would merge two of 500,000 responses, which is
        // improbable with 64 bits.
        let key = self.keys.hash_one(id);
        if let Some((_, largest)) = self.figures.get_mut(&key) {
            *largest = count.max(*largest);
            self.repeated += 1;
        } else if self.figures.len() < MAX_RESPONSES {
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

/// The slots of the requested fields. A field that is a known member, or is requested twice, reuses
/// a slot; `added` has the remaining fields.
struct FieldSlots {
    added: Vec<(FieldPath, usize)>,
    slots: Vec<usize>,
    /// The slot of the response ID, if usage is counted once per response.
    response: Option<usize>,
}

impl FieldSlots {
    fn new(requested: &[FieldPath], response: Option<&FieldPath>, layout: &Layout) -> Self {
        let mut all = EventMembers::paths(layout);
        let (mut added, mut slots) = (Vec::new(), Vec::new());
        for path in requested.iter().chain(response) {
            let slot = all.iter().position(|other| other == path).unwrap_or_else(|| {
                all.push(path.clone());
                added.push((path.clone(), MAX_VALUE_CHARS));
                all.len() - 1
            });
            slots.push(slot);
        }
        let response = response.and_then(|_| slots.pop());
        Self { added, slots, response }
    }

    /// Returns a requested field's value, at its own path or inside the payload.
    fn value<'f>(&self, found: &'f FieldValues, requested: usize) -> Option<&'f Value> {
        let slot = |requested: usize| self.slots.get(requested).and_then(|slot| found.get(*slot));
        slot(requested).or_else(|| slot(requested + 1))
    }
}

/// Returns the display name of a group.
fn name(value: &Value) -> String {
    let text = value.text().map(std::borrow::Cow::into_owned).or_else(|| value.json().map(str::to_owned));
    label(&text.unwrap_or_else(|| "(too long)".to_owned()), 200)
}
