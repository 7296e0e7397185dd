//! Retention: pins, deletion, and limits.

use std::fs::File;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::{Transaction, params};
use trommel_base::{Progress, files};

use crate::control::Control;
use crate::db::{Fault, Locked, TransactionResult};
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::options::{GcOptions, Limits};
use crate::output::Stored;
use crate::pending::OutputLock;
use crate::put::too_long;
use crate::reports::{Evicted, EvictionReason, GcReport};
use crate::rows::{self, Outputs, Totals};
use crate::store::Store;
use crate::{clock, disk, id, meta};

/// Rows read per query.
const ROWS_PER_QUERY: u32 = 256;
/// Outputs evicted per index transaction.
const EVICTION_BATCH: usize = 64;

impl Store {
    /// Pins an output, which prevents its eviction, or unpins it.
    pub fn pin(&self, id_or_prefix: &str, pinned: bool) -> Result<Stored> {
        let id = self.resolve_in_files(id_or_prefix)?;
        let mut output_lock = OutputLock::acquire(self.layout(), &id)?;
        let (mut stored, bytes) = self.read_sealed(&id)?.ok_or_else(|| self.not_found(&id))?;
        if stored.pinned == pinned {
            return Ok(stored);
        }
        stored.pinned = pinned;
        let (mut file, path) = output_lock.create_file("meta")?;
        files::write(&mut file, &path, &meta::pin(&bytes, pinned)?)?;
        files::sync(&file, &path)?;
        drop(file);
        // The rename is the commit point. If a later step fails, the marker stays behind and the
        // index is synchronized when the store is opened next.
        output_lock.publish(&path, &self.layout().meta(&id))?;
        let listed = self.sync_names(&id).and_then(|()| self.sync(std::slice::from_ref(&id)));
        listed.inspect_err(|_| output_lock.mark_unsynced())?;
        output_lock.mark_synced();
        Ok(stored)
    }

    /// Syncs the folder of an output, so that renames and removals are durable.
    fn sync_names(&self, id: &str) -> Result<()> {
        Ok(files::sync_folder(&self.layout().folder(id))?)
    }

    /// Deletes an output, even a damaged one or one being read, and returns its ID. A pinned output
    /// is refused.
    ///
    /// Deletion needs no free disk space.
    pub fn delete(&self, id_or_prefix: &str) -> Result<String> {
        let id = self.resolve_in_files(id_or_prefix)?;
        // Lock order: marker first, then index, because a process that holds the marker may be
        // waiting for the index. The exception is a full disk, where the index is locked first so
        // that discarding it makes room for the marker.
        let mut locked = None;
        let mut output_lock = match OutputLock::acquire(self.layout(), &id) {
            Err(error) if error.class() == ErrorClass::Full => {
                OutputLock::acquire_to_remove(self.layout(), locked.insert(self.index().lock()?), &id)?
            }
            taken => taken?,
        };
        match self.read_meta(&id) {
            Ok(Some(stored)) if stored.pinned => {
                return Err(ErrorKind::Pinned(id).into());
            }
            Ok(None) => return Err(self.not_found(&id)),
            Ok(Some(_)) | Err(_) => {}
        }
        let deleted = self.remove_files(&id).and_then(|()| self.sync_names(&id));
        let listed = locked
            .map_or_else(|| self.index().lock(), Ok)
            .and_then(|mut locked| rows::sync_or_discard(&mut locked, self.layout(), [id.as_str()]));
        deleted.and(listed).inspect_err(|_| output_lock.mark_unsynced())?;
        output_lock.mark_synced();
        Ok(id)
    }

    /// Evicts the oldest outputs until the rest is within the limits. Removes files older than an
    /// hour that belong to no output.
    ///
    /// Outputs that are pinned, damaged (and therefore possibly pinned), or being read stay.
    ///
    /// The descriptions decide which outputs are evicted. Before a limit on count or bytes evicts
    /// anything, the index is compared with them. Eviction needs no free disk space.
    pub fn gc(&self, options: &GcOptions) -> Result<GcReport> {
        self.gc_with(options, &Control::new())
    }

    /// Like [`gc`](Self::gc), with a [`Control`] that can cancel between two batches of evictions
    /// and reports progress in outputs.
    pub fn gc_with(&self, options: &GcOptions, control: &Control) -> Result<GcReport> {
        let limits = options.limits.as_ref().unwrap_or(&self.options().limits);
        // Listing all files is slow, so it happens before the index is locked.
        let leftovers = self.find_leftovers()?;
        let mut locked = self.index().lock()?;
        let mut report = GcReport { dry_run: options.dry_run, ..GcReport::default() };
        let plan = self.plan(&mut locked, limits, None)?;
        (report.spared_pinned, report.spared_open) = (plan.spared_pinned, plan.spared_open);
        let Totals { mut count, mut bytes } = plan.left;
        let planned = plan.victims.len();
        let planned_bytes = plan.victims.iter().map(|victim| victim.bytes).sum::<u64>();
        if options.dry_run {
            report.evicted = plan.victims;
        } else {
            self.evict(&mut locked, plan.victims, &mut report.evicted, control)?;
        }
        let evicted_bytes = report.evicted.iter().map(|evicted| evicted.bytes).sum::<u64>();
        let spared = (planned - report.evicted.len()) as u64;
        (count, bytes) = (count + spared, bytes + planned_bytes - evicted_bytes);
        report.spared_open += spared;
        report.freed_bytes += evicted_bytes;
        self.sweep(&mut locked, &leftovers, &mut report)?;
        (report.left_count, report.left_bytes) = (count, bytes);
        locked.truncate();
        Ok(report)
    }

