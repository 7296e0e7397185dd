//! How the emulators are reached.

use std::time::Duration;

use trommel_blocks::Retry;
use trommel_storage::Secret;
use trommel_storage::cosmos::{CosmosOptions, Credential};

/// Of the emulator, and of nothing else.
pub(crate) const KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIwEwSgJQ+U5bVuGN2mYhvqlOPB2G1rd5LcLrJrLhY4bYkKoYFlHDTLgxWA==";

pub(crate) fn options(endpoint: &str) -> CosmosOptions {
    let mut options = CosmosOptions::new(endpoint, Credential::Key(Secret::new(KEY)));
    let mut retry = Retry::default();
    retry.first = Duration::from_millis(2);
    retry.longest = Duration::from_millis(20);
    options.retry = retry;
    options
}
