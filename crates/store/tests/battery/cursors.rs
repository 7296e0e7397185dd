//! The arguments of cursors in the index.

use std::fs;
use std::time::{Duration, Instant};

use trommel_store::Store;

use crate::support::{Home, put};

fn arguments(store: &Store, cursor: &str) -> Option<String> {
    store.cursor_arguments(cursor).unwrap()
}

#[test]
fn arguments_are_found_by_all_processes() {
    let store = Home::new();
    put(&store, "[1]");
    assert_eq!(arguments(&store, "a"), None);
    assert!(store.remember_cursor("a", r#"{"x":1}"#) && store.remember_cursor("b", "{}"));
    let other = store.again();
    assert_eq!(arguments(&other, "a").as_deref(), Some(r#"{"x":1}"#));
    assert!(other.remember_cursor("a", r#"{"x":2}"#));
    assert_eq!(arguments(&store, "a").as_deref(), Some(r#"{"x":2}"#));
    assert_eq!(arguments(&store, "b").as_deref(), Some("{}"));
    // Only the index has the arguments: a new one has none.
    for file in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        fs::remove_file(store.root().join(file)).unwrap();
    }
    assert_eq!((arguments(&store, "a"), arguments(&other, "b")), (None, None));
    assert!(other.remember_cursor("b", "{}"));
    assert_eq!(arguments(&store, "b").as_deref(), Some("{}"));
}

#[test]
fn the_newest_10_000_are_kept() {
    let store = Home::new();
    for number in 0..10_020 {
        assert!(store.remember_cursor(&number.to_string(), "{}"));
    }
    // A cursor that is returned again with other arguments becomes the newest.
    assert!(store.remember_cursor("20", r#"{"again":true}"#));
    assert!(store.remember_cursor("new", "{}"));
    for (cursor, is_kept) in [("0", false), ("19", false), ("20", true), ("21", false), ("22", true)] {
        assert_eq!(arguments(&store, cursor).is_some(), is_kept, "{cursor}");
    }
    assert!(arguments(&store, "10019").is_some());
}

#[test]
fn their_arguments_take_at_most_16_mebibytes() {
    let store = Home::new();
    let long = "x".repeat(64 << 10);
    assert!(!store.remember_cursor("too long", &format!("{long}x")));
    for number in 0..300 {
        assert!(store.remember_cursor(&number.to_string(), &long));
    }
    let kept = (0..300).filter(|number| arguments(&store, &number.to_string()).is_some());
    assert_eq!(kept.collect::<Vec<u32>>(), (300 - 256..300).collect::<Vec<u32>>());
}

/// An answer never waits for its cursor to be remembered.
#[test]
fn a_busy_index_forgets() {
    let store = Home::new();
    put(&store, "[1]");
    let lock = fs::File::options().write(true).open(store.root().join("lock")).unwrap();
    lock.lock().unwrap();
    let start = Instant::now();
    assert!(!store.remember_cursor("a", "{}"));
    assert!(start.elapsed() < Duration::from_secs(5), "the lock is held for a minute");
    lock.unlock().unwrap();
    assert!(store.remember_cursor("a", "{}"));
}
