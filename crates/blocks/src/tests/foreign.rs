//! Tests with blocks of other programs, which keep no verbatim text.

use proptest::prelude::*;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::devices::Device;
use super::memory::Memory;
use crate::block::{Block, BlockType, Key};
use crate::checksum;
use crate::error::ErrorClass;
use crate::sync::{ConflictResolution, State};

/// Blocks of a session, numbered from 1.
struct Foreign {
    session: String,
    blocks: Vec<Block>,
}

impl Foreign {
    fn new(session: &str) -> Self {
        Self { session: session.to_owned(), blocks: Vec::new() }
    }

    fn put(&mut self, block_type: BlockType, data: &Value) -> &mut Block {
        let data = to_raw_value(data).unwrap();
        let (sum, sequence) = (checksum::of(data.get()).unwrap(), self.blocks.len() as u64 + 1);
        self.blocks.push(Block {
            block_id: format!("{}_blk_{sequence:012x}", self.session),
            session_id: self.session.clone(),
            user_id: "ada".to_owned(),
            sequence,
            timestamp: format!("2026-03-01T09:00:{sequence:02}Z"),
            device_id: "elsewhere".to_owned(),
            block_type,
            data,
            parent_block_id: None,
            chunk_index: None,
            is_final_chunk: true,
            checksum: sum.hex,
            size_bytes: sum.bytes,
            version: 0,
        });
        self.blocks.last_mut().unwrap()
    }

    fn message(&mut self, role: &str, content: &str) {
        self.put(BlockType::Message, &json!({"role": role, "content": content, "turn": 1}));
    }

    fn event(&mut self, n: u64) {
        let data = json!({
            "event_id": format!("e{n}"), "event_type": "tool:pre", "turn": 1, "summary": {"tool_name": "grep"},
            "inline_data": {"tool_name": "grep", "n": n}, "has_continuation": false, "total_chunks": 0, "total_size_bytes": 9
        });
        self.put(BlockType::Event, &data);
    }

    /// An event whose data is in pieces.
    fn chunked(&mut self, pieces: &[&str]) {
        let total = pieces.len() as u64;
        let data = json!({
            "event_id": "long", "event_type": "llm:request", "turn": 1, "summary": {"model": "m"},
            "has_continuation": true, "total_chunks": total, "total_size_bytes": 9
        });
        let parent = self.put(BlockType::Event, &data).block_id.clone();
        for (index, piece) in pieces.iter().enumerate() {
            let block = self.put(BlockType::EventData, &json!({"event_id": "long", "chunk_data": piece}));
            block.parent_block_id = Some(parent.clone());
            (block.chunk_index, block.is_final_chunk) = (Some(index as u64), index as u64 + 1 == total);
        }
    }

    fn store(self, storage: &Memory) {
        storage.put(&Key::new("ada", &self.session).unwrap(), self.blocks);
    }
}

fn created(session: &str) -> Foreign {
    let mut foreign = Foreign::new(session);
    let data =
        json!({"project_slug": "-app", "name": "N", "model": "m", "bundle": "b", "visibility": "private"});
    foreign.put(BlockType::SessionCreated, &data);
    foreign
}

