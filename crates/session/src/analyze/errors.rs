//! Events that report errors, with their messages.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value as Json;

use super::common::{Page, each_event, paths};
use crate::error::Result;
use crate::fields::FieldValues;
use crate::layout::EventMembers;
use crate::records::{Damage, Flow};
use crate::session::Session;
use crate::text::{clipped, label};
use crate::time::to_rfc3339;
use crate::value::Value;
use crate::watch::Watch;

/// The maximum number of characters of an error's message.
const MAX_MESSAGE_CHARS: usize = 500;

/// A page of errors.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Errors {
    /// The errors.
    pub errors: Vec<ErrorRow>,
    /// The total number of errors.
    pub total_count: u64,
    /// True if more errors follow this page.
    pub has_more: bool,
    /// The records that could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// An event that reports an error.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ErrorRow {
    /// The record's index, from 0.
    pub record: u64,
    /// Its time.
    pub ts: Option<String>,
    /// Its type.
    pub event: String,
    /// The name of the tool that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// The message, truncated.
    pub message: String,
}

/// Slots of the fields of
/// [`Layout::message_fields`](crate::layout::Layout::message_fields), after those of the known
/// members.
const TOOL: usize = EventMembers::FIRST_EXTRA;
const MESSAGE_SLOTS: [usize; 3] =
    [EventMembers::FIRST_EXTRA + 1, EventMembers::FIRST_EXTRA + 2, EventMembers::FIRST_EXTRA + 3];

/// Returns the message of an error: the result of a failed tool, the `error` member, or the
/// accompanying text.
fn message(found: &FieldValues) -> String {
    let failed = found.blocks().and_then(|blocks| blocks.failed.as_ref()).map(|(_, text)| text.clone());
    let text = found.blocks().map(|blocks| blocks.text.clone());
    let other_fields = || {
        MESSAGE_SLOTS.iter().filter_map(|slot| found.get(*slot)).map(error_text).find(|text| !text.is_empty())
    };
    // Claude Code writes an error's name as `error`, and its message as the text.
    let with_message = |name: String| match &text {
        Some(text) if !text.is_empty() => format!("{name}: {text}"),
        _ => name,
    };
    let message = failed
        .filter(|message| !message.is_empty())
        .or_else(|| {
            EventMembers::error(found).map(error_text).filter(|name| !name.is_empty()).map(with_message)
        })
        .or_else(other_fields)
        .or_else(|| text.clone().filter(|text| !text.is_empty()));
    clipped(&message.unwrap_or_else(|| "no message".to_owned()), MAX_MESSAGE_CHARS).into_owned()
}

/// Tool names by call ID. Claude Code writes the tool's name only in the call, not in its result.
#[derive(Default)]
struct Tools(HashMap<String, String>);

/// The maximum number of calls remembered at once.
const MAX_CALLS: usize = 10_000;

impl Tools {
    /// Remembers the calls of a record, and returns the name of the tool that failed in it.
    fn add_calls(&mut self, found: &FieldValues) -> Option<String> {
        let blocks = found.blocks()?;
        for (id, tool) in &blocks.calls {
            // Results follow their calls closely, so nearly all remembered calls have their
            // results.
            if self.0.len() >= MAX_CALLS {
                self.0.clear();
            }
            self.0.insert(id.clone(), tool.clone());
        }
        let (id, _) = blocks.failed.as_ref()?;
        self.0.remove(id)
    }
}

/// Returns a value as text. For an object, its kind and message.
fn error_text(value: &Value) -> String {
    if let Some(text) = value.text() {
        return text.into_owned();
    }
    let Some(json) = value.json() else {
        return "too long to show; read its fields with get_events".to_owned();
    };
    let Ok(Json::Object(members)) = serde_json::from_str::<Json>(json) else { return json.to_owned() };
    let member = |names: [&str; 3]| names.iter().find_map(|name| members.get(*name)).and_then(Json::as_str);
    match (member(["type", "kind", "code"]), member(["msg", "message", "error"])) {
        (Some(kind), Some(text)) => format!("{kind}: {text}"),
        (None, Some(text)) | (Some(text), None) => text.to_owned(),
        (None, None) => json.to_owned(),
    }
}

impl Session {
    /// Returns a page of the session's errors, as [defined](crate#errors) by this crate.
    pub fn errors(&self, page: Page, watch: &Watch<'_>) -> Result<Errors> {
        let page = page.check()?;
        let log = self.events(watch)?;
        let job = watch.job(log.len())?;
        let (mut errors, mut total, mut tools) = (Vec::new(), 0, Tools::default());
        let layout = self.layout();
        let damage = each_event(&log, layout, &paths(layout.message_fields), watch, |found, record| {
            let tool = tools.add_calls(found);
            if !EventMembers::is_error(layout, found) {
                return Ok(Flow::Continue);
            }
            if page.takes(total, errors.len()) {
                errors.push(ErrorRow {
                    record: record.number,
                    ts: EventMembers::time(found).map(to_rfc3339),
                    event: label(&EventMembers::event(found), 200),
                    tool_name: tool
                        .or_else(|| found.text(TOOL).map(std::borrow::Cow::into_owned))
                        .map(|name| label(&name, 200)),
                    message: message(found),
                });
            }
            total += 1;
            Ok(Flow::Continue)
        })?;
        job.done();
        let has_more = page.has_more(errors.len(), total);
        Ok(Errors { errors, total_count: total, has_more, damage })
    }
}
