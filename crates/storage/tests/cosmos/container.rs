//! Checks of a container that every emulator runs, in addition to the contract of block storages.

use serde_json::json;
use trommel_blocks::{BlockStorage, BlockType, ErrorClass, Key, Selection, Want};
use trommel_session::Watch;
use trommel_storage::cosmos::CosmosBlockStorage;

use crate::blocks::{block, numbers, read, said, sessions};

pub(crate) fn all(storage: &CosmosBlockStorage) {
    outlines_omit_bodies(storage);
    lists_sessions_over_several_pages(storage);
    refuses_blocks_above_the_size_limit(storage);
}

fn outlines_omit_bodies(storage: &CosmosBlockStorage) {
    let (key, watch) = (Key::new("ada", "s-outline").unwrap(), Watch::new());
    let event = json!({
        "event_id": "e1", "event_type": "llm:response", "turn": 1, "summary": { "model": "m" }, "inline_data": { "long": "body" },
        "line": "body", "has_continuation": true, "total_chunks": 1, "total_size_bytes": 4,
        "payload": { "name": "p", "size": 4, "blake3": "00" },
    });
    let blocks = [
        block(&key, 1, "session_created", &json!({ "name": "one" })),
        block(&key, 2, "message", &json!({ "role": "user", "content": "body", "turn": 1, "tool_calls": [] })),
        block(&key, 3, "event", &event),
        block(&key, 4, "event_data", &json!({ "event_id": "e1", "chunk_data": "body" })),
    ];
    assert_eq!(storage.create_all(&key, &blocks, &watch).unwrap(), 4);
    let mut selection = Selection::default();
    selection.types = vec![BlockType::Message, BlockType::Event];
    selection.want = Want::Outline;
    let outline = read(storage, &key, &selection);
    assert_eq!(numbers(&outline), [2, 3]);
    let data = |index: usize| serde_json::from_str::<serde_json::Value>(outline[index].data.get()).unwrap();
    assert_eq!(data(0), json!({ "role": "user", "turn": 1 }));
    assert_eq!(data(1)["summary"], json!({ "model": "m" }));
    assert_eq!(data(1)["payload"]["name"], "p");
    assert!(!outline.iter().any(|block| block.data.get().contains("body")));
    // A selection of all types includes the bodies.
    selection.types.clear();
    assert_eq!(numbers(&read(storage, &key, &selection)), [1, 2, 3, 4]);
    for block in read(storage, &key, &Selection::default()) {
        block.verify().unwrap();
    }
}

/// Listed sessions take several pages and omit fields that may be large.
fn lists_sessions_over_several_pages(storage: &CosmosBlockStorage) {
    let watch = Watch::new();
    for number in 0..12 {
        let key = Key::new("dora", &format!("s-{number:02}")).unwrap();
        let description =
            json!({ "name": format!("session {number}"), "document": "x".repeat(20_000), "line": "y" });
        let blocks = [
            block(&key, 1, "session_created", &description),
            said(&key, 2),
            block(&key, 3, "session_updated", &json!({ "turn_count": number })),
        ];
        assert_eq!(storage.create_all(&key, &blocks, &watch).unwrap(), 3);
    }
    let stored_sessions = sessions(storage, "dora");
    let names = stored_sessions.iter().map(|stored| stored.key.session().to_owned()).collect::<Vec<_>>();
    assert_eq!(names, (0..12).map(|number| format!("s-{number:02}")).collect::<Vec<_>>());
    assert!(stored_sessions.iter().all(|stored| numbers(&stored.described) == [1, 3]));
    assert!(stored_sessions[3].described[0].data.get().contains("session 3"));
    assert!(!stored_sessions[3].described[0].data.get().contains("xxx"));
}

fn refuses_blocks_above_the_size_limit(storage: &CosmosBlockStorage) {
    let (key, watch) = (Key::new("ada", "s-large").unwrap(), Watch::new());
    let large = block(&key, 1, "message", &json!({ "content": "x".repeat(2 * 1024 * 1024) }));
    assert_eq!(storage.create(&key, &large, &watch).unwrap_err().class(), ErrorClass::Limit);
    assert!(storage.head(&key, &watch).unwrap().is_none());
    // Each of two large blocks fits into a batch of its own, but not both into one.
    let fits = (1..=3)
        .map(|sequence| block(&key, sequence, "message", &json!({ "content": "x".repeat(900_000) })))
        .collect::<Vec<_>>();
    assert_eq!(storage.create_all(&key, &fits, &watch).unwrap(), 3);
    let rest = [said(&key, 4), block(&key, 5, "message", &json!({ "content": "x".repeat(2 * 1024 * 1024) }))];
    assert_eq!(storage.create_all(&key, &rest, &watch).unwrap_err().class(), ErrorClass::Limit);
    assert_eq!(numbers(&read(storage, &key, &Selection::default())), [1, 2, 3, 4]);
}

