//! Builds queries for blocks, and parses blocks from their answers.

use azure_data_cosmos::Query;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use trommel_blocks::{Block, BlockType, Error, ErrorKind, Key, Result, Selection, VERSION, Want};

use super::fault::CosmosFault;

/// The maximum size of a document in bytes (a limit of the service).
pub(super) const MAX_DOCUMENT_BYTES: usize = 2 * 1024 * 1024;

/// The members of a block without its data.
const METADATA: &str = "c.block_id, c.session_id, c.user_id, c.sequence, c.timestamp, c.device_id, c.block_type, c.parent_block_id, \
     c.chunk_index, c.is_final_chunk, c.checksum, c.size_bytes, c.version";

/// Selects the blocks of one session. Two sessions may have the same partition key, so user and
/// session are compared, too.
const SESSION_FILTER: &str = "c.partitionKey = @partition AND c.user_id = @user AND c.session_id = @session";

/// Excludes chunks, which name the block that they belong to.
const NO_CHUNKS: &str = " AND (NOT IS_DEFINED(c.parent_block_id) OR c.parent_block_id = null)";

/// Members of the data of events and messages that are not bodies.
const OUTLINE_MEMBERS: [&str; 17] = [
    "role",
    "turn",
    "timestamp",
    "tool_call_id",
    "event_id",
    "event_type",
    "lvl",
    "summary",
    "outline",
    "has_continuation",
    "total_chunks",
    "total_size_bytes",
    "payload",
    "encoding",
    "bytes",
    "blake3",
    "name",
];

/// Members of the data that describe a session.
const DESCRIPTION_MEMBERS: [&str; 19] = [
    "project_slug",
    "name",
    "description",
    "bundle",
    "model",
    "visibility",
    "org_id",
    "team_ids",
    "tags",
    "parent_session_id",
    "forked_from_sequence",
    "created",
    "updated",
    "turn_count",
    "deleted_at",
    "source_session_id",
    "source_sequence",
    "format",
    "type",
];

/// Members of the data of rewinds.
const REWIND_MEMBERS: [&str; 2] = ["target_sequence", "reason"];

/// The prefix of a member of the data when a projection moves it to the top level.
const PREFIX: &str = "d_";

/// A block as a document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    id: &'a str,
    partition_key: &'a str,
    #[serde(rename = "user_id_session_id")]
    owner: &'a str,
    #[serde(flatten)]
    block: &'a Block,
}

/// Serializes a block, and returns its document id and text.
pub(super) fn document(key: &Key, block: &Block) -> Result<(String, Box<RawValue>)> {
    if block.user_id != key.user() || block.session_id != key.session() {
        return Err(CosmosFault::ForeignBlock { sequence: block.sequence }.into());
    }
    let (id, partition) = (key.document(block.sequence), key.partition());
    let document = Document { id: &id, partition_key: &partition, owner: &partition, block };
    let text = serde_json::value::to_raw_value(&document).map_err(ErrorKind::Unwritable)?;
    if text.get().len() > MAX_DOCUMENT_BYTES {
        let (sequence, session) = (block.sequence, block.session_id.clone());
        let bytes = text.get().len();
        return Err(CosmosFault::TooLarge { sequence, session, bytes, limit: MAX_DOCUMENT_BYTES }.into());
    }
    Ok((id, text))
}

/// True if the answer omits bodies and chunks.
pub(super) fn is_outline(selection: &Selection) -> bool {
    let is_outline = |kind: &BlockType| *kind != BlockType::EventData;
    selection.want == Want::Outline && !selection.types.is_empty() && selection.types.iter().all(is_outline)
}

/// Builds the projection of blocks without bodies.
fn outline_projection(selection: &Selection) -> String {
    let describes = selection.types.iter().any(|kind| kind.describes() || *kind == BlockType::Rewind);
    let mut members = OUTLINE_MEMBERS.to_vec();
    if describes {
        members.extend(DESCRIPTION_MEMBERS.iter().filter(|name| !OUTLINE_MEMBERS.contains(name)));
        members.extend(REWIND_MEMBERS);
    }
    projection(&members)
}

/// Builds the query for the selected blocks of a session.
pub(super) fn select_blocks(key: &Key, selection: &Selection) -> Result<Query> {
    let what = if is_outline(selection) { outline_projection(selection) } else { "*".to_owned() };
    let mut text = format!("SELECT {what} FROM c WHERE {SESSION_FILTER} AND c.sequence > @after");
    if selection.until.is_some() {
        text.push_str(" AND c.sequence <= @until");
    }
    text.push_str(&type_filter(&selection.types));
    text.push_str(if is_outline(selection) { NO_CHUNKS } else { "" });
    text.push_str(" ORDER BY c.sequence");
    let mut query = bind_key(Query::from(text), key)?;
    query = bind(query, "@after", selection.after)?;
    if let Some(until) = selection.until {
        query = bind(query, "@until", until)?;
    }
    bind_types(query, &selection.types)
}

