//! Tests of the written format, byte for byte, and of blocks of earlier versions.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};
use trommel_blocks::Outcome;
use trommel_session::{EventQuery, Source, TranscriptQuery};
use trommel_storage::FolderStorage;

use crate::support::{Machine, PROJECT, watch};

/// The members of every block, in order.
const MEMBERS: [&str; 16] = [
    "id",
    "user_id_session_id",
    "block_id",
    "session_id",
    "user_id",
    "sequence",
    "timestamp",
    "device_id",
    "block_type",
    "data",
    "parent_block_id",
    "chunk_index",
    "is_final_chunk",
    "checksum",
    "size_bytes",
    "version",
];

/// Maximum characters of a text that golden files keep verbatim.
const SHORT: usize = 200;

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name)
}

/// Compares a text with a golden file. With `UPDATE_SNAPSHOTS` set, writes it instead.
fn assert_golden(name: &str, shown: &str) {
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(golden(name), shown).unwrap();
    }
    let kept = fs::read_to_string(golden(name)).unwrap();
    for (at, (kept, shown)) in kept.lines().zip(shown.lines()).enumerate() {
        assert_eq!(kept, shown, "tests/golden/{name}, line {}", at + 1);
    }
    assert_eq!(kept, shown);
}

fn sha256(text: &str) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// The path of a session's blocks in a folder storage.
fn blocks_of(home: &Path, session: &str) -> PathBuf {
    home.join("ada").join(PROJECT).join(session).join("blocks.jsonl")
}

/// One record of each kind: a description, messages, a small event, and one that is cut into
/// pieces.
fn write(machine: &Machine) {
    let long = "all that was said, ".repeat(16_500);
    machine.write(
        "5d1c",
        "metadata.json",
        "{\n  \"session_id\": \"5d1c\",\n  \"name\": \"Kept\",\n  \"created\": \"2026-03-01T09:00:00Z\",\n  \"bundle\": \"foundation\",\n  \"turn_count\": 1\n}",
    );
    machine.write(
        "5d1c",
        "transcript.jsonl",
        r#"{"role":"user","content":"What is in it?","timestamp":"2026-03-01T09:00:01Z"}
{"role":"assistant","content":[{"type":"text","text":"Blocks."}],"tool_calls":[{"id":"c1","tool":"grep","arguments":{"pattern":"x"}}],"metadata":{"timestamp":"2026-03-01T09:00:02Z"}}
"#,
    );
    machine.write(
        "5d1c",
        "events.jsonl",
        format!(
            r#"{{"ts":"2026-03-01T09:00:01.000+00:00","lvl":"INFO","event":"prompt:submit","session_id":"5d1c","data":{{"prompt":"What is in it?"}}}}
{{"ts":"2026-03-01T09:00:02.000+00:00","lvl":"INFO","event":"llm:request","session_id":"5d1c","data":{{"model":"m","messages":["{long}"]}}}}
"#
        ),
    );
}

/// Pushes a session into a folder storage. Returns the machine, the folder, and the blocks
/// verbatim.
fn written() -> (Machine, tempfile::TempDir, Vec<String>) {
    let home = tempfile::tempdir().unwrap();
    let machine = Machine::new("desk", &Arc::new(FolderStorage::make(home.path()).unwrap()));
    write(&machine);
    machine.sync("5d1c");
    let text = fs::read_to_string(blocks_of(home.path(), "5d1c")).unwrap();
    assert!(text.ends_with('\n'));
    let lines = text.lines().map(str::to_owned).collect();
    (machine, home, lines)
}

/// Replaces long texts by their length and digest.
fn shortened(value: &mut Value) {
    match value {
        Value::String(text) if text.chars().count() > SHORT => {
            *text = format!("({} characters, SHA-256 {})", text.chars().count(), sha256(text));
        }
        Value::Array(items) => items.iter_mut().for_each(shortened),
        Value::Object(members) => members.values_mut().for_each(shortened),
        _ => {}
    }
}

/// R47: the written format is stable.
#[test]
fn r47_the_written_format_is_stable() {
    let (_machine, home, lines) = written();
    let mut shown = String::new();
    for line in lines {
        let mut block: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(block.to_string(), line, "as few characters as there can be");
        shortened(&mut block);
        if block["parent_block_id"].is_string() {
            // A piece has no time of its own.
            block["timestamp"] = "now".into();
        }
        // Writing to a string cannot fail.
        let _ = writeln!(shown, "{block}");
    }
    assert_golden("blocks.jsonl", &shown);
    let told = fs::read_to_string(blocks_of(home.path(), "5d1c").with_file_name("metadata.json")).unwrap();
    assert_golden("metadata.json", &(told + "\n"));
}

/// The canonical JSON that a checksum covers, for ASCII without fractions.
fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let sorted = members.iter().collect::<BTreeMap<_, _>>();
            let parts = sorted.into_iter().map(|(name, value)| format!("\"{name}\": {}", canonical(value)));
            format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// R47: the format is the one that was specified together with other programs.
