//! Whatever fails once, the next sync goes on: nothing is lost, nothing is there twice.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use trommel_base::faults::{Fails, failing, watched};

use super::devices::Device;
use super::memory::{Fault, Memory};
use crate::block::Key;
use crate::error::ErrorClass;
use crate::sync::{Settlement, State};

const FAULTS: [Fault; 4] = [Fault::Before, Fault::Midway, Fault::After, Fault::Hidden];

/// What "input/output error" is called by systems.
const EIO: i32 = 5;

fn key() -> Key {
    Key::new("ada", "5d1c").unwrap()
}

/// Syncs until it is done; whatever failed is tried once more.
fn synced(device: &Device, storage: &Memory, settlement: Settlement) {
    for _ in 0..8 {
        if let Ok(state) = device.sync(storage, settlement) {
            assert_eq!(state, State::Synced);
            return;
        }
    }
    panic!("it does not go on");
}

fn message(text: &str) -> String {
    format!("{{\"role\": \"user\", \"content\": \"{text}\"}}\n")
}

/// A session with a record of several pieces, sent, fetched, gone on with, and cut back.
fn story(storage: &Memory) -> (Device, Device) {
    let (one, two) = (Device::new("one"), Device::new("two"));
    let long = "x".repeat(350_000);
    one.write("metadata.json", b"{\"name\": \"first\"}");
    one.append("transcript.jsonl", &(message("a") + &message("b")));
    one.append("events.jsonl", &format!("{{\"event\":\"e\",\"data\":{{\"t\":\"{long}\"}}}}\n"));
    synced(&one, storage, Settlement::Manual);
    synced(&two, storage, Settlement::Manual);
    two.write("metadata.json", b"{\"name\": \"second\"}");
    two.append("transcript.jsonl", &message("c"));
    synced(&two, storage, Settlement::Manual);
    synced(&one, storage, Settlement::Manual);
    one.write("transcript.jsonl", (message("a") + &message("d")).as_bytes());
    synced(&one, storage, Settlement::Manual);
    synced(&two, storage, Settlement::Manual);
    (one, two)
}

/// R36: each call fails once, before, in the midst of, or after what it does.
#[test]
fn r36_each_call_may_fail_once() {
    let storage = Memory::new();
    let (one, _) = story(&storage);
    let (expected, calls) = (one.all(), storage.calls());
    let blocks = storage.blocks(&key()).len();
    assert!(calls > 20, "{calls}");
    for at in 0..calls {
        for fault in FAULTS {
            let storage = Memory::new();
            storage.fail(move |call| (call == at).then_some(fault));
            let (one, two) = story(&storage);
            assert_eq!(one.all(), expected, "{fault:?} at call {at}");
            assert_eq!(two.all(), expected, "{fault:?} at call {at}");
            assert_eq!(storage.blocks(&key()).len(), blocks, "{fault:?} at call {at}");
        }
    }
}

/// R36: several calls fail, one in so many.
#[test]
fn r36_many_calls_may_fail() {
    let storage = Memory::new();
    let (one, _) = story(&storage);
    let (expected, blocks) = (one.all(), storage.blocks(&key()).len());
    for (every, fault) in (8..14).flat_map(|every| FAULTS.map(|fault| (every, fault))) {
        let storage = Memory::new();
        storage.fail(move |call| (call % every == every - 1).then_some(fault));
        let (one, two) = story(&storage);
        assert_eq!((one.all(), two.all()), (expected.clone(), expected.clone()), "{fault:?}, every {every}");
        assert_eq!(storage.blocks(&key()).len(), blocks, "{fault:?}, every {every}");
    }
}

