//! One session compared with what a storage has of it, and made the same.

mod common;
mod compare;
mod pull;
mod push;
mod settle;
mod told;

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use trommel_session::Watch;

use crate::error::{Error, ErrorKind, Result};
use crate::folder::{Folder, Pending};
use crate::journal::Journal;
use crate::landing;
use crate::retry::{sleep, spread};
use crate::storage::{BlockStorage, Key, PayloadStorage};

pub(crate) use compare::{Compared, News};

/// How a session here compares with what is stored of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum State {
    /// They are the same.
    Synced,
    /// Something here is not stored.
    Ahead,
    /// Something stored is not here.
    Behind,
    /// Both.
    Conflict,
}

/// How a conflict is settled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Settlement {
    /// Not at all: somebody has to decide.
    #[default]
    Manual,
    /// What is here counts; what the others wrote is hidden, and stays in the storage.
    Local,
    /// What is stored counts; what is here is stored too, hidden.
    Remote,
    /// Both: what is here goes behind what the others wrote.
    Merge,
}

impl Settlement {
    /// By its name: `local`, `remote`, `merge`, `manual`, or as settings spell it, `local_wins` and `remote_wins`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "manual" => Ok(Self::Manual),
            "local" | "local_wins" => Ok(Self::Local),
            "remote" | "remote_wins" => Ok(Self::Remote),
            "merge" => Ok(Self::Merge),
            _ => {
                let shown = name.chars().take(40).collect::<String>();
                let message =
                    format!("`{shown}` settles nothing: `local`, `remote`, `merge` and `manual` do");
                Err(Error::new(ErrorKind::Request, message))
            }
        }
    }
}

/// A session on both sides.
pub(crate) struct Side<'a, 'w> {
    pub(crate) storage: &'a dyn BlockStorage,
    pub(crate) payloads: Option<&'a dyn PayloadStorage>,
    pub(crate) key: &'a Key,
    pub(crate) folder: Folder,
    pub(crate) journal: Journal,
    pub(crate) device: &'a str,
    pub(crate) project: &'a str,
    /// How long a last line without an end is left alone.
    pub(crate) rest: Duration,
    pub(crate) watch: &'a Watch<'w>,
}

/// Times that both sides are compared again because somebody wrote in between.
const ROUNDS: u32 = 16;

/// How much longer is waited before each of the later times.
const PAUSE: Duration = Duration::from_millis(20);

impl Side<'_, '_> {
    /// Makes both sides the same, unless they contradict each other and nobody says who is right. How they are then.
    pub(crate) fn sync(&mut self, settlement: Settlement) -> Result<State> {
        let _lock = self.lock()?;
        for round in 0..ROUNDS {
            // Whoever was refused again and again lets the others go first.
            sleep(spread(PAUSE * round.saturating_sub(2), round), self.watch)?;
            landing::recover(self.journal.path(), self.watch)?;
            self.journal = self.known()?;
            let mut compared = self.compare()?;
            match compared.state() {
                State::Synced => return Ok(State::Synced),
                State::Ahead => self.push(&compared)?,
                State::Behind => self.pull(&compared)?,
                State::Conflict if settlement == Settlement::Manual => return Ok(State::Conflict),
                State::Conflict => self.settle(&mut compared, settlement)?,
            }
        }
        Err(self.restless())
    }

    /// What is known of this session's blocks. Whoever removes a session from a machine takes nothing away from the others: what was known
    /// of it is forgotten, so that it comes back when it is asked for.
    fn known(&self) -> Result<Journal> {
        let path = self.journal.path();
        if Journal::look(path)?.is_of_removed(&self.folder) {
            match std::fs::remove_file(path) {
                Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => {
                    return Err(Error::io("remove", path, cause));
                }
                _ => {}
            }
        }
        Journal::open(path)
    }

    /// Waits for whoever else makes this session the same. Held until it is let go.
    fn lock(&self) -> Result<File> {
        let path = self.journal.path().with_extension("lock");
        let failed = |cause| Error::io("open", &path, cause);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        File::options().create(true).append(true).open(&path).map_err(failed)?;
        landing::lock(&path, self.watch)
    }

    fn restless(&self) -> Error {
        let message =
            format!("session {} is being written to from several sides: try again later", self.key.session());
        Error::new(ErrorKind::Busy, message)
    }

    /// Writes what the storage has into another folder, for somebody to compare.
    pub(crate) fn write_out(&mut self, to: PathBuf) -> Result<()> {
        let head = self.storage.head(self.key, self.watch)?.map_or(0, |block| block.sequence);
        let found = self.rows_behind(0, head)?;
        let path = to.join(".trommel-sync-journal");
        let folder = Folder::new(to);
        let mut other = Side { folder, journal: Journal::default(), ..*self };
        let empty = Pending::of(&other.folder, &Journal::default(), Duration::ZERO, self.watch)?;
        if empty.transcript.text.exists() || empty.events.text.exists() || empty.metadata.exists() {
            let message =
                format!("{} holds a session already: name another folder", other.folder.path().display());
            return Err(Error::new(ErrorKind::Request, message));
        }
        std::fs::create_dir_all(other.folder.path())
            .map_err(|cause| Error::io("make", other.folder.path(), cause))?;
        other.journal = Journal::open(&path)?;
        other.rebuild(&News { blocks: head, found }, &empty)?;
        std::fs::remove_file(&path).map_err(|cause| Error::io("remove", &path, cause))
    }
}
