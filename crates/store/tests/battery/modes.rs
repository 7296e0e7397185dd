//! Permissions of stored files.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Command;

use trommel_store::{ErrorClass, GcOptions, Store, StoreOptions};

use crate::support::{Home, child, childs_root, files, named, options, put_as};

/// Creates every kind of file, under the umask set by the parent.
#[test]
fn childs_work() {
    let Some(root) = childs_root() else { return };
    let store = Store::open(&root, options(|options| options.pack_over = Some(1000))).unwrap();
    put_as(&store, named("output-1"), "[1]");
    put_as(&store, named("output-2"), "x".repeat(600_000));
    store.pin("output-1", true).unwrap();
    store.executions().append("{}").unwrap();
    store.rebuild().unwrap();
    store.gc(&GcOptions::default()).unwrap();
    // A crashed writer leaves its files.
    let mut put = store.put(named("output-3")).unwrap();
    std::io::Write::write_all(&mut put, &vec![b' '; 600_000]).unwrap();
    std::mem::forget(put);
}

/// R24: files have the mode 0600 and folders 0700, under any umask.
#[test]
fn r24_modes_do_not_depend_on_the_umask() {
    for umask in ["000", "077", "022", "027", "0777", "0700"] {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("a/new/store");
        let command = child("modes::childs_work", &root);
        let program = command.get_program().to_owned();
        let mut shell = Command::new("sh");
        shell
            .arg("-c")
            .arg(format!("umask {umask}; exec \"$0\" \"$@\""))
            .arg(program)
            .args(command.get_args());
        shell.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        assert!(shell.output().unwrap().status.success());
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o7777;
        let found = files(folder.path());
        assert!(found.len() >= 12, "{found:?}");
        for path in found {
            assert_eq!(mode(&folder.path().join(&path)), 0o600, "umask {umask}: {}", path.display());
            for parent in path.ancestors().skip(1).filter(|parent| *parent != Path::new("")) {
                assert_eq!(mode(&folder.path().join(parent)), 0o700, "umask {umask}: {}", parent.display());
            }
        }
    }
}

/// R24: a folder that others can write to is refused.
#[test]
fn r24_writable_folders_are_refused() {
    let home = Home::new();
    for folder in ["", "payload", "pending"] {
        let path = home.root().join(folder);
        for mode in [0o720, 0o702, 0o777, 0o1777] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let error = Store::open(home.root(), StoreOptions::default()).unwrap_err();
            assert_eq!(error.class(), ErrorClass::Foreign, "{folder} {mode:o}");
            let message = error.to_string();
            assert!(
                message.contains("others can write to it") && message.contains("chmod go-w"),
                "{message}"
            );
        }
        // Read permission for others is acceptable for the folder.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Store::open(home.root(), StoreOptions::default()).unwrap();
    }
}

/// R24: a folder of another user is refused.
#[test]
fn r24_folders_of_others_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("store");
    fs::create_dir(&root).unwrap();
    if std::os::unix::fs::chown(&root, Some(12345), None).is_err() {
        println!("not run: changing the owner of a folder requires root");
        return;
    }
    let error = Store::open(&root, StoreOptions::default()).unwrap_err();
    assert_eq!(error.class(), ErrorClass::Foreign);
    assert!(error.to_string().contains("it belongs to user 12345, not to user"), "{error}");
    assert!(files(&root).is_empty());
}

#[test]
fn root_must_be_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = Store::open(&file, StoreOptions::default()).unwrap_err();
    assert!(matches!(error.class(), ErrorClass::Foreign | ErrorClass::Io), "{error}");
    assert!(error.path().is_some());
    // A link to a folder of this user is followed.
    let home = Home::new();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(home.root(), &link).unwrap();
    assert_eq!(Store::open(&link, StoreOptions::default()).unwrap().root(), home.root());
}
