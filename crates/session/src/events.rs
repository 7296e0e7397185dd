//! Events of a session, of each the fields that were asked for. What an event carries as a whole is
//! never returned.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::divided::each_found;
use crate::error::{RequestFault, Result};
use crate::layout::{Known, Layout};
use crate::names::Types;
use crate::project::{FieldPath, Fields, Found, Nested};
use crate::records::{Damage, Flow};
use crate::room::{ROWS, Room, check_limit, json_chars};
use crate::session::Session;
use crate::watch::Watch;

/// Characters of a field at most; a longer one is left out and named.
pub const FIELD_CHARS: usize = 2_000;

/// Fields that can be asked for at once.
const FIELDS: usize = 64;

/// Which events to get, and what of them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventQuery {
    /// Of these types only; a name may end with `*`.
    pub event_types: Vec<String>,
    /// Only these fields. Without any: the time, the type, the level, and small ones that are
    /// known.
    pub fields: Vec<String>,
    /// Only those that tell of an error.
    pub errors_only: bool,
    /// How many at most.
    pub limit: usize,
    /// How many to pass over.
    pub offset: u64,
    /// Characters of the JSON of all events of a page together. One that does not fit ends the
    /// page, and is the first of the next; of a first one the fields that do not fit are left out
    /// and named.
    pub max_chars: usize,
}

impl Default for EventQuery {
    fn default() -> Self {
        let (event_types, fields, errors_only) = (Vec::new(), Vec::new(), false);
        Self { event_types, fields, errors_only, limit: 100, offset: 0, max_chars: ROWS }
    }
}

/// A page of events.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct EventPage {
    /// The events.
    pub events: Vec<EventRow>,
    /// How many there are.
    pub total_count: u64,
    /// Whether there are more behind these.
    pub has_more: bool,
    /// What could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// An event, as far as it was asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventRow {
    /// Its record, from 0.
    pub record: u64,
    /// The fields, one below the other.
    pub fields: Nested,
    /// Fields that were asked for and are left out, being too long, or all that the event carries.
    pub omitted: Vec<String>,
}

impl Serialize for EventRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("record", &self.record)?;
        self.fields.write(&mut map)?;
        if !self.omitted.is_empty() {
            map.serialize_entry("omitted", &self.omitted)?;
        }
        map.end()
    }
}

/// A field that was asked for, and the places where it may be.
struct Wanted {
    path: FieldPath,
    places: Vec<(usize, FieldPath)>,
    /// Whether it is all that an event carries.
    is_payload: bool,
}

/// Characters that it takes to say that there are fields without a name: `,"omitted":["…"]`.
const UNNAMED: usize = 16;

/// What is looked for in each record.
struct Plan {
    layout: &'static Layout,
    fields: Fields,
    wanted: Vec<Wanted>,
    has_error: bool,
    types: Types,
    errors_only: bool,
}

impl Plan {
    fn of(query: &EventQuery, layout: &'static Layout) -> Result<Self> {
        let mut paths = Known::paths(layout);
        let (asked, has_error) = asked(query, layout)?;
        let mut wanted = Vec::new();
        for path in asked {
            let is_payload = matches!(path.names(), [name] if layout.payload.contains(&&**name));
            let mut at = Vec::new();
            for candidate in if is_payload { Vec::new() } else { places(&path, layout) } {
                let place = paths.iter().position(|known| *known == candidate);
                let place = place.unwrap_or_else(|| {
                    paths.push(candidate.clone());
                    paths.len() - 1
                });
                at.push((place, candidate));
            }
            wanted.push(Wanted { path, places: at, is_payload });
        }
        let fields = Known::with_blocks(Fields::new(paths.iter().map(|path| (path, FIELD_CHARS))), layout);
        let (types, errors_only) = (Types::new(&query.event_types)?, query.errors_only);
        Ok(Self { layout, fields, wanted, has_error, types, errors_only })
    }

    /// Whether an event is asked for, as far as is known of it yet.
    fn may_match(&self, found: &Found) -> bool {
        Known::named(found).is_none_or(|event| self.types.take(&event))
    }

    fn matches(&self, found: &Found) -> bool {
        let event = Known::named(found);
        self.types.take(event.as_deref().unwrap_or_default())
            && (!self.errors_only || Known::is_error(self.layout, found))
    }

    fn row(&self, found: &Found, record: u64) -> EventRow {
        let mut row = EventRow { record, fields: Nested::default(), omitted: Vec::new() };
        for wanted in &self.wanted {
            wanted.put(found, &mut row);
        }
        if self.has_error && Known::is_error(self.layout, found) {
            row.fields.put(&["has_error".to_owned()], "true");
        }
        row
    }

