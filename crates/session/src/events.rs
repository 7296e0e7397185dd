//! Events of a session, of each the fields that were asked for. What an event carries as a whole is never returned.

use serde::ser::{Serialize, SerializeMap, Serializer};
use trommel::reader::Kind;

use crate::divided::each_found;
use crate::error::{Error, Result};
use crate::list::check_limit;
use crate::message::is_error_level;
use crate::names::{Types, current};
use crate::project::{FieldPath, Fields, Found, Nested, Value};
use crate::records::{Damage, Flow};
use crate::room::{ROWS, Room, json_chars};
use crate::session::{Format, Session};
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
    /// Only these fields. Without any: the time, the type, the level, and small ones that are known.
    pub fields: Vec<String>,
    /// Only those that tell of an error.
    pub errors_only: bool,
    /// How many at most.
    pub limit: usize,
    /// How many to pass over.
    pub offset: u64,
    /// Characters of the JSON of all events of a page together. One that does not fit ends the page, and is the first of the next; of a
    /// first one the fields that do not fit are left out and named.
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

/// Where the members of an event stand that are known.
pub(crate) struct Layout {
    pub(crate) time: &'static str,
    pub(crate) event: &'static str,
    level: &'static str,
    /// Members that say of a record that something failed, and the value that says so.
    failed: ([&'static [&'static str]; 2], &'static str),
    /// The content of a message, whose blocks may be results of failed tools.
    content: Option<&'static [&'static str]>,
    /// What an event carries: these members as a whole are never returned.
    payload: &'static [&'static str],
    /// Where members are also looked for.
    pub(crate) inside: &'static str,
    /// What is given when nothing is asked for.
    small: &'static [&'static str],
}

pub(crate) fn layout(format: Format) -> Layout {
    match format {
        Format::ClaudeCode | Format::Chat => Layout {
            time: "timestamp",
            event: "type",
            level: "level",
            failed: ([&["isApiErrorMessage"], &["message", "isApiErrorMessage"]], "true"),
            content: Some(&["message", "content"]),
            payload: &["message", "toolUseResult", "content"],
            inside: "message",
            small: &["role", "model", "id", "isSidechain"],
        },
        Format::Amplifier => Layout {
            time: "ts",
            event: "event",
            level: "lvl",
            failed: ([&["data", "result", "success"], &["data", "tool_result", "success"]], "false"),
            content: None,
            payload: &["data"],
            inside: "data",
            small: &["status", "model", "provider", "tool_name", "duration_ms"],
        },
    }
}

/// Where in what was found the known members stand.
const TIME: usize = 0;
const EVENT: usize = 1;
const LEVEL: usize = 2;
const STATUS: usize = 3;
const ERROR: usize = 4;
const INNER_ERROR: usize = 5;
const FAILED: [usize; 2] = [6, 7];

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
    format: Format,
    fields: Fields,
    wanted: Vec<Wanted>,
    has_error: bool,
    types: Types,
    errors_only: bool,
}

impl Plan {
    fn of(query: &EventQuery, format: Format) -> Result<Self> {
        let layout = layout(format);
        let mut paths = Known::paths(format);
        let (asked, has_error) = asked(query, &layout)?;
        let mut wanted = Vec::new();
        for path in asked {
            let is_payload = matches!(path.names(), [name] if layout.payload.contains(&&**name));
            let mut places = Vec::new();
            for candidate in if is_payload { Vec::new() } else { candidates(&path, &layout) } {
                let place = paths.iter().position(|known| *known == candidate);
                let place = place.unwrap_or_else(|| {
                    paths.push(candidate.clone());
                    paths.len() - 1
                });
                places.push((place, candidate));
            }
            wanted.push(Wanted { path, places, is_payload });
        }
        let fields = Known::with_blocks(Fields::new(paths.iter().map(|path| (path, FIELD_CHARS))), format);
        let (types, errors_only) = (Types::new(&query.event_types)?, query.errors_only);
        Ok(Self { format, fields, wanted, has_error, types, errors_only })
    }

    /// Whether an event is asked for, as far as is known of it yet.
    fn may_match(&self, found: &Found) -> bool {
        found.text(EVENT).is_none_or(|event| self.types.take(&event))
    }

    fn matches(&self, found: &Found) -> bool {
        let event = found.text(EVENT);
        self.types.take(event.as_deref().unwrap_or_default())
            && (!self.errors_only || Known::is_error(self.format, found))
    }

    fn row(&self, found: &Found, record: u64) -> EventRow {
        let mut row = EventRow { record, fields: Nested::default(), omitted: Vec::new() };
        for wanted in &self.wanted {
            wanted.put(found, &mut row);
        }
        if self.has_error && Known::is_error(self.format, found) {
            row.fields.put(&["has_error".to_owned()], "true");
        }
        row
    }

