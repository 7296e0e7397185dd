//! Events of a session, projected to the requested fields. The payload of an event is never
//! returned as a whole.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::budget::{CharBudget, DEFAULT_MAX_CHARS, check_limit, json_chars};
use crate::error::{RequestFault, Result};
use crate::event_types::EventTypes;
use crate::fields::{FieldPath, FieldValues, Fields, Nested};
use crate::layout::{EventMembers, Layout};
use crate::parallel::scan;
use crate::records::{Damage, Flow};
use crate::session::Session;
use crate::watch::Watch;

/// The maximum number of characters of a field. Longer fields are omitted and named.
pub const FIELD_CHARS: usize = 2_000;

/// The maximum number of requested fields.
const MAX_FIELDS: usize = 64;

/// The events to return, and their fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventQuery {
    /// Returns only events of these types. A type may end with `*`.
    pub event_types: Vec<String>,
    /// Returns only these fields. Empty means the time, the type, the level, and small known
    /// fields.
    pub fields: Vec<String>,
    /// Returns only events that report errors.
    pub errors_only: bool,
    /// The maximum number of events.
    pub limit: usize,
    /// The number of events to skip.
    pub offset: u64,
    /// The maximum number of characters of all events of a page, as JSON. An event that does not
    /// fit ends the page and starts the next one. A first event that does not fit is returned
    /// without some fields, which are named.
    pub max_chars: usize,
}

impl Default for EventQuery {
    fn default() -> Self {
        let (event_types, fields, errors_only) = (Vec::new(), Vec::new(), false);
        Self { event_types, fields, errors_only, limit: 100, offset: 0, max_chars: DEFAULT_MAX_CHARS }
    }
}

/// A page of events.
#[derive(Clone, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct EventPage {
    /// The events.
    pub events: Vec<EventRow>,
    /// The total number of events.
    pub total_count: u64,
    /// True if more events follow this page.
    pub has_more: bool,
    /// The records that could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// An event with its requested fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventRow {
    /// The record's index, from 0.
    pub record: u64,
    /// The fields, nested by path.
    pub fields: Nested,
    /// Requested fields that are omitted because they are too long, or are the whole payload.
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

/// A requested field, and the paths where it may be.
struct RequestedField {
    path: FieldPath,
    candidates: Vec<(usize, FieldPath)>,
    /// True if the field is the whole payload.
    is_payload: bool,
}

/// The characters that mark omitted fields without names: `,"omitted":["…"]`.
const UNNAMED_CHARS: usize = 16;

/// The compiled query.
struct Plan {
    layout: &'static Layout,
    fields: Fields,
    columns: Vec<RequestedField>,
    has_error: bool,
    types: EventTypes,
    errors_only: bool,
}

impl Plan {
    fn new(query: &EventQuery, layout: &'static Layout) -> Result<Self> {
        let mut paths = EventMembers::paths(layout);
        let (requested, has_error) = requested_fields(query, layout)?;
        let mut columns = Vec::new();
        for path in requested {
            let is_payload = matches!(path.names(), [name] if layout.payload.contains(&&**name));
            let mut at = Vec::new();
            for candidate in if is_payload { Vec::new() } else { candidates(&path, layout) } {
                let slot = paths.iter().position(|known| *known == candidate);
                let slot = slot.unwrap_or_else(|| {
                    paths.push(candidate.clone());
                    paths.len() - 1
                });
                at.push((slot, candidate));
            }
            columns.push(RequestedField { path, candidates: at, is_payload });
        }
        let fields =
            EventMembers::with_blocks(Fields::new(paths.iter().map(|path| (path, FIELD_CHARS))), layout);
        let (types, errors_only) = (EventTypes::new(&query.event_types)?, query.errors_only);
        Ok(Self { layout, fields, columns, has_error, types, errors_only })
    }

    /// True if an event may match, judging by the members read so far.
    fn may_match(&self, found: &FieldValues) -> bool {
        EventMembers::event_so_far(found).is_none_or(|event| self.types.matches(&event))
    }

    fn matches(&self, found: &FieldValues) -> bool {
        let event = EventMembers::event_so_far(found);
        self.types.matches(event.as_deref().unwrap_or_default())
            && (!self.errors_only || EventMembers::is_error(self.layout, found))
    }

    fn row(&self, found: &FieldValues, record: u64) -> EventRow {
        let mut row = EventRow { record, fields: Nested::default(), omitted: Vec::new() };
        for column in &self.columns {
            column.put(found, &mut row);
        }
        if self.has_error && EventMembers::is_error(self.layout, found) {
            row.fields.put(&["has_error".to_owned()], "true");
        }
        row
    }

