//! Tests of incomplete lines and records.

use std::time::Duration;

use super::devices::Device;
use super::memory::{Fault, Memory};
use crate::block::{BlockType, Key};
use crate::sync::{ConflictResolution, State};

const MANUAL: ConflictResolution = ConflictResolution::Manual;

fn message(text: &str) -> String {
    format!("{{\"role\": \"user\", \"content\": \"{text}\"}}\n")
}

/// An unfinished last line is not new while it may still be being written, and never counts as
/// sent.
#[test]
fn unfinished_lines_do_not_count_as_sent() {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    one.append("transcript.jsonl", &(message("a") + "{\"role\": \"us"));
    for _ in 0..2 {
        let ended = one.with((&storage, None), Duration::from_mins(10), |side| side.sync(MANUAL));
        assert_eq!(ended.unwrap(), State::Synced);
    }
    two.sync(&storage, MANUAL).unwrap();
    two.append("transcript.jsonl", &message("b"));
    two.sync(&storage, MANUAL).unwrap();
    // It has not been left alone for long enough to count.
    let ended = one.with((&storage, None), Duration::from_mins(10), |side| side.sync(MANUAL));
    assert!(ended.is_err(), "{ended:?}");
    assert!(one.read("transcript.jsonl").ends_with(b"{\"role\": \"us"));
    // No program continues it: it counts as it is.
    assert_eq!(one.sync(&storage, ConflictResolution::Merge).unwrap(), State::Synced);
    two.sync(&storage, MANUAL).unwrap();
    assert_eq!(one.all(), two.all());
    assert!(String::from_utf8(two.read("transcript.jsonl")).unwrap().contains("{\"role\": \"us"));
}

/// A description whose pieces never arrived does not replace the previous one on any device.
#[test]
fn abandoned_descriptions_keep_the_previous_one() {
    let (storage, key) = (Memory::new(), Key::new("ada", "5d1c").unwrap());
    let [one, two, three] = ["one", "two", "three"].map(Device::new);
    one.write("metadata.json", b"{\"name\": \"first\"}");
    one.append("transcript.jsonl", &message("a"));
    for device in [&one, &two] {
        device.sync(&storage, MANUAL).unwrap();
    }
    // The push is interrupted after the first block.
    one.write("metadata.json", format!("{{\"name\": \"{}\"}}", "n".repeat(400_000)).as_bytes());
    storage.fail(|call| (call > 0).then_some(Fault::Midway));
    assert!(one.sync(&storage, MANUAL).is_err());
    storage.fail(|_| None);
    let last = storage.blocks(&key).pop().unwrap();
    assert_eq!((last.block_type, last.parent_block_id), (BlockType::SessionUpdated, None));
    two.append("transcript.jsonl", &message("b"));
    two.sync(&storage, MANUAL).unwrap();
    for device in [&three, &two] {
        device.sync(&storage, MANUAL).unwrap();
        assert_eq!(device.read("metadata.json"), b"{\"name\": \"first\"}");
        assert_eq!(device.state(&storage), State::Synced);
    }
    // The device that was interrupted sends it again.
    assert_eq!(one.sync(&storage, ConflictResolution::Merge).unwrap(), State::Synced);
    three.sync(&storage, MANUAL).unwrap();
    assert_eq!(three.all(), one.all());
    assert!(three.read("metadata.json").len() > 400_000);
}

/// A merge that another device interrupts restarts, and sends each line once.
#[test]
fn restarted_merge_is_idempotent() {
    for is_cut in [false, true] {
        let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
        one.append("transcript.jsonl", &(message("base") + &message("second")));
        one.sync(&storage, MANUAL).unwrap();
        two.sync(&storage, MANUAL).unwrap();
        one.append("transcript.jsonl", &message("of one"));
        one.sync(&storage, MANUAL).unwrap();
        if is_cut {
            two.write("transcript.jsonl", message("base").as_bytes());
        }
        let lines = (0..300).map(|at| message(&format!("{at} of two."))).collect::<String>();
        two.append("transcript.jsonl", &lines);
        // A part is stored when the connection fails, more than once, while the other device
        // continues.
        for round in 0..3 {
            let from = 6 + round;
            storage.fail(move |call| (call >= from).then_some(Fault::After));
            let ended = two.sync(&storage, ConflictResolution::Merge);
            assert!(ended.is_err() || round > 0, "{ended:?}");
            storage.fail(|_| None);
            one.sync(&storage, ConflictResolution::Merge).unwrap();
            one.append("transcript.jsonl", &message(&format!("round {round}.")));
            one.sync(&storage, ConflictResolution::Merge).unwrap();
        }
        assert_eq!(two.sync(&storage, ConflictResolution::Merge).unwrap(), State::Synced);
        assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
        assert_eq!(one.all(), two.all());
        let text = String::from_utf8(two.read("transcript.jsonl")).unwrap();
        let all =
            (0..300).map(|at| format!("\"{at} of two.\"")).chain((0..3).map(|at| format!("round {at}.")));
        for line in all.chain(["of one".to_owned()]) {
            assert_eq!(text.matches(&line).count(), 1, "{line}, cut {is_cut}");
        }
    }
}

/// Lines were pulled and the journal was lost: they are not pushed again.
#[test]
fn pulled_lines_are_not_pushed_back() {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    for device in [&one, &two] {
        device.append("transcript.jsonl", &message("base"));
        device.append("events.jsonl", "{\"event\":\"base\"}\n");
        device.sync(&storage, MANUAL).unwrap();
    }
    one.append("transcript.jsonl", &(message("new") + &message("newer")));
    one.append("events.jsonl", "{\"event\":\"new\"}\n");
    one.sync(&storage, MANUAL).unwrap();
    // The transcript was replaced, but the agent kept its events from being replaced.
    two.append("transcript.jsonl", &(message("new") + &message("newer")));
    two.append("events.jsonl", "{\"event\":\"of an agent\"}\n");
    assert_eq!(two.sync(&storage, ConflictResolution::Merge).unwrap(), State::Synced);
    let text = String::from_utf8(two.read("transcript.jsonl")).unwrap();
    assert_eq!(text, message("base") + &message("new") + &message("newer"));
    let events = String::from_utf8(two.read("events.jsonl")).unwrap();
    assert_eq!(events.lines().count(), 3);
}

/// Without its journal, a session is compared from the start, cut back or not.
#[test]
fn journals_can_be_lost() {
    let (storage, one) = (Memory::new(), Device::new("one"));
    one.write("metadata.json", b"{\"name\": \"first\"}");
    one.append("transcript.jsonl", &["a", "b", "c"].map(message).concat());
    one.sync(&storage, MANUAL).unwrap();
    one.write("transcript.jsonl", &(message("a") + &message("d")).into_bytes());
    one.write("metadata.json", b"{\"name\": \"second\"}");
    one.sync(&storage, MANUAL).unwrap();
    let (before, blocks) = (one.all(), storage.blocks(&Key::new("ada", "5d1c").unwrap()).len());
    one.forget();
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    one.forget();
    one.append("transcript.jsonl", &message("e"));
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(storage.blocks(&Key::new("ada", "5d1c").unwrap()).len(), blocks + 1);
    assert_eq!((one.read("metadata.json"), &before[2]), (before[0].clone(), &one.all()[2]));
}
