//! Checks that every object store passes: the contract of block storages, and more.

use std::time::Duration;

use serde_json::json;
use trommel_blocks::{BlockStorage, Key, Selection, Want};
use trommel_session::Watch;
use trommel_storage::objects::{ObjectBlockStorage, ObjectPayloads, Objects};

use crate::blocks::{block, numbers, read, said, sessions};
use crate::{contract, payloads};

pub(crate) fn all(objects: &Objects) {
    let storage = ObjectBlockStorage::new(objects.clone());
    storage.reach(Duration::from_secs(5)).unwrap();
    contract::all(&storage, &ObjectBlockStorage::new(objects.clone()));
    heads_follow_other_writers(&storage, &ObjectBlockStorage::new(objects.clone()));
    outlines_omit_chunks(&storage);
    payloads::all(&ObjectPayloads::new(objects.clone()));
}

/// Checks a store without conditional writes. Such a store cannot meet the contract of block
/// storages, so only the other operations are checked.
pub(crate) fn without_conditions(objects: &Objects) {
    let (storage, key) = (ObjectBlockStorage::new(objects.clone()), Key::new("ada", "s").unwrap());
    let blocks = (1..=20).map(|sequence| said(&key, sequence)).collect::<Vec<_>>();
    assert_eq!(storage.create_all(&key, &blocks, &Watch::new()).unwrap(), 20);
    assert_eq!(numbers(&read(&storage, &key, &Selection::default())), (1..=20).collect::<Vec<_>>());
    assert_eq!(storage.head(&key, &Watch::new()).unwrap().unwrap().sequence, 20);
    assert_eq!(sessions(&storage, "ada").len(), 1);
    payloads::all(&ObjectPayloads::new(objects.clone()));
}

/// A first query finds the last block, and a later one sees the blocks of other writers.
fn heads_follow_other_writers(storage: &ObjectBlockStorage, elsewhere: &ObjectBlockStorage) {
    let (key, watch) = (Key::new("eve", "s-seen").unwrap(), Watch::new());
    let blocks = (1..=50).map(|sequence| said(&key, sequence)).collect::<Vec<_>>();
    assert_eq!(storage.create_all(&key, &blocks, &watch).unwrap(), 50);
    assert_eq!(elsewhere.head(&key, &watch).unwrap().unwrap().sequence, 50);
    assert_eq!(elsewhere.create_all(&key, &[said(&key, 51)], &watch).unwrap(), 1);
    assert_eq!(storage.head(&key, &watch).unwrap().unwrap().sequence, 51);
}

/// Chunks of events are omitted from outlines.
fn outlines_omit_chunks(storage: &ObjectBlockStorage) {
    let key = Key::new("eve", "s-outline").unwrap();
    let event =
        json!({ "event_id": "e", "event_type": "t", "turn": 1, "has_continuation": true, "total_chunks": 1 });
    let chunk = json!({ "event_id": "e", "chunk_data": "x" });
    let blocks =
        [said(&key, 1), block(&key, 2, "event", &event), block(&key, 3, "event_data", &chunk), said(&key, 4)];
    assert_eq!(storage.create_all(&key, &blocks, &Watch::new()).unwrap(), 4);
    let mut selection = Selection::default();
    selection.want = Want::Outline;
    assert_eq!(numbers(&read(storage, &key, &selection)), [1, 2, 4]);
}
