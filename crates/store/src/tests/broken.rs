//! Lets every operation fail once, at every position. The store must then be in the old or the new
//! state, never in between.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use trommel_base::faults::{Fails, Trial, exhaust, failing};
use trommel_base::files::Op;

use crate::{ErrorClass, Filter, GcOptions, Limits, Origin, Result, Row, Store, StoreOptions};

/// The observable state of a store: its rows, and the payload of each.
type State = Vec<(Row, Vec<u8>)>;

fn state(store: &Store) -> State {
    let filter = Filter { limit: u64::MAX, ..Filter::default() };
    let rows = store.list(&filter).unwrap().rows;
    rows.into_iter().map(|row| (row.clone(), payload(store, &row))).collect()
}

fn payload(store: &Store, row: &Row) -> Vec<u8> {
    let stored = store.get(&row.id).unwrap();
    let mut bytes = Vec::new();
    store.payload(&stored).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// An operation that changes a store.
struct Change {
    name: &'static str,
    options: fn(&mut StoreOptions),
    work: fn(&Store) -> Result<()>,
}

pub(super) fn put(store: &Store, id: &str, created_at: i64, payload: &[u8]) -> Result<()> {
    let mut origin = Origin::of("tool");
    (origin.id, origin.created_at) = (Some(id.into()), Some(created_at));
    let mut put = store.put(origin)?;
    put.write_all(payload).map_err(|error| error.downcast::<crate::Error>().unwrap())?;
    put.finish().map(|_| ())
}

/// A payload that is long enough for a guide.
fn with_guide() -> Vec<u8> {
    format!("{{\"old\":[{}]}}", vec!["1"; 40_000].join(",")).into_bytes()
}

fn changes() -> Vec<Change> {
    vec![
        Change { name: "put", options: |_| {}, work: |store| put(store, "new-one", 30, b"[1, 2]") },
        Change {
            name: "long put",
            options: |_| {},
            work: |store| put(store, "new-one", 30, &vec![b' '; 600_000]),
        },
        Change {
            name: "put with a guide",
            options: |_| {},
            work: |store| put(store, "new-one", 30, &with_guide()),
        },
        Change {
            name: "packed put",
            options: |options| options.pack_over = Some(300_000),
            work: |store| put(store, "new-one", 30, &vec![b' '; 600_000]),
        },
        Change {
            name: "put that evicts",
            options: |options| options.limits.count = Some(2),
            work: |store| put(store, "new-one", 30, b"[1, 2]"),
        },
        Change { name: "pin", options: |_| {}, work: |store| store.pin("old-one", true).map(|_| ()) },
        Change { name: "delete", options: |_| {}, work: |store| store.delete("old-one").map(|_| ()) },
        Change {
            name: "gc",
            options: |_| {},
            work: |store| {
                let limits = Limits { count: Some(1), ..Limits::default() };
                store.gc(&GcOptions { limits: Some(limits), ..GcOptions::default() }).map(|_| ())
            },
        },
        Change { name: "rebuild", options: |_| {}, work: |store| store.rebuild().map(|_| ()) },
    ]
}

/// A store with two outputs.
fn prepared(root: &Path, change: &Change) -> Store {
    let mut options = StoreOptions::default();
    (change.options)(&mut options);
    let store = Store::open(root, options).unwrap();
    put(&store, "old-one", 10, &with_guide()).unwrap();
    put(&store, "other-one", 20, b"other").unwrap();
    store
}

/// The states that a change may leave: the old one or the new one. A change that evicts outputs may
/// also leave them beside the new output.
fn allowed(change: &Change) -> Vec<State> {
    let folder = tempfile::tempdir().unwrap();
    let store = prepared(&folder.path().join("store"), change);
    let before = state(&store);
    (change.work)(&store).unwrap();
    let after = state(&store);
    let mut allowed = vec![before.clone(), after.clone()];
    if change.name == "put that evicts" {
        let new = after.iter().find(|(row, _)| row.id == "new-one").cloned();
        allowed.push(new.into_iter().chain(before).collect());
    }
    allowed
}

/// The files left in `pending`, with their sizes.
fn remaining(root: &Path) -> Vec<(PathBuf, u64)> {
    let entries = std::fs::read_dir(root.join("pending")).unwrap().map(std::result::Result::unwrap);
    entries.map(|entry| (entry.path(), entry.metadata().unwrap().len())).collect()
}

/// Makes a change during which one operation fails, and checks the resulting state.
fn check(change: &Change, trial: &mut Trial, how: (Fails, Errno), allowed: &[State]) {
    let (fails, errno) = how;
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    let store = prepared(&root, change);
    let done = trial.run(|| (change.work)(&store));
    let failed = trial.failed().map(|(op, _)| *op);
    let context = format!("{}: {fails:?} {:?} {errno:?} gives {done:?}", change.name, trial.failed());
    if fails == Fails::Once {
        // The same process continues.
        assert!(allowed.contains(&state(&store)), "{context}");
        // Apart from files that could not be removed, at most an empty marker may be left. It makes
        // the next process compare the index.
        let left = remaining(&root);
        let is_empty = left.iter().all(|(_, bytes)| *bytes == 0);
        assert!(is_empty || failed == Some(Op::Remove), "{context}: {left:?} is left");
    } else {
        // The process has ended, and its locks are free.
        drop(store);
    }
    let again = Store::open(&root, StoreOptions::default()).unwrap();
    let found = state(&again);
    assert!(allowed.contains(&found), "{context}: {found:?}");
    assert_eq!(again.rebuild().unwrap().corrupted, 0, "{context}");
    assert_eq!(state(&again), found, "{context}: the index differs from the files");
    assert!(done.is_ok() || failed.is_some(), "{context}");
    if done.is_ok() {
        assert!(allowed[1..].contains(&found), "{context}");
    }
    // In every case the change must be possible now.
    if let Err(error) = (change.work)(&again) {
        assert!(
            matches!(error.class(), ErrorClass::Exists | ErrorClass::NotFound),
            "{context}: then {error}"
        );
    }
}

fn every_operation_fails(fails: Fails, errno: Errno) {
    for change in changes() {
        let allowed = allowed(&change);
        let count = exhaust(fails, errno.raw_os_error(), |trial| {
            check(&change, trial, (fails, errno), &allowed);
        });
        assert!(count >= 3, "{}", change.name);
    }
}

/// R16: a failure of any operation leaves the old or the new state.
#[test]
fn r16_failed_operations_leave_old_or_new_state() {
    every_operation_fails(Fails::Once, Errno::IO);
}

/// R16: a crash at any operation leaves the old or the new state.
#[test]
fn r16_crashes_leave_old_or_new_state() {
    every_operation_fails(Fails::FromThenOn, Errno::IO);
}

/// R17: if any operation finds the disk full, the old state remains, the written files are removed,
/// and the error has the path and the number of bytes needed.
#[test]
fn r17_full_disk_leaves_old_state() {
    every_operation_fails(Fails::Once, Errno::NOSPC);
    let change = Change {
        name: "put",
        options: |_| {},
        work: |store| put(store, "new-one", 30, &vec![b' '; 600_000]),
    };
    let folder = tempfile::tempdir().unwrap();
    let store = prepared(&folder.path().join("store"), &change);
    let writes = |at| failing(at, Fails::Once, Errno::NOSPC.raw_os_error(), || (change.work)(&store));
    // The first run creates the folder; later ones all perform the same operations.
    for _ in 0..2 {
        writes(u64::MAX).0.unwrap();
        store.delete("new-one").unwrap();
    }
    let (_, operations) = writes(u64::MAX);
    store.delete("new-one").unwrap();
    for (at, (op, _)) in operations.iter().enumerate() {
        if matches!(op, Op::Write | Op::Sync | Op::SyncFolder | Op::Rename) {
            let (failed, _) = writes(at as u64);
            let error = failed.expect_err(&format!("{op:?} at {at} of {operations:?}"));
            assert_eq!(error.class(), ErrorClass::Full, "{op:?}");
            assert!(
                error.path().is_some() && error.bytes_needed().is_some_and(|bytes| bytes >= 256 << 10),
                "{error:?}"
            );
            assert!(error.to_string().contains("bytes were needed"), "{error}");
        }
    }
}

/// R16: an execution is recorded completely or not at all, whichever operation fails.
#[test]
fn r16_recording_is_atomic() {
    let count = exhaust(Fails::Once, Errno::IO.raw_os_error(), |trial| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store"), StoreOptions::default()).unwrap();
        store.executions().append("1").unwrap();
        let done = trial.run(|| store.executions().append("2"));
        let newest = store.executions().newest(9).unwrap();
        assert_eq!(newest, if done.is_ok() { vec!["2", "1"] } else { vec!["1"] }, "{}", trial.at());
        assert!(done.is_ok() || trial.failed().is_some());
    });
    assert!(count >= 3, "{count}");
}

/// R16: a store that could not be opened can be opened afterwards.
#[test]
fn r16_failed_opening_can_be_repeated() {
    let prepare = |root: &Path, is_new: bool| {
        if !is_new {
            let change = Change { name: "", options: |_| {}, work: |_| Ok(()) };
            drop(prepared(root, &change));
            // A writer crashed, and the index is missing.
            std::fs::write(root.join("pending/old-one"), "").unwrap();
            std::fs::remove_file(root.join("index.sqlite")).unwrap();
        }
    };
    for (is_new, fails) in
        [(true, Fails::Once), (false, Fails::Once), (true, Fails::FromThenOn), (false, Fails::FromThenOn)]
    {
        let count = exhaust(fails, Errno::NOSPC.raw_os_error(), |trial| {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("a/store");
            prepare(&root, is_new);
            let open = || Store::open(&root, StoreOptions::default());
            if let Err(error) = trial.run(open) {
                assert!(error.path().is_some(), "{error:?}");
            }
            assert_eq!(state(&open().unwrap()).len(), if is_new { 0 } else { 2 }, "{}", trial.at());
        });
        assert!(count >= 8, "{count}");
    }
}