/// A conflict of two devices, settled; what both have then.
fn settled(storage: &Memory, settlement: Settlement) -> [Vec<u8>; 3] {
    let (one, two) = (Device::new("one"), Device::new("two"));
    one.append("transcript.jsonl", &message("base"));
    synced(&one, storage, Settlement::Manual);
    synced(&two, storage, Settlement::Manual);
    one.append("transcript.jsonl", &message("from one"));
    one.write("metadata.json", b"{\"name\": \"one\"}");
    two.write("transcript.jsonl", message("from two").as_bytes());
    two.append("events.jsonl", "{\"event\":\"e\"}\n");
    synced(&one, storage, Settlement::Manual);
    synced(&two, storage, settlement);
    synced(&one, storage, Settlement::Manual);
    assert_eq!(one.all(), two.all());
    two.all()
}

/// R36: so may those that settle a conflict.
#[test]
fn r36_each_call_of_a_settlement_may_fail_once() {
    for settlement in [Settlement::Local, Settlement::Remote, Settlement::Merge] {
        let storage = Memory::new();
        let expected = settled(&storage, settlement);
        for at in 0..storage.calls() {
            for fault in FAULTS {
                let storage = Memory::new();
                storage.fail(move |call| (call == at).then_some(fault));
                let found = settled(&storage, settlement);
                assert_eq!(found, expected, "{settlement:?}, {fault:?} at call {at}");
            }
        }
    }
}

/// R35: a process may end at every operation on a file; whoever goes on has the old files or the
/// new ones, and in the end the new ones.
#[test]
fn r35_a_process_may_end_at_every_operation() {
    for fails in [Fails::FromThenOn, Fails::Once] {
        for is_cut in [false, true] {
            let made = || {
                let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
                one.write("metadata.json", b"{\"name\": \"first\"}");
                one.append("transcript.jsonl", &(message("a") + &message("b")));
                one.append("events.jsonl", "{\"event\":\"e\"}\n");
                synced(&one, &storage, Settlement::Manual);
                synced(&two, &storage, Settlement::Manual);
                one.write("metadata.json", b"{\"name\": \"second\"}");
                one.append("events.jsonl", "{\"event\":\"f\"}\n");
                if is_cut {
                    one.write("transcript.jsonl", message("a").as_bytes());
                }
                one.append("transcript.jsonl", &message("c"));
                synced(&one, &storage, Settlement::Manual);
                (storage, one, two)
            };
            let (storage, one, two) = made();
            let (_, operations) = watched(|| two.sync(&storage, Settlement::Manual).unwrap());
            assert_eq!(two.all(), one.all());
            assert!(operations.len() > 10, "{operations:?}");
            for at in 0..operations.len() as u64 {
                let (storage, one, two) = made();
                let (_, _) = failing(at, fails, EIO, || two.sync(&storage, Settlement::Manual));
                // The agent goes on meanwhile, as long as nothing of the files was changed.
                synced(&two, &storage, Settlement::Manual);
                assert_eq!(two.all(), one.all(), "{fails:?} at {at} of {operations:?}");
                assert_eq!(two.state(&storage), State::Synced);
                assert_eq!(
                    storage.blocks(&key()).len(),
                    storage.blocks(&key()).last().unwrap().sequence as usize
                );
            }
        }
    }
}

/// A record whose pieces never came is nothing, for whoever wrote it and for all others.
#[test]
fn what_was_abandoned_is_passed_over() {
    let long = "y".repeat(900_000);
    for is_ours in [true, false] {
        let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
        one.append("transcript.jsonl", &message("a"));
        synced(&one, &storage, Settlement::Manual);
        synced(&two, &storage, Settlement::Manual);
        one.append("transcript.jsonl", &message(&long));
        storage.fail(|call| (call == 1).then_some(Fault::Midway));
        one.sync(&storage, Settlement::Manual).unwrap_err();
        storage.fail(|_| None);
        let stored = storage.blocks(&key());
        assert!(stored.last().is_some_and(|last| !last.is_final_chunk), "a part of it is stored");
        // Nobody sees half of a record.
        let three = Device::new("three");
        synced(&three, &storage, Settlement::Manual);
        assert_eq!(three.read("transcript.jsonl"), message("a").into_bytes());
        let (writer, other) = if is_ours { (&one, &two) } else { (&two, &one) };
        if is_ours {
            one.write("transcript.jsonl", (message("a") + &message("b")).as_bytes());
        } else {
            two.append("transcript.jsonl", &message("b"));
        }
        synced(writer, &storage, Settlement::Manual);
        synced(&three, &storage, Settlement::Manual);
        assert_eq!(three.all(), writer.all());
        synced(other, &storage, Settlement::Merge);
        synced(writer, &storage, Settlement::Manual);
        assert_eq!(writer.all(), other.all());
        let text = String::from_utf8(writer.read("transcript.jsonl")).unwrap();
        assert!(text.contains("\"b\"") && (is_ours || text.contains(&long)));
    }
}

