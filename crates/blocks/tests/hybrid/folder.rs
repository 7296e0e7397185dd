//! Blocks in a folder.

use std::sync::Barrier;
use std::thread;

use serde_json::json;
use trommel_blocks::{BlockStorage, Created, Key, LocalBlockStorage, Selection};
use trommel_session::Watch;

use crate::blocks::{block, read, sessions};
use crate::contract;

#[test]
fn a_folder_does_what_any_storage_has_to() {
    let home = tempfile::tempdir().unwrap();
    contract::all(&LocalBlockStorage::new(home.path()), &LocalBlockStorage::new(home.path()));
}

/// Blocks lie below their project's name, which on two machines may be another one for the same session.
#[test]
fn one_session_in_two_projects_is_begun_once() {
    for round in 0..20 {
        let home = tempfile::tempdir().unwrap();
        let (key, start) = (Key::new("ada", "s").unwrap(), Barrier::new(2));
        let begin = |project: &str| {
            let told = block(&key, 1, "session_created", &json!({ "project_slug": project }));
            let storage = LocalBlockStorage::new(home.path());
            start.wait();
            storage.create(&key, &told, &Watch::new()).unwrap()
        };
        let answers = thread::scope(|scope| {
            let started =
                ["-home-ada-app", "-Users-ada-app"].map(|project| scope.spawn(move || begin(project)));
            started.map(|started| started.join().unwrap())
        });
        assert!(answers[0] != answers[1] && answers.contains(&Created::New), "{round}: {answers:?}");
        let storage = LocalBlockStorage::new(home.path());
        assert_eq!(read(&storage, &key, &Selection::default()).len(), 1);
        assert_eq!(sessions(&storage, "ada").len(), 1);
    }
}
