//! A message of an MCP server is scanned as `serde_json` parses it: each block and value passes, or
//! is stored, once.
//!
//! The first byte of the input is the limit of characters, and the rest is the message.
#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use trommel_mcp::check_scan;
use trommel_store::{Store, StoreOptions};

struct Home {
    store: Arc<Store>,
    _root: tempfile::TempDir,
}

fn home() -> &'static Home {
    static HOME: OnceLock<Home> = OnceLock::new();
    HOME.get_or_init(|| {
        let root = tempfile::tempdir().unwrap();
        let store = Store::open(root.path().join("store"), StoreOptions::default()).unwrap();
        Home { store: Arc::new(store), _root: root }
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((limit, message)) = input.split_first() else { return };
    if let Err(difference) = check_scan(&home().store, message, usize::from(*limit)) {
        panic!("{difference}");
    }
});
