//! The fields of a session's description that queries use.

use serde::Deserialize;
use trommel_session::Watch;

use crate::data::{Description, INLINE};
use crate::error::Result;
use crate::folder::{Folder, name};
use crate::lines::Text;
use crate::rows::Kind;

/// Reports why the description in a folder cannot be parsed. Its blocks then have its bytes, but no
/// fields. A description that is sent in pieces is not parsed, because its blocks never have
/// fields.
pub(crate) fn description_fault(folder: &Folder, watch: &Watch<'_>) -> Result<Option<String>> {
    let text = Text::open(&folder.file(Kind::Metadata), watch.flag())?;
    if !text.exists() || text.len() > INLINE {
        return Ok(None);
    }
    let fault = serde_json::from_slice::<Described>(&text.bytes(0, text.len())?).err();
    let file = name(Kind::Metadata);
    Ok(fault
        .map(|why| format!("{file} cannot be parsed as a JSON object, so its fields are not stored: {why}")))
}

/// Returns the fields of a description that queries use, if it is a JSON object.
pub(super) fn description(bytes: &[u8]) -> serde_json::Result<Description> {
    let found: Described = serde_json::from_slice(bytes)?;
    let text = |raw: Option<&serde_json::Value>| raw.and_then(|value| value.as_str()).map(clip);
    let texts = |raw: Option<&serde_json::Value>| {
        let items = raw?.as_array()?.iter().filter_map(|value| value.as_str().map(clip));
        Some(items.take(100).collect())
    };
    let get = |name: &str| found.0.get(name);
    Ok(Description {
        project_slug: None,
        name: text(get("name")),
        description: text(get("description")),
        bundle: text(get("bundle")),
        model: text(get("model")),
        visibility: text(get("visibility")),
        org_id: text(get("org_id")),
        team_ids: texts(get("team_ids")),
        tags: texts(get("tags")),
        parent_session_id: text(get("parent_id").or_else(|| get("parent_session_id"))),
        forked_from_sequence: get("forked_from_sequence").and_then(serde_json::Value::as_u64),
        created: text(get("created")),
        updated: text(get("updated")),
        turn_count: get("turn_count").and_then(serde_json::Value::as_u64),
    })
}

/// The members of a description.
#[derive(Deserialize)]
#[serde(transparent)]
struct Described(serde_json::Map<String, serde_json::Value>);

fn clip(text: &str) -> String {
    text.chars().take(500).collect()
}
