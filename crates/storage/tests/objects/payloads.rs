//! What is kept beside blocks, and comes back byte for byte.

use std::io::Read;

use trommel_blocks::{ErrorClass, PayloadStorage};
use trommel_session::Watch;
use trommel_storage::objects::ObjectPayloads;

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

pub(crate) fn all(storage: &ObjectPayloads) {
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
    assert_eq!(error.class(), ErrorClass::NotFound);
    // One that ends early never has its name.
    let short = storage.put("short", 9 << 20, &mut Bytes { at: 0, end: 100 }, &watch).unwrap_err();
    assert_eq!(short.class(), ErrorClass::Corrupt);
    assert_eq!(storage.get("short", &watch, &mut |_| Ok(())).unwrap_err().class(), ErrorClass::NotFound);
}