fn lines(device: &Device, file: &str) -> Vec<Value> {
    let text = String::from_utf8(device.read(file)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn foreign_blocks_become_files() {
    let storage = Memory::new();
    let mut foreign = created("5d1c");
    foreign.message("user", "one");
    foreign.chunked(&["{\"model\":\"m\",\"mess", "ages\":[1,", "2]}"]);
    foreign.event(1);
    foreign.message("assistant", "gone");
    foreign.event(2);
    foreign.put(BlockType::Rewind, &json!({"target_sequence": 7, "reason": "r"}));
    foreign.message("assistant", "two");
    foreign.put(BlockType::SessionUpdated, &json!({"name": "M"}));
    foreign.chunked(&["{\"last\":", "true}"]);
    foreign.store(&storage);
    let device = Device::new("one");
    assert_eq!(device.sync(&storage, ConflictResolution::Manual).unwrap(), State::Synced);
    let metadata: Value = serde_json::from_slice(&device.read("metadata.json")).unwrap();
    assert_eq!(
        (&metadata["name"], &metadata["model"], &metadata["session_id"]),
        (&json!("M"), &json!("m"), &json!("5d1c"))
    );
    let said = lines(&device, "transcript.jsonl");
    assert_eq!(
        said,
        [json!({"role": "user", "content": "one"}), json!({"role": "assistant", "content": "two"})]
    );
    let events = lines(&device, "events.jsonl");
    let pairs =
        events.iter().map(|event| (event["event"].clone(), event["data"].clone())).collect::<Vec<_>>();
    let expected = [
        ("llm:request", json!({"model": "m", "messages": [1, 2]})),
        ("tool:pre", json!({"tool_name": "grep", "n": 1})),
        ("llm:request", json!({"last": true})),
    ];
    assert_eq!(pairs, expected.map(|(event, data)| (json!(event), data)));
    // Extended by this program, so that blocks of both programs follow each other.
    device.append("transcript.jsonl", "{\"role\": \"user\",  \"content\": \"three\"}\n");
    assert_eq!(device.sync(&storage, ConflictResolution::Manual).unwrap(), State::Synced);
    let other = Device::new("two");
    other.sync(&storage, ConflictResolution::Manual).unwrap();
    assert_eq!(other.all(), device.all());
}

#[test]
fn forks_start_with_their_source() {
    let storage = Memory::new();
    let mut source = created("source");
    source.message("user", "one");
    source.message("assistant", "gone");
    source.put(BlockType::Rewind, &json!({"target_sequence": 2}));
    source.message("assistant", "two");
    source.event(1);
    source.message("user", "later");
    source.store(&storage);
    let mut middle = created("middle");
    middle.put(BlockType::Fork, &json!({"source_session_id": "source", "source_sequence": 6}));
    middle.message("user", "three");
    middle.store(&storage);
    let mut fork = created("5d1c");
    fork.put(BlockType::Fork, &json!({"source_session_id": "middle", "source_sequence": 3}));
    fork.message("user", "four");
    fork.store(&storage);
    let device = Device::new("one");
    assert_eq!(device.sync(&storage, ConflictResolution::Manual).unwrap(), State::Synced);
    let said =
        lines(&device, "transcript.jsonl").iter().map(|line| line["content"].clone()).collect::<Vec<_>>();
    assert_eq!(said, ["one", "two", "three", "four"].map(|text| json!(text)));
    assert_eq!(lines(&device, "events.jsonl").len(), 1);
    assert_eq!(device.state(&storage), State::Synced);
    device.append("transcript.jsonl", "{\"role\":\"user\",\"content\":\"five\"}\n");
    assert_eq!(device.sync(&storage, ConflictResolution::Manual).unwrap(), State::Synced);
    let other = Device::new("two");
    other.sync(&storage, ConflictResolution::Manual).unwrap();
    assert_eq!(other.all(), device.all());
    // Cut back into the part of the source: that part is rewritten.
    let first = lines(&device, "transcript.jsonl")[0].to_string() + "\n";
    device.write("transcript.jsonl", first.as_bytes());
    assert_eq!(device.sync(&storage, ConflictResolution::Manual).unwrap(), State::Synced);
    other.sync(&storage, ConflictResolution::Manual).unwrap();
    assert_eq!(other.all(), device.all());
    assert_eq!(lines(&other, "transcript.jsonl").len(), 1);
}

#[test]
fn cyclic_forks_are_refused() {
    let storage = Memory::new();
    for (session, source) in [("5d1c", "other"), ("other", "5d1c")] {
        let mut fork = created(session);
        fork.put(BlockType::Fork, &json!({"source_session_id": source, "source_sequence": 2}));
        fork.store(&storage);
    }
    let error = Device::new("one").sync(&storage, ConflictResolution::Manual).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Limit);
}

#[test]
fn corrupt_and_newer_blocks_are_refused() {
    for (version, checksum, kind) in [(0, "00", ErrorClass::Corrupt), (9, "", ErrorClass::Unsupported)] {
        let storage = Memory::new();
        let mut foreign = created("5d1c");
        foreign.message("user", "one");
        let block = foreign.blocks.last_mut().unwrap();
        block.version = version;
        if !checksum.is_empty() {
            block.checksum = checksum.to_owned();
        }
        foreign.store(&storage);
        let device = Device::new("one");
        let error = device.sync(&storage, ConflictResolution::Manual).unwrap_err();
        assert_eq!(error.class(), kind, "{error}");
        assert!(error.to_string().contains('2'), "{error}");
        assert!(device.all().iter().all(Vec::is_empty));
    }
}

/// Data of a block that no program would write.
fn any_data() -> impl Strategy<Value = Value> {
    let number = prop_oneof![0..9_u64, Just(u64::MAX), Just(u64::MAX - 1), Just(1 << 40)];
    let text = prop_oneof![Just(String::new()), "[a-z{}\"\\\\\u{e9}]{0,12}", Just("x".repeat(300))];
    let value = prop_oneof![
        number.prop_map(Value::from),
        text.prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        Just(json!(["a", "b"])),
        Just(json!({"a": {"b": [1.5, -0.0]}})),
    ];
    let name = prop::sample::select(vec![
        "role",
        "content",
        "turn",
        "event_id",
        "event_type",
        "summary",
        "inline_data",
        "has_continuation",
        "total_chunks",
        "chunk_data",
        "target_sequence",
        "source_session_id",
        "source_sequence",
        "name",
        "project_slug",
        "line",
        "encoding",
        "payload",
        "bytes",
        "blake3",
        "outline",
        "total_size_bytes",
    ]);
    prop::collection::vec((name, value), 0..6).prop_map(|members| {
        Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// R13: any content of a storage is read or refused as a whole, and never half written to the
    /// files.
    #[test]
    fn r13_any_blocks_are_read_or_refused(
        blocks in prop::collection::vec((0..8_usize, any_data(), any::<bool>(), any::<Option<u64>>(), 0..2_u32), 1..9),
    ) {
        const TYPES: [BlockType; 8] = [
            BlockType::SessionCreated, BlockType::SessionUpdated, BlockType::SessionDeleted, BlockType::Message,
            BlockType::Event, BlockType::EventData, BlockType::Rewind, BlockType::Fork,
        ];
        let storage = Memory::new();
        let mut foreign = Foreign::new("5d1c");
        let mut parent = None;
        for (kind, data, is_piece, index, version) in blocks {
            let block = foreign.put(TYPES[kind], &data);
            (block.version, block.chunk_index) = (version, index);
            block.parent_block_id = parent.clone().filter(|_| is_piece);
            parent = Some(block.block_id.clone());
        }
        foreign.store(&storage);
        let device = Device::new("one");
        let first = device.sync(&storage, ConflictResolution::Manual).is_ok();
        let all = device.all();
        // A second sync has the same result.
        prop_assert_eq!(device.sync(&storage, ConflictResolution::Manual).is_ok(), first);
        prop_assert_eq!(device.all(), all);
    }
}
