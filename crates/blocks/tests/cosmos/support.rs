//! Blocks and storages for tests.

use std::ops::ControlFlow;
use std::time::Duration;

use trommel_blocks::cosmos::{CosmosOptions, Credential};
use trommel_blocks::{Block, BlockStorage, Key, Retry, Secret, Selection, Stored};
use trommel_session::Watch;

/// Of the emulator, and of nothing else.
pub(crate) const KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIwEwSgJQ+U5bVuGN2mYhvqlOPB2G1rd5LcLrJrLhY4bYkKoYFlHDTLgxWA==";

pub(crate) fn options(endpoint: &str) -> CosmosOptions {
    let mut options = CosmosOptions::new(endpoint, Credential::Key(Secret::new(KEY)));
    let mut retry = Retry::default();
    retry.first = Duration::from_millis(2);
    retry.longest = Duration::from_millis(20);
    options.retry = retry;
    options
}

pub(crate) fn block(key: &Key, sequence: u64, kind: &str, data: &serde_json::Value) -> Block {
    let data_text = data.to_string();
    let found = trommel_blocks::checksum::of(&data_text).unwrap();
    let block = serde_json::json!({
        "block_id": format!("{}_blk_{:012x}", key.session(), sequence * 7919 + data_text.len() as u64),
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

pub(crate) fn said(key: &Key, sequence: u64) -> Block {
    let data = serde_json::json!({ "role": "user", "content": format!("word {sequence}"), "turn": sequence, "line": "{…}\n" });
    block(key, sequence, "message", &data)
}

pub(crate) fn read(storage: &dyn BlockStorage, key: &Key, selection: &Selection) -> Vec<Block> {
    let mut blocks = Vec::new();
    storage
        .read(key, selection, &Watch::new(), &mut |block| {
            blocks.push(block);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    blocks
}

pub(crate) fn numbers(blocks: &[Block]) -> Vec<u64> {
    blocks.iter().map(|block| block.sequence).collect()
}

pub(crate) fn sessions(storage: &dyn BlockStorage, user: &str) -> Vec<Stored> {
    let mut sessions = Vec::new();
    storage
        .sessions(user, &Watch::new(), &mut |stored| {
            sessions.push(stored);
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    sessions
}
