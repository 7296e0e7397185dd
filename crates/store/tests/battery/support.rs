//! Shared helpers: temporary stores, outputs, and child processes.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use trommel_store::{Filter, Origin, Page, Store, StoreOptions, Stored};

pub(crate) use trommel_testkit::effort::cases;

/// A store in a temporary folder.
pub(crate) struct Home {
    pub(crate) store: Store,
    folder: TempDir,
}

impl std::ops::Deref for Home {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl Fn(&mut StoreOptions)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path().join("store"), options(change)).unwrap();
        Self { store, folder }
    }

    /// Opens the same folder again.
    pub(crate) fn again(&self) -> Store {
        Store::open(self.store.root(), StoreOptions::default()).unwrap()
    }

    /// The folder that contains the store's folder.
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    /// All files of the store, as sorted relative paths.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        files(self.root())
    }

    /// Files of outputs and writers, without databases and locks.
    pub(crate) fn output_files(&self) -> Vec<PathBuf> {
        let is_output = |path: &PathBuf| path.starts_with("payload") || path.starts_with("pending");
        self.files().into_iter().filter(is_output).collect()
    }
}

pub(crate) fn options(change: impl Fn(&mut StoreOptions)) -> StoreOptions {
    let mut options = StoreOptions::default();
    change(&mut options);
    options
}

/// All files below a folder, as sorted relative paths.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                found.push(entry.path().strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

/// Sets the age of a file.
pub(crate) fn age(path: &Path, hours: f64) {
    #[expect(clippy::disallowed_methods, reason = "ages are relative to the clock")]
    let time = SystemTime::now() - Duration::from_secs_f64(hours * 3600.0);
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// An origin with the given ID.
pub(crate) fn named(id: &str) -> Origin {
    let mut origin = Origin::of("tool");
    origin.id = Some(id.into());
    origin
}

pub(crate) fn put(store: &Store, bytes: impl AsRef<[u8]>) -> Stored {
    put_as(store, Origin::of("tool"), bytes)
}

pub(crate) fn put_as(store: &Store, origin: Origin, bytes: impl AsRef<[u8]>) -> Stored {
    let mut put = store.put(origin).unwrap();
    put.write_all(bytes.as_ref()).unwrap();
    put.finish().unwrap()
}

/// Reads the whole payload.
pub(crate) fn bytes_of(store: &Store, stored: &Stored) -> Vec<u8> {
    let mut bytes = Vec::new();
    store.payload(stored).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// A filter that matches everything.
pub(crate) fn all() -> Filter {
    let mut filter = Filter::default();
    filter.limit = u64::MAX;
    filter
}

pub(crate) fn ids(page: &Page) -> Vec<&str> {
    page.rows.iter().map(|row| row.id.as_str()).collect()
}

/// The file of an output with this suffix.
pub(crate) fn file_of(store: &Store, id: &str, ending: &str) -> PathBuf {
    let name = format!("{id}{ending}");
    let found = files(store.root()).into_iter().find(|path| path.ends_with(&name));
    store.root().join(found.unwrap_or_else(|| panic!("no file {name}")))
}

/// Starts this test binary to run a single test as a child. The child is marked by an environment
/// variable.
pub(crate) fn child(test: &str, root: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads", "1"]).env(CHILD, root);
    command
}

const CHILD: &str = "TROMMEL_STORE_OF_A_CHILD";

/// The working folder of a child. `None` in the parent.
pub(crate) fn childs_root() -> Option<PathBuf> {
    std::env::var_os(CHILD).map(PathBuf::from)
}
