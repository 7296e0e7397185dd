//! Options that connect to the emulators.

use std::time::Duration;

use trommel_blocks::Retry;
use trommel_storage::Secret;
use trommel_storage::cosmos::{CosmosOptions, Credential};

/// The well-known key of the emulator, which is not a secret.
pub(crate) const KEY: &str =
    "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIwEwSgJQ+U5bVuGN2mYhvqlOPB2G1rd5LcLrJrLhY4bYkKoYFlHDTLgxWA==";

pub(crate) fn options(endpoint: &str) -> CosmosOptions {
    let mut options = CosmosOptions::new(endpoint, Credential::Key(Secret::new(KEY)));
    let mut retry = Retry::default();
    retry.first = Duration::from_millis(2);
    retry.max_pause = Duration::from_millis(20);
    options.retry = retry;
    options
}
