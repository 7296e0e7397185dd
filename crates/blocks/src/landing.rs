//! Lines on their way into a session's files: written beside them first, then put in their places, all or none.

mod append;
mod exchange;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use trommel_session::{Cancel, Watch};

use crate::assemble::Lines;
use crate::disk::pass;
use crate::error::{Error, ErrorKind, Result};
use crate::folder::{Folder, name};
use crate::journal::{Journal, Mark, Seen, seen};
use crate::lines::{BLOCK, Print, Text};
use crate::retry::sleep;
use crate::rows::{FILES, Kind, Row};

/// What begins the names of files that are on their way.
const NEW: &str = ".trommel-sync-";

/// How long somebody else may hold the lock of a folder.
const PATIENCE: Duration = Duration::from_secs(20);

/// Files on their way.
pub(crate) struct Landing<'a> {
    folder: &'a Folder,
    cancel: Cancel,
    /// Of the transcript and the events, how many bytes stay.
    keep: [u64; 2],
    files: [Option<Coming>; 3],
    /// The kind of the line that is written, and where it began.
    open: Option<(usize, u64)>,
    /// True if logs that are replaced are kept as backups.
    has_backups: bool,
}

/// A file on its way.
struct Coming {
    path: PathBuf,
    out: BufWriter<File>,
    len: u64,
    /// Behind how many bytes it is to be appended; it replaces the file otherwise.
    behind: Option<u64>,
    /// There is to be no such file.
    is_gone: bool,
}

/// What was decided, and is done by whoever comes next.
#[derive(Serialize, Deserialize)]
struct Plan {
    version: u32,
    folder: PathBuf,
    files: Vec<Planned>,
}

#[derive(Serialize, Deserialize)]
struct Planned {
    name: String,
    behind: Option<u64>,
    /// The file that is replaced: what was put there or appended to it meanwhile is kept.
    had: Option<Seen>,
    /// The file that replaces it.
    ours: Option<Seen>,
    is_gone: bool,
    /// What the replaced file is called from then on: a program may still have it open, and write to it.
    #[serde(default)]
    backup: Option<String>,
}

fn place(kind: Kind) -> usize {
    match kind {
        Kind::Message => 1,
        Kind::Event => 2,
        _ => 0,
    }
}

impl<'a> Landing<'a> {
    /// Of a folder whose transcript and events keep so many bytes.
    pub(crate) fn new(folder: &'a Folder, keep: [u64; 2], watch: &Watch<'_>) -> Result<Self> {
        fs::create_dir_all(folder.path()).map_err(|cause| Error::io("make", folder.path(), cause))?;
        let cancel = watch.flag().clone();
        Ok(Self { folder, cancel, keep, files: [None, None, None], open: None, has_backups: false })
    }

    /// Logs that are replaced are kept as backups, as programs may still write to them.
    pub(crate) fn with_backups(self) -> Self {
        Self { has_backups: true, ..self }
    }

    /// The file of a kind, begun with what stays of the old one unless it is appended to that.
    fn coming(&mut self, at: usize) -> Result<&mut Coming> {
        let slot = self.files.get_mut(at).ok_or_else(Error::cancelled)?;
        if slot.is_none() {
            let keep = at.checked_sub(1).and_then(|at| self.keep.get(at)).copied();
            let kind = FILES.get(at).copied().unwrap_or(Kind::Metadata);
            *slot = Some(Coming::begin(self.folder, kind, keep, &self.cancel)?);
        }
        slot.as_mut().ok_or_else(Error::cancelled)
    }

    /// A file that is cut, though nothing is added to it.
    pub(crate) fn cut(&mut self, kind: Kind) -> Result<()> {
        self.coming(place(kind)).map(drop)
    }

    /// Puts everything in its place, with the journal that belongs to it. The folder must be what it was by this mark.
    pub(crate) fn commit(mut self, journal: &Journal, was: &Mark, watch: &Watch<'_>) -> Result<()> {
        let decided = self.decide(journal, was, watch);
        // What was decided before something failed is done by whoever comes next.
        if decided.is_err() && !beside(journal.path(), "plan").exists() {
            self.forget();
        }
        let (_lock, plan) = decided?;
        carry_out(journal.path(), &plan).map(drop)
    }