    /// Evicts outputs to make room for a new one that is already in the index. If the limits cannot
    /// be met, returns an error and evicts nothing.
    pub(crate) fn make_room(
        &self,
        locked: &mut Locked<'_, Outputs>,
        limits: &Limits,
        new: &str,
    ) -> Result<()> {
        let plan = self.plan(locked, limits, Some(new))?;
        if let Some(reason) = plan.unmet {
            return Err(no_room(&plan, limits, reason));
        }
        // An output that is now being read, or cannot be removed, is evicted next time. The new
        // output is already stored, so this is not an error.
        let _ = self.evict(locked, plan.victims, &mut Vec::new(), &Control::new());
        Ok(())
    }

    /// Selects the outputs to evict, oldest first.
    ///
    /// The age of an output depends on that output alone, and is checked again before its removal.
    /// Count and bytes depend on all outputs. If the index reports that they exceed a limit, it is
    /// first compared with all descriptions, once per process. The seal of the index reveals later
    /// changes by other programs.
    fn plan(&self, locked: &mut Locked<'_, Outputs>, limits: &Limits, new: Option<&str>) -> Result<Plan> {
        let plan = locked.survey(false, |transaction| self.plan_within(transaction, limits, new))?;
        let needs_all =
            plan.unmet.is_some() || plan.victims.iter().any(|victim| victim.reason != EvictionReason::Age);
        if !needs_all || self.audited().load(Ordering::Relaxed) {
            return Ok(plan);
        }
        let plan = locked.survey(true, |transaction| self.plan_within(transaction, limits, new))?;
        self.audited().store(true, Ordering::Relaxed);
        Ok(plan)
    }

    fn plan_within(
        &self,
        transaction: &Transaction<'_>,
        limits: &Limits,
        new: Option<&str>,
    ) -> TransactionResult<Plan> {
        let left = rows::totals(transaction)?;
        let oldest = limits.age.map(|age| clock::now_ms().saturating_sub(milliseconds(age)));
        let mut plan = Plan { left, ..Plan::default() };
        let mut last = (i64::MIN, String::new());
        loop {
            let batch = oldest_after(transaction, &last)?;
            let Some(end) = batch.last() else { break };
            last = (end.created_at, end.id.clone());
            for candidate in batch {
                let Some(reason) = plan.reason(limits, oldest, candidate.created_at) else { return Ok(plan) };
                self.consider(&mut plan, candidate, reason, new);
            }
        }
        plan.unmet = plan.over(limits);
        Ok(plan)
    }

    fn consider(&self, plan: &mut Plan, candidate: Candidate, reason: EvictionReason, new: Option<&str>) {
        let Candidate { id, created_at, bytes, kept } = candidate;
        if new == Some(id.as_str()) {
            return;
        }
        if kept {
            plan.spared_pinned += 1;
        } else if self.is_open(&id) {
            plan.spared_open += 1;
        } else {
            plan.left.count = plan.left.count.saturating_sub(1);
            plan.left.bytes = plan.left.bytes.saturating_sub(bytes);
            plan.victims.push(Evicted { id, created_at, bytes, reason });
        }
    }

    /// Locks the payload files of an output so that no reader can open them. Returns `None` if a
    /// reader already has one open.
    fn lock_payload(&self, id: &str) -> Option<Vec<File>> {
        let mut locked_files = Vec::new();
        for packed in [false, true] {
            if let Ok(file) = disk::open(&self.layout().payload(id, packed)) {
                file.try_lock().ok()?;
                locked_files.push(file);
            }
        }
        Some(locked_files)
    }

    /// True if an output is being read.
    fn is_open(&self, id: &str) -> bool {
        self.lock_payload(id).is_none()
    }

    /// Removes outputs that are not being read or changed, and records the removed ones in
    /// `evicted`.
    fn evict(
        &self,
        locked: &mut Locked<'_, Outputs>,
        victims: Vec<Evicted>,
        evicted: &mut Vec<Evicted>,
        control: &Control,
    ) -> Result<()> {
        let mut progress = Progress::default().with_items(0, Some(victims.len() as u64));
        let mut victims = victims.into_iter().peekable();
        while victims.peek().is_some() {
            control.report_progress(progress)?;
            let mut locks = Vec::new();
            let removed: Result<()> = victims.by_ref().take(EVICTION_BATCH).try_for_each(|victim| {
                if self.remove_if_unchanged(locked, &victim, &mut locks)? {
                    evicted.push(victim);
                }
                progress.items += 1;
                Ok(())
            });
            // Rows are removed in batches and after the files, because removing the files makes
            // room for the transaction on a full disk.
            let listed = rows::sync_or_discard(locked, self.layout(), locks.iter().map(OutputLock::id));
            let done = removed.and(listed);
            for output_lock in &mut locks {
                if done.is_ok() { output_lock.mark_synced() } else { output_lock.mark_unsynced() }
            }
            done?;
        }
        Ok(())
    }

