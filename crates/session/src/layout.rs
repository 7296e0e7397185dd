//! The paths of the members of events, and the members read from every event: its time, its type,
//! and whether it reports an error.

use std::borrow::Cow;

use trommel::reader::Kind;

use crate::event_types::current;
use crate::fields::{FieldPath, FieldValues, Fields};
use crate::message::is_error_level;
use crate::value::Value;

/// The paths of the known members of an event.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) time: &'static str,
    pub(crate) event: &'static str,
    pub(crate) level: &'static str,
    /// Members that mark a failure.
    pub(crate) failed: [&'static [&'static str]; 2],
    /// The JSON value that marks the failure.
    pub(crate) failure_value: &'static str,
    /// The only event type in which these members count. None if they count in all.
    pub(crate) may_fail: Option<&'static str>,
    /// The content of a message, whose blocks may be results of failed tools.
    pub(crate) content: Option<&'static [&'static str]>,
    /// The payload: these members are never returned as a whole.
    pub(crate) payload: &'static [&'static str],
    /// The member in which other members are also looked up.
    pub(crate) inside: &'static str,
    /// The fields returned if none are requested.
    pub(crate) small: &'static [&'static str],
    /// The path of the tool call ID that an event belongs to. Empty if events have none.
    pub(crate) call: &'static [&'static str],
    /// The tool's name, then fields with an error's message, each with its maximum number of
    /// characters.
    pub(crate) message_fields: &'static [(&'static str, usize)],
    /// The paths of data that the parts of a response share, if responses are written in parts.
    pub(crate) parts: Option<ResponseParts>,
}

/// The paths of data that the parts of a response share.
#[derive(Debug)]
pub(crate) struct ResponseParts {
    pub(crate) usage: &'static [&'static str],
    pub(crate) response: &'static [&'static str],
}

/// The layout of records that are messages, as written by Claude Code.
pub(crate) const RECORDS: Layout = Layout {
    time: "timestamp",
    event: "type",
    level: "level",
    failed: [&["isApiErrorMessage"], &["message", "isApiErrorMessage"]],
    failure_value: "true",
    may_fail: None,
    content: Some(&["message", "content"]),
    payload: &["message", "toolUseResult", "content"],
    inside: "message",
    small: &["role", "model", "id", "isSidechain"],
    call: &[],
    message_fields: &[("tool_name", 200), ("content", 2_000)],
    parts: Some(ResponseParts { usage: &["message", "usage"], response: &["message", "id"] }),
};

/// The slots of the known members.
const TIME: usize = 0;
const EVENT: usize = 1;
const LEVEL: usize = 2;
const STATUS: usize = 3;
const ERROR: usize = 4;
const INNER_ERROR: usize = 5;
const FAILED: [usize; 2] = [6, 7];

/// The maximum number of characters of a known member.
const MAX_MEMBER_CHARS: usize = 2_000;

/// The members that are read from every event: its time, its type, and the signs of an error.
pub(crate) struct EventMembers {
    fields: Fields,
}

impl EventMembers {
    /// Reads the known members and some more, whose slots follow.
    pub(crate) fn with_extra(layout: &Layout, more: &[(FieldPath, usize)]) -> Self {
        let all = Self::paths(layout).into_iter().chain(more.iter().map(|(path, _)| path.clone()));
        let caps = [MAX_MEMBER_CHARS; Self::FIRST_EXTRA].into_iter().chain(more.iter().map(|(_, cap)| *cap));
        let paths = all.zip(caps).collect::<Vec<_>>();
        let fields = Fields::new(paths.iter().map(|(path, cap)| (path, *cap)));
        Self { fields: Self::with_blocks(fields, layout) }
    }

    /// Adds the blocks of messages, if they may be results of failed tools.
    pub(crate) fn with_blocks(fields: Fields, layout: &Layout) -> Fields {
        match layout.content {
            Some(path) => fields.with_blocks(&FieldPath::from_names(path.iter().copied())),
            None => fields,
        }
    }

    /// The paths of the known members, in the order of their slots.
    pub(crate) fn paths(layout: &Layout) -> Vec<FieldPath> {
        let mut paths = [layout.time, layout.event, layout.level, "status", "error"]
            .map(|name| FieldPath::from_names([name]))
            .to_vec();
        paths.push(FieldPath::from_names([layout.inside, "error"]));
        paths.extend(layout.failed.map(|path| FieldPath::from_names(path.iter().copied())));
        paths
    }

    /// The first slot after those of the known members.
    pub(crate) const FIRST_EXTRA: usize = FAILED[1] + 1;

    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }

    pub(crate) fn time(found: &FieldValues) -> Option<jiff::Timestamp> {
        found.get(TIME).and_then(|value| {
            value
                .text()
                .map_or_else(|| value.json().and_then(crate::time::parse), |text| crate::time::parse(&text))
        })
    }

    /// Returns the type, or none if it was not read yet.
    pub(crate) fn event_so_far(found: &FieldValues) -> Option<Cow<'_, str>> {
        found.text(EVENT)
    }

    pub(crate) fn event(found: &FieldValues) -> Cow<'_, str> {
        found.text(EVENT).unwrap_or_default()
    }

    pub(crate) fn level(found: &FieldValues) -> Cow<'_, str> {
        found.text(LEVEL).unwrap_or_default()
    }

    /// True if a record reports an error, by the one definition of this crate: its level or status
    /// is an error, its type names an error, its `error` is set, or it holds the result of a failed
    /// tool.
    ///
    /// A failed tool is, in Amplifier's logs, a `tool:post` whose result has `success: false`; in
    /// Claude Code's, a result with `is_error`, or a message with `isApiErrorMessage`.
    /// [`Message::is_error`](crate::message::Message::is_error) applies the same definition to
    /// messages.
    pub(crate) fn is_error(layout: &Layout, found: &FieldValues) -> bool {
        let is_set =
            |value: &Value| !matches!(value.kind(), Some(Kind::Null)) && value.json() != Some("false");
        let event = Self::event(found);
        let may_fail = layout.may_fail.is_none_or(|kind| current(&event) == kind);
        let is_failure = |slot: &usize| found.get(*slot).and_then(Value::json) == Some(layout.failure_value);
        event.contains("error")
            || found.text(LEVEL).is_some_and(|level| is_error_level(&level))
            || found.text(STATUS).is_some_and(|status| status == "error")
            || [ERROR, INNER_ERROR].iter().filter_map(|slot| found.get(*slot)).any(is_set)
            || may_fail && FAILED.iter().any(is_failure)
            || found.blocks().is_some_and(|blocks| blocks.failed.is_some())
    }

    /// Returns the error's text, or an object with one.
    pub(crate) fn error(found: &FieldValues) -> Option<&Value> {
        found.get(ERROR).filter(|value| value.kind() != Some(Kind::Null)).or_else(|| found.get(INNER_ERROR))
    }
}
