//! Values of a payload that is mapped.

use std::io::{self, Read};

use trommel::reader::{MapPolicy, Span};
use trommel_store::{Origin, Store, StoreOptions};

use super::{Bytes, Source};

/// R7: values that are far apart do not bring the whole file into memory.
#[test]
fn r7_distant_reads_release_memory() {
    // Nothing else in this process maps files of that length.
    let resident = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find(|line| line.starts_with("RssFile:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let mut options = StoreOptions::default();
    // SAFETY: the payload is in a folder of this test alone, and the test does not write to it.
    #[expect(unsafe_code, reason = "a payload is mapped")]
    let mapping = unsafe { MapPolicy::trusted() };
    options.mapping = mapping;
    let store = Store::open(folder.path().join("store"), options).unwrap();
    let long = b"\"".chain(io::repeat(b'1').take(96 << 20)).chain(&b"\""[..]);
    let stored = store.put_from(Origin::of("test"), long).unwrap();
    let source = Source::open(&store, stored).unwrap();
    let mut values = source.values().unwrap();
    assert!(matches!(values.0, Bytes::Map(_)));
    let before = resident();
    for start in (1..96 << 20).step_by(100_000) {
        assert_eq!(values.bytes(Span::new(start, start + 5)).unwrap(), b"11111");
        let now = resident();
        assert!(now < before + 16 * 1024, "{before} KiB, then {now} KiB");
    }
}
