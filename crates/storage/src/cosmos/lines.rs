//! Containers that keep a document a message and an event, read as if they held blocks.
//!
//! Such documents are of a `type`: `session`, `transcript` (`<session>_msg_<n>`, from 0), `event`
//! (`<session>_evt_<n>`, from 1), and the pieces of long events (`<event>_chunk_<i>`). Their
//! partition is `<user>|<project>|<session>`. They have numbers, but one row for messages and one
//! for events; so blocks are numbered as they come: the description, all messages, all events, each
//! with its pieces.

use std::ops::ControlFlow;

use azure_data_cosmos::Query;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use trommel_blocks::{Block, BlockType, Key, Result, Selection, Stored};
use trommel_session::Watch;

use super::fault::CosmosFault;
use super::link::Link;
use super::pages::Asked;
use super::rows;

type Row = Map<String, Value>;

/// Members of a document that are neither the message's nor the event's.
const THEIRS: [&str; 10] = [
    "id",
    "type",
    "partition_key",
    "user_id",
    "host_id",
    "project_slug",
    "session_id",
    "sequence",
    "has_vectors",
    "synced_at",
];

/// Members of old messages that are thousands of numbers each.
const VECTORS: [&str; 6] = [
    "user_query_vector",
    "assistant_response_vector",
    "assistant_thinking_vector",
    "tool_output_vector",
    "vector_metadata",
    "embedding_model",
];

/// Members of an event that stand beside its data, and belong to it.
const HOISTED: [&str; 9] = [
    "redaction",
    "status",
    "duration_ms",
    "module",
    "component",
    "error",
    "request_id",
    "span_id",
    "parent_span_id",
];

const LIGHT_MESSAGES: &str =
    "c.id, c.host_id, c.sequence, c.role, c.turn, c.ts, c.timestamp, c.tool_call_id, c.name";

const LIGHT_EVENTS: &str = "c.id, c.host_id, c.sequence, c.event, c.lvl, c.turn, c.ts, c.status, c.duration_ms, c.is_chunked, \
     c.data_truncated, c.data_size_bytes, c.data.model AS data_model, c.data.provider AS data_provider, \
     c.data.tool_name AS data_tool_name";

/// What a summary of an event tells, and where it stands where it is not hoisted.
const SUMMARY: [(&str, &str); 5] = [
    ("status", ""),
    ("duration_ms", ""),
    ("model", "data_model"),
    ("provider", "data_provider"),
    ("tool_name", "data_tool_name"),
];

/// Blocks as they are numbered.
struct Numbered<'a> {
    key: &'a Key,
    selection: &'a Selection,
    next: u64,
    take: &'a mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
}

impl Numbered<'_> {
    fn give(&mut self, row: &Row, kind: BlockType, data: &Value) -> Result<ControlFlow<()>> {
        let block = made(self.key, row, self.next, kind, data)?;
        self.next += 1;
        if self.selection.until.is_some_and(|until| block.sequence > until) {
            return Ok(ControlFlow::Break(()));
        }
        if self.selection.takes(&block) { (self.take)(block) } else { Ok(ControlFlow::Continue(())) }
    }
}

/// A container that keeps a document a message and an event.
pub(super) struct LineContainer<'a>(pub(super) &'a Link);

