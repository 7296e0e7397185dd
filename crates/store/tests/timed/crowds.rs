//! Many concurrent processes.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use trommel_store::{Filter, GcOptions, Limits, Origin, Store, StoreOptions};

use crate::alone;
use crate::many::payload;
use crate::support::{all, cases, child, childs_root, named, put_as};

const PROCESSES: usize = 8;

/// Outputs per process.
fn puts() -> u64 {
    cases(100, 1_000)
}

/// The number of this child.
const NUMBER: &str = "TROMMEL_NUMBER_OF_A_CHILD";

/// The ID of the expired output of a child and turn.
fn old(child: &str, number: u64) -> String {
    format!("old-{child}-{number}")
}

/// Evicts expired outputs. Returns their number.
fn evict_old(store: &Store) -> usize {
    let mut limits = Limits::default();
    limits.age = Some(Duration::from_hours(24));
    let mut options = GcOptions::default();
    options.limits = Some(limits);
    let swept = store.gc(&options).unwrap();
    assert!(swept.removed.is_empty(), "files of other writers were removed: {swept:?}");
    assert!(swept.evicted.iter().all(|evicted| evicted.id.starts_with("old-")), "{swept:?}");
    swept.evicted.len()
}

/// Stores, lists, evicts, and rebuilds. Prints the duration of each put.
#[test]
fn childs_work() {
    let Some(root) = childs_root() else { return };
    let child = std::env::var_os(NUMBER).unwrap().into_string().unwrap();
    let store = Store::open(&root, StoreOptions::default()).unwrap();
    // The test harness prints the name of the test first, without a line break.
    let mut reported = b"\n".to_vec();
    for number in 0..puts() {
        let start = Instant::now();
        let mut put = store.put(Origin::of(format!("tool-{}", number % 4))).unwrap();
        put.write_all(payload(number).as_bytes()).unwrap();
        let stored = put.finish().unwrap();
        writeln!(reported, "took {} {}", start.elapsed().as_micros(), stored.id).unwrap();
        reported.extend(turn(&store, &child, number).bytes());
    }
    print!("{}", String::from_utf8(reported).unwrap());
}

/// The work between two puts. Prints evicted outputs.
fn turn(store: &Store, child: &str, number: u64) -> String {
    if number % 10 == 3 {
        let mut filter = Filter::default();
        filter.tool_name = Some("tool-3".into());
        assert!(store.list(&filter).unwrap().total > 0);
        assert!(!store.list(&Filter::default()).unwrap().rows.iter().any(|row| row.corrupted));
    }
    if number % 100 == 53 {
        assert!(!store.list(&all()).unwrap().rows.iter().any(|row| row.corrupted));
    }
    if number % 25 == 5 {
        let mut origin = named(&old(child, number));
        origin.created_at = Some(1);
        put_as(store, origin, "[]");
    }
    if number % 50 == 9 {
        let extra = store.put_from(Origin::of("extra"), &b"[]"[..]).unwrap();
        store.pin(&extra.id, true).unwrap();
        store.pin(&extra.id, false).unwrap();
        store.delete(&extra.id).unwrap();
    }
    if number % 20 == 11 {
        store.executions().append(&number.to_string()).unwrap();
    }
    if number % 25 == 13 && child == "0" {
        let rebuilt = store.rebuild().unwrap();
        assert!(rebuilt.outputs > number && rebuilt.corrupted == 0, "{rebuilt:?}");
    }
    if number % 25 == 17 { format!("evicted {}\n", evict_old(store)) } else { String::new() }
}

/// The output of a child: durations and IDs of its puts, and the number of its evictions.
fn hear(mut child: Child, reported: &mut Vec<(u64, String)>) -> usize {
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut evicted = 0;
    for line in text.lines() {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["took", time, id] => reported.push((time.parse().unwrap(), (*id).to_owned())),
            ["evicted", count] => evicted += count.parse::<usize>().unwrap(),
            _ => {}
        }
    }
    evicted
}

/// R18: many processes store, list, and evict concurrently. No process gets a busy error, no output
/// is lost, no ID is assigned twice, each expired output is evicted once, and no process waits
/// long.
#[test]
fn r18_concurrent_processes_lose_nothing() {
    let times = crowd(1);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
    println!(
        "{} puts of 10 KB by {PROCESSES} processes: median {} ms, 99th percentile {} ms, longest {} ms",
        times.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    // In a short run, other work of the machine has too much influence.
    assert!(at(0.99) < cases(2_000, 50) as f64);
}

/// R18: the same while one process keeps rebuilding the index. The others then wait for it.
#[test]
fn r18_rebuilds_lose_nothing() {
    crowd(0);
}

/// Durations of the puts of many processes, in ascending order. Process 0 occasionally rebuilds the
/// index.
fn crowd(first: usize) -> Vec<u64> {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    // All of them create the store.
    let start = |number: usize| {
        let mut child = child("crowds::childs_work", &root);
        child.env(NUMBER, number.to_string()).stdout(Stdio::piped()).stderr(Stdio::piped());
        child.spawn().unwrap()
    };
    let children = (first..first + PROCESSES).map(start).collect::<Vec<_>>();
    let mut reported = Vec::new();
    let evicted = children.into_iter().map(|child| hear(child, &mut reported)).sum::<usize>();
    let expected = puts() * PROCESSES as u64;
    let ids = reported.iter().map(|(_, id)| id.clone()).collect::<BTreeSet<_>>();
    assert_eq!((reported.len() as u64, ids.len() as u64), (expected, expected), "an ID was assigned twice");
    let of_each = |rest: u64, of: u64| (0..puts()).filter(|number| number % of == rest).count() * PROCESSES;
    let store = Store::open(&root, StoreOptions::default()).unwrap();
    assert_eq!(evicted + evict_old(&store), of_each(5, 25), "each expired output is evicted once");
    let page = store.list(&all()).unwrap();
    assert_eq!(page.total, expected);
    assert_eq!(page.rows.iter().map(|row| row.id.clone()).collect::<BTreeSet<_>>(), ids);
    assert!(store.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
    assert_eq!(store.executions().newest(usize::MAX).unwrap().len(), of_each(11, 20));
    assert_eq!(crate::support::files(&root.join("pending")).len(), 0);
    let mut times = reported.into_iter().map(|(time, _)| time).collect::<Vec<_>>();
    times.sort_unstable();
    times
}
