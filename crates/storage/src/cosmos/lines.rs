//! Reads containers of the line layout, where each message and each event is a document, as if they
//! contained blocks.
//!
//! A document has a `type`: `session`, `transcript` (`<session>_msg_<n>`, from 0), `event`
//! (`<session>_evt_<n>`, from 1), or chunks of long events (`<event>_chunk_<i>`). The partition is
//! `<user>|<project>|<session>`. Messages and events are numbered separately, so blocks are
//! numbered as they are read: the description, all messages, then all events, each followed by its
//! chunks.

use std::ops::ControlFlow;

use azure_data_cosmos::Query;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use trommel_blocks::{Block, BlockType, Key, Result, Selection, Stored};
use trommel_session::Watch;

use super::fault::CosmosFault;
use super::link::Link;
use super::pages::PageQuery;
use super::rows;

type Row = Map<String, Value>;

/// Members of a document that belong to neither the message nor the event.
const DOCUMENT_MEMBERS: [&str; 10] = [
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

/// Embeddings in old messages, thousands of numbers each.
const EMBEDDINGS: [&str; 6] = [
    "user_query_vector",
    "assistant_response_vector",
    "assistant_thinking_vector",
    "tool_output_vector",
    "vector_metadata",
    "embedding_model",
];

/// Members of an event that are stored beside its data and belong to it.
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

const MESSAGE_OUTLINE: &str =
    "c.id, c.host_id, c.sequence, c.role, c.turn, c.ts, c.timestamp, c.tool_call_id, c.name";

const EVENT_OUTLINE: &str = "c.id, c.host_id, c.sequence, c.event, c.lvl, c.turn, c.ts, c.status, c.duration_ms, c.is_chunked, \
     c.data_truncated, c.data_size_bytes, c.data.model AS data_model, c.data.provider AS data_provider, \
     c.data.tool_name AS data_tool_name";

/// Members of an event's summary, with the alias of each that is not hoisted.
const SUMMARY: [(&str, &str); 5] = [
    ("status", ""),
    ("duration_ms", ""),
    ("model", "data_model"),
    ("provider", "data_provider"),
    ("tool_name", "data_tool_name"),
];

/// Assigns sequence numbers to blocks as they are read.
struct NumberedBlocks<'a> {
    key: &'a Key,
    selection: &'a Selection,
    next: u64,
    take: &'a mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
}

impl NumberedBlocks<'_> {
    fn emit(&mut self, row: &Row, kind: BlockType, data: &Value) -> Result<ControlFlow<()>> {
        let block = new_block(self.key, row, self.next, kind, data)?;
        self.next += 1;
        if self.selection.until.is_some_and(|until| block.sequence > until) {
            return Ok(ControlFlow::Break(()));
        }
        if self.selection.takes(&block) { (self.take)(block) } else { Ok(ControlFlow::Continue(())) }
    }
}

/// A container of the line layout.
pub(super) struct LineContainer<'a>(pub(super) &'a Link);

