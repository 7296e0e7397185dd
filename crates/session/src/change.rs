//! Several files of a session changed as one: whatever happens in between, afterwards all are the old ones or all the new ones.
//!
//! | after | what there is | who goes on |
//! | --- | --- | --- |
//! | backups and new contents are written and read back | the old files; what was written has names of its own | the next change sweeps new contents away |
//! | the plan has its name | the old files, and a promise | whoever looks for the session next gives the new contents their names |
//! | some new contents have their names | a mixture that nobody sees who asks for the session here | the same |
//! | the plan has become a record | the new files, and how to go back | nothing is left to do |

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::disk;
use crate::error::{Error, ErrorKind, Result, shown_path};
use crate::records::Log;
use crate::session::{EVENTS, Format, METADATA, Session, Source, TRANSCRIPT};
use crate::time::{digits, undigits};
use crate::watch::Watch;

/// The plan of a change that was decided.
const PLAN: &str = ".trommel-change.json";

/// What begins the names of new contents.
const NEW: &str = ".trommel-new-";

/// What begins the names of records of changes that were made.
const RECORD: &str = ".trommel-made-";

/// The files that can be changed.
const FILES: [&str; 3] = [METADATA, TRANSCRIPT, EVENTS];

/// The version of plans and records.
const VERSION: u32 = 1;

/// Why a session was changed; it names the backups.
pub(crate) const REWIND: &str = "pre-rewind";
pub(crate) const REPAIR: &str = "pre-repair";
pub(crate) const UNDO: &str = "pre-undo";

/// A change: decided, or made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    version: u32,
    pub(crate) label: String,
    pub(crate) stamp: String,
    pub(crate) files: Vec<Changed>,
}

/// What a plan of any version says of itself.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

/// One file of a change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Changed {
    pub(crate) name: String,
    before: Print,
    after: Print,
}

/// What tells contents apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Print {
    bytes: u64,
    blake3: String,
}

impl Plan {
    pub(crate) fn backup(&self, name: &str) -> String {
        format!("{name}.bak-{}-{}", self.label, self.stamp)
    }

    fn record(&self) -> String {
        format!("{RECORD}{}-{}.json", self.stamp, self.label)
    }
}

/// Writes a file's new content.
pub(crate) type Fill<'f> = dyn FnMut(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + 'f;

/// A file to change: what it was when the change was thought of, and how it is to be.
pub(crate) struct Change<'f> {
    pub(crate) name: &'static str,
    pub(crate) was: &'f Log,
    pub(crate) fill: Box<Fill<'f>>,
}

/// The right to change a session's files.
pub(crate) struct Held<'s> {
    session: &'s Session,
    _lock: File,
}

/// Takes the right to change a session, of which nothing is left half done then.
pub(crate) fn hold(session: &Session) -> Result<Held<'_>> {
    let held = Held { session, _lock: disk::lock(&session.path)? };
    if let Some(plan) = held.read(PLAN)? {
        held.finish(&plan)?;
    }
    for (name, path) in held.names()? {
        if name.starts_with(NEW) {
            disk::remove(&path)?;
        }
    }
    Ok(held)
}

/// Brings a change to its end that was decided and cut off. A mirror is not ours to change.
pub(crate) fn recover(session: &Session) -> Result<()> {
    let is_there = |path: PathBuf| path.symlink_metadata().is_ok();
    let is_ours = session.format == Format::Amplifier && session.source != Source::Cloud;
    if is_ours && is_there(session.path.join(PLAN)) {
        hold(session).map(drop)?;
    }
    Ok(())
}

