//! Where is kept what is known of a storage.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::hybrid::HybridOptions;

/// Folders of one storage and one user, so that another one's are never taken for these.
pub(super) struct Places {
    root: PathBuf,
    local: PathBuf,
}

impl Places {
    pub(super) fn new(options: &HybridOptions) -> Self {
        let whose = format!("{}\0{}", options.storage.name(), options.user);
        let name = blake3::hash(whose.as_bytes()).to_hex();
        Self { root: options.state.join(name.get(..16).unwrap_or_default()), local: options.local.clone() }
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
        self.root.join("journals").join(project).join(format!("{session}.journal"))
    }

    /// That a session is to stay on this machine.
    pub(super) fn local_mark(&self, project: &str, session: &str) -> PathBuf {
        self.root.join("local-only").join(project).join(session)
    }

    /// When all was the same last.
    pub(super) fn last_sync(&self) -> PathBuf {
        self.root.join("last_sync")
    }

    /// A folder for a while, on the disk of all the others.
    pub(super) fn temporary(&self) -> Result<tempfile::TempDir> {
        make(&self.root)?;
        tempfile::tempdir_in(&self.root).map_err(|cause| Error::io("make a folder in", &self.root, cause))
    }
}

pub(super) fn folder(root: &Path, project: &str, session: &str) -> PathBuf {
    root.join("projects").join(project).join("sessions").join(session)
}

/// Makes a folder that nobody else may look into.
pub(super) fn make(folder: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|cause| Error::io("make", folder, cause))
}

/// Makes the folder that a file is to lie in.
pub(super) fn make_above(file: &Path) -> Result<()> {
    file.parent().map_or(Ok(()), make)
}
