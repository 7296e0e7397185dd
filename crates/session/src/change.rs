//! Several files of a session changed as one: whatever happens in between, afterwards all are the old ones or all the new ones.
//!
//! | after | what there is | who goes on |
//! | --- | --- | --- |
//! | new contents are written, and old files have second names as backups | the old files; what was written has names of its own | the next change sweeps new contents away |
//! | the plan has its name | the old files, and a promise | whoever looks for the session next gives the new contents their names |
//! | some new contents have their names | a mixture that nobody sees who asks for the session here | the same |
//! | the plan has become a record | the new files, and how to go back | nothing is left to do |

mod place;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::disk;
use crate::error::{Error, ErrorKind, Result, shown_path};
use crate::format::{EVENTS, METADATA, PLAN, TRANSCRIPT};
use crate::records::Log;
use crate::session::{Session, Source};
use crate::time::{digits, undigits};
use crate::watch::Watch;

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
    /// The number on the disk of the file with the new content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<u64>,
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
    pub(crate) content: Content<'f>,
}

/// How a file is to be.
pub(crate) enum Content<'f> {
    /// As this writes it.
    Written(Box<Fill<'f>>),
    /// The file of this backup, so that a program that still writes to it writes to the session again.
    Backup(&'f Backup),
}

/// The backup of a file, verified.
pub(crate) struct Backup {
    log: Log,
    /// All of it, with lines that were appended after it became the backup.
    print: Print,
    /// How many those are.
    pub(crate) late_lines: u64,
}

/// The right to change a session's files.
pub(crate) struct Held<'s> {
    session: &'s Session,
    _lock: File,
}

