//! What any object store has to do, whatever answers for it.

use std::io::Read;
use std::thread;
use std::time::Duration;

use trommel_blocks::objects::{ObjectBlockStorage, ObjectPayloads, Objects};
use trommel_blocks::{BlockStorage, BlockType, Created, ErrorKind, Key, PayloadStorage, Selection, Want};
use trommel_session::{Cancel, Watch};

use crate::support::{block, numbers, read, said, sessions};

pub(crate) fn all(objects: &Objects) {
    let storage = ObjectBlockStorage::new(objects.clone());
    storage.reach(Duration::from_secs(5)).unwrap();
    created_once(&storage);
    many(&storage, &ObjectBlockStorage::new(objects.clone()));
    selected(&storage);
    listed(&storage);
    raced(objects);
    cancelled(&storage);
    payloads(&ObjectPayloads::new(objects.clone()));
}

/// The same of one that creates without a condition, which no storage of blocks may: what there is besides.
pub(crate) fn without_conditions(objects: &Objects) {
    let (storage, key) = (ObjectBlockStorage::new(objects.clone()), Key::new("ada", "s").unwrap());
    let blocks = (1..=20).map(|sequence| said(&key, sequence)).collect::<Vec<_>>();
    assert_eq!(storage.create_all(&key, &blocks, &Watch::new()).unwrap(), 20);
    assert_eq!(numbers(&read(&storage, &key, &Selection::default())), (1..=20).collect::<Vec<_>>());
    assert_eq!(storage.head(&key, &Watch::new()).unwrap().unwrap().sequence, 20);
    assert_eq!(sessions(&storage, "ada").len(), 1);
    cancelled(&storage);
    payloads(&ObjectPayloads::new(objects.clone()));
}

fn created_once(storage: &ObjectBlockStorage) {
    let (key, watch) = (Key::new("ada", "s-once").unwrap(), Watch::new());
    assert!(storage.head(&key, &watch).unwrap().is_none());
    assert!(read(storage, &key, &Selection::default()).is_empty());
    assert_eq!(storage.create(&key, &said(&key, 1), &watch).unwrap(), Created::New);
    assert_eq!(storage.create(&key, &said(&key, 1), &watch).unwrap(), Created::Same);
    let other = block(&key, 1, "message", &serde_json::json!({"role": "user", "content": "somebody else's"}));
    assert_eq!(storage.create(&key, &other, &watch).unwrap(), Created::Taken);
    let there = read(storage, &key, &Selection::default());
    assert!(there.len() == 1 && there[0].is_same_as(&said(&key, 1)));
    there[0].verify().unwrap();
}

fn many(storage: &ObjectBlockStorage, elsewhere: &ObjectBlockStorage) {
    let (key, watch) = (Key::new("ada", "s-many").unwrap(), Watch::new());
    let blocks = (1..=50).map(|sequence| said(&key, sequence)).collect::<Vec<_>>();
    assert_eq!(storage.create_all(&key, &blocks[..10], &watch).unwrap(), 10);
    assert_eq!(storage.create_all(&key, &blocks, &watch).unwrap(), 50);
    // Who looks for the first time finds the last one, and who has looked sees what came since.
    assert_eq!(elsewhere.head(&key, &watch).unwrap().unwrap().sequence, 50);
    assert_eq!(elsewhere.create(&key, &said(&key, 51), &watch).unwrap(), Created::New);
    assert_eq!(storage.head(&key, &watch).unwrap().unwrap().sequence, 51);
    assert_eq!(numbers(&read(elsewhere, &key, &Selection::default())), (1..=51).collect::<Vec<_>>());
}