    /// Saves all that was written, and decides that it is to have its place.
    fn decide(&mut self, journal: &Journal, was: &Mark, watch: &Watch<'_>) -> Result<(File, Plan)> {
        let mut plan = Plan { version: 1, folder: self.folder.path().to_owned(), files: Vec::new() };
        let stamp = Timestamp::now().strftime("%Y%m%d%H%M%S").to_string();
        for (kind, coming) in FILES.into_iter().zip(&mut self.files) {
            let Some(coming) = coming else { continue };
            let failed = |cause| Error::io("write", &coming.path, cause);
            pass("sync", &coming.path).map_err(failed)?;
            coming.out.flush().map_err(failed)?;
            coming.out.get_ref().sync_all().map_err(failed)?;
            let (behind, is_gone) = (coming.behind, coming.is_gone);
            let (had, ours) = (was.seen(place(kind)), seen(&coming.path));
            // A description is not a log; every sync that changes it replaces it.
            let is_kept = self.has_backups && kind != Kind::Metadata && behind.is_none() && had.is_some();
            let backup = is_kept.then(|| format!("{}.bak-pre-sync-{stamp}", name(kind)));
            plan.files.push(Planned { name: name(kind).to_owned(), behind, had, ours, is_gone, backup });
        }
        journal.write_to(&beside(journal.path(), "new"))?;
        let lock = lock(self.folder.path(), watch)?;
        if self.folder.mark() != *was {
            let message = format!(
                "{} is being written to: try again when the session rests",
                self.folder.path().display()
            );
            return Err(Error::new(ErrorKind::Busy, message));
        }
        decide(journal.path(), &plan)?;
        Ok((lock, plan))
    }

    /// Lets go of what was written.
    pub(crate) fn forget(&self) {
        for coming in self.files.iter().flatten() {
            // What cannot be removed is in nobody's way, and is written over next time.
            let _ = fs::remove_file(&coming.path);
        }
    }
}

impl Coming {
    fn begin(folder: &Folder, kind: Kind, keep: Option<u64>, cancel: &Cancel) -> Result<Self> {
        let path = folder.path().join(format!("{NEW}{}", name(kind)));
        let failed = |cause| Error::io("write", &path, cause);
        pass("create", &path).map_err(failed)?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .read(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        let old = folder.file(kind);
        let there = fs::metadata(&old).ok();
        let len = there.as_ref().map_or(0, fs::Metadata::len);
        let behind = keep.filter(|keep| *keep == len);
        let mut out = BufWriter::with_capacity(BLOCK, file);
        if let Some(there) = &there {
            let rights = fs::Permissions::from_mode(there.permissions().mode() & 0o777);
            out.get_ref().set_permissions(rights).map_err(failed)?;
        }
        let mut copied = 0;
        if let Some(keep) = keep.filter(|keep| behind.is_none() && *keep > 0) {
            let from = Text::open(&old, cancel)?;
            copied = io::copy(&mut from.part(0, keep), &mut out).map_err(failed)?;
        }
        Ok(Self { path, out, len: copied, behind, is_gone: false })
    }
}

impl Lines for Landing<'_> {
    fn begin(&mut self, kind: Kind) -> Result<()> {
        let at = place(kind);
        let coming = self.coming(at)?;
        if kind == Kind::Metadata {
            // Of descriptions the last one counts.
            coming.cut_to(0)?;
        }
        let begun = coming.len;
        self.open = Some((at, begun));
        Ok(())
    }

    fn add(&mut self, part: &[u8]) -> Result<()> {
        let Some((at, _)) = self.open else { return Ok(()) };
        let coming = self.coming(at)?;
        coming.out.write_all(part).map_err(|cause| Error::io("write", &coming.path, cause))?;
        coming.len += part.len() as u64;
        Ok(())
    }

    fn end(&mut self, row: &Row) -> Result<()> {
        self.open = None;
        if row.kind == Kind::Metadata {
            self.coming(place(row.kind))?.is_gone = row.print == Print::default();
        }
        Ok(())
    }