/// Builds the query for the last block of a session, without its data.
pub(super) fn last_block(key: &Key) -> Result<Query> {
    let text = format!("SELECT TOP 1 {METADATA} FROM c WHERE {SESSION_FILTER} ORDER BY c.sequence DESC");
    bind_key(Query::from(text), key)
}

/// Builds the query for a range of a session's blocks, without their data.
pub(super) fn blocks_between(key: &Key, first: u64, last: u64) -> Result<Query> {
    let text = format!(
        "SELECT {METADATA} FROM c WHERE {SESSION_FILTER} AND c.sequence >= @first AND c.sequence <= @last ORDER BY c.sequence"
    );
    let query = bind_key(Query::from(text), key)?;
    bind(bind(query, "@first", first)?, "@last", last)
}

/// Builds the query for the blocks that describe a user's sessions.
pub(super) fn session_descriptions(user: &str) -> Result<Query> {
    let kinds = BlockType::ALL.into_iter().filter(|kind| kind.describes()).collect::<Vec<_>>();
    let text = format!(
        "SELECT {} FROM c WHERE c.user_id = @user{}",
        projection(&DESCRIPTION_MEMBERS),
        type_filter(&kinds)
    );
    bind_types(bind(Query::from(text), "@user", user)?, &kinds)
}

pub(super) fn bind(query: Query, name: &str, value: impl Serialize) -> Result<Query> {
    query
        .with_parameter(name, value)
        .map_err(|error| CosmosFault::Parameter { name: name.to_owned(), cause: error.to_string() }.into())
}

fn bind_key(query: Query, key: &Key) -> Result<Query> {
    let query = bind(query, "@partition", key.partition())?;
    bind(bind(query, "@user", key.user())?, "@session", key.session())
}

fn type_filter(kinds: &[BlockType]) -> String {
    if kinds.is_empty() {
        return String::new();
    }
    let names = (0..kinds.len()).map(|at| format!("@type{at}")).collect::<Vec<_>>();
    format!(" AND c.block_type IN ({})", names.join(", "))
}

fn bind_types(query: Query, kinds: &[BlockType]) -> Result<Query> {
    kinds
        .iter()
        .enumerate()
        .try_fold(query, |query, (at, kind)| bind(query, &format!("@type{at}"), kind.name()))
}

fn projection(members: &[&str]) -> String {
    let members = members.iter().map(|name| format!("c.data.{name} AS {PREFIX}{name}")).collect::<Vec<_>>();
    format!("{METADATA}, {}", members.join(", "))
}

/// Parses a block from a whole document or from a projection.
pub(super) fn block(document: &RawValue, is_whole: bool) -> Result<Block> {
    let read = if is_whole { serde_json::from_str(document.get()) } else { from_projection(document) };
    let block: Block = read.map_err(|error| malformed(document, error))?;
    block.check_version()?;
    Ok(block)
}

/// Returns the session id of a document, even if the rest is not a valid block.
pub(super) fn session(document: &RawValue) -> String {
    #[derive(Deserialize)]
    struct SessionId {
        #[serde(default)]
        session_id: String,
    }
    serde_json::from_str(document.get()).map_or_else(|_| String::new(), |owner: SessionId| owner.session_id)
}

/// Moves the projection members back into `data`.
fn from_projection(document: &RawValue) -> serde_json::Result<Block> {
    let row: Map<String, Value> = serde_json::from_str(document.get())?;
    let (mut block, mut data) = (Map::new(), Map::new());
    for (name, value) in row {
        match name.strip_prefix(PREFIX) {
            Some(name) => data.insert(name.to_owned(), value),
            None => block.insert(name, value),
        };
    }
    block.insert("data".to_owned(), Value::Object(data));
    serde_json::from_str(&Value::Object(block).to_string())
}

/// A malformed block may be from a later version with unknown block types.
fn malformed(document: &RawValue, cause: serde_json::Error) -> Error {
    #[derive(Deserialize)]
    struct Numbers {
        #[serde(default)]
        version: u32,
        #[serde(default)]
        sequence: u64,
        #[serde(default)]
        session_id: String,
    }
    match serde_json::from_str::<Numbers>(document.get()) {
        Ok(Numbers { version, sequence, session_id: session }) if version > VERSION => {
            ErrorKind::BlockVersion { sequence, session, version, known: VERSION }.into()
        }
        _ => CosmosFault::Document { expected: "block", cause }.into(),
    }
}

#[cfg(test)]
mod tests {
    use trommel_blocks::ErrorClass;

    use super::*;

    #[test]
    fn later_versions_are_reported_first() {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
        let later = raw(r#"{"version":2,"sequence":7,"block_type":"dream"}"#);
        assert_eq!(block(&later, true).unwrap_err().class(), ErrorClass::Unsupported);
        let none = raw(r#"{"sequence":7}"#);
        assert_eq!(block(&none, true).unwrap_err().class(), ErrorClass::Corrupt);
    }
}
