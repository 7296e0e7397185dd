//! A disk that becomes full and stays full: outputs can be read, and space can be freed.

use std::path::Path;

use rustix::io::Errno;
use trommel::Analysis;
use trommel_base::faults::failing_all;
use trommel_base::files::Op;

use super::broken::put;
use crate::{Filter, GcOptions, Limits, Result, Store, StoreOptions};

/// True for operations that a full disk may refuse. Removing, renaming, and locking files needs no
/// space.
fn needs_space(op: Op) -> bool {
    matches!(op, Op::Create | Op::Write | Op::Sync | Op::MakeFolder | Op::Database | Op::Seal)
}

fn open(root: &Path) -> Store {
    Store::open(root, StoreOptions::default()).unwrap()
}

fn ids(store: &Store) -> Vec<String> {
    let filter = Filter { limit: u64::MAX, ..Filter::default() };
    let page = store.list(&filter).unwrap();
    assert_eq!(page.total, page.rows.len() as u64);
    page.rows.into_iter().map(|row| row.id).collect()
}

fn prepare(root: &Path) {
    let store = open(root);
    for (number, id) in ["first-1", "second-2", "third-3"].into_iter().enumerate() {
        put(&store, id, number as i64, b"[1, 2, 3]").unwrap();
    }
}

/// Runs `work` on a new store once for each operation, with the disk full from that operation on.
/// The outputs must be listed as `expected` while the disk is full and afterwards.
fn on_full_disks(is_indexed: bool, expected: &[&str], work: fn(&Store) -> Result<()>) {
    for at in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("store");
        prepare(&root);
        if !is_indexed {
            std::fs::remove_file(root.join("index.sqlite")).unwrap();
        }
        let (done, operations) = failing_all(at, Errno::NOSPC.raw_os_error(), needs_space, || {
            let store = open(&root);
            work(&store).unwrap_or_else(|error| panic!("from operation {at} on: {error}"));
            let same_process = ids(&store);
            drop(store);
            let next_process = open(&root);
            assert!(next_process.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
            (same_process, ids(&next_process))
        });
        assert_eq!(done.0, expected, "from operation {at} on");
        assert_eq!(done.1, expected, "from operation {at} on");
        assert_eq!(ids(&open(&root)), expected, "after operation {at}");
        assert_eq!(std::fs::read_dir(root.join("pending")).unwrap().count(), 0, "after operation {at}");
        if operations.iter().filter(|(op, _)| needs_space(*op)).count() as u64 <= at {
            assert!(at >= 2);
            return;
        }
    }
}

/// R17: outputs can be deleted on a full disk, with or without an index.
#[test]
fn r17_deletion_needs_no_space() {
    for is_indexed in [true, false] {
        on_full_disks(is_indexed, &["third-3", "first-1"], |store| store.delete("second-2").map(|_| ()));
        on_full_disks(is_indexed, &["third-3", "first-1"], |store| store.delete("second").map(|_| ()));
    }
}

/// R17: outputs can be evicted on a full disk.
#[test]
fn r17_eviction_needs_no_space() {
    for is_indexed in [true, false] {
        on_full_disks(is_indexed, &["third-3"], |store| {
            let limits = Limits { count: Some(1), ..Limits::default() };
            let swept = store.gc(&GcOptions { limits: Some(limits), ..GcOptions::default() })?;
            assert_eq!((swept.evicted.len(), swept.left_count, swept.left_bytes), (2, 1, 9));
            Ok(())
        });
    }
}

/// R17: outputs can be read and listed on a full disk.
#[test]
fn r17_reading_needs_no_space() {
    for is_indexed in [true, false] {
        on_full_disks(is_indexed, &["third-3", "second-2", "first-1"], |store| {
            let mut document = store.document(&store.get("second")?)?;
            let report = Analysis::new().count("$[*]".parse().unwrap()).run(&mut document).unwrap();
            assert_eq!(report.answers[0].count(), Some(3));
            store.gc(&GcOptions::default()).map(|_| ())
        });
    }
}

/// R17: an interrupted deletion does not prevent reading, even if the index cannot be changed.
#[test]
fn r17_recovery_needs_no_space() {
    for at in 0..4 {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("store");
        prepare(&root);
        let meta = open(&root).layout().meta("second-2");
        std::fs::remove_file(meta).unwrap();
        std::fs::write(root.join("pending/second-2"), "").unwrap();
        let list = || ids(&open(&root));
        let (listed, _) = failing_all(at, Errno::NOSPC.raw_os_error(), needs_space, list);
        assert_eq!(listed, ["third-3", "first-1"], "from operation {at} on");
    }
}
