//! What is kept and what goes: pins, deletion, and limits.

use std::fs::File;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::{Transaction, params};
use trommel_base::{Progress, files};

use crate::control::Control;
use crate::db::{Done, Fault, Locked};
use crate::error::{Error, ErrorClass, ErrorKind, Result};
use crate::options::{GcOptions, Limits};
use crate::output::Stored;
use crate::pending::Held;
use crate::put::too_long;
use crate::reports::{Evicted, Reason, Swept};
use crate::rows::{self, Outputs, Totals};
use crate::store::Store;
use crate::{clock, disk, id, meta};

/// Rows that are looked at at a time.
const SOME: u32 = 256;
/// Outputs that are evicted in one go.
const AT_ONCE: usize = 64;

impl Store {
    /// Keeps an output from being evicted, or no longer.
    pub fn pin(&self, id_or_prefix: &str, pinned: bool) -> Result<Stored> {
        let id = self.resolve_in_files(id_or_prefix)?;
        let mut held = Held::take(self.layout(), &id)?;
        let (mut stored, bytes) = self.read_sealed(&id)?.ok_or_else(|| self.not_found(&id))?;
        if stored.pinned == pinned {
            return Ok(stored);
        }
        stored.pinned = pinned;
        let (mut file, path) = held.create("meta")?;
        files::write(&mut file, &path, &meta::pin(&bytes, pinned)?)?;
        files::sync(&file, &path)?;
        drop(file);
        // From here on it is done, and whatever goes wrong is put in order when the store is opened
        // next.
        held.publish(&path, &self.layout().meta(&id))?;
        let listed = self.sync_names(&id).and_then(|()| self.sync(std::slice::from_ref(&id)));
        listed.inspect_err(|_| held.leave())?;
        held.settle();
        Ok(stored)
    }

    /// Brings the names in the folder of an output to the disk.
    fn sync_names(&self, id: &str) -> Result<()> {
        Ok(files::sync_folder(&self.layout().folder(id))?)
    }