fn selected(storage: &ObjectBlockStorage) {
    let (key, watch) = (Key::new("ada", "s-parts").unwrap(), Watch::new());
    let event = serde_json::json!({"event_id": "e", "event_type": "t", "turn": 1, "has_continuation": true, "total_chunks": 1});
    let piece = serde_json::json!({"event_id": "e", "chunk_data": "x"});
    let blocks =
        [said(&key, 1), block(&key, 2, "event", &event), block(&key, 3, "event_data", &piece), said(&key, 4)];
    assert_eq!(storage.create_all(&key, &blocks, &watch).unwrap(), 4);
    let mut selection = Selection::default();
    (selection.after, selection.until) = (1, Some(3));
    assert_eq!(numbers(&read(storage, &key, &selection)), [2, 3]);
    selection.types = vec![BlockType::Event, BlockType::Message];
    selection.until = None;
    assert_eq!(numbers(&read(storage, &key, &selection)), [2, 4]);
    (selection.types, selection.want) = (Vec::new(), Want::Outline);
    assert_eq!(numbers(&read(storage, &key, &selection)), [2, 4]);
}

fn listed(storage: &ObjectBlockStorage) {
    let watch = Watch::new();
    let key = Key::new("ada", "s-many").unwrap();
    let update = block(&key, 52, "session_updated", &serde_json::json!({"name": "Another"}));
    assert_eq!(storage.create(&key, &update, &watch).unwrap(), Created::New);
    let found = sessions(storage, "ada");
    let names = found.iter().map(|stored| stored.key.session()).collect::<Vec<_>>();
    assert_eq!(names, ["s-many", "s-once", "s-parts"]);
    assert_eq!(numbers(&found[0].described), [1, 52]);
    assert!(sessions(storage, "eve").is_empty());
}

/// Of several that write the same number at once, one has it.
fn raced(objects: &Objects) {
    let key = Key::new("ada", "s-race").unwrap();
    let writers = [1, 2, 3, 4].map(|writer| (writer, ObjectBlockStorage::new(objects.clone())));
    for sequence in 1..=5 {
        let answers = thread::scope(|scope| {
            let asked = writers.each_ref().map(|(writer, storage)| {
                let data = serde_json::json!({"role": "user", "content": format!("of {writer}")});
                let block = block(&key, sequence, "message", &data);
                let key = &key;
                scope.spawn(move || storage.create(key, &block, &Watch::new()).unwrap())
            });
            asked.map(|asked| asked.join().unwrap())
        });
        let count = |of: Created| answers.iter().filter(|answer| **answer == of).count();
        assert_eq!((count(Created::New), count(Created::Taken)), (1, 3), "{sequence}: {answers:?}");
    }
}

fn cancelled(storage: &ObjectBlockStorage) {
    let cancel = Cancel::new();
    let watch = Watch::new().cancel_with(&cancel);
    cancel.cancel();
    let error = storage.head(&Key::new("ada", "s-many").unwrap(), &watch).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

/// So many bytes that differ everywhere, made as they are read.
struct Bytes {
    at: u64,
    end: u64,
}

fn byte(at: u64) -> u8 {
    (at ^ (at >> 8) ^ (at >> 16)) as u8
}

impl Read for Bytes {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = (self.end - self.at).min(bytes.len() as u64);
        for (place, at) in bytes.iter_mut().zip(self.at..self.at + count) {
            *place = byte(at);
        }
        self.at += count;
        Ok(count as usize)
    }
}

fn payloads(storage: &ObjectPayloads) {
    let watch = Watch::new();
    for end in [0, 1, 100_000, (8 << 20) + 1, 20 << 20] {
        let name = format!("payload-{end}");
        for _ in 0..2 {
            storage.put(&name, end, &mut Bytes { at: 0, end }, &watch).unwrap();
        }
        let mut at = 0;
        let got = storage.get(&name, &watch, &mut |part| {
            assert!(part.iter().zip(at..).all(|(found, at)| *found == byte(at)));
            at += part.len() as u64;
            Ok(())
        });
        got.unwrap();
        assert_eq!(at, end);
    }
    let error = storage.get("nothing", &watch, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    // One that ends early never has its name.
    let short = storage.put("short", 9 << 20, &mut Bytes { at: 0, end: 100 }, &watch).unwrap_err();
    assert_eq!(short.kind(), ErrorKind::Corrupt);
    assert_eq!(storage.get("short", &watch, &mut |_| Ok(())).unwrap_err().kind(), ErrorKind::NotFound);
}