#[test]
fn r47_blocks_have_all_specified_members() {
    let (_machine, _home, lines) = written();
    let (mut ids, mut kinds) = (BTreeSet::new(), Vec::new());
    for (sequence, line) in (1_u64..).zip(lines) {
        let block: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(block.as_object().unwrap().keys().collect::<Vec<_>>(), MEMBERS);
        assert_eq!(block["sequence"], sequence);
        assert_eq!((&block["session_id"], &block["user_id"]), (&"5d1c".into(), &"ada".into()));
        assert_eq!((&block["device_id"], &block["version"]), (&"desk".into(), &1.into()));
        assert_eq!((&block["id"], &block["user_id_session_id"]), (&block["block_id"], &"ada_5d1c".into()));
        let id = block["block_id"].as_str().unwrap().to_owned();
        let digits = id.strip_prefix("5d1c_blk_").unwrap();
        assert!(digits.len() == 12 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        let text = canonical(&block["data"]);
        assert!(text.is_ascii());
        assert_eq!((&block["checksum"], &block["size_bytes"]), (&sha256(&text).into(), &text.len().into()));
        block["timestamp"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
        assert_specified_data(&block);
        kinds.push(block["block_type"].as_str().unwrap().to_owned());
        assert!(ids.insert(id));
    }
    let expected = ["session_created", "message", "message", "event", "event", "event_data", "event_data"];
    assert_eq!(kinds, expected);
}

/// The members of a block's data, by its type.
fn assert_specified_data(block: &Value) {
    let (data, kind) = (&block["data"], block["block_type"].as_str().unwrap());
    let needed: &[&str] = match kind {
        "session_created" => &["project_slug", "name", "bundle"],
        "message" => &["role", "content", "turn", "timestamp"],
        "event" => &[
            "event_id",
            "event_type",
            "turn",
            "summary",
            "has_continuation",
            "total_chunks",
            "total_size_bytes",
        ],
        _ => &["event_id", "chunk_data"],
    };
    for name in needed {
        assert!(!data[name].is_null(), "{name} in {block}");
    }
    assert_eq!(kind == "event", data["inline_data"].is_object() || data["has_continuation"] == true);
    let is_piece = kind == "event_data";
    assert_eq!((block["parent_block_id"].is_string(), block["chunk_index"].is_u64()), (is_piece, is_piece));
    assert_eq!(block["is_final_chunk"], !is_piece || block["chunk_index"] == 1);
    assert!(data["chunk_data"].as_str().unwrap_or_default().chars().count() <= 300_000);
}

/// A session of another program, and the machine that pulls it.
fn fetched(name: &str) -> (Machine, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let to = blocks_of(home.path(), "old");
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(golden(name), to).unwrap();
    (Machine::new("two", &Arc::new(FolderStorage::make(home.path()).unwrap())), home)
}

/// R47: blocks of the previous version, which have no verbatim text, become a session as well.
#[test]
fn r47_blocks_of_version_0_are_read() {
    let (machine, _home) = fetched("version-0.jsonl");
    // Queried in the storage, before it is pulled.
    let (_, session) = machine.hybrid.find("old", &watch()).unwrap();
    assert_eq!(session.source(), Source::Cloud);
    let page = session.messages(&TranscriptQuery::default(), &watch()).unwrap();
    assert_eq!((page.turns, page.total_count), (2, 4));
    let mut query = EventQuery::default();
    query.fields = vec!["data.prompt".to_owned()];
    let page = machine.hybrid.get_events(&session, &query, &watch()).unwrap();
    assert_eq!(page.total_count, 2);
    assert_eq!(page.events[1].fields.get(&["data", "prompt"]), Some("\"What was it?\""));
    machine.sync("old");
    let files = machine.files("old").map(|text| String::from_utf8(text.unwrap()).unwrap());
    for (name, text) in ["metadata.json", "transcript.jsonl", "events.jsonl"].into_iter().zip(files) {
        assert_golden(&format!("version-0.{name}"), &text);
    }
}

/// R47: blocks of a later version are refused with advice, and write nothing.
#[test]
fn r47_blocks_of_a_later_version_are_refused() {
    let (machine, home) = fetched("version-0.jsonl");
    let path = blocks_of(home.path(), "old");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"sequence\":2,", "\"sequence\":2,\"version\":2,")).unwrap();
    let report = machine.hybrid.sync(Some("old"), None, &watch()).unwrap();
    assert_eq!((report.failed, report.sessions[0].outcome), (1, Outcome::Failed));
    let reason = report.sessions[0].reason.clone().unwrap();
    assert!(reason.contains("has version 2") && reason.contains("update trommel"), "{reason}");
    assert_eq!(machine.files("old"), [None, None, None]);
}
