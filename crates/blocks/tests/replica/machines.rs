//! Random operations on machines with a shared folder.

use std::sync::Arc;

use trommel_blocks::BlockStorage;
use trommel_storage::FolderStorage;

use crate::world;

/// The number of cases, without and with `TROMMEL_DEEP`.
const CASES: [u64; 2] = [12, 400];

/// R35: three machines, two sessions, random and concurrent operations, partitions, faults, and
/// lagging responses.
#[test]
fn r35_random_concurrent_machines() {
    let home = tempfile::tempdir().unwrap();
    let folders = std::cell::Cell::new(0);
    let is_deep = std::env::var_os("TROMMEL_DEEP").is_some();
    world::run(CASES[usize::from(is_deep)], 40, &|| {
        folders.set(folders.get() + 1);
        let storage: Arc<dyn BlockStorage> =
            Arc::new(FolderStorage::make(home.path().join(folders.get().to_string())).unwrap());
        storage
    });
}
