//! One session compared with what a storage has of it, and made the same.

mod common;
mod compare;
mod pull;
mod push;
mod settle;
mod side;
mod state;
mod told;

use std::path::PathBuf;
use std::time::Duration;

use trommel_base::files;

use crate::error::{ErrorKind, Result};
use crate::folder::Folder;
use crate::journal::Journal;
use crate::pending::Pending;
use crate::retry::{sleep, spread};
use crate::staged;
use compare::News;
use side::ROUNDS;

pub(crate) use side::Side;
pub use state::{Settlement, State};

/// How much longer is waited before each of the later times.
const PAUSE: Duration = Duration::from_millis(20);

impl Side<'_, '_> {
    /// Makes both sides the same, unless they contradict each other and nobody says who is right.
    /// How they are then.
    pub(crate) fn sync(&mut self, settlement: Settlement) -> Result<State> {
        let _lock = self.lock()?;
        for round in 0..ROUNDS {
            // Whoever was refused again and again lets the others go first.
            sleep(spread(PAUSE * round.saturating_sub(2), round), self.watch)?;
            staged::recover(self.journal.path(), self.watch)?;
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

    /// Writes what the storage has into another folder, for somebody to compare.
    pub(crate) fn write_out(&mut self, to: PathBuf) -> Result<()> {
        let head = self.storage.head(self.key, self.watch)?.map_or(0, |block| block.sequence);
        let found = self.rows_behind(0, head)?;
        let path = to.join(".trommel-sync-journal");
        let folder = Folder::new(to);
        let mut other = Side { folder, journal: Journal::default(), ..*self };
        let empty = Pending::of(&other.folder, &Journal::default(), Duration::ZERO, self.watch)?;
        if empty.transcript.text.exists() || empty.events.text.exists() || empty.metadata.exists() {
            return Err(ErrorKind::HoldsSession { folder: other.folder.path().to_owned() }.into());
        }
        files::make_folder(other.folder.path())?;
        other.journal = Journal::open(&path)?;
        other.rebuild(&News { blocks: head, found }, &empty)?;
        files::remove(&path)?;
        Ok(())
    }
}
