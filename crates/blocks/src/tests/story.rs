//! Tests of a session on two devices.

use super::devices::Device;
use super::memory::Memory;
use crate::storage::BlockStorage;
use crate::sync::{ConflictResolution, State};

const MANUAL: ConflictResolution = ConflictResolution::Manual;

fn message(text: &str) -> String {
    format!("{{\"role\": \"user\", \"content\": \"{text}\"}}\n")
}

fn event(n: u64) -> String {
    format!(
        "{{\"ts\":\"2026-03-01T09:00:{:02}Z\",\"lvl\":\"INFO\",\"event\":\"tool:pre\",\"data\":{{\"n\":{n},\"big\":12345678901234567890123}}}}\n",
        n % 60
    )
}

fn two() -> (Memory, Device, Device) {
    (Memory::new(), Device::new("one"), Device::new("two"))
}

#[test]
fn files_are_synced_byte_for_byte() {
    let (storage, one, two) = two();
    let long = "\u{e9}\u{1f600}\\\"".repeat(120_000);
    one.write("metadata.json", b"{\n  \"name\": \"a\", \"turn_count\": 1,\n  \"x\": 1.0}");
    one.append("transcript.jsonl", &message("hello"));
    one.append("transcript.jsonl", &format!("\n\r\nno json\n{}", message(&"long ".repeat(200_000))));
    one.append("events.jsonl", &event(1));
    one.append(
        "events.jsonl",
        &format!(
            "{{\"ts\":\"2026-03-01T09:00:01Z\",\"event\":\"x\",\"data\":{{\"t\":\"{long}\"}},\"z\":1}}\n{}",
            event(2)
        ),
    );
    let mut odd = one.read("events.jsonl");
    odd.extend(b"\xff\xfe no text\n{\"unfinished\":");
    one.write("events.jsonl", &odd);
    assert_eq!(one.state(&storage), State::Ahead);
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(two.state(&storage), State::Behind);
    assert_eq!(two.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(two.all(), one.all());
    // The other device continues.
    two.append("transcript.jsonl", &message("on"));
    two.write("metadata.json", b"{\"name\": \"b\"}");
    assert_eq!(two.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(two.all(), one.all());
    assert!(String::from_utf8(one.read("metadata.json")).unwrap().contains("\"b\""));
}

#[test]
fn rewinds_are_synced() {
    let (storage, one, two) = two();
    for n in 0..5 {
        one.append("transcript.jsonl", &message(&format!("m{n}")));
        one.append("events.jsonl", &event(n));
        one.sync(&storage, MANUAL).unwrap();
    }
    two.sync(&storage, MANUAL).unwrap();
    let whole = one.all();
    // Cut in both files, in one of them in the middle.
    one.write("transcript.jsonl", (message("m0") + &message("m1")).as_bytes());
    one.write("events.jsonl", (event(0) + &event(3)).as_bytes());
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(two.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(two.all(), one.all());
    // And in the other direction.
    two.write("transcript.jsonl", &whole[1]);
    two.write("events.jsonl", &whole[2]);
    assert_eq!(two.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(one.all(), whole);
}

fn conflict() -> (Memory, Device, Device) {
    let (storage, one, two) = two();
    one.append("transcript.jsonl", &message("base"));
    one.append("events.jsonl", &event(0));
    one.sync(&storage, MANUAL).unwrap();
    two.sync(&storage, MANUAL).unwrap();
    one.append("transcript.jsonl", &message("from one"));
    two.append("transcript.jsonl", &message("from two"));
    two.append("events.jsonl", &event(2));
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    let before = two.all();
    assert_eq!(two.sync(&storage, MANUAL).unwrap(), State::Conflict);
    assert_eq!(two.all(), before);
    (storage, one, two)
}

#[test]
fn a_conflict_resolves_to_local() {
    let (storage, one, two) = conflict();
    let before = two.all();
    assert_eq!(two.sync(&storage, ConflictResolution::Local).unwrap(), State::Synced);
    assert_eq!(two.all(), before);
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(one.all(), before);
}

#[test]
fn a_conflict_resolves_to_remote() {
    let (storage, one, two) = conflict();
    let before = one.all();
    assert_eq!(two.sync(&storage, ConflictResolution::Remote).unwrap(), State::Synced);
    assert_eq!(two.all(), before);
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(one.all(), before);
    // Its own records are stored as well.
    let key = crate::block::Key::new("ada", "5d1c").unwrap();
    let mut stored_text = String::new();
    storage
        .read(&key, &crate::storage::Selection::default(), &trommel_session::Watch::new(), &mut |block| {
            stored_text.push_str(block.data.get());
            Ok(std::ops::ControlFlow::Continue(()))
        })
        .unwrap();
    assert!(stored_text.contains("from two"));
}

#[test]
fn conflicts_are_merged() {
    let (storage, one, two) = conflict();
    assert_eq!(two.sync(&storage, ConflictResolution::Merge).unwrap(), State::Synced);
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(one.all(), two.all());
    let expected = message("base") + &message("from one") + &message("from two");
    assert_eq!(String::from_utf8(one.read("transcript.jsonl")).unwrap(), expected);
    assert_eq!(String::from_utf8(one.read("events.jsonl")).unwrap(), event(0) + &event(2));
}

#[test]
fn a_rewind_is_merged_with_remote_records() {
    let (storage, one, two) = conflict();
    two.write("transcript.jsonl", message("afresh").as_bytes());
    assert_eq!(two.sync(&storage, ConflictResolution::Merge).unwrap(), State::Synced);
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(one.all(), two.all());
    let expected = message("from one") + &message("afresh");
    assert_eq!(String::from_utf8(one.read("transcript.jsonl")).unwrap(), expected);
}

#[test]
fn a_copied_session_is_synced() {
    let (storage, one, two) = two();
    for device in [&one, &two] {
        device.write("metadata.json", b"{}");
        device.append("transcript.jsonl", &message("base"));
        device.append("events.jsonl", &event(0));
    }
    two.append("events.jsonl", &event(1));
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(two.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!(one.all(), two.all());
}
