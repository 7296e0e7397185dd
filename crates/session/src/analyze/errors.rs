//! Events that tell of an error, and what they say of it.

use serde::Serialize;
use serde_json::Value as Json;

use super::{Page, each_event, paths};
use crate::error::Result;
use crate::events::Known;
use crate::project::{Found, Value};
use crate::records::{Damage, Flow};
use crate::session::Session;
use crate::text::{clipped, shown};
use crate::time::spelt;
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

/// An event that tells of an error.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ErrorRow {
    /// Its record, from 0.
    pub record: u64,
    /// When.
    pub ts: Option<String>,
    /// Its type.
    pub event: String,
    /// The tool, where one failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What it says, of bounded length.
    pub message: String,
}

/// What is looked at besides the known members, in the order of the places below.
pub(crate) const FIELDS: [(&str, usize); 3] =
    [("data.tool_name", 200), ("data.result.error", 2_000), ("data.message", 2_000)];

const TOOL: usize = Known::MORE;
const RESULT: usize = Known::MORE + 1;
const SAYS: usize = Known::MORE + 2;

/// What an error says of itself.
fn says(found: &Found) -> String {
    let value = Known::error(found).or_else(|| found.get(RESULT)).or_else(|| found.get(SAYS));
    let said = value.map(said).filter(|said| !said.is_empty());
    clipped(&said.unwrap_or_else(|| "it says nothing more".to_owned()), MESSAGE).into_owned()
}

/// A text, or of an object its kind and text.
fn said(value: &Value) -> String {
    if let Some(text) = value.text() {
        return text.into_owned();
    }
    let Some(json) = value.json() else {
        return "it says more than can be shown: ask for its fields".to_owned();
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
    /// A page of its errors.
    pub fn errors(&self, page: Page, watch: &Watch<'_>) -> Result<Errors> {
        let page = page.check()?;
        let log = self.events(watch)?;
        let job = watch.job(log.len())?;
        let (mut errors, mut total) = (Vec::new(), 0);
        let damage = each_event(&log, self.format, &paths(&FIELDS), watch, |found, record| {
            if !Known::is_error(found) {
                return Ok(Flow::On);
            }
            if page.takes(total, errors.len()) {
                errors.push(ErrorRow {
                    record: record.number,
                    ts: Known::time(found).map(spelt),
                    event: shown(&Known::event(found), 200),
                    tool_name: found.text(TOOL).map(|name| shown(&name, 200)),
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
