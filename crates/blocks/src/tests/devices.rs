//! A device: the folder of a session, and its journal.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use trommel_session::Watch;

use crate::block::Key;
use crate::error::Result;
use crate::folder::Folder;
use crate::journal::Journal;
use crate::storage::{BlockStorage, PayloadStorage};
use crate::sync::{ConflictResolution, Side, State};

/// A device.
pub(crate) struct Device {
    home: TempDir,
    name: String,
    key: Key,
}

impl Device {
    pub(crate) fn new(name: &str) -> Self {
        // In memory if possible: nothing has to survive the machine.
        let memory = std::path::Path::new("/dev/shm");
        let home = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
        Self { home, name: name.to_owned(), key: Key::new("ada", "5d1c").unwrap() }
    }

    /// Deletes the journal.
    pub(crate) fn forget(&self) {
        fs::remove_file(self.home.path().join("journal")).unwrap();
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.home.path().join("session")
    }

    /// Runs `work` with both sides of the session. An unfinished last line is left alone for
    /// `rest`.
    pub(crate) fn with<T>(
        &self,
        (storage, payloads): (&dyn BlockStorage, Option<&dyn PayloadStorage>),
        rest: Duration,
        act: impl FnOnce(&mut Side<'_, '_>) -> Result<T>,
    ) -> Result<T> {
        let watch = Watch::new();
        let journal = Journal::open(&self.home.path().join("journal"))?;
        let mut side = Side {
            storage,
            payloads,
            key: &self.key,
            folder: Folder::new(self.folder()),
            journal,
            device: &self.name,
            project: "-home-ada-app",
            rest,
            watch: &watch,
        };
        act(&mut side)
    }

    pub(crate) fn sync(&self, storage: &dyn BlockStorage, resolution: ConflictResolution) -> Result<State> {
        self.with((storage, None), Duration::ZERO, |side| side.sync(resolution))
    }

    pub(crate) fn state(&self, storage: &dyn BlockStorage) -> State {
        self.with((storage, None), Duration::ZERO, |side| Ok(side.compare()?.state())).unwrap()
    }

    pub(crate) fn append(&self, file: &str, text: &str) {
        fs::create_dir_all(self.folder()).unwrap();
        let mut file = OpenOptions::new().create(true).append(true).open(self.folder().join(file)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn write(&self, file: &str, text: &[u8]) {
        fs::create_dir_all(self.folder()).unwrap();
        fs::write(self.folder().join(file), text).unwrap();
    }

    pub(crate) fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.folder().join(file)).unwrap_or_default()
    }

    /// The files of the session.
    pub(crate) fn all(&self) -> [Vec<u8>; 3] {
        ["metadata.json", "transcript.jsonl", "events.jsonl"].map(|file| self.read(file))
    }
}