impl Held<'_> {
    fn path(&self, name: &str) -> PathBuf {
        self.session.path.join(name)
    }

    fn new_path(&self, name: &str) -> PathBuf {
        self.path(&format!("{NEW}{name}"))
    }

    fn names(&self) -> Result<Vec<(String, PathBuf)>> {
        let failed = |cause| Error::io("look into", &self.session.path, cause);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.session.path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            names.extend(entry.file_name().into_string().ok().map(|name| (name, entry.path())));
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Changes files, all or none; how it was done.
    pub(crate) fn change(
        &self,
        label: &str,
        now: Timestamp,
        files: Vec<Change<'_>>,
        watch: &Watch<'_>,
    ) -> Result<Plan> {
        let mut plan =
            Plan { version: VERSION, label: label.to_owned(), stamp: self.stamp(now)?, files: Vec::new() };
        let mut made = Vec::new();
        if let Err(error) = self.prepare(&mut plan, files, &mut made, watch) {
            for path in made {
                // What cannot be removed is in nobody's way, and the next change tries again.
                let _ = disk::remove(&path);
            }
            return Err(error);
        }
        // Whatever fails from here on is done by whoever looks for the session next.
        self.finish(&plan).map_err(|error| {
            let message = format!("{error}; the change is decided, and is brought to its end when the session is asked for again");
            Error::new(error.kind(), message)
        })?;
        Ok(plan)
    }

    /// A time behind that of every change that was made, whatever the clock says: changes are undone in their order.
    fn stamp(&self, now: Timestamp) -> Result<String> {
        let names = self.names()?;
        let made = names
            .iter()
            .filter_map(|(name, _)| name.strip_prefix(RECORD)?.split('-').next()?.parse::<u64>().ok());
        let last = made.max().unwrap_or(0).to_string();
        let second = SignedDuration::from_secs(1);
        let behind = undigits(&last).and_then(|last| last.checked_add(second).ok());
        let mut time = behind.map_or(now, |behind| behind.max(now));
        while names.iter().any(|(name, _)| name.contains(&digits(time))) {
            time = time.checked_add(second).map_err(|error| Error::request(error.to_string()))?;
        }
        Ok(digits(time))
    }

    /// Writes backups and new contents, and the plan: when it has its name, the change is decided.
    fn prepare(
        &self,
        plan: &mut Plan,
        mut files: Vec<Change<'_>>,
        made: &mut Vec<PathBuf>,
        watch: &Watch<'_>,
    ) -> Result<()> {
        for file in &mut files {
            let backup = self.path(&plan.backup(file.name));
            made.push(backup.clone());
            let before = Self::back_up(file, &backup, watch)?;
            let new = self.new_path(file.name);
            made.push(new.clone());
            let after = Self::fill(file, &new)?;
            plan.files.push(Changed { name: file.name.to_owned(), before, after });
        }
        let text = serde_json::to_vec(plan).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        let path = self.new_path("plan.json");
        made.push(path.clone());
        let file = disk::create(&path)?;
        disk::write(&file, &text, &path)?;
        disk::sync(&file, &path)?;
        disk::sync_folder(&self.session.path)?;
        for file in &files {
            unchanged(file.was)?;
        }
        watch.check()?;
        disk::rename(&path, &self.path(PLAN))
    }

    /// A copy of a file as it was when the change was thought of, read back.
    fn back_up(file: &Change<'_>, backup: &Path, watch: &Watch<'_>) -> Result<Print> {
        let path = file.was.path();
        let copy = disk::create(backup)?;
        disk::take_rights(&copy, backup, path)?;
        let (mut hash, mut bytes) = (blake3::Hasher::new(), 0);
        disk::each_block((file.was.input().reader(), file.was.len()), path, watch, |block| {
            hash.update(block);
            bytes += block.len() as u64;
            disk::write(&copy, block, backup)
        })?;
        disk::sync(&copy, backup)?;
        let print = Print { bytes, blake3: hash.finalize().to_hex().to_string() };
        if print_of(backup, watch)? != print {
            let message = format!(
                "{} is not what was written: look at the disk; nothing was changed",
                shown_path(backup)
            );
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        Ok(print)
    }

    fn fill(file: &mut Change<'_>, path: &Path) -> Result<Print> {
        let new = disk::create(path)?;
        disk::take_rights(&new, path, file.was.path())?;
        let (mut hash, mut bytes) = (blake3::Hasher::new(), 0);
        (file.fill)(&mut |part| {
            hash.update(part);
            bytes += part.len() as u64;
            disk::write(&new, part, path)
        })?;
        disk::sync(&new, path)?;
        Ok(Print { bytes, blake3: hash.finalize().to_hex().to_string() })
    }

    /// Gives new contents their names, and makes the plan a record. Whatever was done of it already is passed over.
    fn finish(&self, plan: &Plan) -> Result<()> {
        disk::sync_folder(&self.session.path)?;
        for file in &plan.files {
            let new = self.new_path(&file.name);
            if new.symlink_metadata().is_ok() {
                disk::rename(&new, &self.path(&file.name))?;
            }
        }
        disk::sync_folder(&self.session.path)?;
        disk::rename(&self.path(PLAN), &self.path(&plan.record()))?;
        disk::sync_folder(&self.session.path)
    }

    fn read(&self, name: &str) -> Result<Option<Plan>> {
        let path = self.path(name);
        let text = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|cause| Error::io("read", &path, cause))?,
        };
        let wrong = |why: &str| {
            let message = format!("{} {why}: move it away when you know what it is for", shown_path(&path));
            Error::new(ErrorKind::Corrupt, message)
        };
        let damaged = |error: serde_json::Error| wrong(&format!("is damaged, {error}"));
        // The version first: what a later one has besides is not known.
        let Versioned { version } = serde_json::from_slice(&text).map_err(damaged)?;
        if version != VERSION {
            return Err(wrong(&format!("has version {version}, and this release knows {VERSION}")));
        }
        let plan: Plan = serde_json::from_slice(&text).map_err(damaged)?;
        // Names come from a file that anybody may have written.
        let is_bare = |name: &str| !name.is_empty() && !name.contains(['/', '\0']) && !name.starts_with('.');
        if !plan.files.iter().all(|file| FILES.contains(&&*file.name))
            || !is_bare(&plan.label)
            || !is_bare(&plan.stamp)
        {
            return Err(wrong("names what is no file of a session"));
        }
        Ok(Some(plan))
    }

    /// The last change that was made and not undone.
    pub(crate) fn last(&self) -> Result<Option<Plan>> {
        for (name, _) in self.names()?.iter().rev().filter(|(name, _)| name.starts_with(RECORD)) {
            let Some(plan) = self.read(name)? else { continue };
            if plan.label != UNDO {
                return Ok(Some(plan));
            }
        }
        Ok(None)
    }

    /// Bytes that pass when a change is undone: backups are read twice, and what is there now is looked at, copied and read back.
    pub(crate) fn bytes_to_undo(&self, plan: &Plan) -> u64 {
        let now = |file: &Changed| self.session.bytes(&file.name);
        plan.files.iter().map(|file| file.before.bytes.saturating_mul(2).saturating_add(3 * now(file))).sum()
    }

    /// The backups of a change, each as it was written; an error when one is not.
    pub(crate) fn backups(&self, plan: &Plan, watch: &Watch<'_>) -> Result<Vec<(String, Log)>> {
        let mut backups = Vec::new();
        for file in &plan.files {
            let path = self.path(&plan.backup(&file.name));
            if print_of(&path, watch)? != file.before {
                let message =
                    format!("{} is not what was written, so that nothing was changed", shown_path(&path));
                return Err(Error::new(ErrorKind::Corrupt, message));
            }
            backups.push((file.name.clone(), Log::open(&path)?));
        }
        Ok(backups)
    }

    /// Whether the files are no more what a change made of them.
    pub(crate) fn changed_since(&self, plan: &Plan, watch: &Watch<'_>) -> Result<bool> {
        for file in &plan.files {
            if print_of(&self.path(&file.name), watch)? != file.after {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Forgets a change that was undone: its backups are what the files are now.
    pub(crate) fn forget(&self, plan: &Plan) -> Result<()> {
        disk::remove(&self.path(&plan.record()))?;
        for file in &plan.files {
            disk::remove(&self.path(&plan.backup(&file.name)))?;
        }
        disk::sync_folder(&self.session.path)
    }
}

/// An error when somebody writes to a file since it was opened.
fn unchanged(log: &Log) -> Result<()> {
    log.input().verify(false).map_err(|error| {
        if !matches!(error.kind(), trommel::reader::ErrorKind::SourceChanged) {
            return Error::read(log.path(), &error);
        }
        let path = shown_path(log.path());
        let message = format!("{path} is being written to: stop the session first; nothing was changed");
        Error::new(ErrorKind::Busy, message)
    })
}

fn print_of(path: &Path, watch: &Watch<'_>) -> Result<Print> {
    let file = File::open(path).map_err(|cause| Error::io("open", path, cause))?;
    let length = file.metadata().map_err(|cause| Error::io("look at", path, cause))?.len();
    let (mut hash, mut bytes) = (blake3::Hasher::new(), 0);
    disk::each_block((file, length), path, watch, |block| {
        hash.update(block);
        bytes += block.len() as u64;
        Ok(())
    })?;
    Ok(Print { bytes, blake3: hash.finalize().to_hex().to_string() })
}