    /// Removes the files of an output. Returns false if another process reads or changes it, or if
    /// its description changed after it was selected.
    fn remove_if_unchanged(
        &self,
        locked: &mut Locked<'_, Outputs>,
        victim: &Evicted,
        locks: &mut Vec<OutputLock>,
    ) -> Result<bool> {
        let output_lock = match OutputLock::acquire_to_remove(self.layout(), locked, &victim.id) {
            Ok(output_lock) => output_lock,
            Err(error) if error.class() == ErrorClass::Exists => return Ok(false),
            Err(error) => return Err(error),
        };
        // The lock on the payload excludes new readers until the files are removed.
        let Some(_payload_lock) = self.lock_payload(&victim.id) else { return Ok(false) };
        // The output may have been pinned, replaced, or deleted since it was selected. A damaged
        // output may be pinned.
        let is_chosen = match self.read_meta(&victim.id) {
            Err(error) if !matches!(error.class(), ErrorClass::Corrupt | ErrorClass::Version) => {
                return Err(error);
            }
            Ok(Some(stored)) => {
                // A release without guides has counted the payload alone.
                let is_same = [stored.bytes_on_disk(), stored.disk_bytes].contains(&victim.bytes);
                !stored.pinned && stored.created_at == victim.created_at && is_same
            }
            Ok(None) | Err(_) => false,
        };
        if !is_chosen {
            return Ok(false);
        }
        locks.push(output_lock);
        self.remove_files(&victim.id).map(|()| true)
    }
}

/// The outputs to evict, and the totals after their eviction.
#[derive(Debug, Default)]
struct Plan {
    victims: Vec<Evicted>,
    left: Totals,
    spared_pinned: u64,
    spared_open: u64,
    /// A limit that is still exceeded after all evictions.
    unmet: Option<EvictionReason>,
}

impl Plan {
    /// The limit that requires evicting the oldest remaining output.
    fn reason(&self, limits: &Limits, oldest: Option<i64>, created_at: i64) -> Option<EvictionReason> {
        let is_old = oldest.is_some_and(|oldest| created_at < oldest);
        if is_old { Some(EvictionReason::Age) } else { self.over(limits) }
    }

    /// The limit that is exceeded.
    fn over(&self, limits: &Limits) -> Option<EvictionReason> {
        if limits.count.is_some_and(|limit| self.left.count > limit) {
            return Some(EvictionReason::Count);
        }
        limits.bytes.filter(|limit| self.left.bytes > *limit).map(|_| EvictionReason::Bytes)
    }
}

fn no_room(plan: &Plan, limits: &Limits, reason: EvictionReason) -> Error {
    let Plan { spared_pinned: pinned, spared_open: open, .. } = *plan;
    let (what, limit) = match reason {
        EvictionReason::Bytes => ("bytes", limits.bytes),
        EvictionReason::Age | EvictionReason::Count => ("outputs", limits.count),
    };
    // Only a limit that is set can be exceeded.
    let limit = limit.unwrap_or(u64::MAX);
    if pinned + open == 0 && reason == EvictionReason::Bytes {
        return too_long(plan.left.bytes, limit);
    }
    ErrorKind::NoRoom { limit, what, pinned, open }.into()
}

fn milliseconds(age: Duration) -> i64 {
    i64::try_from(age.as_millis()).unwrap_or(i64::MAX)
}

/// An output that may be evicted.
struct Candidate {
    id: String,
    created_at: i64,
    bytes: u64,
    kept: bool,
}

/// Returns the next outputs in order of creation. Fails if the index returns them out of order:
/// paging through such a damaged index might never end.
fn oldest_after(transaction: &Transaction<'_>, after: &(i64, String)) -> TransactionResult<Vec<Candidate>> {
    let mut statement = transaction.prepare_cached(
        "SELECT id, created_at, disk, kept FROM output WHERE (created_at, id) > (?1, ?2)
         ORDER BY created_at, id LIMIT ?3",
    )?;
    let candidates = statement.query_map(params![after.0, after.1, ROWS_PER_QUERY], |row| {
        let bytes = rows::unsigned(row, 2)?;
        Ok(Candidate { id: row.get(0)?, created_at: row.get(1)?, bytes, kept: row.get(3)? })
    })?;
    let candidates = candidates.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut last = (after.0, after.1.as_str());
    for candidate in &candidates {
        let this = (candidate.created_at, candidate.id.as_str());
        if this <= last || !id::is_valid(&candidate.id) {
            return Err(Fault::Damaged("outputs are not in order of creation".into()));
        }
        last = this;
    }
    Ok(candidates)
}
