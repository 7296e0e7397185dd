//! Blocks in a folder.

use std::fs;
use std::sync::{Arc, Barrier};
use std::thread;

use serde_json::json;
use trommel_blocks::{BlockStorage, Created, ErrorClass, Key, Selection};
use trommel_session::{ListQuery, Watch};
use trommel_storage::FolderStorage;

use crate::blocks::{block, read, sessions};
use crate::contract;
use crate::support::{Machine, PROJECT};

#[test]
fn folders_fulfil_the_contract() {
    let home = tempfile::tempdir().unwrap();
    contract::all(&FolderStorage::make(home.path()).unwrap(), &FolderStorage::make(home.path()).unwrap());
}

/// Blocks are stored below the name of their project, which may differ between machines for one
/// session.
#[test]
fn one_session_in_two_projects_is_created_once() {
    for round in 0..20 {
        let home = tempfile::tempdir().unwrap();
        let (key, start) = (Key::new("ada", "s").unwrap(), Barrier::new(2));
        let begin = |project: &str| {
            let told = block(&key, 1, "session_created", &json!({ "project_slug": project }));
            let storage = FolderStorage::make(home.path()).unwrap();
            start.wait();
            storage.create(&key, &told, &Watch::new()).unwrap()
        };
        let answers = thread::scope(|scope| {
            let started =
                ["-home-ada-app", "-Users-ada-app"].map(|project| scope.spawn(move || begin(project)));
            started.map(|started| started.join().unwrap())
        });
        assert!(answers[0] != answers[1] && answers.contains(&Created::New), "{round}: {answers:?}");
        let storage = FolderStorage::make(home.path()).unwrap();
        assert_eq!(read(&storage, &key, &Selection::default()).len(), 1);
        assert_eq!(sessions(&storage, "ada").len(), 1);
    }
}

/// A session with unreadable blocks is reported, keeps its last known state, and hides no other.
#[test]
fn corrupt_sessions_hide_no_others() {
    let home = tempfile::tempdir().unwrap();
    let storage = Arc::new(FolderStorage::make(home.path()).unwrap());
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

/// A missing folder may be on a disk that is not mounted: it is created only on request.
#[test]
fn missing_folders_are_disconnected_and_not_created() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("shared");
    let machine = Machine::new("one", &Arc::new(FolderStorage::new(&folder)));
    machine.turns("s", 1);
    // Missing at first; then there, but empty like the mount point of a disk.
    for why in ["does not exist", "is not marked as a storage"] {
        let (listed, problems) = machine.hybrid.list(&ListQuery::default(), &Watch::new()).unwrap();
        assert_eq!((listed.total, listed.connected), (1, false));
        assert!(problems[0].contains(why) && problems[0].contains("--create"), "{problems:?}");
        let status = machine.hybrid.sync_status(None, &Watch::new()).unwrap();
        assert!(!status.connected && status.problem.unwrap().contains(why));
        let error = machine.hybrid.sync(None, None, &Watch::new()).unwrap_err();
        assert_eq!(error.class(), ErrorClass::Offline);
        assert_eq!(folder.exists(), why != "does not exist");
        let storage = FolderStorage::new(&folder);
        let key = Key::new("ada", "s").unwrap();
        let told = block(&key, 1, "session_created", &json!({}));
        assert_eq!(storage.create(&key, &told, &Watch::new()).unwrap_err().class(), ErrorClass::Offline);
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "it stays empty");
    }
    machine.hybrid.create_root().unwrap();
    machine.sync("s");
    // A folder from before there were marks.
    fs::remove_file(folder.join(".trommel-storage")).unwrap();
    assert!(machine.hybrid.sync_status(None, &Watch::new()).unwrap().connected);
    let gone = Arc::new(FolderStorage::new("/proc/nope"));
    assert!(!Machine::new("two", &gone).hybrid.sync_status(None, &Watch::new()).unwrap().connected);
}
