//! Removal of buffers.

use std::fs;
use std::sync::Barrier;
use std::thread;

use trommel_route::{ErrorClass, Scope, WriteMode};

use crate::support::{Bench, destinations, put, route, variable};

#[test]
fn removed_buffers_leave_nothing() {
    let bench = Bench::new();
    let session =
        |name: &str| route(&format!("variable:{name}")).scope(Scope::Session).write_mode(WriteMode::Replace);
    for name in ["a", "b"] {
        put(&bench.destinations, &session(name), "one").unwrap();
        put(&bench.destinations, &session(name), "two").unwrap();
    }
    bench.put("variable:a", WriteMode::Append, "of the run");
    let buffers = bench.destinations.buffers();
    let files = || fs::read_dir(bench.folder.path().join("sessions/test")).unwrap().count();
    assert_eq!(files(), 6);
    assert_eq!(buffers.remove("a", None).unwrap(), Scope::Run);
    assert_eq!(buffers.remove("a", None).unwrap(), Scope::Session);
    let error = buffers.remove("a", None).unwrap_err();
    assert_eq!((error.class(), files()), (ErrorClass::NotFound, 3));
    assert_eq!(buffers.check_exists("a", Scope::Session).unwrap_err().class(), ErrorClass::NotFound);
    buffers.check_exists("b", Scope::Session).unwrap();
    // A damaged buffer can be removed, too.
    let damaged = fs::read_dir(bench.folder.path().join("sessions/test")).unwrap();
    let damaged = damaged.map(|entry| entry.unwrap().path()).find(|path| path.extension().unwrap() == "json");
    fs::write(damaged.unwrap(), "{").unwrap();
    assert_eq!((buffers.clear(Scope::Session).unwrap(), files()), (1, 0));
    assert_eq!((buffers.clear(Scope::Session).unwrap(), buffers.clear(Scope::Run).unwrap()), (0, 0));
    put(&bench.destinations, &session("a"), "three").unwrap();
    assert_eq!(variable(&bench.destinations, "a", None).as_deref(), Some("three"));
}

/// An append after a removal succeeds, whichever process got the lock first.
#[test]
fn concurrent_removal_and_writes_share_a_lock() {
    let bench = Bench::new();
    let append = route("variable:v").scope(Scope::Session).write_mode(WriteMode::Append);
    let barrier = Barrier::new(4);
    let folder = bench.folder.path();
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let destinations = destinations(folder);
                barrier.wait();
                (0..50).for_each(|_| drop(put(&destinations, &append, "line\n").unwrap()));
            });
        }
        scope.spawn(|| {
            let destinations = destinations(folder);
            barrier.wait();
            (0..50).for_each(|_| drop(destinations.buffers().remove("v", Some(Scope::Session))));
        });
    });
    let text = variable(&bench.destinations, "v", None).unwrap_or_default();
    assert!(text.lines().all(|line| line == "line") && text.len() <= 750, "{text}");
    let before = text.len();
    put(&bench.destinations, &append, "last\n").unwrap();
    assert_eq!(variable(&bench.destinations, "v", None).unwrap().len(), before + 5);
}
