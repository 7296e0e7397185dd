//! Pins, deletion, limits, and garbage collection.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use trommel::Analysis;
use trommel_store::{DamageKind, ErrorClass, EvictionReason, GcOptions, Limits, Origin, Store, StrayKind};

use crate::support::{Home, age, all, bytes_of, file_of, ids, named, put_as};

/// Stores an output of this size, created at this time.
fn make(store: &Store, id: &str, time: i64, bytes: usize) {
    let mut origin = named(id);
    origin.created_at = Some(time);
    put_as(store, origin, "x".repeat(bytes));
}

fn limits(change: impl Fn(&mut Limits)) -> GcOptions {
    let mut limits = Limits::default();
    change(&mut limits);
    let mut options = GcOptions::default();
    options.limits = Some(limits);
    options
}

fn listed(store: &Store) -> Vec<String> {
    let mut filter = all();
    filter.sort_order = trommel_store::SortOrder::Asc;
    ids(&store.list(&filter).unwrap()).into_iter().map(str::to_owned).collect()
}

#[test]
fn pinned_outputs_are_kept() {
    let home = Home::new();
    make(&home, "aaaaaa", 1, 10);
    make(&home, "bbbbbb", 2, 10);
    let pinned = home.pin("aaaaaa", true).unwrap();
    assert!(pinned.pinned);
    assert_eq!(home.get("aaaaaa").unwrap(), pinned);
    assert!(home.list(&all()).unwrap().rows.iter().any(|row| row.pinned));
    assert_eq!(home.pin("aaaaaa", true).unwrap(), pinned);
    let error = home.delete("aaaaaa").unwrap_err();
    assert_eq!(error.class(), ErrorClass::Pinned);
    let report = home.gc(&limits(|limits| limits.count = Some(0))).unwrap();
    assert_eq!((report.evicted.len(), report.spared_pinned, report.left_count), (1, 1, 1));
    assert_eq!(listed(&home), ["aaaaaa"]);
    home.rebuild().unwrap();
    assert!(home.list(&all()).unwrap().rows[0].pinned);
    assert!(!home.pin("aaaaaa", false).unwrap().pinned);
    assert_eq!(home.delete("aaaaaa").unwrap(), "aaaaaa");
    assert!(home.output_files().is_empty());
}

#[test]
fn oldest_outputs_are_evicted_first() {
    let home = Home::new();
    for number in 0..10 {
        make(&home, &format!("id-{number}"), 1_000 + number, 100);
    }
    let all_ids = listed(&home);
    // A dry run reports the evictions and evicts nothing.
    let mut dry = limits(|limits| limits.bytes = Some(650));
    dry.dry_run = true;
    let would = home.gc(&dry).unwrap();
    assert_eq!(listed(&home), all_ids);
    assert_eq!((would.left_count, would.left_bytes, would.freed_bytes), (6, 600, 400));
    let did = home.gc(&limits(|limits| limits.bytes = Some(650))).unwrap();
    assert_eq!(did.evicted, would.evicted);
    assert_eq!((did.left_count, did.left_bytes, did.freed_bytes), (6, 600, 400));
    assert!(
        did.evicted.iter().all(|evicted| evicted.reason == EvictionReason::Bytes && evicted.bytes == 100)
    );
    assert_eq!(listed(&home), all_ids[4..]);
    let report = home.gc(&limits(|limits| limits.count = Some(2))).unwrap();
    assert!(report.evicted.iter().all(|evicted| evicted.reason == EvictionReason::Count));
    assert_eq!(listed(&home), all_ids[8..]);
    // All of them are old.
    let report = home.gc(&limits(|limits| limits.age = Some(Duration::from_mins(1)))).unwrap();
    assert_eq!(
        report.evicted.iter().map(|evicted| evicted.reason).collect::<Vec<_>>(),
        [EvictionReason::Age; 2]
    );
    assert_eq!(listed(&home), [""; 0]);
    assert!(home.output_files().is_empty());
    make(&home, "fresh-one", i64::MAX, 1);
    assert!(home.gc(&limits(|limits| limits.age = Some(Duration::ZERO))).unwrap().evicted.is_empty());
}

