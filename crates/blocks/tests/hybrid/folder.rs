//! Blocks in a folder.

use std::fs;
use std::sync::{Arc, Barrier};
use std::thread;

use serde_json::json;
use trommel_blocks::{BlockStorage, Created, Key, LocalBlockStorage, Selection};
use trommel_session::{ListQuery, Watch};

use crate::blocks::{block, read, sessions};
use crate::contract;
use crate::support::{Machine, PROJECT};

#[test]
fn a_folder_does_what_any_storage_has_to() {
    let home = tempfile::tempdir().unwrap();
    contract::all(
        &LocalBlockStorage::make(home.path()).unwrap(),
        &LocalBlockStorage::make(home.path()).unwrap(),
    );
}

/// Blocks lie below their project's name, which on two machines may be another one for the same session.
#[test]
fn one_session_in_two_projects_is_begun_once() {
    for round in 0..20 {
        let home = tempfile::tempdir().unwrap();
        let (key, start) = (Key::new("ada", "s").unwrap(), Barrier::new(2));
        let begin = |project: &str| {
            let told = block(&key, 1, "session_created", &json!({ "project_slug": project }));
            let storage = LocalBlockStorage::make(home.path()).unwrap();
            start.wait();
            storage.create(&key, &told, &Watch::new()).unwrap()
        };
        let answers = thread::scope(|scope| {
            let started =
                ["-home-ada-app", "-Users-ada-app"].map(|project| scope.spawn(move || begin(project)));
            started.map(|started| started.join().unwrap())
        });
        assert!(answers[0] != answers[1] && answers.contains(&Created::New), "{round}: {answers:?}");
        let storage = LocalBlockStorage::make(home.path()).unwrap();
        assert_eq!(read(&storage, &key, &Selection::default()).len(), 1);
        assert_eq!(sessions(&storage, "ada").len(), 1);
    }
}

/// One session whose blocks cannot be read is told of, stays as it was known, and hides no other.
#[test]
fn a_damaged_session_hides_no_other() {
    let home = tempfile::tempdir().unwrap();
    let storage = Arc::new(LocalBlockStorage::make(home.path()).unwrap());
    let (one, two) = (Machine::new("one", &storage), Machine::new("two", &storage));
    for id in ["good", "bad"] {
        one.turns(id, 1);
        one.sync(id);
    }
    assert_eq!(two.listed().len(), 2);
    let blocks = home.path().join("ada").join(PROJECT).join("bad/blocks.jsonl");
    let text = fs::read_to_string(&blocks).unwrap();
    fs::write(&blocks, text.replacen("\"sequence\":1,", "\"sequence\":?,", 1)).unwrap();
    let (listed, problems) = two.hybrid.list(&ListQuery::default(), &Watch::new()).unwrap();
    assert_eq!((listed.total, listed.connected), (2, true));
    assert!(problems.len() == 1 && problems[0].contains("session bad cannot be read"), "{problems:?}");
    two.sync("good");
    assert_eq!(two.files("good"), one.files("good"));
    assert!(!two.hybrid.sync(Some("bad"), None, &Watch::new()).unwrap().is_synced());
}