    fn take_back(&mut self) -> Result<()> {
        match self.open.take() {
            Some((at, begun)) => self.coming(at)?.cut_to(begun),
            None => Ok(()),
        }
    }
}

impl Coming {
    fn cut_to(&mut self, len: u64) -> Result<()> {
        let failed = |cause| Error::io("write", &self.path, cause);
        self.out.flush().map_err(failed)?;
        self.out.get_ref().set_len(len).map_err(failed)?;
        self.out.seek(SeekFrom::Start(len)).map_err(failed)?;
        self.len = len;
        Ok(())
    }
}

/// A file beside a journal.
pub(crate) fn beside(journal: &Path, ending: &str) -> PathBuf {
    let mut name = journal.file_name().unwrap_or_default().to_owned();
    name.push(".");
    name.push(ending);
    journal.with_file_name(name)
}

fn decide(journal: &Path, plan: &Plan) -> Result<()> {
    let (path, new) = (beside(journal, "plan"), beside(journal, "plan.new"));
    let failed = |cause| Error::io("write", &path, cause);
    let text = serde_json::to_vec(plan).map_err(|error| failed(error.into()))?;
    pass("write", &new).map_err(failed)?;
    let mut file = File::create(&new).map_err(failed)?;
    file.write_all(&text).and_then(|()| file.sync_all()).map_err(failed)?;
    pass("rename", &path).and_then(|()| fs::rename(&new, &path)).map_err(failed)?;
    sync_folder(journal)
}

/// Brings to its end what was decided and cut off.
pub(crate) fn recover(journal: &Path, watch: &Watch<'_>) -> Result<()> {
    let path = beside(journal, "plan");
    let text = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        text => text.map_err(|cause| Error::io("read", &path, cause))?,
    };
    let plan: Plan = serde_json::from_slice(&text).map_err(|error| {
        let message =
            format!("{} is damaged ({error}): remove it, and the session is compared afresh", path.display());
        Error::new(ErrorKind::Corrupt, message)
    })?;
    if plan.version != 1 || !plan.files.iter().all(|file| FILES.iter().any(|kind| name(*kind) == file.name)) {
        let message = format!("{} is of a later version: update trommel", path.display());
        return Err(Error::new(ErrorKind::Unsupported, message));
    }
    let _lock = plan.folder.is_dir().then(|| lock(&plan.folder, watch)).transpose()?;
    carry_out(journal, &plan)
}

/// Gives everything its place; whatever was done already is passed over. Where a file has got something else meanwhile, what is left
/// is let go: the next comparison tells what became of it.
fn carry_out(journal: &Path, plan: &Plan) -> Result<()> {
    let paths =
        |file: &Planned| (plan.folder.join(format!("{NEW}{}", file.name)), plan.folder.join(&file.name));
    let mut is_done = true;
    // Before any is touched, so that none gets its part where another cannot.
    for file in &plan.files {
        let (new, to) = paths(file);
        is_done &= match file.behind {
            Some(behind) if new.exists() => append::is_fit(&new, &to, behind)?,
            _ => true,
        };
    }
    let placed = if is_done { plan.files.as_slice() } else { &[] };
    for file in placed {
        let (new, to) = paths(file);
        is_done &= match file.behind {
            _ if !new.exists() => true,
            None => replace(&new, &to, file)?,
            Some(behind) => append::append(&new, &to, behind)?,
        };
    }
    let made = beside(journal, "new");
    if is_done && made.exists() {
        let placed = pass("rename", journal).and_then(|()| fs::rename(&made, journal));
        placed.map_err(|cause| Error::io("put in its place", journal, cause))?;
    }
    sync_folder(&plan.folder.join("x"))?;
    for file in &plan.files {
        let (new, _) = paths(file);
        keep_replaced(&new, &plan.folder, file)?;
        pass("remove", &new).map_err(|cause| Error::io("remove", &new, cause))?;
        // They are written over next time where they stay.
        let _ = fs::remove_file(new);
    }
    let decided = beside(journal, "plan");
    pass("remove", &decided)
        .and_then(|()| fs::remove_file(&decided))
        .map_err(|cause| Error::io("remove", &decided, cause))?;
    sync_folder(journal)
}

