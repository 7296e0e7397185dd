//! Checks that all bytes of the files are restored.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Mutex;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use trommel_session::Watch;

use super::devices::Device;
use super::memory::Memory;
use crate::data::{INLINE, PIECE};
use crate::error::{ErrorKind, Result};
use crate::storage::PayloadStorage;
use crate::sync::{ConflictResolution, State};

/// Payloads in memory.
#[derive(Default)]
struct Payloads(Mutex<BTreeMap<String, Vec<u8>>>);

impl PayloadStorage for Payloads {
    fn name(&self) -> String {
        "memory".to_owned()
    }

    fn put(&self, name: &str, bytes: u64, from: &mut (dyn Read + Send), _: &Watch<'_>) -> Result<()> {
        let mut text = Vec::new();
        from.read_to_end(&mut text).unwrap();
        assert_eq!(text.len() as u64, bytes);
        self.0.lock().unwrap().insert(name.to_owned(), text);
        Ok(())
    }

    fn get(&self, name: &str, _: &Watch<'_>, take: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let text = self.0.lock().unwrap().get(name).cloned();
        let text = text.ok_or(ErrorKind::ProbeEnded)?;
        text.chunks(70_000).try_for_each(take)
    }
}

fn assert_round_trip(files: &[(&str, Vec<u8>)], payloads: Option<&Payloads>) {
    let (storage, one, two) = (Memory::new(), Device::new("one"), Device::new("two"));
    for (file, text) in files {
        one.write(file, text);
    }
    for device in [&one, &two] {
        let payloads = payloads.map(|payloads| payloads as _);
        let ended =
            device.with((&storage, payloads), Duration::ZERO, |side| side.sync(ConflictResolution::Manual));
        assert_eq!(ended.unwrap(), State::Synced);
    }
    for (here, there) in one.all().iter().zip(&two.all()) {
        assert!(here == there, "{} bytes became {}", here.len(), there.len());
    }
}

/// Lines of any bytes: JSON, nearly JSON, and bytes that are not UTF-8.
fn line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => "\\{\"role\":\"(user|tool)\",\"content\":\"[a-z\\\\\\\\n\u{e9}\u{1f600}]{0,20}\"\\}".prop_map(String::into_bytes),
        3 => "\\{\"ts\":\"2026\",\"event\":\"[a-z:]{0,9}\",\"data\":\\{\"n\":-?[0-9]{1,25}(\\.[0-9]{1,3})?\\}\\}"
            .prop_map(String::into_bytes),
        1 => "[ \\t\\r]{0,3}".prop_map(String::into_bytes),
        2 => vec(any::<u8>(), 0..30),
        1 => "[\\[\\]{}\",:a-z0-9]{0,30}".prop_map(String::into_bytes),
    ]
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    (vec(line(), 0..12), any::<bool>()).prop_map(|(lines, has_end)| {
        let mut text = lines.join(&b'\n');
        if has_end && !text.is_empty() {
            text.push(b'\n');
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_bytes(metadata in file(), transcript in file(), events in file()) {
        assert_round_trip(
            &[("metadata.json", metadata), ("transcript.jsonl", transcript), ("events.jsonl", events)],
            None,
        );
    }
}

/// Lengths around each bound at which records are stored differently, with characters of one, two,
/// and four bytes, and with bytes that are not UTF-8.
#[test]
fn records_of_every_length() {
    let bounds = [INLINE, PIECE as u64, 2 * PIECE as u64, 1 << 20];
    for (around, character) in [("a", 1), ("\u{e9}", 2), ("\u{1f600}", 4)] {
        for bound in bounds {
            for len in bound - 1..bound + 2 {
                // Each character at one length near each bound, one byte at all lengths.
                if character > 1 && len != bound {
                    continue;
                }
                let frame = "{\"event\":\"e\",\"data\":\"\"}\n".len() as u64;
                let body = around.repeat(usize::try_from((len - frame) / character).unwrap());
                let event = format!("{{\"event\":\"e\",\"data\":\"{body}\"}}\n").into_bytes();
                let message = format!("{{\"role\":\"user\",\"content\":\"{body}\"}}\n").into_bytes();
                let payloads = Payloads::default();
                let files = [("transcript.jsonl", message), ("events.jsonl", event)];
                assert_round_trip(&files, None);
                assert_round_trip(&files, Some(&payloads));
                assert_round_trip(
                    &[("metadata.json", format!("{{\"name\": \"{body}\"}}").into_bytes())],
                    None,
                );
            }
        }
    }
    let odd = [vec![0xff; 700_001], vec![b'\n'], vec![0xfe; 51_000]].concat();
    assert_round_trip(&[("metadata.json", odd.clone()), ("events.jsonl", odd.clone())], None);
    assert_round_trip(&[("transcript.jsonl", odd)], Some(&Payloads::default()));
}
