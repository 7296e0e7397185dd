//! Files that belong to no output.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::PathBuf;

use crate::db::Locked;
use crate::disk;
use crate::error::Result;
use crate::layout::Part;
use crate::pending::{self, Left};
use crate::reports::{Removed, Stray, Swept};
use crate::rows::Outputs;
use crate::store::Store;

/// A file that belongs to nothing.
pub(crate) struct Found {
    pub(crate) path: PathBuf,
    pub(crate) what: Stray,
    /// The output that it would belong to.
    pub(crate) id: String,
}

impl Store {
    /// Removes what belongs to no output and to no writer, and is older than an hour.
    pub(crate) fn sweep(&self, locked: &mut Locked<'_, Outputs>, swept: &mut Swept) -> Result<()> {
        let orphans = self.orphans()?.into_iter().filter(|found| pending::is_old(&found.path));
        for found in orphans.collect::<Vec<_>>() {
            self.note(&found.path, found.what, swept);
            if !swept.dry_run {
                disk::remove(&found.path)?;
            }
        }
        for left in pending::left(self.layout())? {
            self.sweep_pending(locked, &left, swept)?;
        }
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

    fn note(&self, path: &PathBuf, what: Stray, swept: &mut Swept) {
        self.note_bytes(path, size(path), what, swept);
    }

    fn note_bytes(&self, path: &PathBuf, bytes: u64, what: Stray, swept: &mut Swept) {
        swept.freed_bytes += bytes;
        swept.removed.push(Removed { path: self.layout().relative(path), bytes, what });
    }

    /// Payloads without a description, and second payloads.
    fn orphans(&self) -> Result<Vec<Found>> {
        let mut orphans = Vec::new();
        for folder in self.layout().folders()? {
            let names = disk::names(&folder)?;
            let parts = names.iter().filter_map(|name| Some((name, Part::of(name)?)));
            let parts = parts.collect::<Vec<_>>();
            let described = parts.iter().filter(|(_, (_, part))| *part == Part::Meta);
            let described = described.map(|(_, (id, _))| *id).collect::<BTreeSet<_>>();
            let orphaned =
                parts.iter().filter(|(_, (id, part))| *part != Part::Meta && !described.contains(id));
            orphans.extend(orphaned.filter(|(_, (id, _))| !pending::is_held(self.layout(), id)).map(
                |(name, (id, _))| Found {
                    path: folder.join(name),
                    what: Stray::Orphan,
                    id: (*id).to_owned(),
                },
            ));
        }
        Ok(orphans)
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

fn size(path: &PathBuf) -> u64 {
    disk::look(path).ok().flatten().as_ref().map_or(0, Metadata::len)
}
