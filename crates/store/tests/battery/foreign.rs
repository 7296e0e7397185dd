//! Folders, links, and pipes in place of the store's own files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use trommel_store::{ErrorClass, Store, StoreOptions};

use crate::many::remove_index;
use crate::support::{Home, all, named, put_as};

/// Creates an object in place of a file. Links refer to `outside`.
fn place(kind: &str, path: &Path, outside: &Path) {
    match kind {
        "folder" => fs::create_dir(path).unwrap(),
        "full folder" => {
            fs::create_dir(path).unwrap();
            fs::write(path.join("inside"), "x").unwrap();
        }
        "link" => symlink(outside, path).unwrap(),
        "dangling link" => symlink(outside.with_extension("none"), path).unwrap(),
        _ => rustix::fs::mknodat(
            rustix::fs::CWD,
            path,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
            0,
        )
        .unwrap(),
    }
}

const KINDS: [&str; 5] = ["folder", "full folder", "link", "dangling link", "pipe"];

/// R23: an index that is not a regular file is moved aside and rebuilt. No link is followed.
#[test]
fn r23_index_that_is_not_a_file_is_rebuilt() {
    let home = Home::new();
    put_as(&home, named("output-1"), "[1]");
    let listed = home.list(&all()).unwrap();
    let outside = home.outside().join("outside");
    fs::write(&outside, "not ours").unwrap();
    for name in ["index.sqlite", "index.sqlite-wal", "index.sqlite-shm", "index.sqlite-journal"] {
        for kind in KINDS {
            let path = home.root().join(name);
            remove_index(home.root());
            place(kind, &path, &outside);
            let again = home.again();
            assert_eq!(again.list(&all()).unwrap(), listed, "{name}: {kind}");
            let new = put_as(&again, named("output-2"), "[2]");
            again.delete(&new.id).unwrap();
            assert!(again.verify(&mut |damage| panic!("{damage:?}")).unwrap().is_whole());
            assert_eq!(home.list(&all()).unwrap(), listed, "{name}: {kind}");
            assert_eq!(fs::read_to_string(&outside).unwrap(), "not ours", "{name}: {kind}");
            assert!(!outside.with_extension("none").exists(), "{name}: {kind}");
        }
    }
    let aside = fs::read_dir(home.root())
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains(".aside-"));
    assert_eq!(aside.count(), 4 * KINDS.len(), "foreign objects are kept");
}

/// R23: a lock that is not a regular file is an error with advice.
#[test]
fn r23_lock_that_is_not_a_file_is_an_error() {
    let home = Home::new();
    let outside = home.outside().join("outside");
    fs::write(&outside, "not ours").unwrap();
    for name in ["lock", "history.lock"] {
        for kind in KINDS {
            let path = home.root().join(name);
            fs::remove_file(&path).unwrap();
            place(kind, &path, &outside);
            let error = Store::open(home.root(), StoreOptions::default()).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Foreign, "{name}: {kind}: {error}");
            assert!(error.to_string().contains("move it out of the store"), "{error}");
            if kind.contains("folder") { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
            home.again();
            assert_eq!(fs::read_to_string(&outside).unwrap(), "not ours");
        }
    }
}