#[test]
fn new_outputs_evict_old_ones() {
    let home = Home::with(|options| {
        options.limits.bytes = Some(1_000);
        options.limits.count = Some(3);
    });
    for number in 0..3 {
        make(&home, &format!("id-{number}"), number, 300);
    }
    make(&home, "id-3", 3, 300);
    assert_eq!(listed(&home), ["id-1", "id-2", "id-3"]);
    make(&home, "id-4", 4, 950);
    assert_eq!(listed(&home), ["id-4"]);
    // An output that is older than all others does not evict itself.
    make(&home, "id-0", -5, 100);
    assert_eq!(listed(&home), ["id-0"]);
    // An output that can never fit is refused, and nothing is evicted for it.
    let mut put = home.put(named("too-long")).unwrap();
    put.write_all(&[b'x'; 1_001]).unwrap();
    let error = put.finish().unwrap_err();
    assert_eq!((error.class(), error.bytes_needed()), (ErrorClass::Full, Some(1_001)));
    assert_eq!(listed(&home), ["id-0"]);
    // A large one is refused while it is written.
    let mut put = home.put(named("far-too-long")).unwrap();
    let error = put.write_all(&vec![b'x'; 1 << 20]).unwrap_err();
    let inside = error.get_ref().unwrap().downcast_ref::<trommel_store::Error>().unwrap();
    assert_eq!(inside.class(), ErrorClass::Full);
    assert!(home.root().join("pending").read_dir().unwrap().next().is_none());
    assert!(put.write(b"x").is_err());
    assert!(put.finish().is_err());
    // Pinned outputs are not evicted to make room.
    home.pin("id-0", true).unwrap();
    let mut put = home.put(named("no-room")).unwrap();
    put.write_all(&[b'x'; 950]).unwrap();
    let error = put.finish().unwrap_err();
    assert_eq!(error.class(), ErrorClass::Full);
    assert!(error.to_string().contains("1 outputs are pinned"), "{error}");
    assert_eq!(home.output_files().len(), 2);
    home.rebuild().unwrap();
    assert_eq!(listed(&home), ["id-0"]);
}

#[test]
fn open_outputs_are_not_evicted() {
    let home = Home::new();
    for id in ["payload", "document", "neither"] {
        put_as(&home, named(id), "[1, 2, 3]");
    }
    let everything = limits(|limits| limits.count = Some(0));
    let mut payload = home.payload(&home.get("payload").unwrap()).unwrap();
    let mut document = home.document(&home.get("document").unwrap()).unwrap();
    // The same if another process evicts.
    let report = home.again().gc(&everything).unwrap();
    assert_eq!((report.evicted.len(), report.spared_open), (1, 2));
    let mut text = String::new();
    payload.read_to_string(&mut text).unwrap();
    assert_eq!(text, "[1, 2, 3]");
    let report = Analysis::new().count("$[*]".parse().unwrap()).run(&mut document).unwrap();
    assert_eq!(report.answers[0].count(), Some(3));
    drop((payload, document));
    assert_eq!(home.gc(&everything).unwrap().evicted.len(), 2);
    assert!(home.output_files().is_empty());
}

#[test]
fn deleted_outputs_stay_readable_while_open() {
    let home = Home::new();
    let stored = put_as(&home, named("output-1"), "[1, 2, 3]");
    let mut payload = home.payload(&stored).unwrap();
    home.delete("output-1").unwrap();
    let mut text = String::new();
    payload.read_to_string(&mut text).unwrap();
    assert_eq!(text, "[1, 2, 3]");
    assert_eq!(home.payload(&stored).map(|_| ()).unwrap_err().class(), ErrorClass::NotFound);
    assert_eq!(home.delete("output-1").unwrap_err().class(), ErrorClass::NotFound);
}

#[test]
fn ids_of_deleted_outputs_can_be_reused() {
    let home = Home::new();
    put_as(&home, named("output-1"), "[1]");
    home.delete("output-1").unwrap();
    let stored = put_as(&home, named("output-1"), "{}");
    assert_eq!(bytes_of(&home, &stored), b"{}");
}

#[test]
fn old_leftovers_are_removed() {
    let home = Home::new();
    put_as(&home, named("output-1"), "[1]");
    let orphan = file_of(&home, "output-1", ".json").with_file_name("orphan-1.json");
    let pending = home.root().join("pending");
    let left = [orphan, pending.join("left-1"), pending.join("left-1.payload"), pending.join("left-2.meta")];
    for path in &left {
        fs::write(path, "1234567890").unwrap();
    }
    // Foreign names, and an active writer.
    fs::write(pending.join("not ours.payload"), "x").unwrap();
    let mut writing = home.put(named("writing")).unwrap();
    writing.write_all(&vec![b' '; 300_000]).unwrap();
    age(&pending.join("writing"), 3.0);
    age(&pending.join("writing.payload"), 3.0);
    for path in &left {
        age(path, 0.9);
    }
    assert!(home.gc(&GcOptions::default()).unwrap().removed.is_empty());
    assert_eq!(home.rebuild().unwrap().strays, 4);
    for path in &left {
        age(path, 1.1);
    }
    let mut dry = GcOptions::default();
    dry.dry_run = true;
    let would = home.gc(&dry).unwrap();
    assert!(left.iter().all(|path| path.exists()));
    let did = home.gc(&GcOptions::default()).unwrap();
    assert_eq!(did.removed, would.removed);
    assert_eq!(did.freed_bytes, 40);
    let kinds = did.removed.iter().map(|removed| removed.what).collect::<Vec<_>>();
    assert_eq!(kinds, [StrayKind::Orphan, StrayKind::Temporary, StrayKind::Temporary, StrayKind::Temporary]);
    assert!(!left.iter().any(|path| path.exists()));
    writing.write_all(b"[1]").unwrap();
    assert_eq!(writing.finish().unwrap().size_bytes, 300_003);
    assert_eq!(home.list(&all()).unwrap().total, 2);
}

