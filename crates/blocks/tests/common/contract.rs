//! The contract of all storages of blocks.

use std::ops::ControlFlow;
use std::sync::Barrier;
use std::thread;

use serde_json::json;
use trommel_blocks::{Block, BlockStorage, BlockType, Created, ErrorClass, Key, Selection, Want};
use trommel_session::{Cancel, Watch};

use super::blocks::{block, numbers, read, said, sessions};

/// Checks the whole contract for an empty storage, and for the same storage as another machine
/// reaches it.
pub(crate) fn all(storage: &dyn BlockStorage, elsewhere: &dyn BlockStorage) {
    created_once(storage, elsewhere);
    many_in_order(storage, elsewhere);
    selected(storage);
    apart(storage);
    listed(storage, elsewhere);
    raced([storage, elsewhere]);
    raced_batches([storage, elsewhere]);
    cancelled(storage);
}

fn key(session: &str) -> Key {
    Key::new("ada", session).unwrap()
}

fn all_of(storage: &dyn BlockStorage, key: &Key) -> Vec<Block> {
    read(storage, key, &Selection::default())
}

/// A block of one of several writers.
fn word(key: &Key, sequence: u64, writer: usize, item: u64) -> Block {
    block(key, sequence, "message", &json!({ "role": "user", "writer": writer, "item": item }))
}

fn created_once(storage: &dyn BlockStorage, elsewhere: &dyn BlockStorage) {
    let (key, watch) = (key("s-once"), Watch::new());
    assert!(storage.head(&key, &watch).unwrap().is_none());
    assert!(all_of(storage, &key).is_empty());
    assert_eq!(storage.create_all(&key, &[], &watch).unwrap(), 0);
    assert_eq!(storage.create(&key, &said(&key, 1), &watch).unwrap(), Created::New);
    assert_eq!(storage.create(&key, &said(&key, 1), &watch).unwrap(), Created::Same);
    let other = block(&key, 1, "session_created", &json!({ "name": "somebody else's" }));
    for storage in [storage, elsewhere] {
        assert_eq!(storage.create(&key, &other, &watch).unwrap(), Created::Taken);
        let there = all_of(storage, &key);
        assert!(there.len() == 1 && there[0].is_same_as(&said(&key, 1)));
        there[0].verify().unwrap();
        assert_eq!(serde_json::to_string(&there[0]).unwrap(), serde_json::to_string(&said(&key, 1)).unwrap());
    }
}

/// More blocks than fit in any batch, some of which exist already.
fn many_in_order(storage: &dyn BlockStorage, elsewhere: &dyn BlockStorage) {
    let (key, watch) = (key("s-many"), Watch::new());
    let blocks = (1..=130).map(|sequence| said(&key, sequence)).collect::<Vec<_>>();
    assert_eq!(storage.create_all(&key, &blocks[..30], &watch).unwrap(), 30);
    // The response was lost: the first blocks exist, and are equal.
    assert_eq!(storage.create_all(&key, &blocks, &watch).unwrap(), 130);
    assert_eq!(storage.create_all(&key, &blocks, &watch).unwrap(), 130);
    // Another device was faster from block 133.
    let more = (131..=140).map(|sequence| said(&key, sequence)).collect::<Vec<_>>();
    assert_eq!(elsewhere.create_all(&key, &more[..2], &watch).unwrap(), 2);
    assert_eq!(elsewhere.create(&key, &word(&key, 133, 1, 1), &watch).unwrap(), Created::New);
    assert_eq!(storage.create_all(&key, &more, &watch).unwrap(), 2);
    for storage in [storage, elsewhere] {
        assert_eq!(storage.head(&key, &watch).unwrap().unwrap().sequence, 133);
        assert_eq!(numbers(&all_of(storage, &key)), (1..=133).collect::<Vec<_>>());
    }
}

