//! Pins, deletion, limits, and what is swept out.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Duration;

use trommel::Analysis;
use trommel_store::{DamageKind, ErrorClass, GcOptions, Limits, Origin, Reason, Store, Stray};

use crate::support::{Home, age, all, bytes_of, file_of, ids, named, put_as};

/// An output of so many bytes, made at a time that tells the order.
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
fn pins_hold() {
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
    let swept = home.gc(&limits(|limits| limits.count = Some(0))).unwrap();
    assert_eq!((swept.evicted.len(), swept.spared_pinned, swept.left_count), (1, 1, 1));
    assert_eq!(listed(&home), ["aaaaaa"]);
    home.rebuild().unwrap();
    assert!(home.list(&all()).unwrap().rows[0].pinned);
    assert!(!home.pin("aaaaaa", false).unwrap().pinned);
    assert_eq!(home.delete("aaaaaa").unwrap(), "aaaaaa");
    assert!(home.output_files().is_empty());
}

#[test]
fn the_oldest_go_first() {
    let home = Home::new();
    for number in 0..10 {
        make(&home, &format!("id-{number}"), 1_000 + number, 100);
    }
    let all_ids = listed(&home);
    // A dry run says what would go, and nothing goes.
    let mut dry = limits(|limits| limits.bytes = Some(650));
    dry.dry_run = true;
    let would = home.gc(&dry).unwrap();
    assert_eq!(listed(&home), all_ids);
    assert_eq!((would.left_count, would.left_bytes, would.freed_bytes), (6, 600, 400));
    let did = home.gc(&limits(|limits| limits.bytes = Some(650))).unwrap();
    assert_eq!(did.evicted, would.evicted);
    assert_eq!((did.left_count, did.left_bytes, did.freed_bytes), (6, 600, 400));
    assert!(did.evicted.iter().all(|evicted| evicted.reason == Reason::Bytes && evicted.bytes == 100));
    assert_eq!(listed(&home), all_ids[4..]);
    let swept = home.gc(&limits(|limits| limits.count = Some(2))).unwrap();
    assert!(swept.evicted.iter().all(|evicted| evicted.reason == Reason::Count));
    assert_eq!(listed(&home), all_ids[8..]);
    // All of them were made long ago.
    let swept = home.gc(&limits(|limits| limits.age = Some(Duration::from_mins(1)))).unwrap();
    assert_eq!(swept.evicted.iter().map(|evicted| evicted.reason).collect::<Vec<_>>(), [Reason::Age; 2]);
    assert_eq!(listed(&home), [""; 0]);
    assert!(home.output_files().is_empty());
    make(&home, "fresh-one", i64::MAX, 1);
    assert!(home.gc(&limits(|limits| limits.age = Some(Duration::ZERO))).unwrap().evicted.is_empty());
}

#[test]
fn a_new_output_makes_room_for_itself() {
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
    // One that is older than all others is not its own victim.
    make(&home, "id-0", -5, 100);
    assert_eq!(listed(&home), ["id-0"]);
    // What can never fit is refused, and nothing goes for it.
    let mut put = home.put(named("too-long")).unwrap();
    put.write_all(&[b'x'; 1_001]).unwrap();
    let error = put.finish().unwrap_err();
    assert_eq!((error.class(), error.bytes_needed()), (ErrorClass::Full, Some(1_001)));
    assert_eq!(listed(&home), ["id-0"]);
    // A long one is refused while it is written.
    let mut put = home.put(named("far-too-long")).unwrap();
    let error = put.write_all(&vec![b'x'; 1 << 20]).unwrap_err();
    let inside = error.get_ref().unwrap().downcast_ref::<trommel_store::Error>().unwrap();
    assert_eq!(inside.class(), ErrorClass::Full);
    assert!(home.root().join("pending").read_dir().unwrap().next().is_none());
    assert!(put.write(b"x").is_err());
    assert!(put.finish().is_err());
    // What is pinned leaves no room.
    home.pin("id-0", true).unwrap();
    let mut put = home.put(named("no-room")).unwrap();
    put.write_all(&[b'x'; 950]).unwrap();
    let error = put.finish().unwrap_err();
    assert_eq!(error.class(), ErrorClass::Full);
    assert!(error.to_string().contains("pinned (1 outputs)"), "{error}");
    assert_eq!(home.output_files().len(), 2);
    home.rebuild().unwrap();
    assert_eq!(listed(&home), ["id-0"]);
}