/// Gives a replaced file the name of a backup, where it is to be kept and found under the name of what replaced it.
fn keep_replaced(new: &Path, folder: &Path, file: &Planned) -> Result<()> {
    let number = |seen: Option<Seen>| seen.map(|(number, ..)| number);
    let Some(backup) = &file.backup else { return Ok(()) };
    if number(seen(new)).is_none() || number(seen(new)) != number(file.had) {
        return Ok(());
    }
    let to = free(&folder.join(backup));
    let kept = pass("rename", &to).and_then(|()| fs::rename(new, &to));
    kept.map_err(|cause| Error::io("keep", &to, cause))
}

/// The first name like this one that no file has.
fn free(path: &Path) -> PathBuf {
    let numbered = (1_u64..).map(|number| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    });
    let mut names = std::iter::once(path.to_owned()).chain(numbered);
    names.find(|path| path.symlink_metadata().is_err()).unwrap_or_else(|| path.to_owned())
}

/// Gives a file its place. Whether nothing else came into the old one, or into its place, meanwhile; what did stays.
fn replace(new: &Path, to: &Path, file: &Planned) -> Result<bool> {
    let failed = |cause| Error::io("put in its place", to, cause);
    pass("rename", to).map_err(failed)?;
    if file.is_gone {
        // The empty file that says so goes last, so that whoever goes on knows.
        let is_there = seen(to).is_some_and(|seen| Some(seen) == file.had);
        let gone = if is_there { fs::remove_file(to) } else { Ok(()) };
        gone.and_then(|()| fs::remove_file(new)).map_err(failed)?;
        return Ok(true);
    }
    let backup = file.backup.as_ref().map(|name| to.with_file_name(name));
    exchange::exchange((new, to), file.had, file.ours, backup.as_deref()).map_err(failed)?;
    if file.name == name(Kind::Metadata) {
        // Another description is told later, as one that was written after this one.
        return Ok(true);
    }
    let number = |seen: Option<Seen>| seen.map(|(number, ..)| number);
    if number(seen(to)) != number(file.ours) {
        return Ok(false);
    }
    let Some((_, was, ..)) = file.had else { return Ok(true) };
    // Somebody may have had the old one open for appending.
    // Where names cannot be exchanged, the old one is the backup already.
    let backup = file.backup.as_ref().map(|name| to.with_file_name(name));
    let Some(old) = [Some(new), backup.as_deref()].into_iter().flatten().find(|path| path.exists()) else {
        return Ok(true);
    };
    let mut old = File::open(old).map_err(failed)?;
    old.seek(SeekFrom::Start(was)).map_err(failed)?;
    let mut there = OpenOptions::new().append(true).open(to).map_err(failed)?;
    let late = io::copy(&mut old, &mut there).map_err(failed)?;
    Ok(late == 0)
}

fn sync_folder(file: &Path) -> Result<()> {
    let folder = file.parent().unwrap_or(Path::new("."));
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|cause| Error::io("save the names in", folder, cause))
}

/// Waits for the lock of a file or a folder, which is held until it is closed. A session is rewound under the same lock.
pub(crate) fn lock(path: &Path, watch: &Watch<'_>) -> Result<File> {
    let file = File::open(path).map_err(|cause| Error::io("lock", path, cause))?;
    lock_file(file, path, watch)
}

/// The same for one that is open.
pub(crate) fn lock_file(file: File, path: &Path, watch: &Watch<'_>) -> Result<File> {
    let failed = |cause| Error::io("lock", path, cause);
    let since = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(fs::TryLockError::Error(cause)) => return Err(failed(cause)),
            Err(fs::TryLockError::WouldBlock) if since.elapsed() > PATIENCE => {
                let message = format!(
                    "{} has been kept locked by another process for {} seconds: see what it is doing, and try again",
                    path.display(),
                    PATIENCE.as_secs()
                );
                return Err(Error::new(ErrorKind::Busy, message));
            }
            Err(fs::TryLockError::WouldBlock) => sleep(Duration::from_millis(5), watch)?,
        }
    }
}
