//! Blocks for tests.

use std::ops::ControlFlow;

use trommel_blocks::{Block, BlockStorage, Key, Selection, Stored};
use trommel_session::Watch;

/// A block of the current version, with its checksum.
pub(crate) fn block(key: &Key, sequence: u64, kind: &str, data: &serde_json::Value) -> Block {
    let found = trommel_blocks::checksum::of(&data.to_string()).unwrap();
    let block = serde_json::json!({
        "block_id": format!("{}_blk_{:06x}{:.6}", key.session(), sequence, found.hex),
        "session_id": key.session(),
        "user_id": key.user(),
        "sequence": sequence,
        "timestamp": format!("2026-11-24T00:{:02}:{:02}.000Z", sequence / 60 % 60, sequence % 60),
        "device_id": "desk",
        "block_type": kind,
        "data": data,
        "checksum": found.hex,
        "size_bytes": found.bytes,
        "version": 1,
    });
    serde_json::from_str(&block.to_string()).unwrap()
}

/// The first block of a session describes it, every other one is a message.
pub(crate) fn said(key: &Key, sequence: u64) -> Block {
    if sequence == 1 {
        let told = serde_json::json!({ "project_slug": "-app", "name": key.session() });
        return block(key, 1, "session_created", &told);
    }
    let data = serde_json::json!({
        "role": "user", "content": format!("word {sequence}"), "turn": sequence, "line": "{…}\n",
    });
    block(key, sequence, "message", &data)
}

pub(crate) fn read(storage: &dyn BlockStorage, key: &Key, selection: &Selection) -> Vec<Block> {
    let mut blocks = Vec::new();
    let read = storage.read(key, selection, &Watch::new(), &mut |block| {
        blocks.push(block);
        Ok(ControlFlow::Continue(()))
    });
    read.unwrap();
    blocks
}

pub(crate) fn numbers(blocks: &[Block]) -> Vec<u64> {
    blocks.iter().map(|block| block.sequence).collect()
}

pub(crate) fn sessions(storage: &dyn BlockStorage, user: &str) -> Vec<Stored> {
    let mut sessions = Vec::new();
    let listed = storage.sessions(user, &Watch::new(), &mut |stored| {
        sessions.push(stored);
        Ok(ControlFlow::Continue(()))
    });
    listed.unwrap();
    sessions
}
