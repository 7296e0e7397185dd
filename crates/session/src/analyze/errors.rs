//! Events of errors, and their messages.

use std::collections::HashMap;

use serde::Serialize;
use serde_json::Value as Json;

use super::common::{Page, each_event, paths};
use crate::error::Result;
use crate::layout::Known;
use crate::project::Found;
use crate::records::{Damage, Flow};
use crate::session::Session;
use crate::text::{clipped, label};
use crate::time::spelt;
use crate::value::Value;
use crate::watch::Watch;

/// Characters of what is said of an error.
const MESSAGE: usize = 500;

/// A page of errors.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Errors {
    /// The errors.
    pub errors: Vec<ErrorRow>,
    /// How many there are.
    pub total_count: u64,
    /// Whether there are more behind these.
    pub has_more: bool,
    /// What could not be read.
    #[serde(skip_serializing_if = "Damage::is_none")]
    pub damage: Damage,
}

/// An event of an error.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ErrorRow {
    /// Its record, from 0.
    pub record: u64,
    /// Its time.
    pub ts: Option<String>,
    /// Its type.
    pub event: String,
    /// The tool, where one failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// Its message, of bounded length.
    pub message: String,
}

/// Places of the fields of [`Layout::says`](crate::layout::Layout::says), after those of the known
/// members.
const TOOL: usize = Known::MORE;
const SAYS: [usize; 3] = [Known::MORE + 1, Known::MORE + 2, Known::MORE + 3];

/// The message of an error: the result of a failed tool, the `error` that is set, or the text
/// beside it.
fn says(found: &Found) -> String {
    let failed = found.blocks().and_then(|blocks| blocks.failed.as_ref()).map(|(_, says)| says.clone());
    let text = found.blocks().map(|blocks| blocks.text.clone());
    let places = || SAYS.iter().filter_map(|place| found.get(*place)).map(said).find(|said| !said.is_empty());
    // Claude Code writes the name of an error as `error`, and its message as the text.
    let set = |said: String| match &text {
        Some(text) if !text.is_empty() => format!("{said}: {text}"),
        _ => said,
    };
    let said = failed
        .filter(|said| !said.is_empty())
        .or_else(|| Known::error(found).map(said).filter(|said| !said.is_empty()).map(set))
        .or_else(places)
        .or_else(|| text.clone().filter(|said| !said.is_empty()));
    clipped(&said.unwrap_or_else(|| "no message".to_owned()), MESSAGE).into_owned()
}

/// The tools of calls, by ID: Claude Code names the tool in the call alone.
#[derive(Default)]
struct Tools(HashMap<String, String>);

/// Calls whose tools are remembered at once.
const CALLS: usize = 10_000;

impl Tools {
    /// Remembers the calls of a record, and returns the tool that failed in it.
    fn take(&mut self, found: &Found) -> Option<String> {
        let blocks = found.blocks()?;
        for (id, tool) in &blocks.calls {
            // Results follow soon: those of calls before the last thousands have come.
            if self.0.len() >= CALLS {
                self.0.clear();
            }
            self.0.insert(id.clone(), tool.clone());
        }
        let (id, _) = blocks.failed.as_ref()?;
        self.0.remove(id)
    }
}

/// A text, or of an object its kind and text.
fn said(value: &Value) -> String {
    if let Some(text) = value.text() {
        return text.into_owned();
    }
    let Some(json) = value.json() else {
        return "too long to be shown: get its fields with get_events".to_owned();
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
    /// A page of its errors: of records that are [errors](crate#errors) by the one definition of
    /// this crate.
    pub fn errors(&self, page: Page, watch: &Watch<'_>) -> Result<Errors> {
        let page = page.check()?;
        let log = self.events(watch)?;
        let job = watch.job(log.len())?;
        let (mut errors, mut total, mut tools) = (Vec::new(), 0, Tools::default());
        let layout = self.layout();
        let damage = each_event(&log, layout, &paths(layout.says), watch, |found, record| {
            let tool = tools.take(found);
            if !Known::is_error(layout, found) {
                return Ok(Flow::On);
            }
            if page.takes(total, errors.len()) {
                errors.push(ErrorRow {
                    record: record.number,
                    ts: Known::time(found).map(spelt),
                    event: label(&Known::event(found), 200),
                    tool_name: tool
                        .or_else(|| found.text(TOOL).map(std::borrow::Cow::into_owned))
                        .map(|name| label(&name, 200)),
                    message: says(found),
                });
            }
            total += 1;
            Ok(Flow::On)
        })?;
        job.done();
        let has_more = page.has_more(errors.len(), total);
        Ok(Errors { errors, total_count: total, has_more, damage })
    }
}