#[test]
fn what_is_read_is_not_evicted() {
    let home = Home::new();
    for id in ["payload", "document", "neither"] {
        put_as(&home, named(id), "[1, 2, 3]");
    }
    let everything = limits(|limits| limits.count = Some(0));
    let mut payload = home.payload(&home.get("payload").unwrap()).unwrap();
    let mut document = home.document(&home.get("document").unwrap()).unwrap();
    // As well when another process does it.
    let swept = home.again().gc(&everything).unwrap();
    assert_eq!((swept.evicted.len(), swept.spared_open), (1, 2));
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
fn what_is_deleted_can_be_read_to_its_end() {
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
fn the_id_of_what_was_deleted_can_be_given_again() {
    let home = Home::new();
    put_as(&home, named("output-1"), "[1]");
    home.delete("output-1").unwrap();
    let stored = put_as(&home, named("output-1"), "{}");
    assert_eq!(bytes_of(&home, &stored), b"{}");
}

#[test]
fn what_belongs_to_nothing_is_swept_out_when_it_is_old() {
    let home = Home::new();
    put_as(&home, named("output-1"), "[1]");
    let orphan = file_of(&home, "output-1", ".json").with_file_name("orphan-1.json");
    let pending = home.root().join("pending");
    let left = [orphan, pending.join("left-1"), pending.join("left-1.payload"), pending.join("left-2.meta")];
    for path in &left {
        fs::write(path, "1234567890").unwrap();
    }
    // Names that are none of ours, and a writer that is at work.
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
    assert_eq!(kinds, [Stray::Orphan, Stray::Temporary, Stray::Temporary, Stray::Temporary]);
    assert!(!left.iter().any(|path| path.exists()));
    writing.write_all(b"[1]").unwrap();
    assert_eq!(writing.finish().unwrap().size_bytes, 300_003);
    assert_eq!(home.list(&all()).unwrap().total, 2);
}

#[test]
fn payloads_that_no_description_speaks_of_are_swept_out() {
    let home = Home::new();
    for id in ["output-1", "output-2", "output-3"] {
        put_as(&home, named(id), "[1]");
    }
    let beside = |id: &str, ending| file_of(&home, id, ".json").with_file_name(format!("{id}{ending}"));
    let misplaced = file_of(&home, "output-2", ".json").with_file_name("output-1.json");
    let strays = [beside("output-1", ".json.zst"), misplaced];
    // Which of its payloads a damaged output has is not known.
    let unknown = beside("output-3", ".json.zst");
    for path in strays.iter().chain([&unknown]) {
        fs::write(path, "12345").unwrap();
        age(path, 2.0);
    }
    fs::write(file_of(&home, "output-3", ".meta.json"), "no").unwrap();
    let mut told = Vec::new();
    home.verify(&mut |damage| told.push((damage.kind, home.root().join(&damage.path)))).unwrap();
    told.retain(|(kind, _)| *kind == DamageKind::Stray);
    told.sort_by_key(|(_, path)| path.clone());
    let mut expected = strays.clone().map(|path| (DamageKind::Stray, path));
    expected.sort_by_key(|(_, path)| path.clone());
    assert_eq!(told, expected);
    assert_eq!(home.rebuild().unwrap().strays, 2);
    let swept = home.gc(&GcOptions::default()).unwrap();
    assert_eq!((swept.removed.len(), swept.freed_bytes), (2, 10));
    assert!(!strays.iter().any(|path| path.exists()) && unknown.exists());
    assert_eq!(bytes_of(&home, &home.get("output-1").unwrap()), b"[1]");
    assert!(home.root().join("pending").read_dir().unwrap().next().is_none());
}

#[test]
fn who_comes_after_one_that_was_ended_does_not_hide_it() {
    let home = Home::new();
    put_as(&home, named("output-1"), "[1]");
    let marker = home.root().join("pending/output-1");
    // Somebody was ended while they deleted it.
    fs::remove_file(file_of(&home, "output-1", ".meta.json")).unwrap();
    fs::write(&marker, "").unwrap();
    drop(home.put(named("output-1")).unwrap());
    assert!(marker.exists());
    let mut none = all();
    none.limit = 0;
    assert_eq!(home.again().list(&none).unwrap().total, 0);
    // One that comes to its end leaves nothing.
    put_as(&home, named("output-1"), "[2]");
    assert!(!marker.exists());
    assert_eq!(home.list(&none).unwrap().total, 1);
}

#[test]
fn an_old_rest_is_swept_out_when_the_store_is_opened() {
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
    // What a writer has left is no obstacle to the next.
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
    let swept = home.gc(&limits(|limits| limits.count = Some(0))).unwrap();
    assert_eq!((swept.evicted.len(), swept.spared_pinned), (0, 1));
    home.delete("output-1").unwrap();
    assert!(home.output_files().is_empty());
}