fn selected(storage: &dyn BlockStorage) {
    let (key, watch) = (key("s-parts"), Watch::new());
    let event =
        json!({ "event_id": "e", "event_type": "t", "turn": 1, "has_continuation": true, "total_chunks": 1 });
    let piece = json!({ "event_id": "e", "chunk_data": "x" });
    let blocks =
        [said(&key, 1), block(&key, 2, "event", &event), block(&key, 3, "event_data", &piece), said(&key, 4)];
    assert_eq!(storage.create_all(&key, &blocks, &watch).unwrap(), 4);
    let found = |after: u64, until: Option<u64>, types: &[BlockType], want: Want| {
        let mut selection = Selection::default();
        (selection.after, selection.until, selection.types, selection.want) =
            (after, until, types.to_vec(), want);
        numbers(&read(storage, &key, &selection))
    };
    let heads = [BlockType::Event, BlockType::Message];
    assert_eq!(found(1, Some(3), &[], Want::Whole), [2, 3]);
    assert_eq!(found(3, None, &[], Want::Whole), [4]);
    assert!(found(4, None, &[], Want::Whole).is_empty());
    assert!(found(9, None, &[], Want::Whole).is_empty());
    assert!(found(2, Some(2), &[], Want::Whole).is_empty());
    assert_eq!(found(0, None, &heads, Want::Whole), [2, 4]);
    assert_eq!(found(0, Some(3), &heads, Want::Outline), [2]);
    assert!(found(0, None, &[BlockType::Rewind], Want::Whole).is_empty());
    let mut count = 0;
    let read = storage.read(&key, &Selection::default(), &watch, &mut |_| {
        count += 1;
        Ok(if count == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    });
    read.unwrap();
    assert_eq!(count, 2);
}

/// Two sessions of two users whose joined names are equal: `a_b` with `c`, and `a` with `b_c`.
fn apart(storage: &dyn BlockStorage) {
    let watch = Watch::new();
    let (one, other) = (Key::new("a_b", "c").unwrap(), Key::new("a", "b_c").unwrap());
    assert_eq!(one.partition(), other.partition());
    assert_eq!(storage.create(&one, &said(&one, 1), &watch).unwrap(), Created::New);
    assert_eq!(storage.create(&other, &said(&other, 1), &watch).unwrap(), Created::New);
    assert_eq!(storage.create(&other, &said(&other, 2), &watch).unwrap(), Created::New);
    assert_eq!(numbers(&all_of(storage, &one)), [1]);
    assert_eq!(storage.head(&other, &watch).unwrap().unwrap().sequence, 2);
    assert_eq!(sessions(storage, "a").len(), 1);
}

fn listed(storage: &dyn BlockStorage, elsewhere: &dyn BlockStorage) {
    let watch = Watch::new();
    for at in 0..3 {
        let key = Key::new("bea", &format!("s-{at}")).unwrap();
        let told = block(&key, 3, "session_updated", &json!({ "turn_count": at }));
        assert_eq!(storage.create_all(&key, &[said(&key, 1), said(&key, 2), told], &watch).unwrap(), 3);
    }
    for storage in [storage, elsewhere] {
        let mut found = sessions(storage, "bea");
        found.sort_by(|one, other| one.key.cmp(&other.key));
        let names = found.iter().map(|stored| stored.key.session()).collect::<Vec<_>>();
        assert_eq!(names, ["s-0", "s-1", "s-2"]);
        assert!(found.iter().all(|stored| numbers(&stored.described) == [1, 3]));
        assert!(found[1].described[0].data.get().contains("s-1"));
        assert!(sessions(storage, "nobody").is_empty());
    }
    let mut count = 0;
    let listed = storage.sessions("bea", &watch, &mut |_| {
        count += 1;
        Ok(ControlFlow::Break(()))
    });
    listed.unwrap();
    assert_eq!(count, 1);
}

/// One of several concurrent writers of a number succeeds; the others get an error, and nothing is
/// overwritten.
fn raced(storages: [&dyn BlockStorage; 2]) {
    let (key, mut winners) = (key("s-race"), Vec::new());
    for sequence in 1..=8 {
        let start = Barrier::new(4);
        let create = |writer: usize| {
            let block = word(&key, sequence, writer, sequence);
            start.wait();
            (storages[writer % 2].create(&key, &block, &Watch::new()).unwrap(), block)
        };
        let answers = thread::scope(|scope| {
            let asked = [0, 1, 2, 3].map(|writer| scope.spawn(move || create(writer)));
            asked.map(|asked| asked.join().unwrap())
        });
        let (new, other) = answers.into_iter().partition::<Vec<_>, _>(|(answer, _)| *answer == Created::New);
        let is_taken = other.iter().all(|(answer, _)| *answer == Created::Taken);
        assert!(new.len() == 1 && is_taken, "{sequence}: {new:?} {other:?}");
        winners.extend(new.into_iter().map(|(_, block)| block));
    }
    for storage in storages {
        let there = all_of(storage, &key);
        assert_eq!(numbers(&there), (1..=8).collect::<Vec<_>>());
        for (there, block) in there.iter().zip(&winners) {
            assert!(there.is_same_as(block), "{there:?} is not {block:?}");
            there.verify().unwrap();
        }
    }
}

/// The number of records of each writer.
const ITEMS: u64 = 20;

/// Two concurrent writers of batches leave no gap at any time, and lose nothing.
fn raced_batches(storages: [&dyn BlockStorage; 2]) {
    let (key, start) = (key("s-rows"), Barrier::new(2));
    assert_eq!(storages[0].create(&key, &said(&key, 1), &Watch::new()).unwrap(), Created::New);
    let write = |writer: usize| {
        start.wait();
        write_after(storages[writer], &key, writer);
    };
    thread::scope(|scope| {
        let writers = [0, 1].map(|writer| scope.spawn(move || write(writer)));
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let seen = numbers(&all_of(storages[0], &key));
            assert_eq!(seen, (1..=seen.len() as u64).collect::<Vec<_>>());
        }
    });
    let there = all_of(storages[1], &key);
    assert_eq!(numbers(&there), (1..=1 + 2 * ITEMS).collect::<Vec<_>>());
    for writer in [0, 1] {
        let data = there.iter().map(|block| block.data::<serde_json::Value>().unwrap());
        let items = data.filter(|data| data["writer"] == writer).map(|data| data["item"].as_u64().unwrap());
        assert_eq!(items.collect::<Vec<_>>(), (0..ITEMS).collect::<Vec<_>>());
    }
}

