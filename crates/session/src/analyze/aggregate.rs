//! Sum, mean, smallest and largest of any number that events carry, by any other field.

use std::collections::BTreeMap;

use serde::Serialize;
use trommel::reader::{Kind, Number};
use trommel::statistics::{Accumulator, Numeric, NumericSummary};

use super::each_event;
use crate::error::Result;
use crate::events::{Known, layout};
use crate::names::Types;
use crate::project::{FieldPath, Found, Value};
use crate::records::{Damage, Flow};
use crate::session::{Format, Session};
use crate::text::shown;
use crate::watch::Watch;

/// Groups that are told apart.
const GROUPS: usize = 1_000;

/// Characters of a number, or of what groups it.
const VALUE: usize = 300;

/// Which numbers, and by what.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct AggregateQuery {
    /// The field with the number, `data.duration_ms`; a name alone is also looked for in what the event carries.
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
    /// Those where it is no number.
    pub not_numbers: u64,
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
fn places(text: &str, format: Format) -> Result<[FieldPath; 2]> {
    let path = FieldPath::parse(text)?;
    let inside = path.below(layout(format).inside);
    Ok([path, inside])
}

impl Session {
    /// Figures of a number that its events carry.
    pub fn aggregate(&self, query: &AggregateQuery, watch: &Watch<'_>) -> Result<Aggregate> {
        let types = Types::new(&query.event_types)?;
        let mut asked = places(&query.field, self.format)?.to_vec();
        if let Some(by) = &query.by {
            asked.extend(places(by, self.format)?);
        }
        let looked = Looked::at(&asked, self.format);
        let mut groups = BTreeMap::<Option<String>, Numeric>::new();
        let (mut events, mut missing, mut not_numbers) = (0, 0, 0);
        let log = self.events(watch)?;
        let job = watch.job(log.len())?;
        let damage = each_event(&log, self.format, &looked.fresh, watch, |found, _| {
            if !types.take(&Known::event(found)) {
                return Ok(Flow::On);
            }
            events += 1;
            let Some(value) = looked.value(found, 0) else {
                missing += 1;
                return Ok(Flow::On);
            };
            let number = value.json().filter(|_| value.kind() == Some(Kind::Number)).and_then(Number::parse);
            let Some(number) = number else {
                not_numbers += 1;
                return Ok(Flow::On);
            };
            let group = if query.by.is_some() { looked.value(found, 2).map(name) } else { None };
            let full = groups.len() >= GROUPS && !groups.contains_key(&group);
            let group = if full { Some("(others)".to_owned()) } else { group };
            groups.entry(group).or_default().observe(number);
            Ok(Flow::On)
        })?;
        job.done();
        let groups =
            groups.into_iter().map(|(group, numbers)| Group { group, figures: numbers.summary() }).collect();
        let (field, by) = (query.field.clone(), query.by.clone());
        Ok(Aggregate { field, by, groups, events, missing, not_numbers, damage })
    }
}

/// What is looked for besides the known members, and the place of each that was asked for: some are known, some asked for twice.
struct Looked {
    fresh: Vec<(FieldPath, usize)>,
    places: Vec<usize>,
}

impl Looked {
    fn at(asked: &[FieldPath], format: Format) -> Self {
        let mut all = Known::paths(format);
        let (mut fresh, mut places) = (Vec::new(), Vec::new());
        for path in asked {
            let place = all.iter().position(|other| other == path).unwrap_or_else(|| {
                all.push(path.clone());
                fresh.push((path.clone(), VALUE));
                all.len() - 1
            });
            places.push(place);
        }
        Self { fresh, places }
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
    shown(&text.unwrap_or_else(|| "(too long)".to_owned()), 200)
}