/// Reads a container of the line layout that contains the documents of [`line_documents`].
pub(crate) fn reads_the_line_layout(storage: &CosmosBlockStorage) {
    let (key, watch) = (Key::new("eve", "s1").unwrap(), Watch::new());
    let blocks = read(storage, &key, &Selection::default());
    assert!(!storage.is_writable());
    assert_eq!(numbers(&blocks), (1..=9).collect::<Vec<_>>());
    let kinds = blocks.iter().map(|block| block.block_type.name()).collect::<Vec<_>>();
    let messages = ["message"; 3];
    let events = ["event", "event", "event", "event_data", "event_data"];
    assert_eq!(kinds, [&["session_created"][..], &messages, &events].concat());
    let data = |index: usize| serde_json::from_str::<serde_json::Value>(blocks[index].data.get()).unwrap();
    assert_eq!(
        data(0),
        json!({ "project_slug": "p", "bundle": "b", "created": "2026-01-01T00:00:00Z", "turn_count": 2 })
    );
    assert_eq!(
        data(2),
        json!({ "role": "assistant", "content": "answer", "turn": 1, "timestamp": "2026-01-01T00:00:02Z" })
    );
    assert_eq!(data(4)["inline_data"], json!({ "model": "m", "status": "ok" }));
    assert_eq!(data(4)["summary"], json!({ "model": "m", "status": "ok" }));
    assert_eq!(data(5)["inline_data"], json!({ "data_truncated": true, "data_size_bytes": 500_000 }));
    assert_eq!(
        (data(7)["chunk_data"].as_str(), data(8)["chunk_data"].as_str()),
        (Some("{\"a\":"), Some("1}"))
    );
    let mut selection = Selection::default();
    (selection.after, selection.until, selection.types) =
        (2, Some(7), vec![BlockType::Message, BlockType::Event]);
    selection.want = Want::Outline;
    let outline = read(storage, &key, &selection);
    assert_eq!(numbers(&outline), [3, 4, 5, 6, 7]);
    assert!(
        !outline
            .iter()
            .any(|block| block.data.get().contains("answer") || block.data.get().contains("inline_data"))
    );
    assert!(outline[2].data.get().contains(r#""model":"m""#));
    assert_eq!(storage.head(&key, &watch).unwrap().unwrap().sequence, 9);
    assert_eq!(sessions(storage, "eve").len(), 1);
    assert!(read(storage, &Key::new("eve", "none").unwrap(), &Selection::default()).is_empty());
    let refused = storage.create(&key, &said(&key, 10), &watch).unwrap_err();
    assert_eq!(refused.class(), ErrorClass::Unsupported);
}

/// Returns the documents of a session in the line layout, as other programs write them.
pub(crate) fn line_documents() -> Vec<serde_json::Value> {
    let document = |kind: &str, id: &str, rest: serde_json::Value| {
        let mut document = json!({
            "id": id, "type": kind, "partition_key": "eve|p|s1", "user_id": "eve", "host_id": "h", "project_slug": "p", "session_id": "s1",
        });
        document.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        document
    };
    let message = |number: u64, role: &str, content: &str| {
        let ts = format!("2026-01-01T00:00:0{}Z", number + 1);
        let rest = json!({ "sequence": number, "role": role, "content": content, "turn": 1, "ts": ts, "has_vectors": false });
        document("transcript", &format!("s1_msg_{number}"), rest)
    };
    let event = |number: u64, rest: serde_json::Value| {
        let mut event = json!({ "sequence": number, "ts": "2026-01-01T00:00:09Z", "lvl": "INFO", "event": "llm:response" });
        event.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        document("event", &format!("s1_evt_{number}"), event)
    };
    let chunk = |number: u64, text: &str| {
        let rest =
            json!({ "event_id": "s1_evt_3", "chunk_index": number, "total_chunks": 2, "chunk_data": text });
        document("event_chunk", &format!("s1_evt_3_chunk_{number}"), rest)
    };
    vec![
        chunk(1, "1}"),
        event(3, json!({ "is_chunked": true, "data_size_bytes": 7 })),
        message(2, "user", "again"),
        event(
            1,
            json!({ "data": { "model": "m" }, "status": "ok", "data_truncated": false, "data_size_bytes": 13 }),
        ),
        message(0, "user", "question"),
        event(2, json!({ "data_truncated": true, "data_size_bytes": 500_000 })),
        chunk(0, "{\"a\":"),
        message(1, "assistant", "answer"),
        document(
            "session",
            "session_s1",
            json!({ "bundle": "b", "created": "2026-01-01T00:00:00Z", "turn_count": 2 }),
        ),
        document(
            "transcript_vector",
            "s1_msg_0_q_0",
            json!({ "parent_id": "s1_msg_0", "chunk_index": 0, "vector": [0.5] }),
        ),
    ]
}