impl LineContainer<'_> {
    /// Passes the selected blocks to `take`.
    pub(super) fn read(
        &self,
        key: &Key,
        selection: &Selection,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Block) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let numbered = NumberedBlocks { key, selection, next: 1, take };
        self.walk(numbered, rows::is_outline(selection), watch)
    }

    /// Passes blocks to `take`, with or without their bodies.
    fn walk(&self, mut numbered: NumberedBlocks<'_>, is_outline: bool, watch: &Watch<'_>) -> Result<()> {
        let Some((partition, session)) = self.session(numbered.key, watch)? else { return Ok(()) };
        if numbered.emit(&session, BlockType::SessionCreated, &description(&session))?.is_break() {
            return Ok(());
        }
        let what = if is_outline { MESSAGE_OUTLINE } else { "*" };
        let mut is_over = false;
        self.rows(&documents(what, "transcript", &partition)?, watch, &mut |row| {
            let given = numbered.emit(&row, BlockType::Message, &message(&row))?;
            is_over = given.is_break();
            Ok(given)
        })?;
        if is_over {
            return Ok(());
        }
        let what = if is_outline { EVENT_OUTLINE } else { "*" };
        self.rows(&documents(what, "event", &partition)?, watch, &mut |row| {
            let chunks = self.chunks(&row, &partition, is_outline, watch)?;
            if numbered.emit(&row, BlockType::Event, &event(&row, chunks.len(), is_outline))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            for chunk in chunks {
                let data = json!({ "event_id": row.get("id"), "chunk_data": chunk.get("chunk_data") });
                if numbered.emit(&row, BlockType::EventData, &data)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    /// Returns the last block of a session without its body.
    pub(super) fn head(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<Block>> {
        let selection = Selection::default();
        let mut head = None;
        // The number of the last block is known only after all blocks before it were counted.
        let mut take = |block| {
            head = Some(block);
            Ok(ControlFlow::Continue(()))
        };
        self.walk(NumberedBlocks { key, selection: &selection, next: 1, take: &mut take }, true, watch)?;
        Ok(head)
    }

    /// Passes every session of a user to `take`, with its description.
    pub(super) fn sessions(
        &self,
        user: &str,
        watch: &Watch<'_>,
        take: &mut dyn FnMut(Stored) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let query = Query::from("SELECT * FROM c WHERE c.type = 'session' AND c.user_id = @user");
        let asked = PageQuery { query: rows::bind(query, "@user", user)?, partition: None };
        self.rows(&asked, watch, &mut |row| {
            // Documents whose name is not a valid session id are skipped.
            let Ok(key) = Key::new(user, text(&row, "session_id")) else {
                return Ok(ControlFlow::Continue(()));
            };
            let block = new_block(&key, &row, 1, BlockType::SessionCreated, &description(&row))?;
            take(Stored::new(key, vec![block]))
        })
    }

    /// Returns the partition of a session, which contains its project, and the document that
    /// describes it.
    fn session(&self, key: &Key, watch: &Watch<'_>) -> Result<Option<(String, Row)>> {
        let query = Query::from(
            "SELECT * FROM c WHERE c.type = 'session' AND c.user_id = @user AND c.session_id = @session",
        );
        let query = rows::bind(rows::bind(query, "@user", key.user())?, "@session", key.session())?;
        let mut found = None;
        self.rows(&PageQuery { query, partition: None }, watch, &mut |row| {
            found = Some((text(&row, "partition_key").to_owned(), row));
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Reads the chunks of an event that is stored in chunks.
    fn chunks(&self, event: &Row, partition: &str, is_outline: bool, watch: &Watch<'_>) -> Result<Vec<Row>> {
        let is = |name: &str| event.get(name).and_then(Value::as_bool).unwrap_or(false);
        if !is("is_chunked") && !is("data_truncated") {
            return Ok(Vec::new());
        }
        let what = if is_outline { "c.chunk_index" } else { "c.chunk_index, c.chunk_data" };
        let those = "c.partition_key = @partition AND c.event_id = @event AND c.id != @event";
        let query = Query::from(format!("SELECT {what} FROM c WHERE {those} ORDER BY c.chunk_index"));
        let query = rows::bind(rows::bind(query, "@event", text(event, "id"))?, "@partition", partition)?;
        let mut chunks = Vec::new();
        self.rows(&PageQuery { query, partition: Some(partition.to_owned()) }, watch, &mut |row| {
            chunks.push(row);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(chunks)
    }

    fn rows(
        &self,
        asked: &PageQuery,
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

fn documents(what: &str, kind: &str, partition: &str) -> Result<PageQuery> {
    let text = format!(
        "SELECT {what} FROM c WHERE c.partition_key = @partition AND c.type = @type ORDER BY c.sequence"
    );
    let query = rows::bind(rows::bind(Query::from(text), "@type", kind)?, "@partition", partition)?;
    Ok(PageQuery { query, partition: Some(partition.to_owned()) })
}

fn row(document: &RawValue) -> Result<Row> {
    serde_json::from_str(document.get())
        .map_err(|cause| CosmosFault::Document { expected: "object", cause }.into())
}

fn text<'a>(row: &'a Row, name: &str) -> &'a str {
    row.get(name).and_then(Value::as_str).unwrap_or("")
}

/// Returns the time of the document from the first member that has one.
fn when(row: &Row) -> &str {
    ["ts", "timestamp", "created"]
        .iter()
        .map(|name| text(row, name))
        .find(|when| !when.is_empty())
        .unwrap_or("")
}

fn new_block(key: &Key, row: &Row, sequence: u64, kind: BlockType, data: &Value) -> Result<Block> {
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
    let mut data = pick(row, &names);
    let parent =
        ["parent_id", "parent_session_id"].iter().find_map(|name| row.get(*name)).filter(|id| id.is_string());
    if let Some(parent) = parent {
        data.insert("parent_session_id".to_owned(), parent.clone());
    }
    Value::Object(data)
}

fn message(row: &Row) -> Value {
    let is_its = |name: &str| {
        !name.starts_with('_')
            && name != "ts"
            && !DOCUMENT_MEMBERS.contains(&name)
            && !EMBEDDINGS.contains(&name)
    };
    let its = row.iter().filter(|(name, value)| is_its(name) && !(value.is_null() && *name == "timestamp"));
    let mut data = its.map(|(name, value)| (name.clone(), value.clone())).collect::<Row>();
    if !when(row).is_empty() {
        data.insert("timestamp".to_owned(), when(row).into());
    }
    Value::Object(data)
}

fn event(row: &Row, chunks: usize, is_outline: bool) -> Value {
    let mut data = pick(row, &["turn", "lvl"]);
    data.insert("event_id".to_owned(), text(row, "id").into());
    data.insert("event_type".to_owned(), text(row, "event").into());
    data.insert("summary".to_owned(), Value::Object(summary(row)));
    data.insert("has_continuation".to_owned(), (chunks > 0).into());
    data.insert("total_chunks".to_owned(), chunks.into());
    data.insert(
        "total_size_bytes".to_owned(),
        row.get("data_size_bytes").cloned().unwrap_or_else(|| 0.into()),
    );
    if !is_outline && chunks == 0 {
        let mut inline = row.get("data").and_then(Value::as_object).cloned().unwrap_or_default();
        for (name, value) in pick(row, &HOISTED) {
            inline.entry(name).or_insert(value);
        }
        // The data was too long and was not stored. These members show that it is missing.
        if row.get("data_truncated").and_then(Value::as_bool) == Some(true) {
            inline.extend(pick(row, &["data_truncated", "data_size_bytes"]));
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
    let members =
        SUMMARY.iter().filter_map(|(name, beside)| Some(((*name).to_owned(), value(name, beside)?.clone())));
    members.filter(|(_, value)| !value.is_null() && !value.is_object() && !value.is_array()).collect()
}

fn pick(row: &Row, names: &[&str]) -> Row {
    let stored = names.iter().filter_map(|name| Some(((*name).to_owned(), row.get(*name)?.clone())));
    stored.filter(|(_, value)| !value.is_null()).collect()
}
