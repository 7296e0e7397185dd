//! What is a container's own, whatever answers for it.

use serde_json::json;
use trommel_blocks::{BlockStorage, BlockType, ErrorClass, Key, Selection, Want};
use trommel_session::Watch;
use trommel_storage::cosmos::CosmosBlockStorage;

use crate::blocks::{block, numbers, read, said, sessions};

pub(crate) fn all(storage: &CosmosBlockStorage) {
    outlined(storage);
    listed(storage);
    limited(storage);
}

fn outlined(storage: &CosmosBlockStorage) {
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
    let light = read(storage, &key, &selection);
    assert_eq!(numbers(&light), [2, 3]);
    let data = |at: usize| serde_json::from_str::<serde_json::Value>(light[at].data.get()).unwrap();
    assert_eq!(data(0), json!({ "role": "user", "turn": 1 }));
    assert_eq!(data(1)["summary"], json!({ "model": "m" }));
    assert_eq!(data(1)["payload"]["name"], "p");
    assert!(!light.iter().any(|block| block.data.get().contains("body")));
    // Bodies come with everything else when all is asked for.
    selection.types.clear();
    assert_eq!(numbers(&read(storage, &key, &selection)), [1, 2, 3, 4]);
    for block in read(storage, &key, &Selection::default()) {
        block.verify().unwrap();
    }
}

/// Over several pages, and without what may be long.
fn listed(storage: &CosmosBlockStorage) {
    let watch = Watch::new();
    for at in 0..12 {
        let key = Key::new("dora", &format!("s-{at:02}")).unwrap();
        let told = json!({ "name": format!("session {at}"), "document": "x".repeat(20_000), "line": "y" });
        let blocks = [
            block(&key, 1, "session_created", &told),
            said(&key, 2),
            block(&key, 3, "session_updated", &json!({ "turn_count": at })),
        ];
        assert_eq!(storage.create_all(&key, &blocks, &watch).unwrap(), 3);
    }
    let found = sessions(storage, "dora");
    let names = found.iter().map(|stored| stored.key.session().to_owned()).collect::<Vec<_>>();
    assert_eq!(names, (0..12).map(|at| format!("s-{at:02}")).collect::<Vec<_>>());
    assert!(found.iter().all(|stored| numbers(&stored.described) == [1, 3]));
    assert!(found[3].described[0].data.get().contains("session 3"));
    assert!(!found[3].described[0].data.get().contains("xxx"));
}

fn limited(storage: &CosmosBlockStorage) {
    let (key, watch) = (Key::new("ada", "s-large").unwrap(), Watch::new());
    let large = block(&key, 1, "message", &json!({ "content": "x".repeat(2 * 1024 * 1024) }));
    assert_eq!(storage.create(&key, &large, &watch).unwrap_err().class(), ErrorClass::Limit);
    assert!(storage.head(&key, &watch).unwrap().is_none());
    // Two that fit alone do not fit into one batch.
    let fits = (1..=3)
        .map(|at| block(&key, at, "message", &json!({ "content": "x".repeat(900_000) })))
        .collect::<Vec<_>>();
    assert_eq!(storage.create_all(&key, &fits, &watch).unwrap(), 3);
    let rest = [said(&key, 4), block(&key, 5, "message", &json!({ "content": "x".repeat(2 * 1024 * 1024) }))];
    assert_eq!(storage.create_all(&key, &rest, &watch).unwrap_err().class(), ErrorClass::Limit);
    assert_eq!(numbers(&read(storage, &key, &Selection::default())), [1, 2, 3, 4]);
}

/// A container of the other layout, whose documents are [`lines`].
pub(crate) fn of_lines(storage: &CosmosBlockStorage) {
    let (key, watch) = (Key::new("eve", "s1").unwrap(), Watch::new());
    let blocks = read(storage, &key, &Selection::default());
    assert!(!storage.is_writable());
    assert_eq!(numbers(&blocks), (1..=9).collect::<Vec<_>>());
    let kinds = blocks.iter().map(|block| block.block_type.name()).collect::<Vec<_>>();
    let messages = ["message"; 3];
    let events = ["event", "event", "event", "event_data", "event_data"];
    assert_eq!(kinds, [&["session_created"][..], &messages, &events].concat());
    let data = |at: usize| serde_json::from_str::<serde_json::Value>(blocks[at].data.get()).unwrap();
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
    let light = read(storage, &key, &selection);
    assert_eq!(numbers(&light), [3, 4, 5, 6, 7]);
    assert!(
        !light
            .iter()
            .any(|block| block.data.get().contains("answer") || block.data.get().contains("inline_data"))
    );
    assert!(light[2].data.get().contains(r#""model":"m""#));
    assert_eq!(storage.head(&key, &watch).unwrap().unwrap().sequence, 9);
    assert_eq!(sessions(storage, "eve").len(), 1);
    assert!(read(storage, &Key::new("eve", "none").unwrap(), &Selection::default()).is_empty());
    let refused = storage.create(&key, &said(&key, 10), &watch).unwrap_err();
    assert_eq!(refused.class(), ErrorClass::Unsupported);
}

/// Documents as other programs write them.
pub(crate) fn lines() -> Vec<serde_json::Value> {
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
    let piece = |number: u64, text: &str| {
        let rest =
            json!({ "event_id": "s1_evt_3", "chunk_index": number, "total_chunks": 2, "chunk_data": text });
        document("event_chunk", &format!("s1_evt_3_chunk_{number}"), rest)
    };
    vec![
        piece(1, "1}"),
        event(3, json!({ "is_chunked": true, "data_size_bytes": 7 })),
        message(2, "user", "again"),
        event(
            1,
            json!({ "data": { "model": "m" }, "status": "ok", "data_truncated": false, "data_size_bytes": 13 }),
        ),
        message(0, "user", "question"),
        event(2, json!({ "data_truncated": true, "data_size_bytes": 500_000 })),
        piece(0, "{\"a\":"),
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