    /// Like `row`, with only the fields that fit, in order, and the names of the others.
    fn row_within(&self, found: &FieldValues, record: u64, max_chars: usize) -> EventRow {
        let whole = self.row(found, record);
        if json_chars(&whole) <= max_chars {
            return whole;
        }
        let mut row = EventRow { record, fields: Nested::default(), omitted: Vec::new() };
        if self.has_error && EventMembers::is_error(self.layout, found) {
            row.fields.put(&["has_error".to_owned()], "true");
        }
        // Reserve space for the names of all remaining fields, as any of them may have to be
        // omitted.
        let name = |column: &RequestedField| json_chars(&column.path.to_string()) + 1;
        let mut names = self.columns.iter().map(name).sum::<usize>();
        let fits = |row: &EventRow, names: usize| json_chars(row) + names + UNNAMED_CHARS <= max_chars;
        let mut is_unnamed = false;
        for column in &self.columns {
            names -= name(column);
            let (mut with, mut without) = (row.clone(), row.clone());
            column.put(found, &mut with);
            without.omitted.push(column.path.to_string());
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

impl RequestedField {
    /// Adds the field to a row, or its name to the omitted ones.
    fn put(&self, found: &FieldValues, row: &mut EventRow) {
        let located = self.candidates.iter().find_map(|(slot, path)| Some((found.get(*slot)?, path)));
        match located.map(|(value, path)| (value.json(), path)) {
            Some((Some(json), path)) => row.fields.put(path.names(), json),
            None if !self.is_payload => {}
            _ => row.omitted.push(self.path.to_string()),
        }
    }
}

/// Returns the requested fields without duplicates, and whether `has_error` is among them.
fn requested_fields(query: &EventQuery, layout: &Layout) -> Result<(Vec<FieldPath>, bool)> {
    let known = [layout.time, layout.event, layout.level].map(|name| FieldPath::from_names([name]));
    if query.fields.is_empty() {
        let small = layout.small.iter().map(|name| FieldPath::from_names([*name]));
        return Ok((known.into_iter().chain(small).collect(), true));
    }
    if query.fields.len() > MAX_FIELDS {
        return Err(RequestFault::Fields { count: query.fields.len(), max: MAX_FIELDS }.into());
    }
    let mut paths = known.into_iter().take(2).collect::<Vec<_>>();
    let mut has_error = false;
    for field in &query.fields {
        let path = FieldPath::parse(field)?;
        has_error |= path == FieldPath::from_names(["has_error"]);
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    Ok((paths, has_error))
}

/// Members that some versions write inside the payload and others beside it.
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

/// Returns the paths where a field may be, the most likely first.
pub(crate) fn candidates(path: &FieldPath, layout: &Layout) -> Vec<FieldPath> {
    let mut all = vec![path.clone()];
    match path.names() {
        [first, rest @ ..] if *first == layout.inside => {
            if rest.first().is_some_and(|name| HOISTED.contains(&&**name)) {
                all.push(FieldPath::from_names(rest.iter().map(String::as_str)));
            }
        }
        _ => all.push(path.below(layout.inside)),
    }
    all
}

/// True if a field is computed, or is a payload, which is always omitted.
pub(crate) fn is_never_given(path: &FieldPath, layout: &Layout) -> bool {
    matches!(path.names(), [name] if layout.payload.contains(&&**name) || &**name == "has_error")
}

/// Returns the paths that are read when no fields are requested.
#[cfg(test)]
pub(crate) fn usual_paths(layout: &Layout) -> Vec<FieldPath> {
    let mut paths = EventMembers::paths(layout);
    let (requested, _) = requested_fields(&EventQuery::default(), layout).unwrap();
    paths.extend(requested.iter().flat_map(|path| candidates(path, layout)));
    paths
}

impl Session {
    /// Returns a page of the session's events, each with the requested fields.
    ///
    /// A field is a name or a dotted path, such as `data.usage.input_tokens`. A bare name is also
    /// looked up in the payload. Fields longer than [`FIELD_CHARS`] and whole payloads are omitted,
    /// and named in `omitted`.
    pub fn get_events(&self, query: &EventQuery, watch: &Watch<'_>) -> Result<EventPage> {
        check_limit(query.limit)?;
        let mut budget = CharBudget::new(query.max_chars)?;
        let plan = Plan::new(query, self.layout())?;
        let log = self.events(watch)?;
        let job = watch.job(log.len())?;
        let (mut events, mut total) = (Vec::new(), 0);
        let may_match = |found: &FieldValues| plan.may_match(found);
        let damage = scan(&log, &plan.fields, &may_match, watch, |found, record| {
            if !plan.matches(found) {
                return Ok(Flow::Continue);
            }
            if total >= query.offset && events.len() < query.limit && !budget.is_full() {
                // Only the first event of a page is cut. Any other fits, or starts the next page,
                // so that a page is never empty.
                let max_chars = if budget.is_empty() { budget.remaining() } else { usize::MAX };
                let row = plan.row_within(found, record.number, max_chars);
                events.extend(budget.try_add(&row).then_some(row));
            }
            total += 1;
            Ok(Flow::Continue)
        })?;
        job.done();
        let has_more = query.offset + (events.len() as u64) < total;
        Ok(EventPage { events, total_count: total, has_more, damage })
    }
}
