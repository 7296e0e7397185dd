//! Synchronizes one session with a storage.

mod common;
mod compare;
mod pull;
mod push;
mod resolve;
mod side;
mod state;
mod stored;

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
pub use state::{ConflictResolution, State};

/// The increase of the pause before each later round.
const PAUSE: Duration = Duration::from_millis(20);

impl Side<'_, '_> {
    /// Synchronizes both sides, unless they conflict and `resolution` leaves the decision to the
    /// user. Returns the state after that.
    pub(crate) fn sync(&mut self, resolution: ConflictResolution) -> Result<State> {
        let _lock = self.lock()?;
        for round in 0..ROUNDS {
            // A writer that was refused repeatedly lets the others proceed first.
            sleep(spread(PAUSE * round.saturating_sub(2), round), self.watch)?;
            // A half-applied pull would look like local changes, so its plan is applied first.
            // Another process may have written the journal before this one had the lock, so it is
            // read again.
            staged::recover(self.journal.path(), self.watch)?;
            self.journal = self.known()?;
            let mut compared = self.compare()?;
            // A push or pull is followed by another round, which confirms that both sides are
            // equal.
            match compared.state() {
                State::Synced => return Ok(State::Synced),
                State::Ahead => self.push(&compared)?,
                State::Behind => self.pull(&compared)?,
                State::Conflict if resolution == ConflictResolution::Manual => return Ok(State::Conflict),
                State::Conflict => self.resolve(&mut compared, resolution)?,
            }
        }
        Err(self.contended())
    }

    /// Writes the stored version into another folder, for a manual comparison.
    pub(crate) fn write_out(&mut self, to: PathBuf) -> Result<()> {
        let head = self.storage.head(self.key, self.watch)?.map_or(0, |block| block.sequence);
        let found = self.rows_after(0, head)?;
        // The commit needs a journal. The copy does not, so it is removed at the end.
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