/// Writes all records of a writer after the existing ones, like a device that is refused now and
/// then.
fn write_after(storage: &dyn BlockStorage, key: &Key, writer: usize) {
    let (mut done, watch) = (0, Watch::new());
    while done < ITEMS {
        let head = storage.head(key, &watch).unwrap().unwrap().sequence;
        let part = (head + 1..).zip(done..ITEMS.min(done + 6));
        let part = part.map(|(sequence, item)| word(key, sequence, writer, item)).collect::<Vec<_>>();
        done += storage.create_all(key, &part, &watch).unwrap() as u64;
    }
}

/// A call that was cancelled before it started does nothing.
fn cancelled(storage: &dyn BlockStorage) {
    let (key, cancel) = (key("s-many"), Cancel::new());
    cancel.cancel();
    let watch = Watch::new().cancel_with(&cancel);
    let ended = [
        storage.head(&key, &watch).map(drop),
        storage.create(&key, &said(&key, 134), &watch).map(drop),
        storage.create_all(&key, &[said(&key, 134), said(&key, 135)], &watch).map(drop),
        storage.read(&key, &Selection::default(), &watch, &mut |_| Ok(ControlFlow::Continue(()))),
        storage.sessions("ada", &watch, &mut |_| Ok(ControlFlow::Continue(()))),
    ];
    for ended in ended {
        assert_eq!(ended.unwrap_err().class(), ErrorClass::Cancelled);
    }
    assert_eq!(storage.head(&key, &Watch::new()).unwrap().unwrap().sequence, 133);
}
