//! Concurrent threads.

use std::time::Duration;

use trommel_store::{ErrorClass, Filter, GcOptions, Origin, Store};

use crate::many::payload;
use crate::support::{all, cases, named, options, put_as};

/// A lock timeout names the lock and changes nothing, and reading still works.
#[test]
fn waiting_for_locks_times_out() {
    let home = crate::support::Home::new();
    put_as(&home, named("output-1"), "[1]");
    let lock = std::fs::File::options().write(true).open(home.root().join("lock")).unwrap();
    lock.lock().unwrap();
    let hasty = options(|options| options.lock_timeout = Duration::from_millis(20));
    let store = Store::open(home.root(), hasty).unwrap();
    let errors = [
        store.put_from(named("output-2"), &b"[2]"[..]).unwrap_err(),
        store.pin("output-1", true).unwrap_err(),
        store.gc(&GcOptions::default()).unwrap_err(),
        store.rebuild().unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.class(), ErrorClass::Busy);
        assert_eq!(error.path(), Some(home.root().join("lock").as_path()));
        assert!(error.to_string().contains("find it with `fuser"), "{error}");
    }
    let page = store.list(&all()).unwrap();
    assert_eq!((page.total, page.rows[0].pinned), (1, true), "a page shows the state of the files");
    assert_eq!(store.get("output").unwrap().size_bytes, 3);
    lock.unlock().unwrap();
    put_as(&store, named("output-2"), "[2]");
    // The description decides whether the output is pinned. It was written before the timeout.
    let again = home.again();
    assert!(again.get("output-1").unwrap().pinned);
    assert_eq!(again.list(&all()).unwrap().rows.iter().filter(|row| row.pinned).count(), 1);
    assert!(again.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
}

/// If two threads create the same ID, one of them succeeds.
#[test]
fn one_of_two_threads_gets_the_id() {
    let home = crate::support::Home::new();
    let stores = [home.again(), home.again()];
    for round in 0..cases(20, 500) {
        let id = format!("round-{round}");
        let done = std::thread::scope(|scope| {
            let put = |store| {
                let origin = crate::support::named(&id);
                move || -> Result<(), ErrorClass> {
                    let put: Result<_, trommel_store::Error> = Store::put_from(store, origin, &b"[]"[..]);
                    put.map(|_| ()).map_err(|error| error.class())
                }
            };
            let threads = stores.each_ref().map(|store| scope.spawn(put(store)));
            threads.map(|thread| thread.join().unwrap())
        });
        assert_eq!(done.iter().filter(|done| done.is_ok()).count(), 1, "{done:?}");
        assert!(done.iter().all(|done| done.is_ok() || *done == Err(ErrorClass::Exists)), "{done:?}");
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
