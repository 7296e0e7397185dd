//! A machine of the user ada.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use trommel_blocks::{BlockStorage, Folders, Owner, SyncedOptions, SyncedSessions};
use trommel_session::{Sessions, Watch};

pub(crate) const PROJECT: &str = "-home-ada-app";

/// The files of a session.
pub(crate) const FILES: [&str; 3] = ["metadata.json", "transcript.jsonl", "events.jsonl"];

/// The sessions of a folder, and the connection to a storage.
pub(crate) struct Machine {
    home: TempDir,
    pub(crate) hybrid: SyncedSessions,
}

impl Machine {
    pub(crate) fn new<S: BlockStorage + 'static>(name: &str, storage: &Arc<S>) -> Self {
        Self::with(name, storage, |_| {})
    }

    pub(crate) fn with<S: BlockStorage + 'static>(
        name: &str,
        storage: &Arc<S>,
        change: impl FnOnce(&mut SyncedOptions),
    ) -> Self {
        let home = tempfile::tempdir().unwrap();
        let (local, state) = (home.path().join("amplifier"), home.path().join("state"));
        let sessions = Sessions::new().at("2026-03-04T12:00[UTC]".parse().unwrap()).amplifier(&local);
        let storage: Arc<dyn BlockStorage> = Arc::<S>::clone(storage);
        let mut options =
            SyncedOptions::new(sessions, Folders::new(local, state), Owner::new("ada", name), storage);
        (options.freshness, options.rest) = (Duration::ZERO, Duration::ZERO);
        change(&mut options);
        Self { home, hybrid: SyncedSessions::new(options).unwrap() }
    }

    pub(crate) fn folder(&self, id: &str) -> PathBuf {
        self.home.path().join("amplifier/projects").join(PROJECT).join("sessions").join(id)
    }

    pub(crate) fn write(&self, id: &str, file: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.folder(id)).unwrap();
        fs::write(self.folder(id).join(file), text).unwrap();
    }

    pub(crate) fn append(&self, id: &str, file: &str, text: impl AsRef<[u8]>) {
        fs::create_dir_all(self.folder(id)).unwrap();
        let path = self.folder(id).join(file);
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(text.as_ref()).unwrap();
    }

    pub(crate) fn files(&self, id: &str) -> [Option<Vec<u8>>; 3] {
        FILES.map(|file| fs::read(self.folder(id).join(file)).ok())
    }

    /// Syncs a session, which must succeed.
    pub(crate) fn sync(&self, id: &str) {
        let report = self.hybrid.sync(Some(id), None, &Watch::new()).unwrap();
        assert!(report.is_synced(), "{report:?}");
    }
}
