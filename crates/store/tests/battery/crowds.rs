//! Many processes at once.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Instant;

use trommel_store::{ErrorKind, Filter, GcOptions, Origin, Store, StoreOptions};

use crate::support::{all, cases, child, childs_root};

const PROCESSES: usize = 8;

/// Outputs of one process.
fn puts() -> u64 {
    cases(100, 1_000)
}

fn payload(number: u64) -> String {
    let record = format!("{{\"id\": {number}, \"name\": \"someone\", \"tags\": [\"a\", \"b\"]}},");
    format!("[{}null]", record.repeat(10_000 / record.len()))
}

/// Stores, lists and evicts, and says how long each put took.
#[test]
fn childs_work() {
    let Some(root) = childs_root() else { return };
    let store = Store::open(&root, StoreOptions::default()).unwrap();
    // The name of the test stands before it.
    let mut times = "\n".to_owned();
    for number in 0..puts() {
        let start = Instant::now();
        let mut put = store.put(Origin::of(format!("tool-{}", number % 4))).unwrap();
        put.write_all(payload(number).as_bytes()).unwrap();
        let stored = put.finish().unwrap();
        times += &format!("took {} {}\n", start.elapsed().as_micros(), stored.id);
        if number % 10 == 3 {
            let mut filter = Filter::default();
            filter.tool_name = Some("tool-3".into());
            assert!(store.list(&filter).unwrap().total > 0);
        }
        if number % 25 == 7 {
            // Evictions that find nothing to evict, and sweeps that must not sweep what others write.
            let swept = store.gc(&GcOptions::default()).unwrap();
            assert!(swept.evicted.is_empty() && swept.removed.is_empty());
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
    }
    print!("{times}");
}

/// R18: many processes store, list and evict at once: nobody is told that the store is busy, nothing is lost, and no id is given
/// twice.
#[test]
fn r18_processes_do_not_disturb_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    // All of them make the store.
    let start =
        || child("crowds::childs_work", &root).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let children = (0..PROCESSES).map(|_| start()).collect::<Vec<_>>();
    let mut times = Vec::new();
    let mut ids = BTreeSet::new();
    for mut child in children {
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        for line in text.lines().filter_map(|line| line.strip_prefix("took ")) {
            let (time, id) = line.split_once(' ').unwrap();
            times.push(time.parse::<u64>().unwrap());
            assert!(ids.insert(id.to_owned()), "{id} was given twice");
        }
    }
    let expected = puts() * PROCESSES as u64;
    assert_eq!(times.len() as u64, expected);
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1000.0;
    println!(
        "{expected} puts of 10 KB by {PROCESSES} processes: median {} ms, 99th percentile {} ms, longest {} ms",
        at(0.5),
        at(0.99),
        at(1.0)
    );
    let store = Store::open(&root, StoreOptions::default()).unwrap();
    let page = store.list(&all()).unwrap();
    assert_eq!(page.total, expected);
    assert_eq!(page.rows.iter().map(|row| row.id.clone()).collect::<BTreeSet<_>>(), ids);
    assert!(store.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
    let history = store.executions().newest(usize::MAX).unwrap();
    assert_eq!(
        history.len() as u64,
        PROCESSES as u64 * (0..puts()).filter(|number| number % 20 == 11).count() as u64
    );
}

/// Two that want one id: one gets it.
#[test]
fn one_id_for_two_threads() {
    let home = crate::support::Home::new();
    let stores = [home.again(), home.again()];
    for round in 0..cases(20, 500) {
        let id = format!("round-{round}");
        let done = std::thread::scope(|scope| {
            let put = |store| {
                let origin = crate::support::named(&id);
                move || -> Result<(), ErrorKind> {
                    let put: Result<_, trommel_store::Error> = Store::put_from(store, origin, &b"[]"[..]);
                    put.map(|_| ()).map_err(|error| error.kind())
                }
            };
            let threads = stores.each_ref().map(|store| scope.spawn(put(store)));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 1, "{done:?}");
        assert!(done.iter().all(|done| done.is_ok() || *done == Err(ErrorKind::Exists)), "{done:?}");
    }
}

/// Threads that share one store.
#[test]
fn threads_share_a_store() {
    let home = crate::support::Home::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in 0..25 {
                    let stored = home.put_from(Origin::of("tool"), payload(number).as_bytes()).unwrap();
                    assert_eq!(home.get(&stored.id).unwrap(), stored);
                    home.list(&Filter::default()).unwrap();
                }
            });
        }
    });
    assert_eq!(home.list(&all()).unwrap().total, 100);
}
