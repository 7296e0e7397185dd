//! The history of executions.

use std::fs;

use trommel_store::{ErrorClass, Store, StoreOptions};

use crate::support::Home;

#[test]
fn newest_entries_come_first() {
    let home = Home::new();
    assert_eq!(home.executions().total().unwrap(), 0);
    for number in 0..10 {
        home.executions()
            .append(&format!("{{\"n\": {number}, \"big\": 12345678901234567890123.10}}"))
            .unwrap();
    }
    let entry = |number| format!("{{\"n\": {number}, \"big\": 12345678901234567890123.10}}");
    assert_eq!(home.executions().newest(3).unwrap(), [entry(9), entry(8), entry(7)]);
    assert_eq!(home.again().executions().newest(usize::MAX).unwrap().len(), 10);
    assert!(home.executions().newest(0).unwrap().is_empty());
}

#[test]
fn oldest_entries_are_removed() {
    let home = Home::with(|options| {
        options.history.count = 5;
        options.history.bytes = 100;
    });
    for number in 0..9 {
        home.executions().append(&number.to_string()).unwrap();
    }
    assert_eq!(home.executions().newest(9).unwrap(), ["8", "7", "6", "5", "4"]);
    let long = format!("\"{}\"", "x".repeat(96));
    home.executions().append(&long).unwrap();
    assert_eq!(home.executions().newest(9).unwrap(), [long.as_str(), "8", "7"]);
    assert_eq!(home.again().executions().total().unwrap(), 10);
    for bad in [format!("\"{}\"", "x".repeat(99)), "{".to_owned(), String::new(), "1 2".to_owned()] {
        assert_eq!(home.executions().append(&bad).unwrap_err().class(), ErrorClass::Invalid);
    }
    assert_eq!(home.executions().newest(9).unwrap().len(), 3);
}

#[test]
fn history_survives_an_index_rebuild() {
    let home = Home::new();
    home.executions().append("1").unwrap();
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm"] {
        let _ = fs::remove_file(home.root().join(name));
    }
    home.rebuild().unwrap();
    assert_eq!(home.executions().newest(9).unwrap(), ["1"]);
    assert_eq!(home.again().executions().newest(9).unwrap(), ["1"]);
}

#[test]
fn damaged_history_is_set_aside() {
    let home = Home::new();
    home.executions().append("1").unwrap();
    let path = home.root().join("history.sqlite");
    for name in ["history.sqlite-wal", "history.sqlite-shm"] {
        let _ = fs::remove_file(home.root().join(name));
    }
    fs::remove_file(&path).unwrap();
    fs::write(&path, "not a database ".repeat(1000)).unwrap();
    let again = home.again();
    again.executions().append("2").unwrap();
    assert_eq!(again.executions().newest(9).unwrap(), ["2"]);
    assert_eq!(home.executions().newest(9).unwrap(), ["2"]);
    let aside = fs::read(home.root().join("history.sqlite.damaged")).unwrap();
    assert!(aside.starts_with(b"not a database"));
}

/// R47: a history of a newer version is left untouched.
#[test]
fn r47_newer_history_is_untouched() {
    let home = Home::new();
    home.executions().append("1").unwrap();
    let path = home.root().join("history.sqlite");
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 2).unwrap();
    let again = Store::open(home.root(), StoreOptions::default()).unwrap();
    let error = again.executions().append("2").unwrap_err();
    assert_eq!(error.class(), ErrorClass::Version);
    assert!(error.to_string().contains("newer version (schema version 2)"), "{error}");
    assert_eq!(again.executions().newest(1).unwrap_err().class(), ErrorClass::Version);
}
