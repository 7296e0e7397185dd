//! Queries over blocks, and blocks out of their answers.

use azure_data_cosmos::Query;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use trommel_blocks::{Block, BlockType, Error, ErrorKind, Key, Result, Selection, VERSION, Want};

use super::fault::CosmosFault;

/// Bytes of a document at most, as the service has it.
pub(super) const LARGEST: usize = 2 * 1024 * 1024;

/// Members of a block that are not its data.
const HEADS: &str = "c.block_id, c.session_id, c.user_id, c.sequence, c.timestamp, c.device_id, c.block_type, c.parent_block_id, \
     c.chunk_index, c.is_final_chunk, c.checksum, c.size_bytes, c.version";

/// Blocks of one session. Two sessions may share a value of the partition, so that both names are
/// asked for, too.
const WHOSE: &str = "c.partitionKey = @partition AND c.user_id = @user AND c.session_id = @session";

/// Pieces name the block that they belong to.
const NO_PIECES: &str = " AND (NOT IS_DEFINED(c.parent_block_id) OR c.parent_block_id = null)";

/// Members of the data of events and messages that are no bodies.
const OUTLINES: [&str; 17] = [
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
const DESCRIPTIONS: [&str; 19] = [
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
const REWINDS: [&str; 2] = ["target_sequence", "reason"];

/// What a member of the data is called in an answer, where it stands beside the others.
const PREFIX: &str = "d_";

/// A block as a document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    id: &'a str,
    partition_key: &'a str,
    #[serde(rename = "user_id_session_id")]
    whose: &'a str,
    #[serde(flatten)]
    block: &'a Block,
}

/// A block as it is sent, and its id.
pub(super) fn document(key: &Key, block: &Block) -> Result<(String, Box<RawValue>)> {
    if block.user_id != key.user() || block.session_id != key.session() {
        return Err(CosmosFault::ForeignBlock { sequence: block.sequence }.into());
    }
    let (id, partition) = (key.document(block.sequence), key.partition());
    let document = Document { id: &id, partition_key: &partition, whose: &partition, block };
    let text = serde_json::value::to_raw_value(&document).map_err(ErrorKind::Unwritable)?;
    if text.get().len() > LARGEST {
        let (sequence, session) = (block.sequence, block.session_id.clone());
        let bytes = text.get().len();
        return Err(CosmosFault::TooLarge { sequence, session, bytes, limit: LARGEST }.into());
    }
    Ok((id, text))
}

/// Whether bodies are left out of an answer, and pieces.
pub(super) fn is_outlined(selection: &Selection) -> bool {
    let is_light = |kind: &BlockType| *kind != BlockType::EventData;
    selection.want == Want::Outline && !selection.types.is_empty() && selection.types.iter().all(is_light)
}

/// What is wanted of blocks without their bodies.
fn outlined(selection: &Selection) -> String {
    let describes = selection.types.iter().any(|kind| kind.describes() || *kind == BlockType::Rewind);
    let mut members = OUTLINES.to_vec();
    if describes {
        members.extend(DESCRIPTIONS.iter().filter(|name| !OUTLINES.contains(name)));
        members.extend(REWINDS);
    }
    projected(&members)
}

/// The blocks of a session that are asked for.
pub(super) fn selected(key: &Key, selection: &Selection) -> Result<Query> {
    let what = if is_outlined(selection) { outlined(selection) } else { "*".to_owned() };
    let mut text = format!("SELECT {what} FROM c WHERE {WHOSE} AND c.sequence > @after");
    if selection.until.is_some() {
        text.push_str(" AND c.sequence <= @until");
    }
    text.push_str(&types(&selection.types));
    text.push_str(if is_outlined(selection) { NO_PIECES } else { "" });
    text.push_str(" ORDER BY c.sequence");
    let mut query = named(Query::from(text), key)?;
    query = with(query, "@after", selection.after)?;
    if let Some(until) = selection.until {
        query = with(query, "@until", until)?;
    }
    with_types(query, &selection.types)
}

/// The last block of a session, without its data.
pub(super) fn last(key: &Key) -> Result<Query> {
    let text = format!("SELECT TOP 1 {HEADS} FROM c WHERE {WHOSE} ORDER BY c.sequence DESC");
    named(Query::from(text), key)
}

/// Blocks of a session from one number to another, without their data.
pub(super) fn between(key: &Key, first: u64, last: u64) -> Result<Query> {
    let text = format!(
        "SELECT {HEADS} FROM c WHERE {WHOSE} AND c.sequence >= @first AND c.sequence <= @last ORDER BY c.sequence"
    );
    let query = named(Query::from(text), key)?;
    with(with(query, "@first", first)?, "@last", last)
}

/// What describes the sessions of a user.
pub(super) fn described(user: &str) -> Result<Query> {
    let kinds = BlockType::ALL.into_iter().filter(|kind| kind.describes()).collect::<Vec<_>>();
    let text = format!("SELECT {} FROM c WHERE c.user_id = @user{}", projected(&DESCRIPTIONS), types(&kinds));
    with_types(with(Query::from(text), "@user", user)?, &kinds)
}

pub(super) fn with(query: Query, name: &str, value: impl Serialize) -> Result<Query> {
    query
        .with_parameter(name, value)
        .map_err(|error| CosmosFault::Parameter { name: name.to_owned(), cause: error.to_string() }.into())
}

fn named(query: Query, key: &Key) -> Result<Query> {
    let query = with(query, "@partition", key.partition())?;
    with(with(query, "@user", key.user())?, "@session", key.session())
}

fn types(kinds: &[BlockType]) -> String {
    if kinds.is_empty() {
        return String::new();
    }
    let names = (0..kinds.len()).map(|at| format!("@type{at}")).collect::<Vec<_>>();
    format!(" AND c.block_type IN ({})", names.join(", "))
}

fn with_types(query: Query, kinds: &[BlockType]) -> Result<Query> {
    kinds
        .iter()
        .enumerate()
        .try_fold(query, |query, (at, kind)| with(query, &format!("@type{at}"), kind.name()))
}

fn projected(members: &[&str]) -> String {
    let members = members.iter().map(|name| format!("c.data.{name} AS {PREFIX}{name}")).collect::<Vec<_>>();
    format!("{HEADS}, {}", members.join(", "))
}

/// A block out of a document, or out of what was left of it.
pub(super) fn block(document: &RawValue, is_whole: bool) -> Result<Block> {
    let read = if is_whole { serde_json::from_str(document.get()) } else { gathered(document) };
    let block: Block = read.map_err(|error| unreadable(document, error))?;
    block.check_version()?;
    Ok(block)
}

/// The session that a document says it belongs to, whatever else it says.
pub(super) fn session(document: &RawValue) -> String {
    #[derive(Deserialize)]
    struct Whose {
        #[serde(default)]
        session_id: String,
    }
    serde_json::from_str(document.get()).map_or_else(|_| String::new(), |whose: Whose| whose.session_id)
}

/// Puts the members of the data back where they were.
fn gathered(document: &RawValue) -> serde_json::Result<Block> {
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

/// A block that cannot be read may be of a later version, which may have types that are not known.
fn unreadable(document: &RawValue, cause: serde_json::Error) -> Error {
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
    fn a_later_version_is_told_whatever_else_it_holds() {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
        let later = raw(r#"{"version":2,"sequence":7,"block_type":"dream"}"#);
        assert_eq!(block(&later, true).unwrap_err().class(), ErrorClass::Unsupported);
        let none = raw(r#"{"sequence":7}"#);
        assert_eq!(block(&none, true).unwrap_err().class(), ErrorClass::Corrupt);
    }
}
