//! Finds and removes files that belong to no output.

use std::collections::BTreeSet;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

use trommel_base::files;

use crate::db::Locked;
use crate::disk;
use crate::error::Result;
use crate::layout::Part;
use crate::pending::{self, OutputLock, PendingFiles};
use crate::reports::{GcReport, RemovedFile, StrayKind};
use crate::rows::{self, Outputs};
use crate::store::Store;

/// A file that belongs to no output.
pub(crate) struct StrayFile {
    pub(crate) path: PathBuf,
    pub(crate) kind: StrayKind,
    /// The output that the file's name refers to.
    pub(crate) id: String,
}

/// Files older than an hour that appear to belong to no output and to no writer.
pub(crate) struct Leftovers {
    orphans: Vec<StrayFile>,
    pending: Vec<PendingFiles>,
}

impl Store {
    /// Collects leftover files by listing every name in the store. This is slow, so it runs before
    /// the index is locked. Each file is checked again before it is removed.
    pub(crate) fn find_leftovers(&self) -> Result<Leftovers> {
        let (mut orphans, mut pending) = (self.orphans()?, pending::pending_files(self.layout())?);
        orphans.retain(|stray| pending::is_old(&stray.path));
        pending.retain(PendingFiles::is_old);
        Ok(Leftovers { orphans, pending })
    }

    /// Removes files older than an hour that belong to no output and to no writer.
    pub(crate) fn sweep(
        &self,
        locked: &mut Locked<'_, Outputs>,
        leftovers: &Leftovers,
        report: &mut GcReport,
    ) -> Result<()> {
        for stray in &leftovers.orphans {
            self.sweep_orphan(locked, stray, report)?;
        }
        for pending in &leftovers.pending {
            self.sweep_pending(locked, pending, report)?;
        }
        Ok(())
    }

    fn sweep_orphan(
        &self,
        locked: &mut Locked<'_, Outputs>,
        stray: &StrayFile,
        report: &mut GcReport,
    ) -> Result<()> {
        if report.dry_run {
            self.record(&stray.path, stray.kind, report);
            return Ok(());
        }
        // Holding the marker keeps other processes from publishing a description for this payload
        // between the check and the removal.
        let Ok(mut output_lock) = OutputLock::acquire_to_remove(self.layout(), locked, &stray.id) else {
            return Ok(());
        };
        if !self.is_orphan(&stray.id, &stray.path) {
            return Ok(());
        }
        self.record(&stray.path, stray.kind, report);
        disk::remove(&stray.path)?;
        rows::sync_or_discard(locked, self.layout(), [stray.id.as_str()])?;
        output_lock.mark_synced();
        Ok(())
    }

    fn sweep_pending(
        &self,
        locked: &mut Locked<'_, Outputs>,
        pending: &PendingFiles,
        report: &mut GcReport,
    ) -> Result<()> {
        let is_free = pending.is_old() && !pending::is_locked(self.layout(), &pending.id);
        if !is_free {
            return Ok(());
        }
        let before = pending.files.iter().map(|path| (path, size(path))).collect::<Vec<_>>();
        if report.dry_run || pending::recover_output(self.layout(), locked, pending)? {
            for (path, bytes) in before {
                self.record_removal(path, bytes, StrayKind::Temporary, report);
            }
        }
        Ok(())
    }

    fn record(&self, path: &Path, kind: StrayKind, report: &mut GcReport) {
        self.record_removal(path, size(path), kind, report);
    }

    fn record_removal(&self, path: &Path, bytes: u64, kind: StrayKind, report: &mut GcReport) {
        report.freed_bytes += bytes;
        report.removed.push(RemovedFile { path: self.layout().relative(path), bytes, what: kind });
    }

    /// Payloads without a description, duplicate payloads of one output, and payloads in the folder
    /// of another ID.
    fn orphans(&self) -> Result<Vec<StrayFile>> {
        let mut orphans = Vec::new();
        for folder in self.layout().folders()? {
            let names = files::names(&folder)?;
            let parts = names.iter().filter_map(|name| Part::parse(name)).collect::<BTreeSet<_>>();
            for &(id, part) in parts.iter().filter(|(_, part)| *part != Part::Meta) {
                let is_double = match part {
                    Part::Packed => parts.contains(&(id, Part::Plain)),
                    Part::Plain => parts.contains(&(id, Part::Packed)),
                    Part::Meta | Part::Guide => false,
                };
                let is_described =
                    parts.contains(&(id, Part::Meta)) && !is_double && folder == self.layout().folder(id);
                let path = folder.join(format!("{id}{}", part.suffix()));
                if !is_described && !pending::is_locked(self.layout(), id) && self.is_orphan(id, &path) {
                    orphans.push(StrayFile { path, kind: StrayKind::Orphan, id: id.to_owned() });
                }
            }
        }
        Ok(orphans)
    }

    /// True if no description refers to this payload. An unreadable description might refer to it,
    /// so only the folder decides then.
    fn is_orphan(&self, id: &str, path: &Path) -> bool {
        match self.read_meta(id) {
            Ok(None) => true,
            Ok(Some(stored)) => {
                let is_guide = stored.guide.is_some() && *path == self.layout().guide(id);
                *path != self.layout().payload(id, stored.packed) && !is_guide
            }
            Err(_) => path.parent() != Some(self.layout().folder(id).as_path()),
        }
    }

    /// All files that belong to no output and to no writer, of any age.
    pub(crate) fn strays(&self) -> Result<Vec<StrayFile>> {
        let mut strays = self.orphans()?;
        for pending in pending::pending_files(self.layout())? {
            if !pending::is_locked(self.layout(), &pending.id) {
                let stray = |path| StrayFile { path, kind: StrayKind::Temporary, id: pending.id.clone() };
                strays.extend(pending.files.into_iter().map(stray));
            }
        }
        Ok(strays)
    }
}

fn size(path: &Path) -> u64 {
    files::inspect(path).ok().flatten().as_ref().map_or(0, Metadata::len)
}
