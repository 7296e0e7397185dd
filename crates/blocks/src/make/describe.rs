//! What a session's description says that queries may ask for.

use serde::Deserialize;

use crate::data::Description;

/// What a description says that queries may ask for.
pub(super) fn description(bytes: &[u8]) -> Description {
    let found: Described = serde_json::from_slice(bytes).unwrap_or_default();
    let text = |raw: Option<&serde_json::Value>| raw.and_then(|value| value.as_str()).map(clip);
    let texts = |raw: Option<&serde_json::Value>| {
        let items = raw?.as_array()?.iter().filter_map(|value| value.as_str().map(clip));
        Some(items.take(100).collect())
    };
    let get = |name: &str| found.0.get(name);
    Description {
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
    }
}

/// The members of a description.
#[derive(Default, Deserialize)]
#[serde(transparent)]
struct Described(serde_json::Map<String, serde_json::Value>);

fn clip(text: &str) -> String {
    text.chars().take(500).collect()
}