/// What is half written is left alone, and nothing is brought over it.
#[test]
fn half_a_line_is_left_alone() {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    one.append("transcript.jsonl", &message("a"));
    synced(&one, &storage, Settlement::Manual);
    synced(&two, &storage, Settlement::Manual);
    one.append("transcript.jsonl", &message("b"));
    synced(&one, &storage, Settlement::Manual);
    two.append("transcript.jsonl", "{\"role\": \"us");
    for settlement in [Settlement::Manual, Settlement::Remote, Settlement::Merge] {
        let ended = two.with((&storage, None), Duration::from_mins(10), |side| side.sync(settlement));
        assert_eq!(ended.unwrap_err().class(), ErrorClass::Busy);
        assert_eq!(two.read("transcript.jsonl"), (message("a") + "{\"role\": \"us").into_bytes());
    }
    // Its end comes, and it is merged with the rest.
    two.append("transcript.jsonl", "er\"}\n");
    let ended = two.with((&storage, None), Duration::from_mins(10), |side| side.sync(Settlement::Merge));
    assert_eq!(ended.unwrap(), State::Synced);
    let expected = message("a") + &message("b") + "{\"role\": \"user\"}\n";
    assert_eq!(two.read("transcript.jsonl"), expected.into_bytes());
}

/// An agent appends while another device's lines are fetched: nothing of it is lost.
#[test]
fn an_agent_may_write_meanwhile() {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    let (mut expected, done) = (0, AtomicBool::new(false));
    thread::scope(|scope| {
        let (done, two) = (&done, &two);
        let agent = scope.spawn(move || {
            let mut count = 0;
            while !done.load(Ordering::SeqCst) {
                two.append("events.jsonl", &format!("{{\"event\":\"two {count}\"}}\n"));
                count += 1;
                thread::sleep(Duration::from_millis(1));
            }
            count
        });
        for round in 0..10 {
            one.append("events.jsonl", &format!("{{\"event\":\"one {round}\"}}\n"));
            // Either may find the other's lines in between, and then settles that the next time.
            let _ = one.sync(&storage, Settlement::Merge);
            let _ = two.sync(&storage, Settlement::Merge);
        }
        done.store(true, Ordering::SeqCst);
        expected = agent.join().unwrap();
    });
    for _ in 0..3 {
        synced(&one, &storage, Settlement::Merge);
        synced(&two, &storage, Settlement::Merge);
    }
    assert_eq!(one.all(), two.all());
    let text = String::from_utf8(two.read("events.jsonl")).unwrap();
    for (name, count) in [("one", 10), ("two", expected)] {
        for at in 0..count {
            assert!(text.contains(&format!("\"{name} {at}\"")), "{name} {at} of {count}");
        }
    }
}

/// Two processes of a device go at the same session at once.
#[test]
fn one_device_may_sync_twice_at_once() {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    for round in 0..10 {
        one.append("events.jsonl", &format!("{{\"event\":\"e{round}\"}}\n").repeat(50));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| assert_eq!(one.sync(&storage, Settlement::Manual).unwrap(), State::Synced));
            }
        });
    }
    synced(&two, &storage, Settlement::Manual);
    assert_eq!(one.all(), two.all());
    assert_eq!(storage.blocks(&key()).len(), 501);
}