    /// The same with those fields for which there is room, in their order, and the names of the others.
    fn row_within(&self, found: &Found, record: u64, most: usize) -> EventRow {
        let whole = self.row(found, record);
        if json_chars(&whole) <= most {
            return whole;
        }
        let mut row = EventRow { record, fields: Nested::default(), omitted: Vec::new() };
        if self.has_error && Known::is_error(self.format, found) {
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
        let message = format!("{} fields are more than {FIELDS}: ask for fewer at once", query.fields.len());
        return Err(Error::request(message));
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
fn candidates(path: &FieldPath, layout: &Layout) -> Vec<FieldPath> {
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

/// Where a field of an Amplifier event may stand.
pub(crate) fn places(path: &FieldPath) -> Vec<FieldPath> {
    candidates(path, &layout(Format::Amplifier))
}

/// Whether a field of an Amplifier event is left out whatever it is, or told by other ones.
pub(crate) fn is_never_given(path: &FieldPath) -> bool {
    let payload = layout(Format::Amplifier).payload;
    matches!(path.names(), [name] if payload.contains(&&**name) || &**name == "has_error")
}

/// Where events are looked at when no fields are asked for.
#[cfg(test)]
pub(crate) fn usual_paths(format: Format) -> Vec<FieldPath> {
    let mut paths = Known::paths(format);
    let (asked, _) = asked(&EventQuery::default(), &layout(format)).unwrap_or_default();
    paths.extend(asked.iter().flat_map(|path| candidates(path, &layout(format))));
    paths
}

impl Session {
    /// A page of its events, of each the fields asked for.
    ///
    /// A field is a name or a path of names, `data.usage.input_tokens`; a name alone is also looked for in what the event carries.
    /// What is longer than [`FIELD_CHARS`], and all that an event carries, is left out and named in `omitted`.
    pub fn get_events(&self, query: &EventQuery, watch: &Watch<'_>) -> Result<EventPage> {
        check_limit(query.limit)?;
        let mut room = Room::new(query.max_chars)?;
        let plan = Plan::of(query, self.format)?;
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

/// Characters of a known member.
const KNOWN: usize = 2_000;

/// What stands where in a record, for who counts events: the time, the type, and whether it tells of an error.
pub(crate) struct Known {
    fields: Fields,
}

impl Known {
    /// The known members, and some more, whose places follow.
    pub(crate) fn and(format: Format, more: &[(FieldPath, usize)]) -> Self {
        let all = Self::paths(format).into_iter().chain(more.iter().map(|(path, _)| path.clone()));
        let caps = [KNOWN; Self::MORE].into_iter().chain(more.iter().map(|(_, cap)| *cap));
        let paths = all.zip(caps).collect::<Vec<_>>();
        let fields = Fields::new(paths.iter().map(|(path, cap)| (path, *cap)));
        Self { fields: Self::with_blocks(fields, format) }
    }

    /// Reads also the blocks of messages, where results of failed tools are among them.
    fn with_blocks(fields: Fields, format: Format) -> Fields {
        match layout(format).content {
            Some(path) => fields.with_blocks(&FieldPath::of(path.iter().copied())),
            None => fields,
        }
    }

    /// The paths of the known members, in the order of their places.
    pub(crate) fn paths(format: Format) -> Vec<FieldPath> {
        let layout = layout(format);
        let mut paths = [layout.time, layout.event, layout.level, "status", "error"]
            .map(|name| FieldPath::of([name]))
            .to_vec();
        paths.push(FieldPath::of([layout.inside, "error"]));
        paths.extend(layout.failed.0.map(|path| FieldPath::of(path.iter().copied())));
        paths
    }

    /// The place of the first of those that are more.
    pub(crate) const MORE: usize = FAILED[1] + 1;

    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }

    pub(crate) fn time(found: &Found) -> Option<jiff::Timestamp> {
        found.get(TIME).and_then(|value| {
            value
                .text()
                .map_or_else(|| value.json().and_then(crate::time::parse), |text| crate::time::parse(&text))
        })
    }

    pub(crate) fn event(found: &Found) -> std::borrow::Cow<'_, str> {
        found.text(EVENT).unwrap_or_default()
    }

    pub(crate) fn level(found: &Found) -> std::borrow::Cow<'_, str> {
        found.text(LEVEL).unwrap_or_default()
    }

    /// True if a record is of an error, for every question alike: its level or status says so, its type names an error, its `error` is
    /// set, or it holds the result of a failed tool.
    ///
    /// In Amplifier's logs that is the result with `success: false` of a `tool:post`; in Claude Code's a result with `is_error`, and
    /// a message with `isApiErrorMessage`. [`Message::is_error`](crate::message::Message::is_error) is the same of a message.
    pub(crate) fn is_error(format: Format, found: &Found) -> bool {
        let is_set =
            |value: &Value| !matches!(value.kind(), Some(Kind::Null)) && value.json() != Some("false");
        let event = found.text(EVENT).unwrap_or_default();
        let may_fail = format != Format::Amplifier || current(&event) == "tool:post";
        let says_failed =
            |place: &usize| found.get(*place).and_then(Value::json) == Some(layout(format).failed.1);
        event.contains("error")
            || found.text(LEVEL).is_some_and(|level| is_error_level(&level))
            || found.text(STATUS).is_some_and(|status| status == "error")
            || [ERROR, INNER_ERROR].iter().filter_map(|place| found.get(*place)).any(is_set)
            || may_fail && FAILED.iter().any(says_failed)
            || found.blocks().is_some_and(|blocks| blocks.failed.is_some())
    }

    /// The error's text, or an object with one.
    pub(crate) fn error(found: &Found) -> Option<&Value> {
        found.get(ERROR).filter(|value| value.kind() != Some(Kind::Null)).or_else(|| found.get(INNER_ERROR))
    }
}
