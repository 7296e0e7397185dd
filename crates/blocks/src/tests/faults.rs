//! Checks that the next sync resumes after any single failure: nothing is lost or duplicated.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use trommel_base::faults::{Fails, failing, watched};

use super::devices::Device;
use super::memory::{Fault, Memory};
use crate::block::Key;
use crate::error::ErrorClass;
use crate::sync::{ConflictResolution, State};

const FAULTS: [Fault; 4] = [Fault::Before, Fault::Midway, Fault::After, Fault::Hidden];

/// The error code of "input/output error".
const EIO: i32 = 5;

fn key() -> Key {
    Key::new("ada", "5d1c").unwrap()
}

/// Syncs until it succeeds, and retries every failure once.
fn synced(device: &Device, storage: &Memory, resolution: ConflictResolution) {
    for _ in 0..8 {
        if let Ok(state) = device.sync(storage, resolution) {
            assert_eq!(state, State::Synced);
            return;
        }
    }
    panic!("the sync never succeeds");
}

fn message(text: &str) -> String {
    format!("{{\"role\": \"user\", \"content\": \"{text}\"}}\n")
}

/// A session with a record in several pieces: pushed, pulled, extended, and cut back.
fn story(storage: &Memory) -> (Device, Device) {
    let (one, two) = (Device::new("one"), Device::new("two"));
    let long = "x".repeat(350_000);
    one.write("metadata.json", b"{\"name\": \"first\"}");
    one.append("transcript.jsonl", &(message("a") + &message("b")));
    one.append("events.jsonl", &format!("{{\"event\":\"e\",\"data\":{{\"t\":\"{long}\"}}}}\n"));
    synced(&one, storage, ConflictResolution::Manual);
    synced(&two, storage, ConflictResolution::Manual);
    two.write("metadata.json", b"{\"name\": \"second\"}");
    two.append("transcript.jsonl", &message("c"));
    synced(&two, storage, ConflictResolution::Manual);
    synced(&one, storage, ConflictResolution::Manual);
    one.write("transcript.jsonl", (message("a") + &message("d")).as_bytes());
    synced(&one, storage, ConflictResolution::Manual);
    synced(&two, storage, ConflictResolution::Manual);
    (one, two)
}

