//! Payloads, which are stored beside blocks and read back byte for byte.

use std::io::Read;

use trommel_blocks::{ErrorClass, PayloadStorage};
use trommel_session::Watch;
use trommel_storage::objects::ObjectPayloads;

/// Generates the bytes of the offsets `at..end` as they are read. Each byte depends on its offset,
/// so that shifted data is detected.
struct PatternReader {
    at: u64,
    end: u64,
}

/// Returns the byte at an offset.
fn pattern_byte(at: u64) -> u8 {
    (at ^ (at >> 8) ^ (at >> 16)) as u8
}

impl Read for PatternReader {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = (self.end - self.at).min(bytes.len() as u64);
        for (target, at) in bytes.iter_mut().zip(self.at..self.at + count) {
            *target = pattern_byte(at);
        }
        self.at += count;
        Ok(count as usize)
    }
}

pub(crate) fn all(storage: &ObjectPayloads) {
    let watch = Watch::new();
    for end in [0, 1, 100_000, (8 << 20) + 1, 20 << 20] {
        let name = format!("payload-{end}");
        for _ in 0..2 {
            storage.put(&name, end, &mut PatternReader { at: 0, end }, &watch).unwrap();
        }
        let mut at = 0;
        let got = storage.get(&name, &watch, &mut |part| {
            assert!(part.iter().zip(at..).all(|(actual, at)| *actual == pattern_byte(at)));
            at += part.len() as u64;
            Ok(())
        });
        got.unwrap();
        assert_eq!(at, end);
    }
    let error = storage.get("nothing", &watch, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.class(), ErrorClass::NotFound);
    // A payload whose source ends early is not stored.
    let short = storage.put("short", 9 << 20, &mut PatternReader { at: 0, end: 100 }, &watch).unwrap_err();
    assert_eq!(short.class(), ErrorClass::Corrupt);
    assert_eq!(storage.get("short", &watch, &mut |_| Ok(())).unwrap_err().class(), ErrorClass::NotFound);
}