    /// Deletes an output, damaged or not, even while it is read, and returns its id. One that is
    /// pinned is refused.
    ///
    /// It needs no free space on the disk.
    pub fn delete(&self, id_or_prefix: &str) -> Result<String> {
        let id = self.resolve_in_files(id_or_prefix)?;
        // The lock of the index comes second, as a process that has the marker may wait for it.
        // Only on a full disk it is needed for the marker.
        let mut locked = None;
        let mut held = match Held::take(self.layout(), &id) {
            Err(error) if error.class() == ErrorClass::Full => {
                Held::take_to_remove(self.layout(), locked.insert(self.index().lock()?), &id)?
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
        let deleted = self.withdraw(&id).and_then(|()| self.sync_names(&id));
        let listed = locked
            .map_or_else(|| self.index().lock(), Ok)
            .and_then(|mut locked| rows::sync_or_discard(&mut locked, self.layout(), [id.as_str()]));
        deleted.and(listed).inspect_err(|_| held.leave())?;
        held.settle();
        Ok(id)
    }

    /// Evicts the oldest outputs until the rest is within the limits, and removes files that belong
    /// to no output and are older than an hour. Outputs that are pinned, damaged (they may be
    /// pinned), or being read stay.
    ///
    /// Which outputs go is decided by their descriptions: before a limit to the number or to the
    /// bytes evicts anything, the index is compared with them. It needs no free space on the disk.
    pub fn gc(&self, options: &GcOptions) -> Result<Swept> {
        self.gc_with(options, &Control::new())
    }

    /// The same with a [`Control`], which can cancel it between two evictions, and reports outputs
    /// to be evicted.
    pub fn gc_with(&self, options: &GcOptions, control: &Control) -> Result<Swept> {
        let limits = options.limits.as_ref().unwrap_or(&self.options().limits);
        let litter = self.litter()?;
        let mut locked = self.index().lock()?;
        let mut swept = Swept { dry_run: options.dry_run, ..Swept::default() };
        let plan = self.plan(&mut locked, limits, None)?;
        (swept.spared_pinned, swept.spared_open) = (plan.spared_pinned, plan.spared_open);
        let Totals { mut count, mut bytes } = plan.left;
        let planned = plan.victims.len();
        let planned_bytes = plan.victims.iter().map(|victim| victim.bytes).sum::<u64>();
        if options.dry_run {
            swept.evicted = plan.victims;
        } else {
            self.evict(&mut locked, plan.victims, &mut swept.evicted, control)?;
        }
        let evicted_bytes = swept.evicted.iter().map(|evicted| evicted.bytes).sum::<u64>();
        let spared = (planned - swept.evicted.len()) as u64;
        (count, bytes) = (count + spared, bytes + planned_bytes - evicted_bytes);
        swept.spared_open += spared;
        swept.freed_bytes += evicted_bytes;
        self.sweep(&mut locked, &litter, &mut swept)?;
        (swept.left_count, swept.left_bytes) = (count, bytes);
        locked.truncate();
        Ok(swept)
    }

    /// Makes room for a new output that is in the index already. An error, and nothing evicted,
    /// where that cannot be.
    pub(crate) fn make_room(
        &self,
        locked: &mut Locked<'_, Outputs>,
        limits: &Limits,
        new: &str,
    ) -> Result<()> {
        let plan = self.plan(locked, limits, Some(new))?;
        if let Some(reason) = plan.missed {
            return Err(no_room(&plan, limits, reason));
        }
        // One that a process has begun to read, or that cannot be removed, goes next time: the new
        // one is stored, and that is what was asked for.
        let _ = self.evict(locked, plan.victims, &mut Vec::new(), &Control::new());
        Ok(())
    }

    /// Chooses what is to go: the oldest first.
    ///
    /// Age is a matter of one output, which is checked again before it goes. Number and bytes are a
    /// matter of all: when the index says that there are too many, it is first compared with all
    /// descriptions, once in this process. Later changes by others show in its seal.
    fn plan(&self, locked: &mut Locked<'_, Outputs>, limits: &Limits, new: Option<&str>) -> Result<Plan> {
        let plan = locked.survey(false, |transaction| self.plan_within(transaction, limits, new))?;
        let needs_all =
            plan.missed.is_some() || plan.victims.iter().any(|victim| victim.reason != Reason::Age);
        if !needs_all || self.audited().load(Ordering::Relaxed) {
            return Ok(plan);
        }
        let plan = locked.survey(true, |transaction| self.plan_within(transaction, limits, new))?;
        self.audited().store(true, Ordering::Relaxed);
        Ok(plan)
    }

    fn plan_within(&self, transaction: &Transaction<'_>, limits: &Limits, new: Option<&str>) -> Done<Plan> {
        let left = rows::totals(transaction)?;
        let oldest = limits.age.map(|age| clock::now_ms().saturating_sub(milliseconds(age)));
        let mut plan = Plan { left, ..Plan::default() };
        let mut last = (i64::MIN, String::new());
        loop {
            let some = oldest_after(transaction, &last)?;
            let Some(end) = some.last() else { break };
            last = (end.created_at, end.id.clone());
            for candidate in some {
                let Some(reason) = plan.reason(limits, oldest, candidate.created_at) else { return Ok(plan) };
                self.consider(&mut plan, candidate, reason, new);
            }
        }
        plan.missed = plan.over(limits);
        Ok(plan)
    }

    fn consider(&self, plan: &mut Plan, candidate: Candidate, reason: Reason, new: Option<&str>) {
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

    /// The payload of an output, locked so that nobody can begin to read it; nothing when somebody
    /// does read it.
    fn claim(&self, id: &str) -> Option<Vec<File>> {
        let mut claimed = Vec::new();
        for packed in [false, true] {
            if let Ok(file) = disk::open(&self.layout().payload(id, packed)) {
                file.try_lock().ok()?;
                claimed.push(file);
            }
        }
        Some(claimed)
    }

    /// Whether somebody reads an output.
    fn is_open(&self, id: &str) -> bool {
        self.claim(id).is_none()
    }

    /// Removes outputs unless somebody reads or changes them, and says which are gone.
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
            control.pass(progress)?;
            let mut taken = Vec::new();
            let removed: Result<()> = victims.by_ref().take(AT_ONCE).try_for_each(|victim| {
                if self.take_away(locked, &victim, &mut taken)? {
                    evicted.push(victim);
                }
                progress.items += 1;
                Ok(())
            });
            // Several in one go, and after their files: on a disk that is full there is room for it
            // then.
            let listed = rows::sync_or_discard(locked, self.layout(), taken.iter().map(Held::id));
            let done = removed.and(listed);
            for held in &mut taken {
                if done.is_ok() { held.settle() } else { held.leave() }
            }
            done?;
        }
        Ok(())
    }

    /// Removes the files of an output; false if a process reads or changes it, or if its
    /// description is not the one that it was chosen by.
    fn take_away(
        &self,
        locked: &mut Locked<'_, Outputs>,
        victim: &Evicted,
        taken: &mut Vec<Held>,
    ) -> Result<bool> {
        let held = match Held::take_to_remove(self.layout(), locked, &victim.id) {
            Ok(held) => held,
            Err(error) if error.class() == ErrorClass::Exists => return Ok(false),
            Err(error) => return Err(error),
        };
        let Some(_claimed) = self.claim(&victim.id) else { return Ok(false) };
        // It may have been pinned, replaced, or deleted a moment ago, and one that is damaged may
        // be pinned.
        let is_chosen = match self.read_meta(&victim.id) {
            Err(error) if !matches!(error.class(), ErrorClass::Corrupt | ErrorClass::Version) => {
                return Err(error);
            }
            Ok(Some(stored)) => {
                !stored.pinned && stored.created_at == victim.created_at && stored.disk_bytes == victim.bytes
            }
            Ok(None) | Err(_) => false,
        };
        if !is_chosen {
            return Ok(false);
        }
        taken.push(held);
        self.withdraw(&victim.id).map(|()| true)
    }
}

/// What is to go, and how much there is then.
#[derive(Debug, Default)]
struct Plan {
    victims: Vec<Evicted>,
    left: Totals,
    spared_pinned: u64,
    spared_open: u64,
    /// The limit that is not kept to even then.
    missed: Option<Reason>,
}

impl Plan {
    /// Why the oldest output that is left has to go.
    fn reason(&self, limits: &Limits, oldest: Option<i64>, created_at: i64) -> Option<Reason> {
        let is_old = oldest.is_some_and(|oldest| created_at < oldest);
        if is_old { Some(Reason::Age) } else { self.over(limits) }
    }

