//! Where is kept what is known of a storage.

use std::path::{Path, PathBuf};
use std::time::Duration;

use trommel_base::files::{self, Op};

use super::options::SyncedOptions;
use crate::error::Result;

/// Folders of one storage and one user, so that another one's are never taken for these.
pub(super) struct Paths {
    root: PathBuf,
    local: PathBuf,
    /// What is the same in a folder of this machine says nothing of another one.
    journals: PathBuf,
    /// What stays on this machine stays, whatever storage is named.
    kept: PathBuf,
}

impl Paths {
    pub(super) fn new(options: &SyncedOptions) -> Self {
        let whose = format!("{}\0{}", options.storage.name(), options.owner.user);
        let root = options.folders.state.join(named(whose.as_bytes()));
        let local =
            std::path::absolute(&options.folders.local).unwrap_or_else(|_| options.folders.local.clone());
        let journals = root.join("journals").join(named(local.as_os_str().as_encoded_bytes()));
        Self {
            root,
            local: options.folders.local.clone(),
            journals,
            kept: options.folders.state.join("local-only"),
        }
    }

    /// The mirror's folder, laid out as Amplifier's.
    pub(super) fn mirror(&self) -> PathBuf {
        self.root.join("mirror")
    }

    /// A session's folder in the mirror.
    pub(super) fn mirrored(&self, project: &str, session: &str) -> PathBuf {
        folder(&self.mirror(), project, session)
    }

    /// A session's folder on this machine.
    pub(super) fn local(&self, project: &str, session: &str) -> PathBuf {
        folder(&self.local, project, session)
    }

    /// What is known of a mirrored session's blocks.
    pub(super) fn mirror_journal(&self, project: &str, session: &str) -> PathBuf {
        self.root.join("mirrored").join(project).join(format!("{session}.journal"))
    }

    /// What is known of the blocks of a session that lies here.
    pub(super) fn journal(&self, project: &str, session: &str) -> PathBuf {
        self.journals.join(project).join(format!("{session}.journal"))
    }

    /// That a session is to stay on this machine.
    pub(super) fn local_mark(&self, project: &str, session: &str) -> PathBuf {
        self.kept.join(project).join(session)
    }

    /// When all was the same last.
    pub(super) fn last_sync(&self) -> PathBuf {
        self.journals.join("last_sync")
    }

    /// Removes what processes left that were ended. What cannot be removed is in nobody's way.
    fn sweep(&self) {
        for entry in std::fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let is_temporary = entry.file_name().as_encoded_bytes().starts_with(b".tmp");
            let age = entry.metadata().and_then(|found| found.modified()).map(|since| since.elapsed());
            if is_temporary && age.is_ok_and(|age| age.is_ok_and(|age| age > LEFT)) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    }

    /// A folder for a while, on the disk of all the others.
    pub(super) fn temporary(&self) -> Result<tempfile::TempDir> {
        files::make_folder(&self.root)?;
        self.sweep();
        Ok(files::attempt(Op::MakeFolder, &self.root, || tempfile::tempdir_in(&self.root))?)
    }
}

/// Whatever is a day old was left.
const LEFT: Duration = Duration::from_hours(24);

/// A name for what is too long, or too secret, for one.
fn named(what: &[u8]) -> String {
    blake3::hash(what).to_hex().chars().take(16).collect()
}

pub(super) fn folder(root: &Path, project: &str, session: &str) -> PathBuf {
    root.join("projects").join(project).join("sessions").join(session)
}

/// Makes the folder that a file is to lie in.
pub(super) fn make_parent(file: &Path) -> Result<()> {
    if let Some(folder) = file.parent() {
        files::make_folder(folder)?;
    }
    Ok(())
}
