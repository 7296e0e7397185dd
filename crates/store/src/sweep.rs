//! Files that belong to no output.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use trommel_base::files;

use crate::db::Locked;
use crate::disk;
use crate::error::Result;
use crate::layout::Part;
use crate::pending::{self, Held, Left};
use crate::reports::{Removed, Stray, Swept};
use crate::rows::{self, Outputs};
use crate::store::Store;

/// A file that belongs to nothing.
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) what: Stray,
    /// The output that it would belong to.
    pub(crate) id: String,
}

/// What seems to belong to no output and to no writer, and is older than an hour.
pub(crate) struct Litter {
    orphans: Vec<Found>,
    left: Vec<Left>,
}

impl Store {
    /// Looks through all names, which takes its time: nobody is to wait for it. What is found is
    /// looked at again before it goes.
    pub(crate) fn litter(&self) -> Result<Litter> {
        let (mut orphans, mut left) = (self.orphans()?, pending::left(self.layout())?);
        orphans.retain(|found| pending::is_old(&found.path));
        left.retain(Left::is_old);
        Ok(Litter { orphans, left })
    }

    /// Removes what belongs to no output and to no writer, and is older than an hour.
    pub(crate) fn sweep(
        &self,
        locked: &mut Locked<'_, Outputs>,
        litter: &Litter,
        swept: &mut Swept,
    ) -> Result<()> {
        for found in &litter.orphans {
            self.sweep_orphan(locked, found, swept)?;
        }
        for left in &litter.left {
            self.sweep_pending(locked, left, swept)?;
        }
        Ok(())
    }

    fn sweep_orphan(&self, locked: &mut Locked<'_, Outputs>, found: &Found, swept: &mut Swept) -> Result<()> {
        if swept.dry_run {
            self.note(&found.path, found.what, swept);
            return Ok(());
        }
        // Nobody may give it a description between the last look at it and its end.
        let Ok(mut held) = Held::take_to_remove(self.layout(), locked, &found.id) else { return Ok(()) };
        if !self.is_orphan(&found.id, &found.path) {
            return Ok(());
        }
        self.note(&found.path, found.what, swept);
        disk::remove(&found.path)?;
        rows::sync_or_discard(locked, self.layout(), [found.id.as_str()])?;
        held.settle();
        Ok(())
    }

    fn sweep_pending(&self, locked: &mut Locked<'_, Outputs>, left: &Left, swept: &mut Swept) -> Result<()> {
        let is_free = left.is_old() && !pending::is_held(self.layout(), &left.id);
        if !is_free {
            return Ok(());
        }
        let before = left.files.iter().map(|path| (path, size(path))).collect::<Vec<_>>();
        if swept.dry_run || pending::settle(self.layout(), locked, left)? {
            for (path, bytes) in before {
                self.note_bytes(path, bytes, Stray::Temporary, swept);
            }
        }
        Ok(())
    }

    fn note(&self, path: &Path, what: Stray, swept: &mut Swept) {
        self.note_bytes(path, size(path), what, swept);
    }

    fn note_bytes(&self, path: &Path, bytes: u64, what: Stray, swept: &mut Swept) {
        swept.freed_bytes += bytes;
        swept.removed.push(Removed { path: self.layout().relative(path), bytes, what });
    }

    /// Payloads without a description, second payloads, and those in the folder of others.
    fn orphans(&self) -> Result<Vec<Found>> {
        let mut orphans = Vec::new();
        for folder in self.layout().folders()? {
            let names = files::names(&folder)?;
            let parts = names.iter().filter_map(|name| Part::of(name)).collect::<BTreeSet<_>>();
            for &(id, part) in parts.iter().filter(|(_, part)| *part != Part::Meta) {
                let other = if part == Part::Packed { Part::Plain } else { Part::Packed };
                let is_plain_case = parts.contains(&(id, Part::Meta))
                    && !parts.contains(&(id, other))
                    && folder == self.layout().folder(id);
                let path = folder.join(format!("{id}{}", part.ending()));
                if !is_plain_case && !pending::is_held(self.layout(), id) && self.is_orphan(id, &path) {
                    orphans.push(Found { path, what: Stray::Orphan, id: id.to_owned() });
                }
            }
        }
        Ok(orphans)
    }

    /// Whether a payload is not the one that a description speaks of. Where that cannot be read it
    /// may be.
    fn is_orphan(&self, id: &str, path: &Path) -> bool {
        match self.read_meta(id) {
            Ok(None) => true,
            Ok(Some(stored)) => *path != self.layout().payload(id, stored.packed),
            Err(_) => path.parent() != Some(self.layout().folder(id).as_path()),
        }
    }

    /// All files that belong to no output and to no writer, however old.
    pub(crate) fn strays(&self) -> Result<Vec<Found>> {
        let mut strays = self.orphans()?;
        for left in pending::left(self.layout())? {
            if !pending::is_held(self.layout(), &left.id) {
                let found = |path| Found { path, what: Stray::Temporary, id: left.id.clone() };
                strays.extend(left.files.into_iter().map(found));
            }
        }
        Ok(strays)
    }
}

fn size(path: &Path) -> u64 {
    files::inspect(path).ok().flatten().as_ref().map_or(0, Metadata::len)
}
