//! Tests of devices that changed everything, one after the other or at once.

use std::thread;

use super::devices::Device;
use super::memory::Memory;
use crate::block::Key;
use crate::sync::{ConflictResolution, State};

const MANUAL: ConflictResolution = ConflictResolution::Manual;

fn message(text: &str) -> String {
    format!("{{\"role\": \"user\", \"content\": \"{text}\"}}\n")
}

fn event(text: &str) -> String {
    format!("{{\"ts\":\"2026-03-01T09:00:00Z\",\"event\":\"{text}\"}}\n")
}

/// A session that two devices have cut back, extended, and described differently.
fn diverged_devices() -> (Memory, Device, Device) {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    one.write("metadata.json", b"{\"name\": \"base\"}");
    one.append("transcript.jsonl", &["m0", "m1", "m2", "m3"].map(message).concat());
    one.append("events.jsonl", &["e0", "e1", "e2"].map(event).concat());
    one.sync(&storage, MANUAL).unwrap();
    two.sync(&storage, MANUAL).unwrap();
    one.write("metadata.json", b"{\"name\": \"of one\"}");
    one.write("transcript.jsonl", ["m0", "m1", "from one"].map(message).concat().as_bytes());
    two.write("metadata.json", b"{\"name\": \"of two\"}");
    two.write("transcript.jsonl", ["m0", "from two"].map(message).concat().as_bytes());
    two.write("events.jsonl", ["e0", "e3"].map(event).concat().as_bytes());
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    let before = two.all();
    assert_eq!(two.sync(&storage, MANUAL).unwrap(), State::Conflict);
    assert_eq!(two.all(), before, "a conflict changes no file before it is resolved");
    (storage, one, two)
}

/// Resolves the conflict on the second device, and returns the files of all devices.
fn settled(resolution: ConflictResolution) -> ([[Vec<u8>; 3]; 2], [Vec<u8>; 3]) {
    let (storage, one, two) = diverged_devices();
    let before = [one.all(), two.all()];
    assert_eq!(two.sync(&storage, resolution).unwrap(), State::Synced);
    assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
    let three = Device::new("three");
    assert_eq!(three.sync(&storage, MANUAL).unwrap(), State::Synced);
    assert_eq!([one.all(), two.all()], [three.all(), three.all()]);
    let stored = storage.blocks(&Key::new("ada", "5d1c").unwrap());
    let stored_text = stored.iter().map(|block| block.data.get()).collect::<String>();
    for text in ["m3", "e2", "from one", "from two", "of one", "of two", "e3"] {
        assert!(stored_text.contains(text), "{text} is stored, seen or hidden");
    }
    (before, three.all())
}

#[test]
fn conflicting_changes_resolve_to_local() {
    let ([_, here], after) = settled(ConflictResolution::Local);
    assert_eq!(after, here);
}

#[test]
fn conflicting_changes_resolve_to_remote() {
    let ([there, _], after) = settled(ConflictResolution::Remote);
    assert_eq!(after, there);
}

#[test]
fn conflicting_changes_are_merged() {
    let (_, [metadata, transcript, events]) = settled(ConflictResolution::Merge);
    assert_eq!(metadata, b"{\"name\": \"of two\"}");
    let expected = ["m0", "from one", "from two"].map(message).concat();
    assert_eq!(String::from_utf8(transcript).unwrap(), expected);
    assert_eq!(String::from_utf8(events).unwrap(), ["e0", "e3"].map(event).concat());
}

/// The stored version wins, even if this device changed only the description or removed it.
#[test]
fn remote_resolution_keeps_the_stored_description() {
    for is_removed in [true, false] {
        let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
        one.write("metadata.json", b"{\"name\": \"base\"}");
        one.sync(&storage, MANUAL).unwrap();
        two.sync(&storage, MANUAL).unwrap();
        one.append("transcript.jsonl", &message("from one"));
        one.sync(&storage, MANUAL).unwrap();
        if is_removed {
            std::fs::remove_file(two.folder().join("metadata.json")).unwrap();
        } else {
            two.write("metadata.json", b"{\"name\": \"of two\"}");
        }
        assert_eq!(two.sync(&storage, ConflictResolution::Remote).unwrap(), State::Synced);
        assert_eq!(two.all(), one.all(), "{is_removed}");
        one.sync(&storage, MANUAL).unwrap();
        assert_eq!(two.all(), one.all());
        assert_eq!(one.read("metadata.json"), b"{\"name\": \"base\"}");
    }
}

/// A description may be as long as any record.
#[test]
fn long_descriptions_are_pulled() {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    for len in [49_990, 50_001, 700_000] {
        one.write("metadata.json", format!("{{\"name\": \"{}\"}}", "n".repeat(len)).as_bytes());
        assert_eq!(one.sync(&storage, MANUAL).unwrap(), State::Synced);
        assert_eq!(two.sync(&storage, MANUAL).unwrap(), State::Synced);
        assert_eq!(two.all(), one.all(), "{len}");
    }
}

/// Two devices sync at once; the one whose number is taken continues after it.
#[test]
fn two_devices_sync_concurrently() {
    let (storage, devices) = (Memory::new(), ["one", "two"].map(Device::new));
    let (storage, rounds) = (&storage, 20);
    thread::scope(|scope| {
        for (at, device) in devices.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..rounds {
                    device.append("events.jsonl", &event(&format!("d{at}r{round}.")));
                    device.sync(storage, ConflictResolution::Merge).unwrap();
                }
            });
        }
    });
    for _ in 0..2 {
        for device in &devices {
            assert_eq!(device.sync(storage, ConflictResolution::Merge).unwrap(), State::Synced);
        }
    }
    let [one, two] = &devices;
    assert_eq!(one.all(), two.all());
    let text = String::from_utf8(one.read("events.jsonl")).unwrap();
    for (at, round) in (0..2).flat_map(|at| (0..rounds).map(move |round| (at, round))) {
        assert_eq!(text.matches(&format!("\"d{at}r{round}.\"")).count(), 1, "{at} {round}");
    }
}