    /// Which limit is not kept to.
    fn over(&self, limits: &Limits) -> Option<Reason> {
        if limits.count.is_some_and(|limit| self.left.count > limit) {
            return Some(Reason::Count);
        }
        limits.bytes.filter(|limit| self.left.bytes > *limit).map(|_| Reason::Bytes)
    }
}

fn no_room(plan: &Plan, limits: &Limits, reason: Reason) -> Error {
    let Plan { spared_pinned: pinned, spared_open: open, .. } = *plan;
    let (what, limit) = match reason {
        Reason::Bytes => ("bytes", limits.bytes),
        Reason::Age | Reason::Count => ("outputs", limits.count),
    };
    // A limit that is missed is set.
    let limit = limit.unwrap_or(u64::MAX);
    if pinned + open == 0 && reason == Reason::Bytes {
        return too_long(plan.left.bytes, limit);
    }
    ErrorKind::NoRoom { limit, what, pinned, open }.into()
}

fn milliseconds(age: Duration) -> i64 {
    i64::try_from(age.as_millis()).unwrap_or(i64::MAX)
}

/// An output that may have to go.
struct Candidate {
    id: String,
    created_at: i64,
    bytes: u64,
    kept: bool,
}

/// The oldest outputs after a position in that order. An index that does not have them in their
/// order is damaged: a search from the last one on would not come to an end.
fn oldest_after(transaction: &Transaction<'_>, after: &(i64, String)) -> Done<Vec<Candidate>> {
    let mut statement = transaction.prepare_cached(
        "SELECT id, created_at, disk, kept FROM output WHERE (created_at, id) > (?1, ?2)
         ORDER BY created_at, id LIMIT ?3",
    )?;
    let candidates = statement.query_map(params![after.0, after.1, SOME], |row| {
        let bytes = rows::unsigned(row, 2)?;
        Ok(Candidate { id: row.get(0)?, created_at: row.get(1)?, bytes, kept: row.get(3)? })
    })?;
    let candidates = candidates.collect::<rusqlite::Result<Vec<_>>>()?;
    let mut last = (after.0, after.1.as_str());
    for candidate in &candidates {
        let this = (candidate.created_at, candidate.id.as_str());
        if this <= last || !id::is_valid(&candidate.id) {
            return Err(Fault::Damaged("outputs are not in the order of their times".into()));
        }
        last = this;
    }
    Ok(candidates)
}