#[test]
fn orphaned_payloads_are_removed() {
    let home = Home::new();
    for id in ["output-1", "output-2", "output-3"] {
        put_as(&home, named(id), "[1]");
    }
    let beside = |id: &str, ending| file_of(&home, id, ".json").with_file_name(format!("{id}{ending}"));
    let misplaced = file_of(&home, "output-2", ".json").with_file_name("output-1.json");
    let strays = [beside("output-1", ".json.zst"), misplaced];
    // Either payload may belong to an output with a damaged description.
    let unknown = beside("output-3", ".json.zst");
    for path in strays.iter().chain([&unknown]) {
        fs::write(path, "12345").unwrap();
        age(path, 2.0);
    }
    fs::write(file_of(&home, "output-3", ".meta.json"), "no").unwrap();
    let mut reported = Vec::new();
    home.verify(&mut |damage| reported.push((damage.kind, home.root().join(&damage.path)))).unwrap();
    reported.retain(|(kind, _)| *kind == DamageKind::Stray);
    reported.sort_by_key(|(_, path)| path.clone());
    let mut expected = strays.clone().map(|path| (DamageKind::Stray, path));
    expected.sort_by_key(|(_, path)| path.clone());
    assert_eq!(reported, expected);
    assert_eq!(home.rebuild().unwrap().strays, 2);
    let report = home.gc(&GcOptions::default()).unwrap();
    assert_eq!((report.removed.len(), report.freed_bytes), (2, 10));
    assert!(!strays.iter().any(|path| path.exists()) && unknown.exists());
    assert_eq!(bytes_of(&home, &home.get("output-1").unwrap()), b"[1]");
    assert!(home.root().join("pending").read_dir().unwrap().next().is_none());
}

#[test]
fn writers_keep_the_marker_of_a_crashed_one() {
    let home = Home::new();
    put_as(&home, named("output-1"), "[1]");
    let marker = home.root().join("pending/output-1");
    // A process crashed while it deleted the output.
    fs::remove_file(file_of(&home, "output-1", ".meta.json")).unwrap();
    fs::write(&marker, "").unwrap();
    drop(home.put(named("output-1")).unwrap());
    assert!(marker.exists());
    let mut none = all();
    none.limit = 0;
    assert_eq!(home.again().list(&none).unwrap().total, 0);
    // A writer that completes leaves nothing.
    put_as(&home, named("output-1"), "[2]");
    assert!(!marker.exists());
    assert_eq!(home.list(&none).unwrap().total, 1);
}

#[test]
fn opening_removes_old_leftovers() {
    let home = Home::new();
    let pending = home.root().join("pending");
    for name in ["left-1", "left-1.payload", "fresh-1", "fresh-1.payload"] {
        fs::write(pending.join(name), "x").unwrap();
    }
    age(&pending.join("left-1"), 1.1);
    age(&pending.join("left-1.payload"), 1.1);
    home.again();
    let left = home.output_files();
    assert_eq!(left, [Path::new("pending/fresh-1"), Path::new("pending/fresh-1.payload")]);
    // The files of a crashed writer do not block the next one.
    put_as(&home, named("fresh-1"), "[1]");
    assert_eq!(home.output_files().len(), 2);
}

#[test]
fn damaged_outputs_are_not_evicted() {
    let home = Home::new();
    let mut origin = Origin::of("tool");
    origin.id = Some("output-1".into());
    put_as(&home, origin, "[1]");
    fs::write(file_of(&home, "output-1", ".meta.json"), "no").unwrap();
    home.rebuild().unwrap();
    let report = home.gc(&limits(|limits| limits.count = Some(0))).unwrap();
    assert_eq!((report.evicted.len(), report.spared_pinned), (0, 1));
    home.delete("output-1").unwrap();
    assert!(home.output_files().is_empty());
}
