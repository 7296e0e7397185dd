//! The folder of a session: the names of its files, and a mark that detects changes of them.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use trommel_base::commit::Stamp;

use crate::rows::{FILES, Kind};

/// The folder of a session.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The path of the file of one kind of records.
    pub(crate) fn file(&self, kind: Kind) -> PathBuf {
        self.0.join(name(kind))
    }

    /// True if the folder has none of a session's files.
    pub(crate) fn is_empty(&self) -> bool {
        FILES.iter().all(|kind| !self.file(*kind).exists())
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark::of(self)
    }
}

pub(crate) fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Message => "transcript.jsonl",
        Kind::Event => "events.jsonl",
        _ => "metadata.json",
    }
}

/// The state of a session's files; equal states mean that no file was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark([Option<Stamp>; FILES.len()]);

impl Mark {
    /// The current state of the files.
    fn of(folder: &Folder) -> Self {
        Self(FILES.map(|kind| Stamp::of(&folder.file(kind))))
    }

    /// The state of the file at an index of [`FILES`].
    pub(crate) fn seen(&self, at: usize) -> Option<Stamp> {
        self.0[at]
    }
}
