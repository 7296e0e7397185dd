//! The folders of the merged view.

use std::path::{Path, PathBuf};
use std::time::Duration;

use trommel_base::files::{self, Op};

use super::options::SyncedOptions;
use crate::error::Result;

/// The folders of one storage and one user, which are never mixed with those of another.
pub(super) struct Paths {
    root: PathBuf,
    local: PathBuf,
    /// Depends on the local folder as well: its journals say nothing about another folder.
    journals: PathBuf,
    /// Independent of the storage: a local-only session stays on this machine with any storage.
    local_only: PathBuf,
}

impl Paths {
    pub(super) fn new(options: &SyncedOptions) -> Self {
        // Neither part can contain `\0`, so no two pairs have the same text.
        let owner = format!("{}\0{}", options.storage.name(), options.owner.user);
        let root = options.folders.state.join(hashed_name(owner.as_bytes()));
        let local =
            std::path::absolute(&options.folders.local).unwrap_or_else(|_| options.folders.local.clone());
        let journals = root.join("journals").join(hashed_name(local.as_os_str().as_encoded_bytes()));
        Self {
            root,
            local: options.folders.local.clone(),
            journals,
            local_only: options.folders.state.join("local-only"),
        }
    }

    /// The folder of the mirror, in the layout of Amplifier.
    pub(super) fn mirror(&self) -> PathBuf {
        self.root.join("mirror")
    }

    /// The folder of a session in the mirror.
    pub(super) fn mirrored(&self, project: &str, session: &str) -> PathBuf {
        folder(&self.mirror(), project, session)
    }

    /// The folder of a session on this machine.
    pub(super) fn local(&self, project: &str, session: &str) -> PathBuf {
        folder(&self.local, project, session)
    }

    /// The journal of a mirrored session.
    pub(super) fn mirror_journal(&self, project: &str, session: &str) -> PathBuf {
        self.root.join("mirrored").join(project).join(format!("{session}.journal"))
    }

    /// The journal of a session on this machine.
    pub(super) fn journal(&self, project: &str, session: &str) -> PathBuf {
        self.journals.join(project).join(format!("{session}.journal"))
    }

    /// The mark of a local-only session.
    pub(super) fn local_mark(&self, project: &str, session: &str) -> PathBuf {
        self.local_only.join(project).join(session)
    }

    /// The file with the time of the last complete sync.
    pub(super) fn last_sync(&self) -> PathBuf {
        self.journals.join("last_sync")
    }

    /// Removes leftovers of interrupted processes. Failures are harmless.
    fn sweep(&self) {
        for entry in std::fs::read_dir(&self.root).into_iter().flatten().flatten() {
            // `tempfile` names its folders `.tmp…`. A young one may belong to a running process.
            let is_temporary = entry.file_name().as_encoded_bytes().starts_with(b".tmp");
            let age = entry.metadata().and_then(|found| found.modified()).map(|since| since.elapsed());
            if is_temporary && age.is_ok_and(|age| age.is_ok_and(|age| age > MAX_AGE)) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    /// A temporary folder, on the same disk as the others.
    pub(super) fn temporary(&self) -> Result<tempfile::TempDir> {
        files::make_folder(&self.root)?;
        self.sweep();
        Ok(files::attempt(Op::MakeFolder, &self.root, || tempfile::tempdir_in(&self.root))?)
    }
}

/// The age at which a temporary folder counts as a leftover.
const MAX_AGE: Duration = Duration::from_hours(24);

/// A name for a value that is too long for a file name, or secret.
fn hashed_name(value: &[u8]) -> String {
    blake3::hash(value).to_hex().chars().take(16).collect()
}

pub(super) fn folder(root: &Path, project: &str, session: &str) -> PathBuf {
    root.join("projects").join(project).join("sessions").join(session)
}

/// Creates the parent folder of a file.
pub(super) fn make_parent(file: &Path) -> Result<()> {
    if let Some(folder) = file.parent() {
        files::make_folder(folder)?;
    }
    Ok(())
}