/// R36: each call fails once, before, during, or after its work.
#[test]
fn r36_each_call_fails_once() {
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

/// R36: every nth call fails.
#[test]
fn r36_many_calls_fail() {
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

/// Resolves a conflict of two devices, and returns the files of both.
fn settled(storage: &Memory, resolution: ConflictResolution) -> [Vec<u8>; 3] {
    let (one, two) = (Device::new("one"), Device::new("two"));
    one.append("transcript.jsonl", &message("base"));
    synced(&one, storage, ConflictResolution::Manual);
    synced(&two, storage, ConflictResolution::Manual);
    one.append("transcript.jsonl", &message("from one"));
    one.write("metadata.json", b"{\"name\": \"one\"}");
    two.write("transcript.jsonl", message("from two").as_bytes());
    two.append("events.jsonl", "{\"event\":\"e\"}\n");
    synced(&one, storage, ConflictResolution::Manual);
    synced(&two, storage, resolution);
    synced(&one, storage, ConflictResolution::Manual);
    assert_eq!(one.all(), two.all());
    two.all()
}

/// R36: the same for calls that resolve a conflict.
#[test]
fn r36_each_call_of_a_resolution_fails_once() {
    for resolution in [ConflictResolution::Local, ConflictResolution::Remote, ConflictResolution::Merge] {
        let storage = Memory::new();
        let expected = settled(&storage, resolution);
        for at in 0..storage.calls() {
            for fault in FAULTS {
                let storage = Memory::new();
                storage.fail(move |call| (call == at).then_some(fault));
                let found = settled(&storage, resolution);
                assert_eq!(found, expected, "{resolution:?}, {fault:?} at call {at}");
            }
        }
    }
}

/// R35: a process ends at each file operation. The next one finds the old files or the new ones,
/// and in the end the new ones.
#[test]
fn r35_a_process_ends_at_every_operation() {
    for fails in [Fails::FromThenOn, Fails::Once] {
        for is_cut in [false, true] {
            let made = || {
                let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
                one.write("metadata.json", b"{\"name\": \"first\"}");
                one.append("transcript.jsonl", &(message("a") + &message("b")));
                one.append("events.jsonl", "{\"event\":\"e\"}\n");
                synced(&one, &storage, ConflictResolution::Manual);
                synced(&two, &storage, ConflictResolution::Manual);
                one.write("metadata.json", b"{\"name\": \"second\"}");
                one.append("events.jsonl", "{\"event\":\"f\"}\n");
                if is_cut {
                    one.write("transcript.jsonl", message("a").as_bytes());
                }
                one.append("transcript.jsonl", &message("c"));
                synced(&one, &storage, ConflictResolution::Manual);
                (storage, one, two)
            };
            let (storage, one, two) = made();
            let (_, operations) = watched(|| two.sync(&storage, ConflictResolution::Manual).unwrap());
            assert_eq!(two.all(), one.all());
            assert!(operations.len() > 10, "{operations:?}");
            for at in 0..operations.len() as u64 {
                let (storage, one, two) = made();
                let (_, _) = failing(at, fails, EIO, || two.sync(&storage, ConflictResolution::Manual));
                // The agent continues meanwhile, if its files have not changed.
                synced(&two, &storage, ConflictResolution::Manual);
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

/// A record whose pieces never arrived is skipped by its writer and all others.
#[test]
fn abandoned_records_are_skipped() {
    let long = "y".repeat(900_000);
    for is_ours in [true, false] {
        let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
        one.append("transcript.jsonl", &message("a"));
        synced(&one, &storage, ConflictResolution::Manual);
        synced(&two, &storage, ConflictResolution::Manual);
        one.append("transcript.jsonl", &message(&long));
        storage.fail(|call| (call == 1).then_some(Fault::Midway));
        one.sync(&storage, ConflictResolution::Manual).unwrap_err();
        storage.fail(|_| None);
        let stored = storage.blocks(&key());
        assert!(stored.last().is_some_and(|last| !last.is_final_chunk), "a part of it is stored");
        // No device gets half of a record.
        let three = Device::new("three");
        synced(&three, &storage, ConflictResolution::Manual);
        assert_eq!(three.read("transcript.jsonl"), message("a").into_bytes());
        let (writer, other) = if is_ours { (&one, &two) } else { (&two, &one) };
        if is_ours {
            one.write("transcript.jsonl", (message("a") + &message("b")).as_bytes());
        } else {
            two.append("transcript.jsonl", &message("b"));
        }
        synced(writer, &storage, ConflictResolution::Manual);
        synced(&three, &storage, ConflictResolution::Manual);
        assert_eq!(three.all(), writer.all());
        synced(other, &storage, ConflictResolution::Merge);
        synced(writer, &storage, ConflictResolution::Manual);
        assert_eq!(writer.all(), other.all());
        let text = String::from_utf8(writer.read("transcript.jsonl")).unwrap();
        assert!(text.contains("\"b\"") && (is_ours || text.contains(&long)));
    }
}

/// An unfinished line is left alone, and never overwritten by a pull.
#[test]
fn unfinished_lines_are_left_alone() {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    one.append("transcript.jsonl", &message("a"));
    synced(&one, &storage, ConflictResolution::Manual);
    synced(&two, &storage, ConflictResolution::Manual);
    one.append("transcript.jsonl", &message("b"));
    synced(&one, &storage, ConflictResolution::Manual);
    two.append("transcript.jsonl", "{\"role\": \"us");
    for resolution in [ConflictResolution::Manual, ConflictResolution::Remote, ConflictResolution::Merge] {
        let ended = two.with((&storage, None), Duration::from_mins(10), |side| side.sync(resolution));
        assert_eq!(ended.unwrap_err().class(), ErrorClass::Busy);
        assert_eq!(two.read("transcript.jsonl"), (message("a") + "{\"role\": \"us").into_bytes());
    }
    // The line is finished, and merged with the rest.
    two.append("transcript.jsonl", "er\"}\n");
    let ended =
        two.with((&storage, None), Duration::from_mins(10), |side| side.sync(ConflictResolution::Merge));
    assert_eq!(ended.unwrap(), State::Synced);
    let expected = message("a") + &message("b") + "{\"role\": \"user\"}\n";
    assert_eq!(two.read("transcript.jsonl"), expected.into_bytes());
}

/// An agent appends while lines of another device are pulled: no line is lost.
#[test]
fn lines_appended_during_a_pull_survive() {
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
            // Either process may find lines of the other, and resolves the conflict in the next
            // round.
            let _ = one.sync(&storage, ConflictResolution::Merge);
            let _ = two.sync(&storage, ConflictResolution::Merge);
        }
        done.store(true, Ordering::SeqCst);
        expected = agent.join().unwrap();
    });
    for _ in 0..3 {
        synced(&one, &storage, ConflictResolution::Merge);
        synced(&two, &storage, ConflictResolution::Merge);
    }
    assert_eq!(one.all(), two.all());
    let text = String::from_utf8(two.read("events.jsonl")).unwrap();
    for (name, count) in [("one", 10), ("two", expected)] {
        for at in 0..count {
            assert!(text.contains(&format!("\"{name} {at}\"")), "{name} {at} of {count}");
        }
    }
}

/// Two processes of one device sync the same session at once.
#[test]
fn one_device_syncs_concurrently() {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    for round in 0..10 {
        one.append("events.jsonl", &format!("{{\"event\":\"e{round}\"}}\n").repeat(50));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    assert_eq!(one.sync(&storage, ConflictResolution::Manual).unwrap(), State::Synced);
                });
            }
        });
    }
    synced(&two, &storage, ConflictResolution::Manual);
    assert_eq!(one.all(), two.all());
    assert_eq!(storage.blocks(&key()).len(), 501);
}
