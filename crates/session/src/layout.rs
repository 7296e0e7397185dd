//! Where the members of events are, and what is read of every event: its time, its type, and
//! whether it is of an error.

use std::borrow::Cow;

use trommel::reader::Kind;

use crate::message::is_error_level;
use crate::names::current;
use crate::project::{FieldPath, Fields, Found};
use crate::value::Value;

/// Where the members of an event stand that are known.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) time: &'static str,
    pub(crate) event: &'static str,
    pub(crate) level: &'static str,
    /// Members that say of a record that something failed.
    pub(crate) failed: [&'static [&'static str]; 2],
    /// The value with which they say so.
    pub(crate) says_failed: &'static str,
    /// The only type of events for which they count; none if they count for all.
    pub(crate) may_fail: Option<&'static str>,
    /// The content of a message, whose blocks may be results of failed tools.
    pub(crate) content: Option<&'static [&'static str]>,
    /// What an event carries: these members as a whole are never returned.
    pub(crate) payload: &'static [&'static str],
    /// Where members are also looked for.
    pub(crate) inside: &'static str,
    /// What is given when nothing is asked for.
    pub(crate) small: &'static [&'static str],
    /// The ID of a tool's call that an event belongs to. Empty if events name none.
    pub(crate) call: &'static [&'static str],
    /// Fields with the message of an error, after that with the tool's name; each with its maximum
    /// of characters.
    pub(crate) says: &'static [(&'static str, usize)],
    /// Where responses are written in parts, each with the usage of the whole.
    pub(crate) parts: Option<Parts>,
}

/// Where the parts of a response have what belongs to all of it.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) usage: &'static [&'static str],
    pub(crate) response: &'static [&'static str],
}

/// The layout of records that are messages, as Claude Code writes them.
pub(crate) const RECORDS: Layout = Layout {
    time: "timestamp",
    event: "type",
    level: "level",
    failed: [&["isApiErrorMessage"], &["message", "isApiErrorMessage"]],
    says_failed: "true",
    may_fail: None,
    content: Some(&["message", "content"]),
    payload: &["message", "toolUseResult", "content"],
    inside: "message",
    small: &["role", "model", "id", "isSidechain"],
    call: &[],
    says: &[("tool_name", 200), ("content", 2_000)],
    parts: Some(Parts { usage: &["message", "usage"], response: &["message", "id"] }),
};

/// Where in what was found the known members stand.
const TIME: usize = 0;
const EVENT: usize = 1;
const LEVEL: usize = 2;
const STATUS: usize = 3;
const ERROR: usize = 4;
const INNER_ERROR: usize = 5;
const FAILED: [usize; 2] = [6, 7];

/// Characters of a known member.
const KNOWN: usize = 2_000;

/// What stands where in a record, for who counts events: the time, the type, and whether it tells
/// of an error.
pub(crate) struct Known {
    fields: Fields,
}

impl Known {
    /// The known members, and some more, whose places follow.
    pub(crate) fn and(layout: &Layout, more: &[(FieldPath, usize)]) -> Self {
        let all = Self::paths(layout).into_iter().chain(more.iter().map(|(path, _)| path.clone()));
        let caps = [KNOWN; Self::MORE].into_iter().chain(more.iter().map(|(_, cap)| *cap));
        let paths = all.zip(caps).collect::<Vec<_>>();
        let fields = Fields::new(paths.iter().map(|(path, cap)| (path, *cap)));
        Self { fields: Self::with_blocks(fields, layout) }
    }

    /// Reads also the blocks of messages, where results of failed tools are among them.
    pub(crate) fn with_blocks(fields: Fields, layout: &Layout) -> Fields {
        match layout.content {
            Some(path) => fields.with_blocks(&FieldPath::of(path.iter().copied())),
            None => fields,
        }
    }

    /// The paths of the known members, in the order of their places.
    pub(crate) fn paths(layout: &Layout) -> Vec<FieldPath> {
        let mut paths = [layout.time, layout.event, layout.level, "status", "error"]
            .map(|name| FieldPath::of([name]))
            .to_vec();
        paths.push(FieldPath::of([layout.inside, "error"]));
        paths.extend(layout.failed.map(|path| FieldPath::of(path.iter().copied())));
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

    /// The type, if it is known yet.
    pub(crate) fn named(found: &Found) -> Option<Cow<'_, str>> {
        found.text(EVENT)
    }

    pub(crate) fn event(found: &Found) -> Cow<'_, str> {
        found.text(EVENT).unwrap_or_default()
    }

    pub(crate) fn level(found: &Found) -> Cow<'_, str> {
        found.text(LEVEL).unwrap_or_default()
    }

    /// True if a record is of an error, for every question alike: its level or status says so, its
    /// type names an error, its `error` is set, or it holds the result of a failed tool.
    ///
    /// In Amplifier's logs that is the result with `success: false` of a `tool:post`; in Claude
    /// Code's a result with `is_error`, and a message with `isApiErrorMessage`.
    /// [`Message::is_error`](crate::message::Message::is_error) is the same of a message.
    pub(crate) fn is_error(layout: &Layout, found: &Found) -> bool {
        let is_set =
            |value: &Value| !matches!(value.kind(), Some(Kind::Null)) && value.json() != Some("false");
        let event = Self::event(found);
        let may_fail = layout.may_fail.is_none_or(|kind| current(&event) == kind);
        let says_failed = |place: &usize| found.get(*place).and_then(Value::json) == Some(layout.says_failed);
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