/// What becomes of the lines of a program that keeps the session's files open, before a change and after it.
pub(crate) fn stop_writers(is_dry_run: bool) -> &'static str {
    if is_dry_run {
        "stop the program that runs this session first: what it writes to a file it keeps open goes to the backup"
    } else {
        "a program that kept these files open writes to the backups now: restart it, or restore its lines with `undo`"
    }
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
    let is_ours = session.profile().is_changeable && session.source != Source::Cloud;
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

    /// Writes new contents and the plan, and makes backups: when the plan has its name, the change is decided.
    fn prepare(
        &self,
        plan: &mut Plan,
        mut files: Vec<Change<'_>>,
        made: &mut Vec<PathBuf>,
        watch: &Watch<'_>,
    ) -> Result<()> {
        for file in &mut files {
            let before = print_of_log(file.was, watch)?;
            let new = self.new_path(file.name);
            made.push(new.clone());
            let after = Self::fill(file, &new, watch)?;
            let number = Some(place::number(&new)?);
            plan.files.push(Changed { name: file.name.to_owned(), before, after, number });
        }
        let text = serde_json::to_vec(plan).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))?;
        let path = self.new_path("plan.json");
        made.push(path.clone());
        let file = disk::create(&path)?;
        disk::write(&file, &text, &path)?;
        disk::sync(&file, &path)?;
        for file in &files {
            // First, as the second name changes what is compared. What a program writes later is in the backup.
            unchanged(file.was)?;
            let backup = self.path(&plan.backup(file.name));
            made.push(backup.clone());
            place::back_up(file.was, &backup)?;
        }
        disk::sync_folder(&self.session.path)?;
        watch.check()?;
        disk::rename(&path, &self.path(PLAN))
    }

    fn fill(file: &mut Change<'_>, path: &Path, watch: &Watch<'_>) -> Result<Print> {
        match &mut file.content {
            Content::Backup(backup) => {
                if disk::link(backup.log.path(), path)? {
                    return Ok(backup.print.clone());
                }
                let log = &backup.log;
                Self::write(path, file.was.path(), |write| {
                    disk::each_block((log.input().reader(), log.len()), log.path(), watch, |block| {
                        write(block)
                    })
                })
            }
            Content::Written(written) => Self::write(path, file.was.path(), written),
        }
    }

    /// Writes a new file with the rights of another.
    fn write(
        path: &Path,
        like: &Path,
        mut fill: impl FnMut(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>,
    ) -> Result<Print> {
        let new = disk::create(path)?;
        disk::take_rights(&new, path, like)?;
        let mut printer = Printer::default();
        fill(&mut |part| {
            printer.add(part);
            disk::write(&new, part, path)
        })?;
        disk::sync(&new, path)?;
        Ok(printer.print())
    }

    /// Gives new contents their names, and makes the plan a record. Whatever was done of it already is passed over.
    fn finish(&self, plan: &Plan) -> Result<()> {
        disk::sync_folder(&self.session.path)?;
        for file in &plan.files {
            self.place(plan, file)?;
        }
        disk::sync_folder(&self.session.path)?;
        disk::rename(&self.path(PLAN), &self.path(&plan.record()))?;
        disk::sync_folder(&self.session.path)
    }

    fn read(&self, name: &str) -> Result<Option<Plan>> {
        let path = self.path(name);
        let text = match disk::open_regular(&path).and_then(contents) {
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

    /// Bytes that pass when a change is undone: backups are read, and copied where there are no links; the files there are now are
    /// read twice.
    pub(crate) fn bytes_to_undo(&self, plan: &Plan) -> u64 {
        let bytes = |name: &str| self.session.bytes(name);
        let of = |file: &Changed| 2 * bytes(&plan.backup(&file.name)) + 2 * bytes(&file.name);
        plan.files.iter().map(of).sum()
    }

    /// The backups of a change; an error when one does not begin with what was backed up.
    pub(crate) fn backups(&self, plan: &Plan, watch: &Watch<'_>) -> Result<Vec<Backup>> {
        let backup = |file: &Changed| {
            let path = self.path(&plan.backup(&file.name));
            Backup::open(&path, file, watch)
        };
        plan.files.iter().map(backup).collect()
    }

    /// Warnings about files that were written to while they were changed.
    pub(crate) fn late(&self, plan: &Plan) -> Vec<String> {
        let is_late = |file: &&Changed| self.session.bytes(&plan.backup(&file.name)) > file.before.bytes;
        let warning = |file: &Changed| {
            let (name, backup) = (&file.name, plan.backup(&file.name));
            format!(
                "{name} was written to during the change: what was added is in {backup}, and `undo` restores it"
            )
        };
        plan.files.iter().filter(is_late).map(warning).collect()
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

    /// Forgets a change that was undone. Its backups are the session's files again, and lose their second names; one that had to be
    /// copied is kept, as a program may still write to it.
    pub(crate) fn forget(&self, plan: &Plan) -> Result<()> {
        disk::remove(&self.path(&plan.record()))?;
        for file in &plan.files {
            let backup = self.path(&plan.backup(&file.name));
            if disk::is_same(&backup, &self.path(&file.name)) {
                disk::remove(&backup)?;
            }
        }
        disk::sync_folder(&self.session.path)
    }
}

impl Backup {
    fn open(path: &Path, file: &Changed, watch: &Watch<'_>) -> Result<Self> {
        let log = Log::open(path)?;
        let (mut printer, mut before, mut late_lines, mut last) = (Printer::default(), None, 0, b'\n');
        disk::each_block((log.input().reader(), log.len()), path, watch, |block| {
            let left = file.before.bytes.saturating_sub(printer.bytes);
            let old = usize::try_from(left).map_or(block.len(), |left| left.min(block.len()));
            let (old, late) = block.split_at_checked(old).unwrap_or((block, &[]));
            printer.add(old);
            if !late.is_empty() {
                before.get_or_insert_with(|| printer.print());
                printer.add(late);
                late_lines += late.iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>();
                last = late.last().copied().unwrap_or(last);
            }
            Ok(())
        })?;
        let print = printer.print();
        if before.as_ref().unwrap_or(&print) != &file.before {
            let message = format!(
                "{} is not what was backed up, and nothing was changed: compare it with {} by hand",
                shown_path(path),
                file.name
            );
            return Err(Error::new(ErrorKind::Corrupt, message));
        }
        late_lines += u64::from(last != b'\n');
        Ok(Self { log, print, late_lines })
    }
}

/// Makes a [`Print`] of what comes in parts.
#[derive(Default)]
struct Printer {
    hash: blake3::Hasher,
    bytes: u64,
}

impl Printer {
    fn add(&mut self, part: &[u8]) {
        self.hash.update(part);
        self.bytes += part.len() as u64;
    }

    fn print(&self) -> Print {
        Print { bytes: self.bytes, blake3: self.hash.finalize().to_hex().to_string() }
    }
}

/// An error when another program wrote to a file since it was opened.
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

/// Bytes of a plan at most.
const LONGEST: u64 = 1 << 20;

fn contents(file: File) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    file.take(LONGEST).read_to_end(&mut text)?;
    Ok(text)
}

fn print_of(path: &Path, watch: &Watch<'_>) -> Result<Print> {
    let file = disk::open_regular(path).map_err(|cause| Error::io("open", path, cause))?;
    let length = file.metadata().map_err(|cause| Error::io("look at", path, cause))?.len();
    print_of_reader((file, length), path, watch)
}

fn print_of_log(log: &Log, watch: &Watch<'_>) -> Result<Print> {
    print_of_reader((log.input().reader(), log.len()), log.path(), watch)
}

fn print_of_reader(from: (impl Read, u64), path: &Path, watch: &Watch<'_>) -> Result<Print> {
    let mut printer = Printer::default();
    disk::each_block(from, path, watch, |block| {
        printer.add(block);
        Ok(())
    })?;
    Ok(printer.print())
}