    /// The same with those fields for which there is room, in their order, and the names of the
    /// others.
    fn row_within(&self, found: &Found, record: u64, most: usize) -> EventRow {
        let whole = self.row(found, record);
        if json_chars(&whole) <= most {
            return whole;
        }
        let mut row = EventRow { record, fields: Nested::default(), omitted: Vec::new() };
        if self.has_error && Known::is_error(self.layout, found) {
            row.fields.put(&["has_error".to_owned()], "true");
        }
        // Every field that is still to come may have to be named.
        let name = |wanted: &Wanted| json_chars(&wanted.path.to_string()) + 1;
        let mut names = self.wanted.iter().map(name).sum::<usize>();
        let fits = |row: &EventRow, names: usize| json_chars(row) + names + UNNAMED <= most;
        let mut is_unnamed = false;
        for wanted in &self.wanted {
            names -= name(wanted);
            let (mut with, mut without) = (row.clone(), row.clone());
            wanted.put(found, &mut with);
            without.omitted.push(wanted.path.to_string());
            if json_chars(&with) == json_chars(&row) || fits(&with, names) {
                row = with;
            } else if fits(&without, 0) {
                row = without;
            } else {
                is_unnamed = true;
            }
        }
        row.omitted.extend(is_unnamed.then(|| "…".to_owned()));
        row
    }
}

impl Wanted {
    /// Puts the field where it belongs, or its name where it is left out.
    fn put(&self, found: &Found, row: &mut EventRow) {
        let there = self.places.iter().find_map(|(place, path)| Some((found.get(*place)?, path)));
        match there.map(|(value, path)| (value.json(), path)) {
            Some((Some(json), path)) => row.fields.put(path.names(), json),
            None if !self.is_payload => {}
            _ => row.omitted.push(self.path.to_string()),
        }
    }
}

/// The fields of a query, without repetitions; and whether it is asked if there was an error.
fn asked(query: &EventQuery, layout: &Layout) -> Result<(Vec<FieldPath>, bool)> {
    let known = [layout.time, layout.event, layout.level].map(|name| FieldPath::of([name]));
    if query.fields.is_empty() {
        let small = layout.small.iter().map(|name| FieldPath::of([*name]));
        return Ok((known.into_iter().chain(small).collect(), true));
    }
    if query.fields.len() > FIELDS {
        return Err(RequestFault::Fields { count: query.fields.len(), max: FIELDS }.into());
    }
    let mut paths = known.into_iter().take(2).collect::<Vec<_>>();
    let mut has_error = false;
    for field in &query.fields {
        let path = FieldPath::parse(field)?;
        has_error |= path == FieldPath::of(["has_error"]);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok((paths, has_error))
}

/// Members that are written outside of what an event carries by some and inside by others.
const HOISTED: [&str; 11] = [
    "redaction",
    "status",
    "duration_ms",
    "module",
    "component",
    "error",
    "request_id",
    "span_id",
    "parent_span_id",
    "session_id",
    "parent_id",
];

/// Where a field may stand, the likeliest first.
pub(crate) fn places(path: &FieldPath, layout: &Layout) -> Vec<FieldPath> {
    let mut all = vec![path.clone()];
    match path.names() {
        [first, rest @ ..] if *first == layout.inside => {
            if rest.first().is_some_and(|name| HOISTED.contains(&&**name)) {
                all.push(FieldPath::of(rest.iter().map(String::as_str)));
            }
        }
        _ => all.push(path.below(layout.inside)),
    }
    all
}

/// True if a field of an event is left out whatever it is, or shown by other ones.
pub(crate) fn is_never_given(path: &FieldPath, layout: &Layout) -> bool {
    matches!(path.names(), [name] if layout.payload.contains(&&**name) || &**name == "has_error")
}

/// Where events are looked at when no fields are asked for.
#[cfg(test)]
pub(crate) fn usual_paths(layout: &Layout) -> Vec<FieldPath> {
    let mut paths = Known::paths(layout);
    let (asked, _) = asked(&EventQuery::default(), layout).unwrap();
    paths.extend(asked.iter().flat_map(|path| places(path, layout)));
    paths
}

impl Session {
    /// A page of its events, of each the fields asked for.
    ///
    /// A field is a name or a path of names, `data.usage.input_tokens`; a name alone is also looked
    /// for in what the event carries. What is longer than [`FIELD_CHARS`], and all that an event
    /// carries, is left out and named in `omitted`.
    pub fn get_events(&self, query: &EventQuery, watch: &Watch<'_>) -> Result<EventPage> {
        check_limit(query.limit)?;
        let mut room = Room::new(query.max_chars)?;
        let plan = Plan::of(query, self.layout())?;
        let log = self.events(watch)?;
        let job = watch.job(log.len())?;
        let (mut events, mut total) = (Vec::new(), 0);
        let may_match = |found: &Found| plan.may_match(found);
        let damage = each_found(&log, &plan.fields, &may_match, watch, |found, record| {
            if !plan.matches(found) {
                return Ok(Flow::On);
            }
            if total >= query.offset && events.len() < query.limit && !room.is_full() {
                let most = if room.is_empty() { room.left() } else { usize::MAX };
                let row = plan.row_within(found, record.number, most);
                events.extend(room.take(&row).then_some(row));
            }
            total += 1;
            Ok(Flow::On)
        })?;
        job.done();
        let has_more = query.offset + (events.len() as u64) < total;
        Ok(EventPage { events, total_count: total, has_more, damage })
    }
}
