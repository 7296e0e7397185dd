//! The write-ahead log of the index, which each process opens, reads, and extends.

use std::fs;
use std::path::Path;
use std::time::Instant;

use trommel_store::{Filter, GcOptions, Limits, Store, StoreOptions};

use crate::many::{fill, origin};
use crate::support::{Home, all, cases, child, childs_root, put_as};

/// Maximum length of a log before it is truncated, plus one change.
const MAX_LOG_BYTES: u64 = (2 << 20) + (128 << 10);

fn size(root: &Path, name: &str) -> u64 {
    fs::metadata(root.join(name)).map_or(0, |found| found.len())
}

/// Opens a store like another process: no other connection is open, so SQLite reads the log from
/// its start.
fn opened(root: &Path) -> Store {
    Store::open(root, StoreOptions::default()).unwrap()
}

/// R21: an index that is changed by one process after another stays small and fast.
#[test]
fn r21_the_log_of_the_index_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let count = cases(300, 10_000);
    for number in 0..count {
        put_as(&opened(&root), origin(number), format!("[{number}]"));
        let (index, log) = (size(&root, "index.sqlite"), size(&root, "index.sqlite-wal"));
        assert!(log <= MAX_LOG_BYTES && log <= index.max(256 << 10) + (128 << 10), "{log} beside {index}");
    }
    let (index, log) = (size(&root, "index.sqlite"), size(&root, "index.sqlite-wal"));
    assert!(index + log < 4 * index, "{log} beside {index}");
    let mut times = Vec::new();
    for _ in 0..100 {
        let start = Instant::now();
        assert_eq!(opened(&root).list(&Filter::default()).unwrap().total, count);
        times.push(start.elapsed());
    }
    times.sort_unstable();
    println!(
        "{count} puts: an index of {index} bytes, a log of {log}; a list, opened first: {:?} at the 99th percentile",
        times[98]
    );
}

/// The same with separate processes.
#[test]
fn r21_the_log_is_bounded_for_processes() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    for _ in 0..cases(20, 500) {
        let output = child("logs::childs_work", &root).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let (index, log) = (size(&root, "index.sqlite"), size(&root, "index.sqlite-wal"));
    assert!(index > 0 && log <= index.max(256 << 10) + (128 << 10), "{log} beside {index}");
    assert_eq!(opened(&root).list(&all()).unwrap().total, cases(20, 500) * 3);
}

#[test]
fn childs_work() {
    let Some(root) = childs_root() else { return };
    let store = opened(&root);
    (0..3).for_each(|number| drop(put_as(&store, origin(number), "[]")));
}

/// Operations on all outputs leave an empty log, regardless of how much they wrote.
#[test]
fn maintenance_truncates_the_log() {
    let home = Home::new();
    fill(&home, 1_000);
    home.rebuild().unwrap();
    assert_eq!(size(home.root(), "index.sqlite-wal"), 0);
    let mut options = GcOptions::default();
    let mut limits = Limits::default();
    limits.count = Some(5);
    options.limits = Some(limits);
    home.gc(&options).unwrap();
    assert_eq!(size(home.root(), "index.sqlite-wal"), 0);
    assert_eq!(home.list(&all()).unwrap().total, 5);
}

/// A process that reads an older snapshot prevents the truncation of the log, but no put waits for
/// it.
#[test]
fn readers_do_not_delay_puts() {
    let home = Home::new();
    put_as(&home, origin(0), "[]");
    let reader = rusqlite::Connection::open(home.root().join("index.sqlite")).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM output;").unwrap();
    let start = Instant::now();
    for number in 0..30 {
        put_as(&home, origin(number), "[]");
    }
    assert!(start.elapsed().as_secs() < 30, "lock_timeout is a minute");
    assert!(size(home.root(), "index.sqlite-wal") > 256 << 10, "the snapshot being read must be kept");
    reader.execute_batch("COMMIT").unwrap();
    put_as(&home, origin(0), "[]");
    assert!(size(home.root(), "index.sqlite-wal") < 256 << 10);
}

/// The history is a database of the same kind.
#[test]
fn the_log_of_the_history_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    for number in 0..cases(200, 2_000) {
        opened(&root).executions().append(&format!("\"{}\"", "x".repeat(number as usize % 9_000))).unwrap();
    }
    assert!(size(&root, "history.sqlite-wal") <= MAX_LOG_BYTES);
}