impl LineContainer<'_> {
    /// Passes on the blocks that are selected.
    pub(super) fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let numbered = Numbered { key, selection, next: 1, take };
        self.walk(numbered, rows::is_outlined(selection), watch)
    }

    /// Passes on blocks, in full or without their bodies.
    fn walk(&self, mut numbered: Numbered<'_>, is_light: bool, watch: &Watch<'_>) -> Result<()> {
        let Some((partition, session)) = self.session(numbered.key, watch)? else { return Ok(()) };
        if numbered.give(&session, BlockType::SessionCreated, &description(&session))?.is_break() {
            return Ok(());
        }
        let what = if is_light { LIGHT_MESSAGES } else { "*" };
        let mut is_over = false;
        self.rows(&documents(what, "transcript", &partition)?, watch, &mut |row| {
            let given = numbered.give(&row, BlockType::Message, &message(&row))?;
            is_over = given.is_break();
            Ok(given)
        })?;
        if is_over {
            return Ok(());
        }
        let what = if is_light { LIGHT_EVENTS } else { "*" };
        self.rows(&documents(what, "event", &partition)?, watch, &mut |row| {
            let pieces = self.pieces(&row, &partition, is_light, watch)?;
            if numbered.give(&row, BlockType::Event, &event(&row, pieces.len(), is_light))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            for piece in pieces {
                let data = json!({ "event_id": row.get("id"), "chunk_data": piece.get("chunk_data") });
                if numbered.give(&row, BlockType::EventData, &data)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The last block of a session, without its body.
    pub(super) fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        let selection = Selection::default();
        let mut head = None;
        // Nothing but its number is needed, which is known when all before it were counted.
        let mut take = |block| {
            head = Some(block);
            Ok(ControlFlow::Continue(()))
        };
        self.walk(Numbered { key, selection: &selection, next: 1, take: &mut take }, true, watch)?;
        Ok(head)
    }

    /// Passes on every session of a user, with its description.
    pub(super) fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let query = Query::from("SELECT * FROM c WHERE c.type = 'session' AND c.user_id = @user");
        let asked = Asked { query: rows::with(query, "@user", user)?, partition: None };
        self.rows(&asked, watch, &mut |row| {
            // What cannot be a session's name is none.
            let Ok(key) = Key::new(user, text(&row, "session_id")) else {
                return Ok(ControlFlow::Continue(()));
            };
            let block = made(&key, &row, 1, BlockType::SessionCreated, &description(&row))?;
            take(Stored::new(key, vec![block]))
        })
    }

    /// The partition of a session, which has the project in it, and the document that describes it.
    fn session(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<(String, Row)>> {
        let query = Query::from(
            "SELECT * FROM c WHERE c.type = 'session' AND c.user_id = @user AND c.session_id = @session",
        );
        let query = rows::with(rows::with(query, "@user", key.user())?, "@session", key.session())?;
        let mut found = None;
        self.rows(&Asked { query, partition: None }, watch, &mut |row| {
            found = Some((text(&row, "partition_key").to_owned(), row));
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// The pieces of an event that is kept in pieces.
    fn pieces(&self, event: &Row, partition: &str, is_light: bool, watch: &Watch<'_>) -> Result<Vec<Row>> {
        let is = |name: &str| event.get(name).and_then(Value::as_bool).unwrap_or(false);
        if !is("is_chunked") && !is("data_truncated") {
            return Ok(Vec::new());
        }
        let what = if is_light { "c.chunk_index" } else { "c.chunk_index, c.chunk_data" };
        let those = "c.partition_key = @partition AND c.event_id = @event AND c.id != @event";
        let query = Query::from(format!("SELECT {what} FROM c WHERE {those} ORDER BY c.chunk_index"));
        let query = rows::with(rows::with(query, "@event", text(event, "id"))?, "@partition", partition)?;
        let mut pieces = Vec::new();
        self.rows(&Asked { query, partition: Some(partition.to_owned()) }, watch, &mut |row| {
            pieces.push(row);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(pieces)
    }

    fn rows(
        &self,
        asked: &Asked,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Row) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.0.pages(asked, watch, &mut |documents| {
            for document in documents {
                if take(row(&document)?)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }
}

fn documents(what: &str, kind: &str, partition: &str) -> Result<Asked> {
    let text = format!(
        "SELECT {what} FROM c WHERE c.partition_key = @partition AND c.type = @type ORDER BY c.sequence"
    );
    let query = rows::with(rows::with(Query::from(text), "@type", kind)?, "@partition", partition)?;
    Ok(Asked { query, partition: Some(partition.to_owned()) })
}

fn row(document: &RawValue) -> Result<Row> {
    serde_json::from_str(document.get())
        .map_err(|cause| CosmosFault::Document { expected: "object", cause }.into())
}

fn text<'a>(row: &'a Row, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap_or("")
}

/// When it was, by the first of the members that tell.
fn when(row: &Row) -> &str {
    ["ts", "timestamp", "created"]
        .iter()
        .map(|name| text(row, name))
        .find(|when| !when.is_empty())
        .unwrap_or("")
}

fn made(key: &Key, row: &Row, sequence: u64, kind: BlockType, data: &Value) -> Result<Block> {
    let block = json!({
        "block_id": text(row, "id"),
        "session_id": key.session(),
        "user_id": key.user(),
        "sequence": sequence,
        "timestamp": when(row),
        "device_id": text(row, "host_id"),
        "block_type": kind.name(),
        "data": data,
    });
    serde_json::from_str(&block.to_string())
        .map_err(|cause| CosmosFault::Document { expected: "block", cause }.into())
}

fn description(row: &Row) -> Value {
    let names = [
        "project_slug",
        "name",
        "description",
        "bundle",
        "model",
        "visibility",
        "org_id",
        "team_ids",
        "tags",
        "created",
        "updated",
        "turn_count",
    ];
    let mut data = picked(row, &names);
    let parent =
        ["parent_id", "parent_session_id"].iter().find_map(|name| row.get(*name)).filter(|id| id.is_string());
    if let Some(parent) = parent {
        data.insert("parent_session_id".to_owned(), parent.clone());
    }
    Value::Object(data)
}

fn message(row: &Row) -> Value {
    let is_its = |name: &str| {
        !name.starts_with('_') && name != "ts" && !THEIRS.contains(&name) && !VECTORS.contains(&name)
    };
    let its = row.iter().filter(|(name, value)| is_its(name) && !(value.is_null() && *name == "timestamp"));
    let mut data = its.map(|(name, value)| (name.clone(), value.clone())).collect::<Row>();
    if !when(row).is_empty() {
        data.insert("timestamp".to_owned(), when(row).into());
    }
    Value::Object(data)
}

fn event(row: &Row, pieces: usize, is_light: bool) -> Value {
    let mut data = picked(row, &["turn", "lvl"]);
    data.insert("event_id".to_owned(), text(row, "id").into());
    data.insert("event_type".to_owned(), text(row, "event").into());
    data.insert("summary".to_owned(), Value::Object(summary(row)));
    data.insert("has_continuation".to_owned(), (pieces > 0).into());
    data.insert("total_chunks".to_owned(), pieces.into());
    data.insert(
        "total_size_bytes".to_owned(),
        row.get("data_size_bytes").cloned().unwrap_or_else(|| 0.into()),
    );
    if !is_light && pieces == 0 {
        let mut inline = row.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
        for (name, value) in picked(row, &HOISTED) {
            inline.entry(name).or_insert(value);
        }
        // What was too long was not kept there: it is to be seen that it is missing.
        if row.get("data_truncated").and_then(Value::as_bool) == Some(true) {
            inline.extend(picked(row, &["data_truncated", "data_size_bytes"]));
        }
        data.insert("inline_data".to_owned(), Value::Object(inline));
    }
    Value::Object(data)
}

fn summary(row: &Row) -> Row {
    let inline = row.get("data").and_then(Value::as_object);
    let value = |name: &str, beside: &str| {
        row.get(name).or_else(|| row.get(beside)).or_else(|| inline.and_then(|inline| inline.get(name)))
    };
    let told =
        SUMMARY.iter().filter_map(|(name, beside)| Some(((*name).to_owned(), value(name, beside)?.clone())));
    told.filter(|(_, value)| !value.is_null() && !value.is_object() && !value.is_array()).collect()
}

fn picked(row: &Row, names: &[&str]) -> Row {
    let there = names.iter().filter_map(|name| Some(((*name).to_owned(), row.get(*name)?.clone())));
    there.filter(|(_, value)| !value.is_null()).collect()
}
